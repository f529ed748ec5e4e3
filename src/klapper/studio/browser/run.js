// One stored run: its page in a frame of its own, which can do nothing but show, and what leads on from it.

import { element } from "./charts.js";
import { ask, button, heading, link, mark, route, trouble } from "./api.js";

export async function showRun(host, { path }) {
  const [run, { entries }] = await Promise.all([ask("run", { path }), ask("list")]);
  const title = heading(run.title);
  const line = element("div", { class: "run-line" }, mark(run.verdict), title, element("span", { class: "name path", text: path }));
  const tools = element("div", { class: "run-tools" });
  host.append(line, tools);
  const others = entries.filter((entry) => (entry.kind === "run" || entry.kind === "result") && entry.path !== path);
  const stem = (name) => name.replace(/-\d+$/, "");
  others.sort((one, two) => (stem(two.path) === stem(path)) - (stem(one.path) === stem(path)));
  if (others.length) tools.append(compareWith(path, others));
  if (run.log) tools.append(logOf(run.log));
  const readable = run.verdict !== "failed" || run.facts.length > 0;
  if (!readable) {
    host.append(trouble(run.sentence));
    return;
  }
  const frame = element("iframe", { title: `Page of ${run.title}`, sandbox: "allow-scripts allow-downloads", src: run.pages[0].address });
  const own = element("a", { href: run.pages[0].address, target: "_blank", rel: "noopener", class: "button", text: "In a tab of its own" });
  if (run.pages.length > 1) {
    const list = element("select", {}, ...run.pages.map((page, k) => element("option", { value: String(k), text: page.title })));
    list.addEventListener("change", () => {
      frame.src = own.href = run.pages[Number(list.value)].address;
    });
    tools.append(element("label", {}, "Page ", list));
  }
  tools.append(own, link("← All runs", "", {}, { class: "button" }));
  host.append(frame);
}

function compareWith(path, others) {
  const list = element("select", {}, ...others.map((entry) => element("option", { value: entry.path, text: entry.path })));
  const go = button("Compare", () => {
    location.hash = route("compare", { a: path, b: list.value });
  });
  return element("span", { class: "pair" }, element("label", {}, "Compare with ", list), go);
}

function logOf(text) {
  return element("details", { class: "log-of" }, element("summary", { text: "Log" }), element("pre", { class: "log", tabindex: "0", text }));
}
