// The page: reads its data and fills its sections. All texts are set as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent, revived);
const window_ = new Range(data.time[0] ?? 0, data.time[data.time.length - 1] ?? 1);
const host = (name) => document.getElementById(name);

// Check boxes for names; calls back when the choice changes.
function chooser(place, title, names, chosen, changed) {
  if (names.length < 2) return;
  const boxes = names.map((name, k) => {
    const box = element("input", { type: "checkbox" });
    box.checked = chosen.has(k);
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(k); else chosen.delete(k);
      changed();
    });
    return { box, k, chip: element("label", { class: "chip" }, box, element("span", { text: name })) };
  });
  const all = (wanted) => () => {
    for (const { box, k } of boxes) {
      box.checked = wanted;
      if (wanted) chosen.add(k); else chosen.delete(k);
    }
    changed();
  };
  const field = element("fieldset", { class: "chooser" }, element("legend", { text: title }), ...boxes.map(({ chip }) => chip));
  if (names.length > 2) {
    for (const [words, wanted] of [["all", true], ["none", false]]) {
      const button = element("button", { type: "button", class: "small", text: words, "aria-label": `${title}: ${words}` });
      button.addEventListener("click", all(wanted));
      field.append(button);
    }
  }
  place.append(field);
}

function select(place, title, names, changed) {
  const list = element("select", {}, ...names.map((name, k) => element("option", { value: String(k), text: name })));
  list.addEventListener("change", () => changed(Number(list.value)));
  place.append(element("label", { class: "choice" }, `${title} `, list));
  return list;
}

function drawMotion() {
  const chosen = new Set(data.position.map((_, k) => k).slice(0, 5));
  let quantity = 0;
  const kinds = [["position", "position / m or rad"], ["velocity", "velocity / m/s or rad/s"]];
  const place = host("histories");
  const controls = element("div", { class: "controls" });
  place.append(controls);
  const chart = new Chart(place, {
    label: "Time histories of the chosen coordinates",
    window: window_,
    height: 300,
    yLabel: () => kinds[quantity][1],
    lines: () => [...chosen].sort((a, b) => a - b).filter((k) => k < data[kinds[quantity][0]].length).map((k) => {
      const line = data[kinds[quantity][0]][k];
      return { name: line.name, x: timesOf(line.at, data.time), y: line.value, colour: lineShade(k), dash: k % 14 > 6 ? [6, 3] : [] };
    }),
  });
  select(controls, "Show", ["positions", "velocities"], (k) => {
    quantity = k;
    chart.ask();
  });
  chooser(place, "Coordinates", data.position.map((line) => line.name), chosen, () => chart.ask());
}

function drawPhase() {
  if (!data.phase.length) return;
  let shown = 0;
  const place = host("phase");
  const controls = element("div", { class: "controls" });
  place.append(controls);
  const range = new Range(0, 1);
  const turn = (k) => {
    shown = k;
    const known = data.phase[k].x.filter(Number.isFinite);
    const [low, high] = [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), -Infinity)];
    const room = 0.06 * (high - low || Math.abs(high) || 1);
    range.whole = [low - room, high + room];
    chart.xLabel = `${data.phase[k].name} / m or rad`;
    chart.reset();
  };
  const chart = new Chart(place, {
    label: "Phase portrait: velocity over position",
    window: range,
    xLabel: "",
    height: 320,
    silent: true,
    yLabel: () => `velocity of ${data.phase[shown].velocity} / m/s or rad/s`,
    lines: () => {
      const { x, y } = data.phase[shown];
      return [{ name: "velocity", x, y, colour: lineShade(shown), unsorted: true, thin: true }];
    },
  });
  select(controls, "Coordinate", data.phase.map((entry) => entry.name), turn);
  turn(0);
}

function drawSpectrum() {
  if (!data.spectrum.length) {
    host("spectrum").append(element("p", { text: "The run is too short for a spectrum." }));
    return;
  }
  const chosen = new Set([0]);
  let log = false;
  const place = host("spectrum");
  const controls = element("div", { class: "controls" });
  place.append(controls);
  const { frequency } = data.spectrum[0];
  const range = new Range(0, frequency[frequency.length - 1]);
  range.set(0, Math.max(...data.spectrum.map((entry) => entry.relevant)));
  const chart = new Chart(place, {
    label: "Amplitude spectrum of the chosen coordinates",
    window: range,
    xLabel: "frequency / Hz",
    zero: true,
    logarithmic: () => log,
    yLabel: () => "amplitude / m or rad",
    lines: () => [...chosen].sort((a, b) => a - b).map((k) => {
      const entry = data.spectrum[k];
      return { name: entry.name, x: entry.frequency, y: entry.amplitude, colour: lineShade(k) };
    }),
  });
  select(controls, "Scale", ["linear", "logarithmic"], (k) => {
    log = k === 1;
    chart.ask();
  });
  chooser(place, "Spectra of", data.spectrum.map((entry) => entry.name), chosen, () => chart.ask());
}

function drawContacts() {
  const place = host("contacts");
  if (!data.contacts.length) {
    place.append(element("p", { text: "This run has no contacts." }));
    return;
  }
  const friction = data.directions.length > 1;
  const names = friction ? STATES.map((state) => state.name) : ["open", "closed", null, "impact"];
  const legend = element("div", { class: "legend" }, ...STATES.map((state, k) => {
    const swatch = element("span", { class: "swatch area" });
    swatch.dataset.state = state.name;
    return names[k] === null ? "" : element("span", { class: "key" }, swatch, names[k]);
  }));
  place.append(element("h3", { text: "States" }), legend);
  new Timeline(place, { label: "States of the contacts over time, one row per contact; up and down choose the row", window: window_, contacts: data.contacts, directions: data.directions });
  const chosen = new Set(data.contacts.map((_, k) => k).slice(0, 4));
  const charts = [];
  chooser(place, "Contacts in the plots below", data.contacts.map((contact) => contact.name), chosen, () => charts.forEach((chart) => chart.ask()));
  const pick = (line) => () => [...chosen].sort((a, b) => a - b).map((k) => ({ colour: lineShade(k), name: data.contacts[k].name, ...line(data.contacts[k]) }));
  const over = (line, rest = {}) => ({ x: timesOf(line.at, data.time), y: line.value, ...rest });
  let direction = 0;
  place.append(element("h3", { text: "Gaps" }));
  charts.push(new Chart(place, { label: "Gaps of the chosen contacts", window: window_, zero: true, yLabel: () => "gap / m", lines: pick((contact) => over(contact.gap)) }));
  place.append(element("h3", { text: "Forces" }));
  const controls = element("div", { class: "controls" });
  if (friction) place.append(controls);
  charts.push(new Chart(place, {
    label: "Forces of the chosen contacts; none while they are hit",
    window: window_,
    zero: true,
    yLabel: () => `${data.directions[direction]} force / N`,
    lines: pick((contact) => over(contact.force[direction], { step: contact.force[direction].at === null })),
  }));
  if (data.contacts.some((contact) => contact.hit_time.length)) {
    place.append(element("h3", { text: "Impulses of the impacts" }));
    charts.push(new Chart(place, {
      label: "Impulses of the impacts of the chosen contacts",
      window: window_,
      zero: true,
      yLabel: () => `${data.directions[direction]} impulse / N s`,
      lines: pick((contact) => ({ x: contact.hit_time, y: contact.hit_impulse[direction], stems: true })),
    }));
  }
  if (friction) {
    select(controls, "Direction", data.directions, (k) => {
      direction = k;
      charts.forEach((chart) => chart.ask());
    });
  }
}

function drawEnergy() {
  const { parts, target, residual, at } = data.energy;
  const time = timesOf(at, data.time);
  const place = host("energy");
  let lower = new Float64Array(time.length);
  const areas = [];
  for (const part of parts) {
    const upper = Float64Array.from(part.value, (value, i) => lower[i] + value);
    areas.push({ name: part.title, x: time, y: upper, lower, part: part.value, key: part.name, seen: part.seen });
    lower = upper;
  }
  const goal = data.energy.driven ? "start + work of the loads" : "energy at the start";
  new Chart(place, {
    label: "Energy ledger as stacked areas; their sum has to meet the dashed line",
    window: window_,
    height: 300,
    zero: true,
    yLabel: () => "energy / J",
    lines: () => [
      ...areas.filter((area) => area.seen).map((area) => ({ ...area, colour: shade(`--energy-${area.key}`) })),
      { name: goal, x: time, y: target, colour: shade("--ink"), dash: [6, 4] },
    ],
  });
  place.append(element("h3", { text: "What is missing in the books" }));
  new Chart(place, {
    label: "Closing error of the ledger",
    window: window_,
    height: 150,
    silent: true,
    zero: true,
    yLabel: () => "error / J",
    lines: () => [{ name: "error", x: time, y: residual, colour: shade("--ink"), thin: true }],
  });
}

function windowControls() {
  const place = host("window");
  const fields = ["from", "to"].map((word) => {
    const input = element("input", { type: "number", step: "any", "aria-label": `Time window ${word}, in seconds` });
    place.append(element("label", {}, `${word} `, input));
    return input;
  });
  place.append(" s ");
  const told = () => {
    fields[0].value = String(Number(window_.low.toPrecision(6)));
    fields[1].value = String(Number(window_.high.toPrecision(6)));
  };
  for (const field of fields) field.addEventListener("change", () => window_.set(Number(fields[0].value), Number(fields[1].value)));
  for (const [sign, words, act] of [
    ["+", "Zoom in", () => window_.zoom(0.5)],
    ["−", "Zoom out", () => window_.zoom(2)],
    ["◀", "Earlier", () => window_.pan(-0.5)],
    ["▶", "Later", () => window_.pan(0.5)],
    ["all", "Show the whole run", () => window_.reset()],
  ]) {
    const button = element("button", { type: "button", class: "small", text: sign, "aria-label": words, title: words });
    button.addEventListener("click", act);
    place.append(button);
  }
  window_.followers.push(told);
  told();
}

function offerData() {
  const button = host("download");
  button.addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([table(data)], { type: "text/csv" }));
    const link = element("a", { href: address, download: button.dataset.file });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  });
}

function showTime(time) {
  for (const panel of PANELS) {
    if (panel.window !== window_) continue;
    panel.now = time;
    panel.drawOver();
  }
}

if (data.time.length) {
  windowControls();
  drawMotion();
  drawPhase();
  drawContacts();
  drawEnergy();
  drawSpectrum();
}
const player = data.scene ? new Player(host("animation"), data.scene, showTime) : null;
offerData();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const panel of PANELS) panel.ask();
  if (player) player.stage.draw();
});
