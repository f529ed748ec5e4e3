// A run under way: how far it is, how long it will take, and the button that ends it.

import { element } from "./charts.js";
import { ask, button, duration, speak, tell } from "./api.js";

const EVERY = 600; // ms
const PATIENCE = 8; // s until a run that does not listen may be ended at once

export const STATES = {
  running: "It is being computed.",
  cancelling: "It is ending and keeps what there is.",
  complete: "It is complete.",
  failed: "It failed.",
  refused: "It could not be started.",
  interrupted: "It was interrupted; what there is was kept.",
};

export function progressOf(number, { ended = () => {}, heard = () => {} } = {}) {
  const bar = element("progress", { max: "1", "aria-label": "Progress" });
  const words = element("div", { class: "progress-words" });
  const facts = element("div", { class: "progress-facts" });
  const trouble = element("div", { class: "hint", role: "alert" });
  const cancel = button("Cancel", () => end(false), { class: "cancel" });
  const kill = button("End it at once", () => end(true), { class: "cancel", hidden: "" });
  const part = element("div", { class: "progress" }, bar, words, facts, element("div", { class: "actions" }, cancel, kill), trouble);
  let [stopped, timer, spoken] = [false, 0, -1];

  async function end(atOnce) {
    try {
      update(await tell("cancel", { number, at_once: atOnce }));
    } catch (error) {
      trouble.textContent = error.message;
    }
  }

  function update(job) {
    const running = job.state === "running" || job.state === "cancelling";
    part.dataset.state = job.state;
    if (job.share === null && running) bar.removeAttribute("value"); else bar.value = job.state === "complete" ? 1 : job.share ?? 0;
    const percent = job.share === null ? "" : `${Math.floor(100 * job.share)} %`;
    const first = job.share === null && running ? "Preparing: building the model, compiling once" : percent;
    const left = running && job.left !== null ? `${duration(job.left)} left` : "";
    words.textContent = running ? [first, left, `${duration(job.seconds)} so far`].filter(Boolean).join(" · ") : `${STATES[job.state]} It took ${duration(job.seconds)}.`;
    facts.textContent = [job.now && `at ${job.now}`, job.facts.replace(/ {2,}/g, " · ")].filter(Boolean).join(" · ");
    cancel.hidden = !running;
    cancel.disabled = job.state === "cancelling";
    cancel.textContent = job.state === "cancelling" ? "Cancelling …" : "Cancel";
    kill.hidden = !(running && job.waiting !== null && job.waiting > PATIENCE);
    const tenth = job.share === null ? -1 : Math.floor(10 * job.share);
    if (running && tenth > spoken) speak(`${10 * (spoken = tenth)} percent. ${left}`);
    heard(job);
    return running;
  }

  async function poll() {
    if (stopped) return;
    try {
      const job = await ask("job", { number });
      trouble.textContent = "";
      if (stopped) return;
      if (!update(job)) {
        speak(STATES[job.state]);
        ended(job);
        return;
      }
    } catch (error) {
      trouble.textContent = error.message;
      if (error.status === 404) return;
    }
    timer = setTimeout(poll, EVERY);
  }
  poll();
  return {
    part,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
