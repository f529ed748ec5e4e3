// A scenario: written, checked while it is written, saved, and run.

import { element } from "./charts.js";
import { ask, button, heading, link, route, speak, tell, trouble } from "./api.js";
import { Editor } from "./editor.js";

const PAUSE = 350; // ms after the last key
const drafts = new Map(); // by path: {text, digest}, kept while the reader looks elsewhere

export const unsaved = () => drafts.size > 0;

export async function showScenario(host, { path, line }) {
  const read = await ask("scenario", { path });
  const draft = drafts.get(path);
  let { digest } = draft ?? read;
  let saved = read.text.replaceAll("\r\n", "\n");
  let [timer, asked] = [0, 0];
  const checked = element("div", { id: "checked", class: "checked", role: "status" });
  const told = element("div", {});
  const state = element("span", { class: "saved", role: "status" });
  const editor = new Editor(draft?.text ?? saved, { label: `Text of ${path}`, changed });
  const save = button("Save", () => store(), { title: "Ctrl S" });
  const folder = element("input", { type: "text", value: read.out, spellcheck: "false", autocapitalize: "off", "aria-describedby": "folder-hint" });
  const replace = element("input", { type: "checkbox" });
  const run = element("button", { type: "submit", class: "main", text: "Save and run" });

  function changed() {
    const differs = editor.text !== saved;
    if (differs) drafts.set(path, { text: editor.text, digest }); else drafts.delete(path);
    state.textContent = differs ? "not saved" : "saved";
    state.dataset.kind = differs ? "unsaved" : "saved";
    save.disabled = !differs;
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE);
  }

  async function check() {
    const mine = asked += 1;
    try {
      const answer = await tell("check", { path, text: editor.text });
      if (mine === asked) show(answer);
    } catch (error) {
      if (mine === asked) checked.replaceChildren(trouble(error.message));
    }
  }

  function show(answer) {
    editor.mark(answer.line);
    checked.dataset.kind = answer.valid ? "valid" : "wrong";
    if (answer.valid) {
      checked.replaceChildren(element("span", { class: "sign", "aria-hidden": "true", text: "✓ " }), `A scenario of the kind ${answer.kind}; nothing is wrong with its keys and values.`);
      return;
    }
    const parts = [element("span", { class: "sign", "aria-hidden": "true", text: "✗ " }), answer.message];
    if (answer.line) parts.push(" ", button(`Go to line ${answer.line}`, () => editor.go(answer.line), { class: "small" }));
    checked.replaceChildren(...parts);
  }

  async function store({ over = digest } = {}) {
    const text = editor.text;
    try {
      const answer = await tell("save", { path, text, digest: over });
      [digest, saved] = [answer.digest, text];
      told.replaceChildren();
      show(answer.checked);
      changed();
      speak("Saved.");
      return answer.checked;
    } catch (error) {
      told.replaceChildren(trouble(error.message, ...(error.status === 409 ? conflict() : [])));
      return null;
    }
  }

  // Another program wrote the file: the reader decides whose text stays.
  function conflict() {
    const mine = button("Save mine all the same", async () => {
      const there = await ask("scenario", { path });
      await store({ over: there.digest });
    });
    const theirs = button("Take the one on the disk", async () => {
      const there = await ask("scenario", { path });
      [digest, saved] = [there.digest, there.text.replaceAll("\r\n", "\n")];
      editor.text = saved;
      told.replaceChildren();
      changed();
    });
    return [element("div", { class: "actions" }, mine, theirs)];
  }

  async function start(event) {
    event.preventDefault();
    const good = editor.text === saved ? { valid: true } : await store();
    if (!good) return;
    try {
      const job = await tell("start", { path, out: folder.value.trim(), overwrite: replace.checked });
      location.hash = route("job", { number: job.number });
    } catch (error) {
      told.replaceChildren(trouble(error.message));
    }
  }

  const form = element("form", { class: "card run-form" },
    element("label", {}, element("span", { text: "Results into the folder" }), folder), run,
    element("details", {}, element("summary", { text: "Which folder?" }),
      element("p", { class: "hint", id: "folder-hint", text: "A new folder keeps this run beside the earlier ones, so that both can be compared. In the folder of an interrupted run of this scenario, the run goes on." }),
      element("label", {}, replace, " Replace another run in that folder")));
  form.addEventListener("submit", start);
  editor.field.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      event.preventDefault();
      store();
    }
  });
  host.append(
    heading(path),
    element("div", { class: "toolbar" }, save, copyButton(path, editor, told), link("← All runs", "", {}, { class: "button" }), state),
    checked, told, editor.part, form,
  );
  show(read.checked);
  changed();
  if (line) requestAnimationFrame(() => editor.go(Number(line)));
  return () => clearTimeout(timer);
}

// The text as a new file, to change it there.
function copyButton(path, editor, told) {
  const field = element("input", { type: "text", value: path.replace(/\.toml$/, "-copy.toml"), spellcheck: "false", "aria-label": "Name of the new file" });
  const form = element("form", { class: "copy" }, field, element("button", { type: "submit", text: "Save as a new file" }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const target = field.value.trim();
    try {
      await tell("save", { path: target, text: editor.text, digest: null });
      drafts.delete(path);
      location.hash = route("scenario", { path: target });
    } catch (error) {
      told.replaceChildren(trouble(error.message));
    }
  });
  return element("details", { class: "copy-of" }, element("summary", { text: "Save as …" }), form);
}
