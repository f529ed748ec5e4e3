// The stage: a scene that plays. Shapes are interpolated between frames; k exaggerates displacements from rest.

const VIRIDIS = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37],
];
const NONE = 0xffffffff;
const FOOT = 92; // px for names that stand upright

function heat(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const k = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const mixed = VIRIDIS[k].map((part, i) => Math.round(part + (place - k) * (VIRIDIS[k + 1][i] - part)));
  return `rgb(${mixed.join(",")})`;
}

class Stage {
  constructor(canvas, scene, exaggeration) {
    this.canvas = canvas;
    this.scene = scene;
    this.exaggeration = exaggeration;
    this.time = scene.time[0];
    this.places = scene.shapes.map((shape) => new Float64Array(2 * shape.count));
    this.limits = this.valueLimits();
    this.measure();
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
  }

  get exaggerated() { return this.scene.shapes.some((shape) => shape.rest !== null); }

  valueLimits() {
    let [low, high] = [Infinity, -Infinity];
    for (const { value } of this.scene.shapes) {
      if (value === null) continue;
      low = Math.min(low, value.low);
      high = Math.max(high, value.low + 65535 * value.step);
    }
    return low <= high ? [low, high] : null;
  }

  // The box around everything in all frames.
  measure() {
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    const take = (x, y) => {
      box[0] = Math.min(box[0], x);
      box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x);
      box[3] = Math.max(box[3], y);
    };
    this.scene.shapes.forEach((shape, k) => {
      for (let frame = 0; frame < shape.frames; frame += 1) {
        const places = this.placed(shape, k, frame, frame, 0);
        for (let i = 0; i < places.length; i += 2) take(places[i], places[i + 1]);
      }
    });
    for (const [x, y] of this.scene.labels) take(x, y);
    const size = Math.max(box[2] - box[0], box[3] - box[1]) || 1;
    const room = [0, 1].map((k) => 0.04 * Math.max(box[k + 2] - box[k], this.scene.equal ? size : 0.05 * size));
    this.box = [box[0] - room[0], box[1] - room[1], box[2] + room[0], box[3] + room[1]];
  }

  placed(shape, number, before, after, share) {
    const places = this.places[number];
    const { low, step, levels } = shape.points;
    const width = 2 * shape.count;
    const k = shape.rest === null ? 1 : this.exaggeration;
    for (let i = 0; i < width; i += 1) {
      const level = (1 - share) * levels[before * width + i] + share * levels[after * width + i];
      places[i] = (shape.rest === null ? 0 : shape.rest[i]) + k * (low + step * level);
    }
    return places;
  }

  show(time) {
    this.time = time;
    this.draw();
  }

  draw() {
    const host = this.canvas.parentElement;
    const wide = host.clientWidth;
    if (!wide) return;
    const high = Math.round(Math.min(this.scene.equal ? this.fittingHeight(wide) : 300, 460));
    const scale = globalThis.devicePixelRatio || 1;
    this.canvas.width = Math.round(wide * scale);
    this.canvas.height = Math.round(high * scale);
    this.canvas.style.height = `${high}px`;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = "12px system-ui, sans-serif";
    pen.lineJoin = pen.lineCap = "round";
    this.aim(wide, high, pen);
    const { time } = this.scene;
    const after = Math.min(Math.max(placeOf(time, this.time), 1), time.length - 1);
    const before = Math.max(after - 1, 0);
    const span = time[after] - time[before];
    const share = span > 0 ? Math.min(Math.max((this.time - time[before]) / span, 0), 1) : 1;
    this.scene.shapes.forEach((shape, k) => {
      const still = shape.frames === 1;
      const places = this.placed(shape, k, still ? 0 : before, still ? 0 : after, still ? 0 : share);
      this.paint(pen, shape, places, still ? 0 : (share < 0.5 ? before : after));
    });
    this.write(pen);
    this.scaleBar(pen, high);
  }

  fittingHeight(wide) {
    const [left, bottom, right, top] = this.box;
    return Math.max(180, (wide * (top - bottom)) / (right - left || 1));
  }

  aim(wide, whole, pen) {
    const [left, bottom, right, top] = this.box;
    const { labels } = this.scene;
    this.room = labels.length > 1 ? (Math.abs(labels[1][0] - labels[0][0]) * wide) / (right - left) : wide;
    this.upright = labels.some(([, , text]) => pen.measureText(text).width > 0.95 * this.room);
    const high = whole - (this.upright ? FOOT : 0);
    let across = wide / (right - left || 1);
    let up = high / (top - bottom || 1);
    if (this.scene.equal) across = up = Math.min(across, up);
    this.across = across;
    this.x = (x) => wide / 2 + across * (x - 0.5 * (left + right));
    this.y = (y) => high / 2 - up * (y - 0.5 * (bottom + top));
  }

  paint(pen, shape, places, frame) {
    const corners = shape.cells.length / Math.max(shape.polygons, 1);
    const colour = shade(shape.faint ? "--scenery" : "--body");
    pen.lineWidth = shape.faint ? 1.5 : shape.kind === "line" ? 2.5 : 1;
    for (let cell = 0; cell < shape.polygons; cell += 1) {
      pen.beginPath();
      for (let c = 0; c < corners; c += 1) {
        const point = shape.cells[cell * corners + c];
        if (point === NONE) continue;
        const [x, y] = [this.x(places[2 * point]), this.y(places[2 * point + 1])];
        if (shape.kind === "dots") {
          pen.moveTo(x + 3.5, y);
          pen.arc(x, y, 3.5, 0, 7);
        } else pen.lineTo(x, y);
      }
      const tone = shape.value === null ? colour : heat(this.share(shape, frame, cell));
      pen.fillStyle = pen.strokeStyle = tone;
      if (shape.kind === "line") { pen.stroke(); continue; }
      if (shape.kind === "polygon") {
        pen.closePath();
        pen.globalAlpha = shape.value === null ? (shape.faint ? 0.12 : 0.35) : 1;
        pen.fill();
        pen.globalAlpha = 1;
        pen.stroke();
      } else pen.fill();
    }
  }

  share(shape, frame, cell) {
    const { low, step, levels } = shape.value;
    const value = low + step * levels[frame * shape.polygons + cell];
    const [least, most] = this.limits;
    return most > least ? (value - least) / (most - least) : 0;
  }

  write(pen) {
    pen.fillStyle = shade("--soft");
    pen.textBaseline = "middle";
    if (this.upright && this.room < 11) return;
    for (const [x, y, text] of this.scene.labels) {
      let shown = text;
      while (this.upright && shown.length > 2 && pen.measureText(shown).width > FOOT) shown = `${shown.slice(0, -2)}…`;
      pen.save();
      pen.translate(this.x(x), this.y(y));
      if (this.upright) pen.rotate(-Math.PI / 2);
      pen.textAlign = this.upright ? "right" : "center";
      pen.fillText(shown, 0, 0);
      pen.restore();
    }
  }

  scaleBar(pen, high) {
    if (!this.scene.equal) return;
    const { step } = niceSteps(0, 110 / this.across, 1);
    pen.strokeStyle = pen.fillStyle = shade("--soft");
    pen.lineWidth = 2;
    pen.beginPath();
    pen.moveTo(10, high - 9);
    pen.lineTo(10 + step * this.across, high - 9);
    pen.stroke();
    pen.textAlign = "left";
    pen.textBaseline = "bottom";
    pen.fillText(`${brief(step)} m`, 10, high - 12);
  }
}
