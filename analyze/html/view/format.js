// SPDX-License-Identifier: BSD-3-Clause
// Numbers as the reports print them (analyze/out/amount.c).

function inUnit(value, unit, digits) {
  const size = Math.abs(value), before = size < 9.995 ? 1 : size < 99.95 ? 2 : 3;
  return `${value.toFixed(Math.max(digits - before, 0))} ${unit}`;
}

function duration(ns, digits = 3) {
  const size = Math.abs(ns);
  if (size < 0.5) return "0 s";
  if (size < 999.5) return inUnit(ns, "ns", 1);
  if (size < 999.5e3) return inUnit(ns / 1e3, "us", digits);
  if (size < 999.5e6) return inUnit(ns / 1e6, "ms", digits);
  return inUnit(ns / 1e9, "s", digits);
}

/** A point in time, as many digits as a step of `scale` ns tells apart. */
function moment(ns, scale = 1e3) {
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(scale, 1) / 1e9))));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

const gain = (ns) => ns < 1 ? "nothing" : duration(-ns, 2);
const change = (ns) => (ns >= 0.5 ? "+" : "") + duration(ns);
const cost = (ns) => ns < 999.5 ? inUnit(ns, "ns", 3) : duration(ns);
const count = (n) => Math.round(n).toLocaleString("en-US");
const ratio = (value) => value === null ? "–" : value.toFixed(2);

function share(part) {
  const percent = 100 * part;
  if (!(percent > 0)) return "0 %";
  if (percent < 0.05) return "<0.1 %";
  return `${percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

function bytes(n) {
  if (n < 1000) return inUnit(n, "bytes", 1);
  const units = ["kB", "MB", "GB", "TB"];
  let unit = 0;
  for (n /= 1e3; n >= 999.5 && unit + 1 < units.length; n /= 1e3) unit++;
  return inUnit(n, units[unit], 3);
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
