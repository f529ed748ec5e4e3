// A study as a map: any output over any two parameters, each point told when it is pointed at; and the figures of its file.

import { Chart, Range, brief, element, lineShade, shade } from "./charts.js";
import { ask, heading, link, table, trouble } from "./api.js";

const VIRIDIS = [[68, 1, 84], [62, 74, 137], [38, 130, 142], [53, 183, 121], [180, 222, 44], [253, 231, 37]];
const SHOWN_ROWS = 200;

function ramp(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const k = Math.min(Math.floor(place), VIRIDIS.length - 2);
  return `rgb(${VIRIDIS[k].map((low, i) => Math.round(low + (place - k) * (VIRIDIS[k + 1][i] - low))).join(",")})`;
}

// Edges halfway between neighbouring values, so that cells of a grid touch.
function edges(values) {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const half = (k) => (sorted[k] + sorted[k + 1]) / 2;
  const width = sorted.length > 1 ? sorted[1] - sorted[0] : Math.abs(sorted[0]) || 1;
  return new Map(sorted.map((value, k) => [value, [
    k > 0 ? half(k - 1) : value - (sorted.length > 1 ? half(0) - sorted[0] : width / 2),
    k < sorted.length - 1 ? half(k) : value + (k > 0 ? value - half(k - 1) : width / 2),
  ]]));
}

class FieldMap extends Chart {
  constructor(host, options) {
    super(host, options);
    this.field = options.field;
  }

  drawContent(pen) {
    const { x, y, value, colour, code, cells } = this.field();
    const [across, up] = cells ? [edges(x), edges(y)] : [];
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let i = 0; i < x.length; i += 1) {
      pen.fillStyle = colour(value[i]);
      if (!cells) {
        pen.beginPath();
        pen.arc(this.pixelOf(x[i]), this.heightOf(y[i]), 4.5, 0, 7);
        pen.fill();
        continue;
      }
      const [left, right] = across.get(x[i]).map((edge) => this.pixelOf(edge));
      const [bottom, top] = up.get(y[i]).map((edge) => this.heightOf(edge));
      pen.fillRect(left, top, right - left + 0.6, bottom - top + 0.6);
      if (value[i] === null || (code && right - left > 16 && bottom - top > 14)) {
        pen.fillStyle = shade(value[i] === null ? "--soft" : "--paper");
        pen.fillText(value[i] === null ? "×" : code(value[i]), (left + right) / 2, (top + bottom) / 2);
      }
    }
  }

  words() {
    const { x, y, value, names } = this.field();
    const i = this.found({ ...this.shown[0], unsorted: true });
    if (i < 0) return [];
    const told = value[i] === null ? "no value" : typeof value[i] === "number" ? brief(value[i]) : value[i];
    return [`${names.value}: ${told}`, `${names.x}: ${brief(x[i])}`, `${names.y}: ${brief(y[i])}`];
  }

  // The keys go from point to point.
  step(direction) {
    const line = this.shown[0];
    this.at = Math.min(Math.max((this.at ?? -1) + direction, 0), line.x.length - 1);
    this.cursor = line.x[this.at];
    this.pointer = [this.pixelOf(line.x[this.at]), this.heightOf(line.y[this.at])];
    this.drawOver();
    this.readout.textContent = this.words().join("; ");
  }
}

export async function showStudy(host, { path }) {
  const study = await ask("study", { path });
  const counts = Object.entries(study.counts).filter(([, count]) => count).map(([state, count]) => `${count} points ${state}`).join(", ");
  host.append(heading(study.title), element("p", { class: "name path", text: path }));
  host.append(element("div", { class: `verdict ${study.glance.verdict}` }, element("strong", { text: counts ? `${counts}.` : study.glance.sentence })));
  if (study.note) host.append(element("p", { class: "hint", text: study.note }));
  if (!study.points) {
    host.append(element("p", {}, "Nothing is computed yet: ", element("code", { text: `klapper study ${path}` }), " computes it."));
  } else {
    host.append(mapOf(study.points));
  }
  if (study.figures.length) host.append(figures(path, study.figures));
  if (study.points) host.append(points(study.points));
  const constants = Object.entries(study.constants);
  if (constants.length) host.append(element("section", {}, element("h2", { text: "Held fixed" }), table(["parameter", "value"], constants, ["name", "value"], "Parameters that do not vary")));
  host.append(element("p", { class: "actions" }, link("← All runs", "", {}, { class: "button" })));
}

function mapOf({ parameters, outputs, columns, units, status, left_out: leftOut }) {
  const part = element("section", {}, element("h2", { text: "Map" }));
  const numeric = (name) => columns[name].some((value) => typeof value === "number") && columns[name].every((value) => value === null || typeof value === "number");
  const axes = [...parameters, ...outputs].filter(numeric);
  if (axes.length < 2 || !outputs.length) {
    part.append(element("p", { text: "A map needs two numbers to spread the points over; the table below holds them all." }));
    return part;
  }
  const wish = { x: axes[0], y: axes[1], value: outputs.find((name) => name !== axes[1]) ?? outputs[0] };
  const label = (name) => (units[name] ? `${name} / ${units[name]}` : name);
  const controls = element("div", { class: "controls" });
  const place = element("div", {});
  const legend = element("div", { class: "legend map-legend" });
  part.append(controls, place, legend);
  let now;
  const arrange = () => {
    const kept = columns[wish.x].map((_, i) => i).filter((i) => columns[wish.x][i] !== null && columns[wish.y][i] !== null);
    const [x, y, value] = [wish.x, wish.y, wish.value].map((name) => kept.map((i) => columns[name][i]));
    const state = kept.map((i) => status[i]);
    const grid = new Set(x).size * new Set(y).size;
    const texts = [...new Set(value.filter((entry) => typeof entry === "string"))].sort();
    const numbers = value.filter((entry) => typeof entry === "number");
    const [low, high] = [numbers.reduce((a, b) => Math.min(a, b), Infinity), numbers.reduce((a, b) => Math.max(a, b), -Infinity)];
    const colour = (entry) => {
      if (entry === null) return shade("--panel");
      return texts.length ? lineShade(texts.indexOf(entry)) : ramp(high > low ? (entry - low) / (high - low) : 0.5);
    };
    const short = texts.every((text) => text.length <= 4);
    const code = texts.length ? (entry) => (short ? entry : String(texts.indexOf(entry) + 1)) : null;
    now = { x, y, value, state, colour, code, cells: grid <= 1.5 * x.length, names: { x: label(wish.x), y: label(wish.y), value: label(wish.value) } };
    legend.replaceChildren(...(texts.length ? texts.map((text, k) => key(lineShade(k), short ? text : `${k + 1} ${text}`)) : scale(low, high, label(wish.value))));
    if (value.includes(null)) legend.append(element("span", { class: "key", text: "× without a value" }));
  };
  const draw = () => {
    arrange();
    place.replaceChildren();
    const margin = (values) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const room = now.cells ? (high - low) / Math.max(new Set(values).size - 1, 1) / 2 : 0.05 * (high - low);
      return [low - (room || 0.5), high + (room || 0.5)];
    };
    const chart = new FieldMap(place, {
      label: `Map of ${now.names.value} over ${now.names.x} and ${now.names.y}`,
      window: new Range(...margin(now.x)),
      xLabel: now.names.x,
      height: 420,
      silent: true,
      yLabel: () => now.names.y,
      field: () => now,
      lines: () => [{ name: now.names.value, x: now.x, y: now.y, colour: shade("--ink"), unsorted: true }],
    });
    chart.yWindow = margin(now.y);
    chart.reset = () => chart.window.reset();
  };
  const choice = (title, key_, names) => {
    const list = element("select", {}, ...names.map((name) => {
      const option = element("option", { value: name, text: label(name) });
      option.selected = name === wish[key_];
      return option;
    }));
    list.addEventListener("change", () => {
      wish[key_] = list.value;
      draw();
    });
    controls.append(element("label", {}, `${title} `, list));
  };
  choice("Colour", "value", [...outputs, ...parameters]);
  choice("across", "x", axes);
  choice("up", "y", axes);
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", arrange);
  if (leftOut) part.append(element("p", { class: "hint", text: `${leftOut} more points are in the store.` }));
  return part;
}

function key(colour, text) {
  const swatch = element("span", { class: "swatch area" });
  swatch.style.background = colour;
  return element("span", { class: "key" }, swatch, text);
}

function scale(low, high, name) {
  if (!(low <= high)) return [element("span", { text: `${name}: no values yet` })];
  return [element("span", { text: brief(low, 3) }), element("span", { class: "ramp" }), element("span", { text: brief(high, 3) }), element("span", { text: name })];
}

function figures(path, list) {
  const made = list.map(({ name, words }) => {
    const image = element("img", { alt: words, src: `figure.svg?${new URLSearchParams({ path, figure: name })}`, loading: "lazy" });
    const figure = element("figure", {}, image, element("figcaption", { text: words }));
    image.addEventListener("error", async () => {
      const answer = await fetch(image.src).then((response) => response.json()).catch(() => ({}));
      figure.replaceChildren(trouble(answer.message ?? "This figure cannot be drawn."));
    });
    return figure;
  });
  return element("section", {}, element("h2", { text: "Figures" }), ...made);
}

function points({ parameters, outputs, columns, units, status }) {
  const names = [...parameters, ...outputs];
  const rows = status.slice(0, SHOWN_ROWS).map((state, i) => [...names.map((name) => {
    const value = columns[name][i];
    return value === null ? "–" : typeof value === "number" ? brief(value) : value;
  }), state]);
  const titles = [...names.map((name) => (units[name] ? `${name} / ${units[name]}` : name)), "status"];
  const more = status.length > SHOWN_ROWS ? [element("p", { class: "hint", text: `The first ${SHOWN_ROWS} of ${status.length} points.` })] : [];
  return element("details", { class: "card" }, element("summary", { text: "The points as a table" }), table(titles, rows, names.map((name) => (typeof columns[name][0] === "number" ? "number" : "")), "Points of the study"), ...more);
}
