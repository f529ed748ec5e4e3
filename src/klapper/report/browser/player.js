// The controls of the stage: play, scrub, speed, exaggeration.

class Player {
  constructor(host, scene, follow) {
    this.scene = scene;
    this.follow = follow;
    [this.first, this.last] = [scene.time[0], scene.time[scene.time.length - 1]];
    this.time = this.first;
    this.playing = false;
    const canvas = element("canvas", { role: "img", "aria-label": `Animation. ${scene.caption}` });
    host.append(element("div", { class: "stage" }, canvas));
    this.stage = new Stage(canvas, scene, scene.exaggeration);
    this.controls(host);
    if (this.stage.limits) host.append(this.colourBar());
    if (scene.caption) host.append(element("p", { class: "caption", text: scene.caption }));
    this.go(this.first);
  }

  controls(host) {
    this.button = element("button", { type: "button", class: "play", text: "Play" });
    this.scrub = element("input", { type: "range", min: "0", max: "1000", step: "1", value: "0", "aria-label": "Time of the animation" });
    this.clock = element("output", { class: "clock" });
    this.speed = element("select", { "aria-label": "Speed of the animation" }, ...this.speeds());
    const parts = [this.button, this.scrub, this.clock, element("label", { class: "speed" }, "Speed ", this.speed)];
    if (this.stage.exaggerated) parts.push(this.exaggeration());
    host.append(element("div", { class: "controls" }, ...parts));
    this.button.addEventListener("click", () => (this.playing ? this.pause() : this.play()));
    this.scrub.addEventListener("input", () => {
      this.pause();
      this.go(this.first + (this.scrub.value / 1000) * (this.last - this.first));
    });
  }

  speeds() {
    const span = this.last - this.first;
    const choices = [2, 4, 8, 16, 32, 64].map((seconds) => [seconds, `whole run in ${seconds} s`]);
    if (span > 0.5) choices.push([span, "as in reality"]);
    return choices.map(([seconds, words]) => {
      const option = element("option", { value: String(seconds), text: words });
      option.selected = seconds === 8;
      return option;
    });
  }

  exaggeration() {
    const start = Math.log10(this.scene.exaggeration);
    const slider = element("input", { type: "range", min: String(Math.min(0, start)), max: String(Math.max(2, start + 1)), step: "any", value: String(start), "aria-label": "Exaggeration of displacements" });
    const words = element("output", { text: `× ${brief(this.scene.exaggeration, 2)}` });
    slider.addEventListener("input", () => {
      this.stage.exaggeration = 10 ** Number(slider.value);
      words.textContent = `× ${brief(this.stage.exaggeration, 2)}`;
      this.stage.measure();
      this.stage.draw();
    });
    return element("label", { class: "exaggeration" }, "Displacements ", slider, words);
  }

  colourBar() {
    const [low, high] = this.stage.limits;
    return element("div", { class: "colour-bar" }, element("span", { text: brief(low, 3) }), element("span", { class: "ramp" }),
      element("span", { text: brief(high, 3) }), element("span", { text: this.scene.quantity }));
  }

  go(time) {
    this.time = Math.min(Math.max(time, this.first), this.last);
    const share = this.last > this.first ? (this.time - this.first) / (this.last - this.first) : 0;
    this.scrub.value = String(Math.round(1000 * share));
    this.clock.textContent = `${brief(this.time, 4)} s`;
    this.scrub.setAttribute("aria-valuetext", this.clock.textContent);
    this.stage.show(this.time);
    this.follow(this.time);
  }

  play() {
    if (this.time >= this.last) this.time = this.first;
    this.playing = true;
    this.button.textContent = "Pause";
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      const rate = (this.last - this.first) / Number(this.speed.value);
      this.go(this.time + Math.max(0, (now - before) / 1000) * rate);
      before = now;
      if (this.time >= this.last) this.pause(); else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    this.button.textContent = "Play";
  }
}
