// SPDX-License-Identifier: BSD-3-Clause
// The run over time: waiting by cause, efficiency in windows, and the steps of the main loop laid over each other.

const SVG = "http://www.w3.org/2000/svg";
let chartWidth = 1000;

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  return put(node, ...children);
}

/** A frame with an axis of time below and one for values beside; draw(x, y) makes what is inside. */
function chart(label, height, durationNs, top, draw) {
  const x = (ns) => 46 + ns / durationNs * (chartWidth - 50), y = (value) => height - 18 - value / top.most * (height - 26), parts = [];
  for (const value of top.marks) parts.push(svg("line", {x1: 46, x2: chartWidth - 4, y1: y(value), y2: y(value), class: "grid"}),
    svg("text", {x: 40, y: y(value) + 4, "text-anchor": "end"}, top.text(value)));
  for (const ns of ticks(0, durationNs, chartWidth / 110).list) parts.push(svg("text", {x: x(ns), y: height - 4, "text-anchor": "middle"}, moment(ns, ticks(0, durationNs, chartWidth / 110).step)));
  const node = svg("svg", {viewBox: `0 0 ${chartWidth} ${height}`, role: "img", "aria-label": label, class: "chart"}, parts, draw(x, y));
  node.addEventListener("click", (event) => {
    const box = node.getBoundingClientRect(), ns = (((event.clientX - box.left) / box.width) * chartWidth - 46) / (chartWidth - 50) * durationNs;
    setRange(ns - durationNs / 40, ns + durationNs / 40, true);
    jumpTo("timeline");
  });
  return node;
}

function viewTime(run) {
  const body = el("div");
  const measure = () => Math.max(320, document.getElementById("main").clientWidth - 40);
  run.refillTime = () => {
    chartWidth = measure();
     refill(body, waitingOverTime(run), efficiencyOverTime(run), stepsOfLoop(run));
  };
  addEventListener("resize", () => measure() !== chartWidth && run.refillTime());
  run.refillTime();
  return body;
}

function waitingOverTime({report}) {
  const causes = report.causes.filter((cause) => cause.when_ns.some((ns) => ns > 0)), n = causes[0]?.when_ns.length;
  if (!n) return null;
  const shown = causes.filter((cause) => slots.includes(cause.name)), others = causes.filter((cause) => !slots.includes(cause.name));
  const stacks = [...shown.map((cause) => ({name: `cause ${cause.cause}: ${cause.name}`, cause: cause.cause, paint: PAINT_NAMES[paintOf("computing", cause.cause - 1)], ns: cause.when_ns})),
    ...others.length ? [{name: "other causes", paint: "otherCause", ns: others.reduce((sum, cause) => sum.map((v, i) => v + cause.when_ns[i]), new Array(n).fill(0))}] : []];
  const sums = Array.from({length: n}, (_, i) => stacks.reduce((sum, stack) => sum + stack.ns[i], 0)), most = Math.max(...sums), part = report.duration_ns / n;
  const marks = [0, most / 2, most];
  const peak = sums.indexOf(most);
  return [el("h3", null, "Waiting by cause over the run"),
    el("p.words", null, `Most from ${moment(peak * part, part)} to ${moment((peak + 1) * part, part)}: ${duration(most)}, of all ranks together.${report.machine.share >= 0.0005 ? ` Waiting for ranks that had no CPU (${duration(report.machine.waiting_ns)}) is not in it.` : ""}`),
    chart("Waiting by cause over the run", 150, report.duration_ns, {most, marks, text: (v) => duration(v, 2)}, (x, y) => sums.map((_, i) => {
      let at = 0;
      return stacks.map((stack) => {
        const bottom = at;
        at += stack.ns[i];
        if (!(stack.ns[i] > 0)) return null;
        return svg("rect", {x: x(i * part) + 0.5, width: Math.max(1, x((i + 1) * part) - x(i * part) - 1), y: y(at), height: Math.max(0.5, y(bottom) - y(at)),
          class: `fill-${stack.paint}${state.cause && stack.cause !== state.cause ? " is-pale" : ""}`}, svg("title", null, `${stack.name}, ${duration(stack.ns[i])}`));
      });
    })),
    el("ul.legend", null, stacks.map((stack) => el("li", null, el("span", {class: `dot ${stack.paint}`}), stack.cause
      ? el("button.plain", {type: "button", onclick: () => chooseCause(stack.cause)}, stack.name) : stack.name)))];
}

/** POP's factors in windows of the run, of the time outside MPI: whatever cause is chosen. Made once. */
function windows(run, n) {
  if (run.windows?.length === n) return run.windows;
  const t = run.timeline, width = run.report.duration_ns, useful = t.rows.map(() => new Float64Array(n)), states = new Float64Array(n * N_PAINTS);
  const outside = [PAINT.computing, PAINT.otherCause, PAINT.blocked, ...slots.map((_, i) => PAINT.cause + i)];
  t.rows.forEach((_, row) => {
    const shares = new Float32Array(n * N_PAINTS);
    addShares(t, row, 0, width, n, shares);
    for (let i = 0; i < n; i++) {
      for (const paint of outside) useful[row][i] += shares[i * N_PAINTS + paint];
      for (let k = 0; k < N_PAINTS; k++) states[i * N_PAINTS + k] += shares[i * N_PAINTS + k] / t.rows.length;
    }
  });
  return run.windows = Array.from({length: n}, (_, i) => {
    const all = useful.map((row) => row[i]), mean = all.reduce((a, b) => a + b, 0) / all.length, most = all.reduce((a, b) => Math.max(a, b), 0);
    return {parallel: mean, balance: most > 0 ? mean / most : 1, communication: most, states: states.subarray(i * N_PAINTS, (i + 1) * N_PAINTS)};
  });
}

function efficiencyOverTime(run) {
  const {report} = run, n = 100, list = windows(run, n), part = report.duration_ns / n;
  const lines = [["parallel", "parallel efficiency", "solid"], ["balance", "load balance", "dashed"], ["communication", "communication", "dotted"]];
  const worst = list.reduce((at, w, i) => w.parallel < list[at].parallel ? i : at, 0);
  return [el("h3", null, "Efficiency over the run", el("small", null, ` in ${n} windows; parallel = load balance × communication, of the time on a CPU or blocked outside MPI`)),
    el("p.words", null, `Least from ${moment(worst * part, part)} to ${moment((worst + 1) * part, part)}: ${ratio(list[worst].parallel)}.`),
    chart("Efficiency over the run", 150, report.duration_ns, {most: 1, marks: [0, 0.5, 1], text: (v) => v.toFixed(1)}, (x, y) => lines.map(([key, , style]) =>
      svg("path", {d: list.map((w, i) => `${i ? "L" : "M"}${x((i + 0.5) * part).toFixed(1)} ${y(Math.min(1, w[key])).toFixed(1)}`).join(""), class: `line ${style}`}))),
    el("ul.legend", null, lines.map(([, name, style]) => el("li", null, svg("svg", {viewBox: "0 0 26 8", width: 26, height: 8, "aria-hidden": "true"}, svg("path", {d: "M0 4L26 4", class: `line ${style}`})), name)))];
}

/** The call that a cell is in, waiting or not: "MPI_Barrier heat.c:33"; null outside of calls, and for several together. */
function callOf(t, cell, run) {
  const wait = t.waitOf[cell] >= 0 ? t.waits[t.waitOf[cell]] : null;
  if (wait) {
    const site = !wait.isSeveral && wait.site ? siteOf(run, wait.site) : null;
    return site && site.file ? `${site.call} ${baseName(site.file)}:${site.line}` : null;
  }
  const name = mainKind(t, cell)?.name, found = name && /MPI_\w+(?:\(\))? \S+:\d+$/.exec(name);
  return found ? found[0].replace("()", "") : null;
}

/** Rows that are on the critical path, the longest there first: what makes up a step is seen best on them. */
function rowsOnPath(t) {
  const ns = t.rows.map(() => 0);
  for (const piece of criticalPath(t)) ns[piece.row] += piece.to - piece.from;
  return ns.map((_, row) => row).sort((a, b) => ns[b] - ns[a] || a - b);
}

/**
 * The steps of the main loop: from one occurrence to the next of that call of a row that comes back most regularly through
 * the run, and of those the rarest; of several about as rare, that at which ranks wait longest. The row is the first that
 * has one, of those on the critical path and then the others. null where what is short is known by shares only. Looked for once.
 */
function findSteps(run) {
  const t = run.timeline, MOST_ROWS = 64;
  if (run.steps !== undefined) return run.steps;
  run.steps = null;
  for (const row of rowsOnPath(t).slice(0, MOST_ROWS)) {
    const found = stepsOfRow(run, t.rows[row]);
    if (found) return run.steps = {...found, row: t.rows[row].name};
  }
  return null;
}

function stepsOfRow(run, row) {
  const t = run.timeline, durationNs = run.report.duration_ns, calls = new Map();
  let last = null;
  for (let cell = row.first; cell < row.end; cell++) {
    const call = callOf(t, cell, run);
    if (call && call !== last) {
      if (!calls.has(call)) calls.set(call, []);
      calls.get(call).push(t.begin[cell]);
    }
    last = call;
  }
  const found = [];
  for (const [name, times] of calls) {
    if (times.length < 4 || times[times.length - 1] - times[0] < 0.5 * durationNs) continue;
    const lengths = times.slice(1).map((time, i) => time - times[i]), mean = lengths.reduce((a, b) => a + b, 0) / lengths.length;
    const scatter = Math.sqrt(lengths.reduce((sum, l) => sum + (l - mean) ** 2, 0) / lengths.length) / mean;
    if (scatter < 1) found.push({name, times, mean, waitedNs: waitedAt(run, name)});
  }
  const rarest = found.reduce((least, {times}) => Math.min(least, times.length), Infinity);
  return found.filter(({times}) => times.length <= 1.1 * rarest + 1).sort((a, b) => b.waitedNs - a.waitedNs)[0] ?? null;
}

/** The ranks' waiting at "MPI_Barrier heat.c:33". */
const waitedAt = ({report}, call) => report.sites.filter((site) => `${site.call} ${baseName(site.file)}:${site.line}` === call).reduce((sum, site) => sum + site.waiting_ns, 0);

function stepsOfLoop(run) {
  const t = run.timeline, found = findSteps(run);
  if (run.stepsShown?.isDark === isDark()) return run.stepsShown.nodes;
  if (!found) return el("p.hint", null, `No main loop was found in the calls of the ranks${t.resolutionNs ? ": its steps are too short to be told apart here" : ""}.`);
  const all = found.times.length - 1, MOST = 120, every = Math.ceil(all / MOST), n = Math.ceil(all / every), WIDTH = 400, line = Math.max(3, Math.min(12, Math.floor(360 / n)));
  const lengths = found.times.slice(1).map((time, i) => time - found.times[i]), longest = lengths.reduce((a, b) => Math.max(a, b), 0);
  const canvas = el("canvas.heat.steps", {width: WIDTH, height: n * line, role: "img", "aria-label": `${all} steps of the main loop below each other: how much of the ranks' time is waiting`});
  const context = canvas.getContext("2d");
  canvas.style.height = `${n * line}px`;
  for (let i = 0; i < n; i++) {
    // Of every group of steps the longest is drawn: the one to look at.
    let step = i * every;
    for (let k = step; k < Math.min(all, (i + 1) * every); k++) if (lengths[k] > lengths[step]) step = k;
    const from = found.times[step], shares = new Float32Array(WIDTH * N_PAINTS);
    for (let row = 0; row < t.rows.length; row++) addShares(t, row, from, from + longest, WIDTH, shares);
    const width = Math.round(lengths[step] / longest * WIDTH);
    for (let x = 0; x < width; x++) {
      context.fillStyle = `rgb(${heatColour((shares[x * N_PAINTS + PAINT.waiting] + shares[x * N_PAINTS + PAINT.caused]) / t.rows.length).join(",")})`;
      context.fillRect(x, i * line, 1, line - (line > 5 ? 1 : 0));
    }
  }
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect(), step = Math.min(all - 1, Math.floor((event.clientY - box.top) / line) * every);
    setRange(found.times[step], found.times[step] + lengths[step], true);
    jumpTo("timeline");
  });
  const sorted = [...lengths].sort((a, b) => a - b), slowest = lengths.indexOf(longest);
  const nodes = [el("h3", null, "Steps of the main loop, below each other"),
    el("p.words", null, `${count(all)} steps of ${duration(found.mean)} on average (median ${duration(sorted[sorted.length >> 1])}, longest ${duration(longest)}: step ${slowest + 1} at ${moment(found.times[slowest], longest / 10)}), told apart by rank ${found.row}'s calls of ${found.name}. The more colour, the more of the ranks wait.${every > 1 ? ` Each line is the longest of ${every}.` : ""}`),
    el("div.heatbox", null, el("ol.heatnames", {style: {"--line": `${line}px`}, "aria-hidden": "true"}, Array.from({length: n}, (_, i) => el("li", null, i % Math.ceil(12 / line) === 0 ? String(i * every + 1) : ""))), canvas)];
  // Waiting is the same whatever cause is chosen.
  run.stepsShown = {isDark: isDark(), nodes};
  return nodes;
}
