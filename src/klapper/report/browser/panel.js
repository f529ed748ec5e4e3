// A panel: a canvas with axes, a second canvas above it for what moves, a tip, a spoken readout, zoom and keys.

const shades = () => getComputedStyle(document.documentElement);
const shade = (name) => shades().getPropertyValue(name).trim();
const lineShade = (k) => shade(`--line-${k % 7}`);

function element(kind, settings = {}, ...children) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(settings)) {
    if (name === "text") made.textContent = value;
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// The part of an axis that is shown. Panels that share a window zoom together.
class Range {
  constructor(low, high) {
    this.whole = high > low ? [low, high] : [low - 0.5, low + 0.5];
    [this.low, this.high] = this.whole;
    this.followers = [];
  }

  set(low, high) {
    const [first, last] = this.whole;
    const least = 1e-7 * (last - first);
    if (!(high - low >= least)) return;
    this.low = Math.max(low, first);
    this.high = Math.min(high, last);
    if (this.high - this.low < least) [this.low, this.high] = this.whole;
    for (const follower of this.followers) follower();
  }

  reset() { this.set(...this.whole); }

  zoom(factor, about = 0.5 * (this.low + this.high)) {
    this.set(about + (this.low - about) * factor, about + (this.high - about) * factor);
  }

  pan(share) {
    const [first, last] = this.whole;
    const wanted = share * (this.high - this.low);
    const shift = Math.min(Math.max(wanted, first - this.low), last - this.high);
    this.set(this.low + shift, this.high + shift);
  }
}

const KEYS = "Arrow keys move the cursor, shift and arrows move the window, plus and minus zoom, 0 shows all.";

class Panel {
  constructor(host, { label, window, xLabel = "time / s", height = 250, left = 72 }) {
    this.window = window;
    this.xLabel = xLabel;
    this.height = height;
    this.margin = { left, right: 18, top: 10, bottom: 40 };
    this.cursor = null; // where the reader points, in the unit of x
    this.now = null; // the time of the animation
    this.base = element("canvas", { "aria-hidden": "true" });
    this.over = element("canvas", { tabindex: "0", role: "application", "aria-label": `${label}. ${KEYS}`, class: "over" });
    this.tip = element("div", { class: "tip", hidden: "", "aria-hidden": "true" });
    this.plot = element("div", { class: "plot" }, this.base, this.over, this.tip);
    this.readout = element("output", { class: "spoken", "aria-live": "polite" });
    host.append(this.plot, this.readout);
    window.followers.push(() => this.ask());
    new ResizeObserver(() => this.ask()).observe(this.plot);
    this.listen();
    PANELS.push(this);
  }

  listen() {
    const canvas = this.over;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button !== 0) return;
      this.dragged = [event.offsetX, event.offsetY];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      this.pointer = [event.offsetX, event.offsetY];
      this.cursor = this.xAt(event.offsetX);
      this.drawOver();
    });
    canvas.addEventListener("pointerup", (event) => {
      const from = this.dragged;
      this.dragged = null;
      if (from && Math.abs(event.offsetX - from[0]) > 6) this.select(from, [event.offsetX, event.offsetY]);
      this.drawOver();
    });
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("blur", () => this.leave());
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  leave() {
    this.pointer = this.cursor = this.dragged = null;
    this.drawOver();
  }

  reset() { this.window.reset(); }

  zoom(factor) { this.window.zoom(factor, this.cursor === null ? undefined : this.cursor); }

  select(from, to) { this.window.set(...[this.xAt(from[0]), this.xAt(to[0])].sort((a, b) => a - b)); }

  key(event) {
    const moves = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key in moves && event.shiftKey) this.window.pan(0.2 * moves[event.key]);
    else if (event.key in moves) this.step(moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0" || event.key === "Escape") this.reset();
    else return;
    event.preventDefault();
  }

  // Move the cursor to the next place that is worth a stop.
  step(direction) {
    const { low, high } = this.window;
    const from = this.cursor === null ? (direction > 0 ? low : high) : this.cursor + (direction * (high - low)) / 100;
    this.cursor = Math.min(Math.max(from, low), high);
    this.pointer = null;
    this.drawOver();
    this.readout.textContent = this.words(this.cursor).join("; ");
  }

  xAt(pixel) {
    const { low, high } = this.window;
    return low + ((pixel - this.margin.left) / this.width) * (high - low);
  }

  pixelOf(x) {
    const { low, high } = this.window;
    return this.margin.left + ((x - low) / (high - low)) * this.width;
  }

  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  fit(canvas) {
    const scale = globalThis.devicePixelRatio || 1;
    const [wide, high] = [this.plot.clientWidth, this.height];
    if (canvas.width !== Math.round(wide * scale) || canvas.height !== Math.round(high * scale)) {
      canvas.width = Math.round(wide * scale);
      canvas.height = Math.round(high * scale);
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${high}px`;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, wide, high);
    pen.font = "12px system-ui, sans-serif";
    pen.lineJoin = "round";
    return pen;
  }

  draw() {
    if (!this.plot.clientWidth) return;
    this.plot.style.height = `${this.height}px`;
    const pen = this.fit(this.base);
    this.width = this.plot.clientWidth - this.margin.left - this.margin.right;
    this.tall = this.height - this.margin.top - this.margin.bottom;
    this.prepare();
    Object.assign(this.over.dataset, { left: this.margin.left, top: this.margin.top, width: this.width });
    this.drawAxes(pen);
    pen.save();
    pen.beginPath();
    pen.rect(this.margin.left, this.margin.top, this.width, this.tall);
    pen.clip();
    this.drawContent(pen);
    pen.restore();
    this.drawOver();
  }

  drawXAxis(pen) {
    const { low, high } = this.window;
    const bottom = this.margin.top + this.tall;
    const { ticks, step } = niceSteps(low, high, this.width / 85);
    const largest = Math.max(Math.abs(low), Math.abs(high));
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const tick of ticks) {
      const x = this.pixelOf(tick);
      pen.strokeStyle = shade("--line");
      pen.beginPath();
      pen.moveTo(x, this.margin.top);
      pen.lineTo(x, bottom);
      pen.stroke();
      pen.fillStyle = shade("--soft");
      pen.fillText(tickText(tick, step, largest), x, bottom + 6);
    }
    pen.fillStyle = shade("--soft");
    pen.fillText(this.xLabel, this.margin.left + this.width / 2, bottom + 22);
  }

  drawOver() {
    if (!this.width) return;
    const pen = this.fit(this.over);
    const [top, bottom] = [this.margin.top, this.margin.top + this.tall];
    const upright = (x, dash, colour) => {
      if (x < this.margin.left - 1 || x > this.margin.left + this.width + 1) return;
      pen.strokeStyle = colour;
      pen.setLineDash(dash);
      pen.beginPath();
      pen.moveTo(x, top);
      pen.lineTo(x, bottom);
      pen.stroke();
      pen.setLineDash([]);
    };
    if (this.now !== null) upright(this.pixelOf(this.now), [5, 4], shade("--link"));
    if (this.dragged && this.pointer) this.drawSelection(pen);
    if (this.cursor === null || this.dragged) {
      this.tip.hidden = true;
      return;
    }
    this.drawCursor(pen, upright);
    this.showTip(this.words(this.cursor));
  }

  drawSelection(pen) {
    pen.fillStyle = shade("--select");
    const left = Math.max(Math.min(this.dragged[0], this.pointer[0]), this.margin.left);
    const right = Math.min(Math.max(this.dragged[0], this.pointer[0]), this.margin.left + this.width);
    pen.fillRect(left, this.margin.top, right - left, this.tall);
  }

  drawCursor(pen, upright) { upright(this.pixelOf(this.cursor), [], shade("--soft")); }

  showTip(lines) {
    this.tip.hidden = lines.length === 0;
    this.tip.replaceChildren(...lines.map((line) => element("div", { text: line })));
    if (this.tip.hidden) return;
    const x = this.pointer ? this.pointer[0] : this.pixelOf(this.cursor);
    const room = this.plot.clientWidth - this.tip.offsetWidth - 4;
    const left = x + 14 <= room ? x + 14 : x - 14 - this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(4, Math.min(left, room))}px`;
    const y = this.pointer ? this.pointer[1] - this.tip.offsetHeight - 10 : this.margin.top;
    this.tip.style.top = `${Math.max(2, y)}px`;
  }
}

const PANELS = [];
