// SPDX-License-Identifier: BSD-3-Clause
// Rank by rank: where the time went, when, for which cause, and who makes whom wait. Many ranks stand in groups of
// alike ones.

const RANK_PARTS = [["compute_ns", PAINT.computing, "compute"], ["waiting_ns", PAINT.waiting, "waiting"], ["transfer_ns", PAINT.transfer, "transfer"],
  ["mpi_ns", PAINT.mpi, "in MPI"], ["descheduled_ns", PAINT.descheduled, "no CPU"], ["blocked_ns", PAINT.blocked, "blocked"]];
const MOST_RANK_LINES = 48;

/** Lines of the views of ranks: one rank each, or ranks that spend their time alike. */
function rankLines(run, order) {
  const {report} = run, ranks = report.by_rank, keys = {rank: (r) => r.rank, waiting: (r) => -r.waiting_ns, causing: (r) => -r.caused_ns, host: (r) => r.host || ""};
  const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  if (order === "host") {
    const hosts = new Map();
    for (const rank of ranks) hosts.set(rank.host || "unknown host", [...(hosts.get(rank.host || "unknown host") || []), rank]);
    return [...hosts].sort((a, b) => compare(a[0], b[0])).map(([host, members]) => lineOf(members, `${host}: ${rankList(members.map((r) => r.rank))}`));
  }
  if (order.startsWith("comm-")) return linesOfFamily(report, communicatorFamilies(run)[Number(order.slice(5))]);
  if (order === "likeness" || ranks.length > MOST_RANK_LINES && order !== "rank") return groupAlike(report).sort((a, b) => compare(keys[order === "likeness" ? "causing" : order](a), keys[order === "likeness" ? "causing" : order](b)));
  if (ranks.length > MOST_RANK_LINES) {
    const group = Math.ceil(ranks.length / MOST_RANK_LINES), lines = [];
    for (let i = 0; i < ranks.length; i += group) lines.push(lineOf(ranks.slice(i, i + group)));
    return lines;
  }
  return [...ranks].sort((a, b) => compare(keys[order](a), keys[order](b)) || a.rank - b.rank).map((rank) => lineOf([rank]));
}

/** Communicators that have no rank in common, as those that one split makes, in families. */
function communicatorFamilies(run) {
  if (run.families) return run.families;
  const families = [], MOST = 6;
  for (const [name, ranks] of run.timeline.comms) {
    let family = families.find((other) => !ranks.some((rank) => other.taken.has(rank)));
    if (!family && families.length === MOST) continue;
    if (!family) families.push(family = {taken: new Set(), members: []});
    for (const rank of ranks) family.taken.add(rank);
    family.members.push({name, ranks});
  }
  return run.families = families;
}

function familyName({members}) {
  const sizes = members.map((comm) => comm.ranks.length), least = Math.min(...sizes), most = Math.max(...sizes);
  return `${plural(members.length, "communicator")} of ${least === most ? least : `${least} to ${most}`} ranks`;
}

function linesOfFamily(report, {members, taken}) {
  const lines = members.map(({name, ranks}) => lineOf(ranks.map((rank) => report.by_rank[rank]), `${name || "communicator"}: ${rankList(ranks, 6)}`));
  const rest = report.by_rank.filter((rank) => !taken.has(rank.rank));
  return rest.length ? [...lines, lineOf(rest, `in none: ${rankList(rest.map((r) => r.rank), 6)}`)] : lines;
}

/** Means of a rank of the line; members are ranks of by_rank. */
function lineOf(members, name) {
  const line = {members: members.map((r) => r.rank), rank: members[0].rank, n: members.length};
  for (const key of ["caused_ns", ...RANK_PARTS.map(([k]) => k)]) line[key] = members.reduce((sum, r) => sum + (r[key] || 0), 0) / members.length;
  line.name = name || rankList(line.members, 6);
  return line;
}

/** Ranks whose shares of time, and of what they cause, differ by less than 5 % of the run from the first of the group. */
function groupAlike(report) {
  const groups = [], profile = (rank) => [...RANK_PARTS.map(([key]) => (rank[key] || 0) / report.duration_ns), (rank.caused_ns || 0) / (report.waiting_ns || 1)];
  for (let limit = 0.05; ; limit *= 2) {
    groups.length = 0;
    for (const rank of report.by_rank) {
      const own = profile(rank), found = groups.find((group) => group.profile.reduce((sum, v, i) => sum + Math.abs(v - own[i]), 0) < limit);
      if (found) found.members.push(rank);
      else groups.push({profile: own, members: [rank]});
    }
    if (groups.length <= MOST_RANK_LINES) return groups.map((group) => lineOf(group.members));
  }
}

function viewRanks(run) {
  const {report} = run, body = el("div");
  const settings = {order: report.ranks > MOST_RANK_LINES ? "likeness" : "rank", heat: "waiting"};
  const fill = () => refill(body, rankBars(run, settings), heatOverTime(run, settings), heatOverCauses(run, settings), matrixOf(run));
  run.refillRanks = fill;
  fill();
  return [el("div.controls", {role: "group", "aria-label": "Order of the ranks"},
    choice("order by", [["rank", "rank"], ["waiting", "waiting"], ["causing", "waiting caused"], ["likeness", "likeness"], ["host", "host"],
      ...communicatorFamilies(run).map((family, i) => [`comm-${i}`, familyName(family)])], settings.order, (order) => {
      settings.order = order;
      fill();
    })), body];
}

function rankBars(run, settings) {
  const {report} = run, lines = rankLines(run, settings.order), most = Math.max(1, ...lines.map((line) => line.caused_ns));
  const bar = (line) => el("span.bar", {"aria-hidden": "true"}, RANK_PARTS.map(([key, paint, name]) => line[key] > 0
    ? el("i", {class: `paint ${PAINT_NAMES[paint]}`, style: {width: `${100 * line[key] / report.duration_ns}%`}, title: `${name} ${duration(line[key])}`}) : null));
  const parts = RANK_PARTS.filter(([key]) => lines.some((line) => line[key] >= 0.0005 * report.duration_ns)).map(([key, , name]) => ({head: name, number: true, cell: (line) => duration(line[key])}));
  return [el("h3", null, "Where the time of each rank went"), table("Time by rank" + (lines.some((line) => line.n > 1) ? ", means of a rank of each group" : ""), [
    {head: "rank", cell: (line) => line.name},
    {head: "the run", cell: bar},
    ...parts.slice(0, 2),
    {head: "makes wait", number: true, title: "waiting of others that is blamed on it", cell: (line) => duration(line.caused_ns)},
    {head: el("span.hidden.thin-head", null, "makes wait, as a bar"), cell: (line) => el("span.bar.thin", {"aria-hidden": "true"}, el("i.caused", {style: {width: `${100 * line.caused_ns / most}%`}}))},
    ...parts.slice(2),
  ], lines.map((line) => ({...line, attributes: {"data-ranks": line.members.slice(0, 200).join(" "), class: state.rank !== null && line.members.includes(state.rank) ? "is-chosen" : ""}})), {class: "ranks"})];
}

/** From nothing (paper) to all (ink). */
function heatColour(part) {
  const paper = rgb(GROUNDS[isDark() ? "dark" : "light"].paper), hot = isDark() ? [255, 190, 120] : [140, 30, 10];
  return mix(paper, hot, part <= 0 ? 0 : 0.06 + 0.94 * Math.sqrt(Math.min(part, 1)));
}

function heatOverTime(run, settings) {
  const t = run.timeline, {report} = run, lines = rankLines(run, settings.order), NBINS = 160, height = Math.max(6, Math.min(20, Math.floor(480 / lines.length)));
  const wanted = settings.heat === "cause" ? state.cause : 0;
  const options = [["waiting", "waiting"], ["computing", "computing"], ["transfer", "transfer"], ["descheduled", "no CPU"], ["blocked", "blocked"],
    ...report.causes.slice(0, 6).map((cause) => [`cause-${cause.cause}`, `cause ${cause.cause}`])];
  const heat = state.cause && settings.heat === "waiting" && settings.follows !== false ? `cause-${state.cause}` : settings.heat;
  const paints = heat.startsWith("cause-") ? [paintOf("computing", Number(heat.slice(6)) - 1)]
    : heat === "computing" ? [PAINT.computing, PAINT.otherCause, ...slots.map((_, i) => PAINT.cause + i)]
    : heat === "waiting" ? [PAINT.waiting, PAINT.caused] : [PAINT[heat]];
  const rowsOf = new Map();
  t.rows.forEach((row, i) => rowsOf.set(row.rank, [...(rowsOf.get(row.rank) || []), i]));
  const values = lines.map((line) => {
    const list = new Float64Array(NBINS), rows = line.members.flatMap((rank) => rowsOf.get(rank) || []);
    const shares = new Float32Array(NBINS * N_PAINTS);
    for (const row of rows) addShares(t, row, 0, report.duration_ns, NBINS, shares);
    for (let i = 0; i < NBINS; i++) for (const paint of paints) list[i] += shares[i * N_PAINTS + paint] / Math.max(1, rows.length);
    return list;
  });
  const canvas = el("canvas.heat", {width: NBINS, height: lines.length * height, role: "img", tabindex: 0,
    "aria-label": `Heat map of ranks over time: ${options.find(([key]) => key === heat)?.[1] ?? heat}. The table of what is in view, in the timeline, has the numbers.`});
  const context = canvas.getContext("2d");
  values.forEach((list, i) => list.forEach((value, x) => {
    context.fillStyle = `rgb(${heatColour(value).join(",")})`;
    context.fillRect(x, i * height, 1, height - (height > 8 ? 1 : 0));
  }));
  canvas.style.height = `${lines.length * height}px`;
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect(), x = (event.clientX - box.left) / box.width, line = lines[Math.floor((event.clientY - box.top) / height)];
    const ns = x * report.duration_ns, width = report.duration_ns / 20;
    setRange(ns - width / 2, ns + width / 2, true);
    if (line) show({rank: line.members[0]});
    jumpTo("timeline");
  });
  const peak = peakOf(values, lines, report.duration_ns / NBINS);
  return [el("h3", null, "Ranks over time"), el("div.controls", null, choice("show", options, heat, (value) => {
    settings.heat = value;
    settings.follows = false;
    run.refillRanks();
  }), el("span.scale", {"aria-hidden": "true"}, "0", el("i"), "100 %")),
  peak ? el("p.words", null, `Most on ${peak}.`) : null,
  el("div.heatbox", null, el("ol.heatnames", {style: {"--line": `${height}px`}, "aria-hidden": "true"}, lines.map((line, i) => el("li", null, height >= 11 || i % Math.ceil(12 / height) === 0 ? shortName(line) : ""))), canvas)];
}

const shortName = (line) => line.name.replace(/^ranks? /, "").replace(/^(.{14}).+$/, "$1…");

/** In words: which line has most over the run, and when it has most of it. For a moment any line may be full. */
function peakOf(values, lines, binNs) {
  const means = values.map((list) => list.reduce((sum, value) => sum + value, 0) / list.length), row = means.indexOf(means.reduce((a, b) => Math.max(a, b), 0));
  if (!(means[row] > 0)) return null;
  const bin = values[row].indexOf(values[row].reduce((a, b) => Math.max(a, b), 0));
  return `${lines[row].name}, ${share(means[row])} of the run and ${share(values[row][bin])} of it from ${moment(bin * binNs, binNs)} to ${moment((bin + 1) * binNs, binNs)}`;
}

function heatOverCauses(run, settings) {
  const {report} = run, causes = report.causes.slice(0, 12);
  if (!causes.length) return null;
  const lines = rankLines(run, settings.order), blame = causes.map((cause) => new Map(cause.by_rank.map((rank) => [rank.rank, rank.blame_ns])));
  const values = lines.map((line) => causes.map((_, i) => line.members.reduce((sum, rank) => sum + (blame[i].get(rank) || 0), 0)));
  const most = Math.max(1, ...values.flat());
  return [el("h3", null, "Which rank is blamed for which cause"), table("Waiting blamed on each rank, by cause", [
    {head: "rank", cell: (line) => line.name},
    ...causes.map((cause, i) => ({head: el("button.plain", {type: "button", title: cause.name, onclick: () => chooseCause(cause.cause)}, `cause ${cause.cause}`), number: true,
      cell: (line) => heatCell(line.values[i], most)})),
  ], lines.map((line, i) => ({...line, values: values[i]})), {class: "heattable"})];
}

/** Of WCAG; black and white are as easy to read on 0.18. */
const luminance = (colour) => colour.map((value) => value / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);

function heatCell(ns, most) {
  if (!(ns > 0)) return "";
  const colour = heatColour(ns / most);
  return el("span.heatcell", {style: {background: `rgb(${colour.join(",")})`, color: luminance(colour) < 0.18 ? "#ffffff" : "#000000"}}, duration(ns));
}

/** Waiting by pairs of ranks, in groups when there are many. */
function matrixOf(run) {
  const {group_size: size, pairs} = run.report.who_waits_for_whom, {report} = run;
  if (!pairs.length) return null;
  const nGroups = Math.ceil(report.ranks / size), MOST = 32, join = Math.ceil(nGroups / MOST), n = Math.ceil(nGroups / join), sums = Array.from({length: n}, () => new Float64Array(n));
  for (const [waiting, late, ns] of pairs) sums[Math.floor(waiting / join)][Math.floor(late / join)] += ns;
  const most = Math.max(...sums.map((row) => Math.max(...row))), per = size * join;
  const name = (i) => per === 1 ? String(i) : `${i * per}–${Math.min(report.ranks, (i + 1) * per) - 1}`;
  const top = [...pairs].sort((a, b) => b[2] - a[2]).slice(0, 5);
  const who = (i) => size === 1 ? `rank ${i}` : `ranks ${i * size}–${Math.min(report.ranks, (i + 1) * size) - 1}`;
  return [el("h3", null, "Who waits for whom"),
    el("p.words", null, top.map(([waiting, late, ns], i) =>
      `${i ? "; " : ""}${who(waiting)} ${size === 1 ? "waits" : "wait"} ${duration(ns)} for ${size === 1 && waiting === late ? "itself" : who(late)}`), "."),
    per === 1 && pairs.some(([waiting, late]) => waiting === late)
      ? el("p.hint", null, "A rank for itself: its own delay comes back through the waits of others, or its threads wait for each other.") : null,
    table("Waiting of the rank of each line for the rank of each column", [
      {head: "waits ↓ for →", cell: (line) => name(line.i)},
      ...Array.from({length: n}, (_, late) => ({head: name(late), number: true, cell: (line) => heatCell(line.row[late], most)})),
    ], sums.map((row, i) => ({row, i})), {class: "heattable matrix"})];
}
