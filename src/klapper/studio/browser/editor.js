// A text field for TOML: numbers of lines beside it, quiet comments behind it, one line that can be marked.

import { element } from "./charts.js";

const PARTS = /("""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*')|(#[^\n]*)|(^[ \t]*\[\[?[^\]\n]*\]\]?)|(^[ \t]*[A-Za-z0-9_."-]+(?=[ \t]*=))/gm;
const KINDS = ["", "text", "comment", "header", "key"];
const MOST = 60000; // characters that are coloured while they are written

function coloured(text) {
  const made = document.createDocumentFragment();
  let last = 0;
  if (text.length <= MOST) {
    for (const found of text.matchAll(PARTS)) {
      const kind = KINDS[1 + found.slice(1).findIndex((part) => part !== undefined)];
      made.append(text.slice(last, found.index), element("span", { class: `toml-${kind}`, text: found[0] }));
      last = found.index + found[0].length;
    }
  }
  made.append(text.slice(last), "\n");
  return made;
}

export class Editor {
  constructor(text, { label, changed }) {
    this.field = element("textarea", { spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": label, "aria-describedby": "checked" });
    this.field.value = text;
    this.behind = element("pre", { class: "behind", "aria-hidden": "true" });
    this.gutter = element("pre", { class: "gutter", "aria-hidden": "true" });
    this.band = element("div", { class: "band", hidden: "" });
    this.part = element("div", { class: "editor" }, this.gutter, element("div", { class: "sheet" }, this.band, this.behind, this.field));
    this.line = null;
    this.field.addEventListener("input", () => {
      this.draw();
      changed();
    });
    this.field.addEventListener("scroll", () => this.follow());
    this.draw();
  }

  get text() { return this.field.value; }

  set text(text) {
    this.field.value = text;
    this.draw();
  }

  draw() {
    this.behind.replaceChildren(coloured(this.text));
    const count = this.text.split("\n").length;
    if (count !== this.count) {
      this.count = count;
      this.number();
    }
    this.follow();
  }

  number() {
    const lines = Array.from({ length: this.count }, (_, k) => (k + 1 === this.line ? `▸ ${k + 1}` : String(k + 1)));
    this.gutter.textContent = `${lines.join("\n")}\n`;
  }

  // Mark a line with a sign in the gutter and a band behind it; null takes the mark away.
  mark(line) {
    this.line = line;
    this.number();
    this.follow();
  }

  follow() {
    this.behind.scrollTop = this.gutter.scrollTop = this.field.scrollTop;
    this.behind.scrollLeft = this.field.scrollLeft;
    this.band.hidden = this.line === null;
    if (this.line !== null) this.band.style.top = `${this.top(this.line) - this.field.scrollTop}px`;
  }

  height() { return Number.parseFloat(getComputedStyle(this.field).lineHeight); }

  top(line) { return Number.parseFloat(getComputedStyle(this.field).paddingTop) + (line - 1) * this.height(); }

  // Put the cursor into a line, selected, in the middle of the view.
  go(line) {
    const lines = this.text.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    this.field.focus();
    this.field.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    this.field.scrollTop = Math.max(0, this.top(line) - this.field.clientHeight / 2);
    this.field.scrollLeft = 0;
    this.follow();
  }
}
