// One run that was started here: its progress, its log, and what to do when it has ended.

import { element } from "./charts.js";
import { ask, button, heading, link, route, tell, trouble } from "./api.js";
import { progressOf } from "./progress.js";

export async function showJob(host, { number }) {
  const job = await ask("job", { number });
  const after = element("div", { class: "after" });
  const log = element("pre", { class: "log", role: "log", tabindex: "0", "aria-label": "Log of the run", text: "Nothing was said yet." });
  const stored = element("pre", { class: "log", tabindex: "0", "aria-label": "File run.log" });
  const heard = (now) => {
    const low = log.scrollHeight - log.scrollTop - log.clientHeight < 30;
    const text = now.log?.join("\n") ?? "";
    if (text && text !== log.textContent) log.textContent = text;
    if (now.run_log !== undefined && now.run_log !== stored.textContent) stored.textContent = now.run_log || "There is no run.log yet.";
    if (low) log.scrollTop = log.scrollHeight;
  };
  const watched = progressOf(number, { heard, ended: (now) => offer(after, now) });
  host.append(
    heading(`Run of ${job.scenario}`),
    element("p", { class: "hint" }, "Into the folder ", element("span", { class: "name", text: job.out }), "."),
    element("div", { class: "card" }, watched.part),
    after,
    element("h2", { text: "What it says" }), log,
    element("details", {}, element("summary", { text: "run.log: when it began, what was stored" }), stored),
  );
  return watched.stop;
}

async function offer(place, job) {
  const actions = [];
  if (job.stored) actions.push(link("Open the run", "run", { path: job.out }, { class: "button main" }));
  if (job.stored) {
    const before = await earlier(job);
    if (before) actions.push(link(`Compare with ${before}`, "compare", { a: before, b: job.out }, { class: "button" }));
  }
  if (job.state === "interrupted" && job.stored) actions.push(button("Go on with it", () => goOn(place, job)));
  const line = job.log.join("\n").match(/, line (\d+):/);
  actions.push(link(line && job.state === "refused" ? `Go to line ${line[1]}` : "Edit the scenario again", "scenario", { path: job.scenario, ...(line ? { line: line[1] } : {}) }, { class: "button" }));
  const parts = [element("div", { class: "actions" }, ...actions)];
  const last = job.log.filter((text) => text.trim()).at(-1);
  if ((job.state === "refused" || job.state === "failed") && last) parts.unshift(trouble(last));
  if (job.state === "interrupted" && !job.stored) parts.unshift(element("p", { class: "hint", text: "It ended before its first step, so there is nothing to show." }));
  place.replaceChildren(...parts);
}

// The same scenario into the same folder: an interrupted run is resumed there.
async function goOn(place, job) {
  try {
    const { number } = await tell("start", { path: job.scenario, out: job.out });
    location.hash = route("job", { number });
  } catch (error) {
    place.append(trouble(error.message));
  }
}

// The newest other run of the same scenario: NAME-1 for NAME-2, else the newest of all.
async function earlier(job) {
  const { entries } = await ask("list");
  const others = entries.filter((entry) => entry.kind === "run" && entry.path !== job.out);
  const stem = job.scenario.replace(/\.toml$/, "");
  return (others.find((entry) => entry.path.startsWith(`${stem}-`)) ?? others[0])?.path;
}
