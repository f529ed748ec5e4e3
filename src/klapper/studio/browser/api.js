// Questions to the studio, and small helpers that all views share.

import { element } from "./charts.js";

async function answered(response) {
  const told = await response.json().catch(() => ({ message: "The studio answered something that is no JSON." }));
  if (!response.ok) {
    const error = new Error(told.message ?? `The studio answered with status ${response.status}.`);
    error.status = response.status;
    throw error;
  }
  return told;
}

async function reached(address, options) {
  try {
    return await fetch(address, options);
  } catch {
    throw new Error("The studio does not answer: was it closed in the terminal?");
  }
}

export async function ask(name, words = {}) {
  return answered(await reached(`api/${name}?${new URLSearchParams(words)}`));
}

export async function tell(name, body) {
  return answered(await reached(`api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  }));
}

export const route = (view, words = {}) => `#/${view}${Object.keys(words).length ? `?${new URLSearchParams(words)}` : ""}`;

export function speak(text) {
  document.getElementById("spoken").textContent = text;
}

export function duration(seconds) {
  if (seconds === null || !Number.isFinite(seconds)) return "–";
  if (seconds < 1) return "under 1 s";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function moment(seconds) {
  const date = new Date(seconds * 1000);
  const today = new Date().toDateString() === date.toDateString();
  const clock = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return today ? `today, ${clock}` : `${date.toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" })}, ${clock}`;
}

const MARKS = {
  passed: ["✓", "in order"],
  warned: ["!", "warning"],
  failed: ["✗", "failed"],
  none: ["–", "not judged"],
  ready: ["▷", "can be run"],
  running: ["▶", "running"],
  reading: ["…", "being read"],
};

// A sign with a word for those who do not see it: no meaning is told by colour alone.
export function mark(kind) {
  const [sign, word] = MARKS[kind] ?? MARKS.none;
  return element("span", { class: `badge ${kind}`, title: word }, element("span", { "aria-hidden": "true", text: sign }), element("span", { class: "spoken", text: word }));
}

export function button(text, act, settings = {}) {
  const made = element("button", { type: "button", text, ...settings });
  made.addEventListener("click", act);
  return made;
}

export function link(text, view, words = {}, settings = {}) {
  return element("a", { href: route(view, words), text, ...settings });
}

// A box that says in one sentence what went wrong.
export function trouble(sentence, ...more) {
  return element("div", { class: "verdict failed", role: "alert" }, element("strong", { text: sentence }), ...more);
}

export function heading(text) {
  return element("h1", { text, tabindex: "-1" });
}

// A table in a frame that scrolls sideways; `kinds` names the class of each column.
export function table(titles, rows, kinds = [], label = "Table") {
  const cells = (kind, row) => row.map((cell, k) => element(kind, kind === "th" ? { scope: "col", class: kinds[k] ?? "" } : { class: kinds[k] ?? "" }, cell));
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, element("table", {},
    element("thead", {}, element("tr", {}, ...cells("th", titles))),
    element("tbody", {}, ...rows.map((row) => element("tr", { class: row.kind ?? "" }, ...cells("td", row))))));
}
