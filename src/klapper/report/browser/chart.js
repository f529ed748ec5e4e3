// Charts: lines, steps, stems and areas over an axis. `lines()` gives what is drawn now:
// {name, x, y, colour, step, stems, lower, unsorted, quiet}.

class Chart extends Panel {
  constructor(host, options) {
    super(host, options);
    this.lines = options.lines;
    this.yLabel = options.yLabel;
    this.zero = options.zero ?? false;
    this.logarithmic = options.logarithmic ?? (() => false);
    this.yWindow = null;
    this.legend = element("div", { class: "legend" });
    if (!options.silent) this.plot.after(this.legend);
  }

  prepare() {
    this.shown = this.lines();
    const log = this.logarithmic();
    let [low, high] = [Infinity, -Infinity];
    const take = (value) => {
      if (!Number.isFinite(value) || (log && value <= 0)) return;
      if (value < low) low = value;
      if (value > high) high = value;
    };
    for (const line of this.shown) {
      const [first, last] = this.visible(line);
      for (let i = first; i < last; i += 1) {
        take(line.y[i]);
        if (line.lower) take(line.lower[i]);
      }
    }
    if (this.zero && !log) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
    if (!(low <= high)) [low, high] = log ? [0.1, 1] : [0, 1];
    if (this.zero && low === high) high = 1;
    if (log) {
      low = Math.max(low, high * 1e-9);
      [this.low, this.high] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high) + 1e-9)];
    } else {
      const room = (high > low ? high - low : Math.abs(high) || 1) * 0.06;
      [this.low, this.high] = [this.zero && low === 0 ? 0 : low - room, this.zero && high === 0 ? 0 : high + room];
    }
    if (this.yWindow) [this.low, this.high] = this.yWindow;
    this.log = log;
    this.legend.replaceChildren(...this.shown.filter((line) => !line.quiet).map((line) => {
      const swatch = element("span", { class: line.lower ? "swatch area" : "swatch" });
      const dashed = line.dash?.length && !line.lower;
      swatch.style.background = dashed ? `repeating-linear-gradient(90deg, ${line.colour} 0 5px, transparent 5px 8px)` : line.colour;
      return element("span", { class: "key" }, swatch, line.name);
    }));
  }

  visible(line) {
    if (line.unsorted) return [0, line.y.length];
    const first = Math.max(placeOf(line.x, this.window.low) - 1, 0);
    return [first, Math.min(placeOf(line.x, this.window.high) + 2, line.y.length)];
  }

  heightOf(value) {
    const raised = this.log ? Math.log10(Math.max(value, 1e-300)) : value;
    return this.margin.top + this.tall * (1 - (raised - this.low) / (this.high - this.low));
  }

  drawAxes(pen) {
    this.drawXAxis(pen);
    const count = Math.max(this.tall / 42, 3);
    const { ticks, step } = this.log ? this.decades(count) : niceSteps(this.low, this.high, count);
    const largest = Math.max(Math.abs(this.low), Math.abs(this.high));
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const tick of ticks) {
      const y = this.heightOf(this.log ? 10 ** tick : tick);
      pen.strokeStyle = shade(!this.log && Math.abs(tick) < 1e-9 * step ? "--soft" : "--line");
      pen.beginPath();
      pen.moveTo(this.margin.left, y);
      pen.lineTo(this.margin.left + this.width, y);
      pen.stroke();
      pen.fillStyle = shade("--soft");
      pen.fillText(this.log ? `1e${tick}`.replace("-", "−") : tickText(tick, step, largest), this.margin.left - 6, y);
    }
    pen.save();
    pen.translate(11, this.margin.top + this.tall / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(this.yLabel(), 0, 0, this.tall + 40);
    pen.restore();
  }

  decades(count) {
    const every = Math.max(1, Math.ceil((this.high - this.low) / Math.max(count, 1)));
    const ticks = [];
    for (let power = Math.ceil(this.low); power <= this.high; power += every) ticks.push(power);
    return { ticks, step: every };
  }

  drawContent(pen) {
    for (const line of this.shown) {
      pen.strokeStyle = pen.fillStyle = line.colour;
      pen.lineWidth = line.thin ? 1 : 1.6;
      pen.setLineDash(line.dash ?? []);
      if (line.lower) this.fillArea(pen, line);
      else if (line.stems) this.drawStems(pen, line);
      else this.drawLine(pen, line);
      pen.setLineDash([]);
    }
  }

  drawLine(pen, line) {
    const [first, last] = this.visible(line);
    let down = false;
    pen.beginPath();
    for (let i = first; i < last; i += 1) {
      const [x, y] = [this.pixelOf(line.x[i]), this.heightOf(line.y[i])];
      if (!Number.isFinite(y) || !Number.isFinite(x)) down = false;
      else if (line.step && i > 0) {
        const before = this.pixelOf(line.x[i - 1]);
        if (down) pen.lineTo(before, y); else pen.moveTo(before, y);
        pen.lineTo(x, y);
        down = true;
      } else {
        if (down) pen.lineTo(x, y); else pen.moveTo(x, y);
        down = true;
      }
    }
    pen.stroke();
  }

  drawStems(pen, line) {
    const ground = this.heightOf(0);
    const [first, last] = this.visible(line);
    for (let i = first; i < last; i += 1) {
      const [x, y] = [this.pixelOf(line.x[i]), this.heightOf(line.y[i])];
      pen.beginPath();
      pen.moveTo(x, ground);
      pen.lineTo(x, y);
      pen.stroke();
      pen.beginPath();
      pen.arc(x, y, 2.6, 0, 7);
      pen.fill();
    }
  }

  fillArea(pen, line) {
    const [first, last] = this.visible(line);
    pen.beginPath();
    for (let i = first; i < last; i += 1) pen.lineTo(this.pixelOf(line.x[i]), this.heightOf(line.y[i]));
    for (let i = last - 1; i >= first; i -= 1) pen.lineTo(this.pixelOf(line.x[i]), this.heightOf(line.lower[i]));
    pen.fill();
  }

  drawCursor(pen, upright) {
    upright(this.pixelOf(this.cursor), [], shade("--soft"));
    for (const line of this.shown) {
      const i = this.found(line);
      if (i < 0) continue;
      pen.fillStyle = line.lower ? shade("--ink") : line.colour;
      pen.beginPath();
      pen.arc(this.pixelOf(line.x[i]), this.heightOf(line.y[i]), 3.5, 0, 7);
      pen.fill();
    }
  }

  // The point of a line nearest to the cursor.
  found(line) {
    if (!line.y.length || this.cursor === null) return -1;
    if (!line.unsorted) return nearest(line.x, this.cursor);
    const target = this.pointer ?? [this.pixelOf(this.cursor), this.margin.top + this.tall / 2];
    let [best, least] = [-1, Infinity];
    for (let i = 0; i < line.y.length; i += 1) {
      const away = (this.pixelOf(line.x[i]) - target[0]) ** 2 + (this.heightOf(line.y[i]) - target[1]) ** 2;
      if (away < least) [best, least] = [i, away];
    }
    return best;
  }

  words(x) {
    const quantity = this.xLabel.replace(/ \/ ([^/]+(?:\/s)?)$/, "");
    const unit = this.xLabel.slice(quantity.length + 3);
    const lines = [`${quantity} ${brief(x)} ${unit}`];
    for (const line of this.shown.slice(0, 10)) {
      const i = this.found(line);
      if (i < 0) continue;
      const value = line.part ? line.part[i] : line.y[i];
      if (line.unsorted) lines[0] = `${quantity} ${brief(line.x[i])} ${unit}`;
      lines.push(`${line.name}: ${brief(value)}`);
    }
    return lines;
  }

  reset() {
    this.yWindow = null;
    super.reset();
    this.ask();
  }

  // A phase portrait is zoomed in both directions.
  select(from, to) {
    if (this.shown.some((line) => line.unsorted) && Math.abs(to[1] - from[1]) > 6) {
      const value = (pixel) => this.low + (1 - (pixel - this.margin.top) / this.tall) * (this.high - this.low);
      this.yWindow = [value(from[1]), value(to[1])].sort((a, b) => a - b);
    }
    super.select(from, to);
  }
}
