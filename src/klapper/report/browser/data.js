// The data of the page: typed arrays from base64, and small helpers for numbers.

const KINDS = { float64: Float64Array, float32: Float32Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array };

function revived(key, value) {
  if (value === null || typeof value !== "object" || typeof value.base64 !== "string") return value;
  const text = atob(value.base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new KINDS[value.kind](bytes.buffer);
}

function timesOf(at, time) {
  return at === null ? time : Float64Array.from(at, (place) => time[place]);
}

// First place in rising values that is not below x.
function placeOf(values, x) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < x) low = middle + 1; else high = middle;
  }
  return low;
}

function nearest(values, x) {
  const after = Math.min(placeOf(values, x), values.length - 1);
  return after > 0 && x - values[after - 1] < values[after] - x ? after - 1 : after;
}

function brief(value, digits = 5) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e5)
    ? value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e")
    : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

function niceSteps(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) * power;
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) ticks.push(k * step);
  return { ticks, step };
}

function tickText(value, step, largest) {
  if (Math.abs(value) < 1e-9 * step) return "0";
  if (largest < 1e-3 || largest >= 1e5) {
    const digits = Math.max(0, Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(step) + 1e-9));
    return value.toExponential(Math.min(digits, 6)).replace("e+", "e").replaceAll("-", "−");
  }
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))).replaceAll("-", "−");
}

// One table of everything in the page. A cell is empty where a line left out the sample.
function table(data) {
  const columns = [{ title: "time / s", value: (row) => String(data.time[row]) }];
  const add = (title, at, values) => {
    const place = at === null ? null : new Map(Array.from(at, (sample, k) => [sample, k]));
    columns.push({
      title,
      value: (row) => {
        const k = place === null ? row : place.get(row);
        return k === undefined || Number.isNaN(values[k]) ? "" : String(Number(values[k].toPrecision(8)));
      },
    });
  };
  for (const line of data.position) add(`position ${line.name} / m or rad`, line.at, line.value);
  for (const line of data.velocity) add(`velocity ${line.name} / m/s or rad/s`, line.at, line.value);
  for (const contact of data.contacts) {
    add(`gap ${contact.name} / m`, contact.gap.at, contact.gap.value);
    contact.force.forEach((line, k) => add(`${data.directions[k]} force ${contact.name} / N`, line.at, line.value));
    columns.push({ title: `state ${contact.name}`, value: (row) => STATES[contact.state[row]].name });
  }
  for (const part of data.energy.parts) add(`${part.title} / J`, data.energy.at, part.value);
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = [columns.map((column) => quoted(column.title)).join(",")];
  for (let row = 0; row < data.time.length; row += 1) rows.push(columns.map((column) => column.value(row)).join(","));
  return `${rows.join("\n")}\n`;
}
