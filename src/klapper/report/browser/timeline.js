// The states of the contacts over time: one row each, coloured by state, impacts as ticks.

const STATES = [
  { name: "open", colour: "--state-open" },
  { name: "stick", colour: "--state-stick" },
  { name: "slip", colour: "--state-slip" },
  { name: "impact", colour: "--state-impact" },
];
const ROW = 26;

class Timeline extends Panel {
  constructor(host, { contacts, directions, ...options }) {
    const longest = Math.max(...contacts.map((contact) => contact.name.length), 4);
    super(host, { ...options, height: contacts.length * ROW + 56, left: Math.min(20 + 7 * longest, 150) });
    for (const contact of contacts) {
      contact.left = contact.edges.subarray(0, contact.code.length);
      contact.right = contact.edges.subarray(contact.code.length ? 1 : 0);
    }
    this.contacts = contacts;
    this.directions = directions;
    this.row = 0;
    this.over.dataset.row = ROW;
  }

  prepare() {
    const narrow = this.plot.clientWidth < 480;
    const longest = Math.max(...this.contacts.map((contact) => contact.name.length), 4);
    this.margin.left = Math.min(20 + 7 * longest, narrow ? 96 : 170);
    this.width = this.plot.clientWidth - this.margin.left - this.margin.right;
  }

  drawAxes(pen) {
    this.drawXAxis(pen);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.fillStyle = shade("--ink");
    this.contacts.forEach((contact, k) => {
      let name = contact.name;
      while (name.length > 2 && pen.measureText(name).width > this.margin.left - 12) name = `${name.slice(0, -2)}…`;
      pen.fillText(name, this.margin.left - 8, this.middle(k));
    });
  }

  middle(row) { return this.margin.top + (row + 0.5) * ROW; }

  drawContent(pen) {
    const colours = STATES.map((state) => shade(state.colour));
    this.contacts.forEach((contact, k) => {
      const [y, tall] = [this.middle(k) - 0.36 * ROW, 0.72 * ROW];
      const last = placeOf(contact.left, this.window.high);
      for (let i = Math.max(placeOf(contact.right, this.window.low), 0); i < last; i += 1) {
        const x = this.pixelOf(contact.left[i]);
        pen.fillStyle = colours[contact.code[i]];
        pen.fillRect(x, y, Math.max(this.pixelOf(contact.right[i]) - x, 0.6), tall);
      }
      pen.fillStyle = colours[3];
      const end = placeOf(contact.hit_time, this.window.high + 1e-12);
      for (let i = placeOf(contact.hit_time, this.window.low); i < Math.min(end + 1, contact.hit_time.length); i += 1) {
        pen.fillRect(this.pixelOf(contact.hit_time[i]) - 0.9, y - 3, 1.8, tall + 6);
      }
    });
  }

  drawCursor(pen, upright) {
    super.drawCursor(pen, upright);
    const row = this.pointed();
    pen.strokeStyle = shade("--link");
    pen.strokeRect(this.margin.left, this.middle(row) - 0.46 * ROW, this.width, 0.92 * ROW);
    const hit = this.hit(row);
    if (hit < 0) return;
    const x = this.pixelOf(this.contacts[row].hit_time[hit]);
    pen.fillStyle = shade("--link");
    pen.beginPath();
    pen.arc(x, this.middle(row), 4, 0, 7);
    pen.fill();
  }

  pointed() {
    if (this.pointer) this.row = Math.floor((this.pointer[1] - this.margin.top) / ROW);
    this.row = Math.min(Math.max(this.row, 0), this.contacts.length - 1);
    return this.row;
  }

  // The impact under the cursor, within a few pixels; −1 if there is none.
  hit(row) {
    const times = this.contacts[row].hit_time;
    if (!times.length) return -1;
    const near = nearest(times, this.cursor);
    return Math.abs(this.pixelOf(times[near]) - this.pixelOf(this.cursor)) <= 5 ? near : -1;
  }

  words(time) {
    const row = this.pointed();
    const contact = this.contacts[row];
    const hit = this.hit(row);
    if (hit >= 0) {
      const impulses = contact.hit_impulse.map((values, k) => `${this.directions[k]} impulse ${brief(values[hit])} N s`);
      return [`${contact.name}: impact at ${brief(contact.hit_time[hit])} s`, ...impulses];
    }
    const after = placeOf(contact.left, time);
    const stretch = contact.left[after] === time ? after : after - 1;
    if (stretch < 0) return [contact.name];
    const name = this.directions.length > 1 || contact.code[stretch] !== 1 ? STATES[contact.code[stretch]].name : "closed";
    const [from, to] = [contact.left[stretch], contact.right[stretch]];
    return [`${contact.name}: ${name}`, `from ${brief(from)} s to ${brief(to)} s`];
  }

  key(event) {
    const moves = { ArrowUp: -1, ArrowDown: 1 };
    if (!(event.key in moves)) {
      super.key(event);
      return;
    }
    this.pointer = null;
    this.row += moves[event.key];
    this.cursor ??= this.window.low;
    this.drawOver();
    this.readout.textContent = this.words(this.cursor).join("; ");
    event.preventDefault();
  }

  // Left and right go from one change or impact to the next.
  step(direction) {
    this.pointer = null;
    const contact = this.contacts[this.pointed()];
    const places = [...contact.left, ...contact.hit_time].sort((a, b) => a - b);
    const from = this.cursor ?? (direction > 0 ? -Infinity : Infinity);
    const next = direction > 0 ? places.find((time) => time > from) : places.findLast((time) => time < from);
    if (next !== undefined) this.cursor = next;
    if (this.cursor === null) return;
    if (this.cursor < this.window.low || this.cursor > this.window.high) {
      const half = (this.window.high - this.window.low) / 2;
      this.window.set(this.cursor - half, this.cursor + half);
    }
    this.drawOver();
    this.readout.textContent = this.words(this.cursor).join("; ");
  }
}
