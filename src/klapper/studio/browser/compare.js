// Two runs side by side: what was given and came out differently, books and verdicts, histories laid over each other.

import { Chart, Range, Timeline, element, lineShade, nearest, revived, timesOf } from "./charts.js";
import { ask, heading, link, mark, table } from "./api.js";

const SIDES = ["A", "B"];
const DASHES = [[], [7, 4]];
const MOST_CONTACTS = 10;

export async function showCompare(host, { a, b }) {
  const told = await ask("compare", { a, b });
  const histories = told.histories.map((each) => (each ? JSON.parse(JSON.stringify(each), revived) : null));
  host.append(
    heading("Two runs compared"),
    element("div", { class: "sides" }, ...told.sides.map(sideOf)),
    element("p", { class: "actions" }, link("Exchange A and B", "compare", { a: b, b: a }, { class: "button" }), link("← All runs", "", {}, { class: "button" })),
    given(told),
  );
  if (histories.every((each) => each && each.time.length)) host.append(overlaid(histories));
  else host.append(element("section", {}, element("h2", { text: "Histories" }), element("p", { text: "Results of examples keep no histories; runs of scenarios do." })));
  host.append(cameOut(told));
  if (told.ledger.length) host.append(books(told));
}

function sideOf(side, k) {
  const lines = element("details", {}, element("summary", { text: "Why" }), nested(side.lines));
  const warnings = side.warnings.length ? [element("ul", {}, ...side.warnings.map((text) => element("li", { text })))] : [];
  return element("section", { class: "side", "aria-label": `Run ${SIDES[k]}` },
    element("h2", {}, lineKey(k), link(side.title, "run", { path: side.path })),
    element("p", { class: "name path", text: side.path }),
    element("div", { class: `verdict ${side.verdict}` }, mark(side.verdict), " ", element("strong", { text: side.sentence }), ...warnings, lines));
}

// The letter of a run with its kind of line.
function lineKey(k) {
  return element("span", { class: `side-key side-${SIDES[k].toLowerCase()}`, text: SIDES[k] });
}

function nested(value) {
  if (typeof value !== "object" || value === null) return document.createTextNode(String(value));
  return element("dl", {}, ...Object.entries(value).flatMap(([name, entry]) => [element("dt", { text: name }), element("dd", {}, nested(entry))]));
}

const titles = (first, last) => [first, "A", "B", ...(last ? [last] : [])];

function given({ parameters, equal_parameters: equal }) {
  const rows = parameters.map((row) => [element("span", { class: "name", text: row.name }), row.a, row.b]);
  const rest = equal ? `${equal} parameter${equal > 1 ? "s are" : " is"} equal.` : "";
  return element("section", {}, element("h2", { text: "Given differently" }),
    rows.length ? table(titles("parameter"), rows, ["", "value", "value"], "Parameters that differ") : element("p", { text: "All parameters are equal." }),
    rows.length ? element("p", { class: "hint", text: rest }) : "");
}

function cameOut({ numbers, left_out: leftOut }) {
  const place = element("div", {});
  const box = element("input", { type: "checkbox" });
  const draw = () => {
    const rows = numbers.filter((row) => box.checked || row.differs).map((row) => [row.name, row.a, row.b, row.more]);
    place.replaceChildren(rows.length ? table(titles("number", "B − A"), rows, ["", "number", "number", "number"], "Numbers of both runs") : element("p", { text: "All numbers are equal." }));
  };
  box.addEventListener("change", draw);
  draw();
  const equal = numbers.filter((row) => !row.differs).length;
  const parts = [element("h2", { text: "Came out differently" }), place];
  if (equal) parts.splice(1, 0, element("p", {}, element("label", {}, box, ` Show the ${equal} numbers that are equal to nine digits, too`)));
  if (leftOut) parts.push(element("p", { class: "hint", text: `${leftOut} more numbers are left out.` }));
  return element("section", {}, ...parts);
}

function books({ ledger, sides }) {
  const rows = ledger.map((row) => [row.name, row.a, row.b, row.more]);
  const verdicts = sides.map((side, k) => element("p", { class: "hint", text: `${SIDES[k]}: ${side.lines.energy ?? "no ledger"}` }));
  return element("section", {}, element("h2", { text: "Energy at the end / J" }), table(titles("part", "B − A"), rows, ["", "number", "number", "number"], "Energy ledgers of both runs"), ...verdicts);
}

// What can be laid over each other: for each quantity the lines by name, in both runs.
function quantities(histories) {
  const over = (line, data) => ({ x: timesOf(line.at, data.time), y: line.value });
  const lines = (pick) => histories.map((data) => new Map(pick(data)));
  const found = {
    positions: { unit: "position / m or rad", sides: lines((data) => data.position.map((line) => [line.name, over(line, data)])) },
    velocities: { unit: "velocity / m/s or rad/s", sides: lines((data) => data.velocity.map((line) => [line.name, over(line, data)])) },
    gaps: { unit: "gap / m", sides: lines((data) => data.contacts.map((contact) => [contact.name, over(contact.gap, data)])) },
  };
  histories[0].directions.forEach((direction, d) => {
    const forces = (data) => data.contacts.filter((contact) => contact.force[d]).map((contact) => [contact.name, { ...over(contact.force[d], data), step: contact.force[d].at === null }]);
    found[`${direction} forces`] = { unit: `${direction} force / N`, sides: lines(forces) };
  });
  found.energies = { unit: "energy / J", sides: lines((data) => data.energy.parts.map((part) => [part.title, { x: timesOf(data.energy.at, data.time), y: part.value }])) };
  found.spectra = { unit: "amplitude / m or rad", frequency: true, sides: lines((data) => data.spectrum.map((entry) => [entry.name, { x: entry.frequency, y: entry.amplitude }])) };
  return Object.entries(found).filter(([, { sides }]) => sides.some((side) => side.size));
}

// The line whose two courses are farthest apart, measured by their range.
function mostDifferent(names, sides) {
  const apart = (name) => {
    const [a, b] = sides.map((side) => side.get(name));
    if (!a?.x.length || !b?.x.length) return -1;
    let [low, high, most] = [Infinity, -Infinity, 0];
    for (let k = 0; k <= 200; k += 1) {
      const x = a.x[0] + (k / 200) * (a.x[a.x.length - 1] - a.x[0]);
      const values = [a, b].map((line) => line.y[nearest(line.x, x)]);
      if (!values.every(Number.isFinite)) continue;
      [low, high] = [Math.min(low, ...values), Math.max(high, ...values)];
      most = Math.max(most, Math.abs(values[0] - values[1]));
    }
    return high > low ? most / (high - low) : 0;
  };
  return names.reduce((best, name) => (apart(name) > apart(best) ? name : best), names[0]);
}

function overlaid(histories) {
  const ends = (pick) => histories.map((data) => pick(data.time));
  const time = new Range(Math.min(...ends((t) => t[0])), Math.max(...ends((t) => t[t.length - 1])));
  const highest = Math.max(0, ...histories.flatMap((data) => data.spectrum.map((entry) => entry.relevant)));
  const frequency = new Range(0, highest || 1);
  const all = quantities(histories);
  const part = element("section", {}, element("h2", { text: "Histories laid over each other" }));
  const controls = element("div", { class: "controls" });
  const names = element("fieldset", { class: "chooser" });
  const plots = element("div", {});
  part.append(controls, names, plots);
  let [shown, chosen, chart] = [0, new Set(), null];
  const lines = () => [...chosen].flatMap((name, place) => all[shown][1].sides.flatMap((side, k) => (side.has(name)
    ? [{ name: `${name} (${SIDES[k]})`, ...side.get(name), colour: lineShade(chosen.size > 1 ? place : k), dash: DASHES[k] }]
    : [])));
  const turn = (k) => {
    shown = k;
    const listed = [...new Set(all[k][1].sides.flatMap((side) => [...side.keys()]))];
    chosen = new Set([mostDifferent(listed, all[k][1].sides)]);
    names.replaceChildren(element("legend", { text: "Lines; A is solid, B is dashed" }), ...listed.map(chip));
    plots.replaceChildren();
    chart = new Chart(plots, {
      label: `Histories of both runs: ${all[k][0]}`,
      window: all[k][1].frequency ? frequency : time,
      xLabel: all[k][1].frequency ? "frequency / Hz" : "time / s",
      height: 320,
      zero: all[k][1].frequency ?? false,
      yLabel: () => all[k][1].unit,
      lines,
    });
  };
  const chip = (name) => {
    const box = element("input", { type: "checkbox" });
    box.checked = chosen.has(name);
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(name); else chosen.delete(name);
      chart.ask();
    });
    return element("label", { class: "chip" }, box, element("span", { text: name }));
  };
  const list = element("select", {}, ...all.map(([name], k) => element("option", { value: String(k), text: name })));
  list.addEventListener("change", () => turn(Number(list.value)));
  controls.append(element("label", {}, "Show ", list));
  turn(0);
  part.append(...states(histories, time));
  part.append(element("p", { class: "hint", text: "Drag across a plot to zoom, double-click to see all; with the keyboard: arrows, plus, minus and 0." }));
  return part;
}

// The states of each contact in both runs, one row under the other.
function states(histories, window) {
  const moves = (contact) => contact.code.some((state) => state !== contact.code[0]) || contact.code[0] > 0 || contact.hit_time.length > 0;
  const every = [...new Set(histories.flatMap((data) => data.contacts.map((contact) => contact.name)))];
  const moving = every.filter((name) => histories.some((data) => data.contacts.some((contact) => contact.name === name && moves(contact))));
  const names = moving.slice(0, MOST_CONTACTS);
  const leftOut = every.length - names.length;
  if (!every.length) return [];
  if (!names.length) return [element("h3", { text: "States of the contacts" }), element("p", { text: "All contacts stay open in both runs." })];
  const rows = names.flatMap((name) => histories.flatMap((data, k) => data.contacts.filter((contact) => contact.name === name).map((contact) => ({ ...contact, name: `${SIDES[k]} ${name}` }))));
  const friction = histories[0].directions.length > 1;
  const keys = (friction ? ["open", "stick", "slip", "impact"] : ["open", "stick", "impact"]).map((state) => {
    const swatch = element("span", { class: "swatch area" });
    swatch.dataset.state = state;
    return element("span", { class: "key" }, swatch, friction || state !== "stick" ? state : "closed");
  });
  const place = element("div", {});
  new Timeline(place, { label: "States of the contacts in both runs; up and down choose the row", window, contacts: rows, directions: histories[0].directions });
  const more = leftOut ? [element("p", { class: "hint", text: `${leftOut} contact${leftOut > 1 ? "s are" : " is"} left out${moving.length > names.length ? "" : ": open all the time in both runs"}.` })] : [];
  return [element("h3", { text: "States of the contacts" }), element("div", { class: "legend" }, ...keys), place, ...more];
}
