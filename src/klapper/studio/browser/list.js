// Everything in the folder: runs with their verdict, scenarios, studies. Two runs are chosen here to be compared.

import { element } from "./charts.js";
import { ask, button, heading, link, mark, moment, route, tell, trouble } from "./api.js";
import { progressOf } from "./progress.js";

const AT_ONCE = 4;
const chosen = new Set(); // stays while the reader looks elsewhere

export async function showList(host) {
  const found = await ask("list");
  const kinds = { runs: ["run", "result"], scenarios: ["scenario"], studies: ["study", "store"] };
  const of = (name) => found.entries.filter((entry) => kinds[name].includes(entry.kind));
  for (const path of chosen) if (!of("runs").some((entry) => entry.path === path)) chosen.delete(path);
  const rows = [];
  const queue = [];
  const section = (id, title, entries, make, empty) => {
    const made = entries.map(make);
    rows.push(...made);
    const list = made.length ? element("ul", { class: "entries" }, ...made.map((row) => row.item)) : element("p", { class: "empty", text: empty });
    return element("section", { "aria-labelledby": id }, element("h2", { id, text: made.length ? `${title} (${made.length})` : title }), list);
  };
  const entryRow = (settings) => (entry) => {
    const row = rowOf(entry, settings);
    queue.push(row);
    return row;
  };
  const bar = compareBar();
  const running = new Map(found.jobs.filter((job) => job.state === "running" || job.state === "cancelling").map((job) => [job.out, job]));
  const runs = section("runs", "Runs", of("runs"), entryRow({ view: "run", choose: bar.update, running }), "No run yet: start a scenario below.");
  const scenarios = section("scenarios", "Scenarios", of("scenarios"), entryRow({ view: "scenario", action: "Edit and run" }), "No scenario yet: begin with a starter.");
  scenarios.append(newScenario(found.kinds));
  const studies = of("studies").length ? [section("studies", "Studies", of("studies"), entryRow({ view: "study" }), "")] : [];
  const jobs = underWay(found.jobs);
  host.append(heading(`Runs and scenarios in ${found.folder}`), filter(rows));
  if (!found.complete) host.append(element("p", { class: "hint", text: "The folder holds very much: only a part is listed. Open the studio on a smaller folder." }));
  host.append(...jobs.parts, runs, bar.part, scenarios, ...studies);
  bar.update();
  let gone = false;
  for (let k = 0; k < AT_ONCE; k += 1) readNext(queue, () => gone);
  return () => {
    gone = true;
    jobs.stop();
  };
}

async function readNext(queue, gone) {
  while (queue.length && !gone()) await queue.shift().read();
}

function rowOf(entry, { view, action, choose, running }) {
  const sign = element("span", { class: "sign" }, mark("reading"));
  const title = link(entry.path, view, { path: entry.path }, { class: "title" });
  const path = element("span", { class: "name path", text: entry.path });
  const sentence = element("span", { class: "sentence" });
  const facts = element("span", { class: "facts", text: moment(entry.when) });
  const text = element("div", { class: "text" }, element("div", { class: "first" }, title, path), sentence, facts);
  const item = element("li", { class: "entry" }, sign, text);
  const row = { item, words: entry.path.toLowerCase() };
  if (choose) {
    const box = element("input", { type: "checkbox" });
    box.checked = chosen.has(entry.path);
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(entry.path); else chosen.delete(entry.path);
      choose();
    });
    const spoken = element("span", { text: "compare" });
    item.append(element("label", { class: "choose" }, box, spoken, element("span", { class: "spoken", text: ` ${entry.path}` })));
  }
  if (action) item.append(link(action, view, { path: entry.path }, { class: "button", "aria-label": `${action} ${entry.path}` }));
  row.read = async () => {
    const job = running?.get(entry.path);
    if (job) {
      sign.replaceChildren(mark("running"));
      title.textContent = entry.path;
      title.href = route("job", { number: job.number });
      path.remove();
      sentence.textContent = "It is being computed.";
      return;
    }
    try {
      const glance = await ask("glance", { path: entry.path });
      const ready = entry.kind === "scenario" && glance.verdict === "none";
      sign.replaceChildren(mark(ready ? "ready" : glance.verdict));
      title.textContent = glance.title;
      if (glance.title === entry.path) path.remove();
      sentence.textContent = ready ? "" : [glance.sentence, ...glance.warnings.slice(0, 2)].join(" ");
      facts.textContent = [moment(entry.when), ...glance.facts].join(" · ");
      row.words = `${entry.path} ${glance.title} ${glance.sentence} ${facts.textContent}`.toLowerCase();
    } catch (error) {
      sign.replaceChildren(mark("failed"));
      sentence.textContent = error.message;
    }
  };
  return row;
}

function filter(rows) {
  const field = element("input", { type: "search", placeholder: "rotor, failed, today …" });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.item.hidden = !words.every((word) => row.words.includes(word));
  });
  return element("p", { class: "filter" }, element("label", {}, "Find ", field));
}

function compareBar() {
  const words = element("span", {});
  const go = element("a", { class: "button main", text: "Compare the two" });
  const none = button("Choose none", () => {
    chosen.clear();
    for (const box of document.querySelectorAll(".choose input")) box.checked = false;
    update();
  }, { class: "small" });
  const part = element("div", { class: "compare-bar", role: "region", "aria-label": "Comparison" }, words, go, none);
  function update() {
    const [a, b] = chosen;
    part.hidden = chosen.size === 0;
    go.hidden = chosen.size !== 2;
    none.hidden = !chosen.size;
    words.textContent = chosen.size === 2 ? `${a} and ${b}` : chosen.size === 1 ? `${a}: choose one more run` : `${chosen.size} runs are chosen: two can be compared`;
    if (chosen.size === 2) go.href = route("compare", { a, b });
  }
  return { part, update };
}

function newScenario(kinds) {
  const kind = element("select", {}, ...Object.entries(kinds).map(([name, helps]) => element("option", { value: name, text: `${name}: ${helps}` })));
  const file = element("input", { type: "text", value: "my.toml", spellcheck: "false", autocapitalize: "off" });
  const told = element("div", {});
  const form = element("form", { class: "new" },
    element("label", {}, element("span", { text: "Kind" }), kind),
    element("label", {}, element("span", { text: "File" }), file),
    element("button", { type: "submit", text: "Begin a scenario" }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = file.value.trim();
    const path = name.endsWith(".toml") ? name : `${name}.toml`;
    try {
      await tell("begin", { path, kind: kind.value });
      location.hash = route("scenario", { path });
    } catch (error) {
      told.replaceChildren(trouble(error.message));
    }
  });
  return element("details", { class: "card" }, element("summary", { text: "New scenario from a commented starter" }), form, told);
}

// Runs that this session started: those under way with their progress, the others as a line.
function underWay(jobs) {
  const again = () => {
    if (document.activeElement === document.body || document.activeElement?.tagName === "H1") dispatchEvent(new Event("hashchange"));
  };
  const running = jobs.filter((job) => job.state === "running" || job.state === "cancelling");
  if (!running.length) return { parts: [], stop: () => {} };
  const shown = running.map((job) => progressOf(job.number, { ended: again }));
  const items = shown.map((each, k) => element("li", { class: "card" }, element("p", {}, link(`${running[k].scenario} → ${running[k].out}`, "job", { number: running[k].number })), each.part));
  const part = element("section", { "aria-labelledby": "under-way" }, element("h2", { id: "under-way", text: "Under way" }), element("ul", { class: "entries" }, ...items));
  return { parts: [part], stop: () => shown.forEach((each) => each.stop()) };
}
