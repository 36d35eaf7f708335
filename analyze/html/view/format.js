// SPDX-License-Identifier: BSD-3-Clause
// Numbers as the reports print them (analyze/words/amount.c).

/** A whole number in a unit: significant digits, but never fewer than the integer part has; halves away from zero. */
function rounded(whole, unit, name, digits) {
  const size = Math.abs(whole), most = 10 ** digits;
  let step = unit, after = 0;
  for (; after < digits - 1 && step >= 10; after++) step /= 10;
  const inSteps = () => Math.floor((size + Math.floor(step / 2)) / step);
  for (; after && inSteps() >= most; after--) step *= 10;
  const n = inSteps(), one = unit / step, rest = after ? `.${String(n % one).padStart(after, "0")}` : "";
  return `${whole < 0 ? "-" : ""}${Math.floor(n / one)}${rest} ${name}`;
}

function duration(ns, digits = 3) {
  const whole = Math.sign(ns) * Math.round(Math.abs(ns)), size = Math.abs(whole);
  if (size < 1) return "0 s";
  if (size < 1e3) return rounded(whole, 1, "ns", digits);
  if (size < 999.5e3) return rounded(whole, 1e3, "us", digits);
  if (size < 999.5e6) return rounded(whole, 1e6, "ms", digits);
  return rounded(whole, 1e9, "s", digits);
}

/** A point in time, as many digits as a step of `scale` ns tells apart. */
function moment(ns, scale = 1e3) {
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(scale, 1) / 1e9))));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

const change = (ns) => (ns >= 0.5 ? "+" : "") + duration(ns);
const cost = (ns) => ns < 999.5 ? `${ns.toFixed(Math.abs(ns) < 9.995 ? 2 : Math.abs(ns) < 99.95 ? 1 : 0)} ns` : duration(ns);
const count = (n) => Math.round(n).toLocaleString("en-US");
/** Of a column of its own: "81.2k", "3.5M" (analyze/words/amount.c). */
function brief(n) {
  const units = ["", "k", "M", "G", "T", "P", "E"];
  let unit = 0;
  for (; n >= 999.5 && unit + 1 < units.length; n /= 1000) unit++;
  return n.toFixed(n >= 99.95 || (!unit && Number.isInteger(n)) ? 0 : n >= 9.995 ? 1 : 2) + units[unit];
}
const ratio = (value) => value === null ? "–" : value.toFixed(2);

function share(part) {
  const percent = 100 * part;
  if (!(percent > 0)) return "0 %";
  if (percent < 0.05) return "<0.1 %";
  return `${percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

function bytes(n) {
  const units = ["bytes", "kB", "MB", "GB", "TB"], whole = Math.round(n);
  let i = 0;
  while (i + 1 < units.length && whole >= 999.5 * 1000 ** i) i++;
  return rounded(whole, 1000 ** i, units[i], 3);
}

/** "rank 1", "ranks 0,2-5": rows of neighbours joined, cut and counted when there are many. */
function rankList(ranks, most = 10) {
  const sorted = [...ranks].sort((a, b) => a - b), groups = [];
  let shown = 0;
  for (let i = 0; i < sorted.length && groups.length < most;) {
    let end = i + 1;
    while (end < sorted.length && sorted[end] === sorted[end - 1] + 1) end++;
    if (end - i < 3) end = i + 1;
    groups.push(end - i > 1 ? `${sorted[i]}-${sorted[end - 1]}` : `${sorted[i]}`);
    shown += end - i;
    i = end;
  }
  const rest = sorted.length - shown;
  if (!sorted.length) return "no rank";
  return `${sorted.length === 1 ? "rank" : "ranks"} ${groups.join(",")}${rest ? ` and ${rest} more` : ""}`;
}

const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
const baseName = (path) => path ? path.slice(path.lastIndexOf("/") + 1) : "";
