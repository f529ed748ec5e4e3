// The studio: reads the address, shows the view it names, keeps an eye on runs under way. Texts are set as text only.

import { PANELS, element } from "./charts.js";
import { ask, heading, route, trouble } from "./api.js";
import { showCompare } from "./compare.js";
import { showJob } from "./job.js";
import { showList } from "./list.js";
import { showRun } from "./run.js";
import { showScenario, unsaved } from "./scenario.js";
import { showStudy } from "./study.js";

const VIEWS = { "": showList, run: showRun, compare: showCompare, scenario: showScenario, job: showJob, study: showStudy };
const content = document.getElementById("content");
let leave = () => {};
let turn = 0;

function read() {
  const [view, words] = location.hash.replace(/^#\/?/, "").split("?");
  return [view, Object.fromEntries(new URLSearchParams(words ?? ""))];
}

async function show({ first = false } = {}) {
  const mine = turn += 1;
  const [view, words] = read();
  leave();
  leave = () => {};
  PANELS.length = 0;
  document.body.dataset.view = view || "list";
  const host = element("div", { class: "view" });
  const waiting = setTimeout(() => content.replaceChildren(element("p", { class: "waiting", text: "Reading …" })), 250);
  const known = VIEWS[view] ?? (async () => { throw new Error("There is no such page in the studio."); });
  let left;
  try {
    left = await known(host, words);
  } catch (error) {
    document.body.dataset.view = "trouble";
    host.replaceChildren(heading("This cannot be shown"), trouble(error.message), element("p", {}, element("a", { href: route(""), text: "All runs and scenarios" })));
  }
  clearTimeout(waiting);
  if (mine !== turn) {
    if (left) left();
    return;
  }
  if (left) leave = left;
  content.replaceChildren(host);
  const title = host.querySelector("h1");
  document.title = `${title?.textContent ?? "Runs"} · klapper studio`;
  scrollTo(0, 0);
  if (!first) title?.focus({ preventScroll: true }); // a screen reader begins there
}

// A line in the head of the page while something runs.
async function watch() {
  const place = document.getElementById("activity");
  try {
    const { folder, jobs } = await ask("under_way");
    document.getElementById("folder").textContent = folder;
    const running = jobs.filter((job) => job.state === "running" || job.state === "cancelling");
    place.hidden = !running.length;
    if (running.length) {
      const [job] = running;
      const share = job.share === null ? "" : ` ${Math.floor(100 * job.share)} %`;
      place.textContent = running.length > 1 ? `▶ ${running.length} runs under way` : `▶ ${job.out}${share}`;
      place.href = running.length > 1 ? route("") : route("job", { number: job.number });
    }
  } catch {
    place.hidden = false;
    place.textContent = "The studio does not answer";
    place.removeAttribute("href");
  }
  setTimeout(watch, document.hidden ? 10000 : 3000);
}

addEventListener("hashchange", () => show());
addEventListener("beforeunload", (event) => {
  if (unsaved()) event.preventDefault();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const panel of PANELS) panel.ask();
});
show({ first: true });
watch();
