// SPDX-License-Identifier: BSD-3-Clause
// Two sides, or a series: the rows of `whywait diff`, with bars, and each run as a mark. Timelines stand above, at one scale.

const VERDICTS = {less: "less", more: "more", noise: "within noise", "too-few-runs": "too few runs"};

function viewComparison(runs, comparison) {
  if (!comparison) return null;
  const groups = ["run_time", "computing", "program", "mpi", "machine"].map((key) => comparison[key]).filter(Boolean);
  const rows = groups.flatMap((group) => [group, ...(group.causes || [])]), nAfter = comparison.is_after.filter(Boolean).length;
  const largest = Math.max(1, ...rows.map((row) => Math.abs(row.change_ns)));
  const numberOf = new Map(shownRun().report.causes.flatMap((cause) => cause.parts.map((part) => [part.name, cause.cause])).reverse());
  const all = new Set(groups);
  return [
    comparison.text ? el("p.short", null, comparison.text) : null,
    el("p", null, `${plural(comparison.is_after.length - nAfter, "run")} before, ${nAfter} after: means per run. `,
      nAfter < 2 || comparison.is_after.length - nAfter < 2 ? "One run on a side says nothing about times; record each side several times."
        : "More, less: larger than the scatter of the runs. Chance alone says so in 1 of 20 comparisons."),
    table("What changed between the runs", [
      {head: hidden("what"), cell: (row) => all.has(row.own) ? el("b", null, row.name) : numberOf.has(row.name)
        ? el("a", {href: `#answer&cause=${numberOf.get(row.name)}`}, row.name) : row.name},
      {head: "before", number: true, cell: (row) => duration(row.before_ns)},
      {head: "after", number: true, cell: (row) => duration(row.after_ns)},
      {head: "change", number: true, cell: (row) => change(row.change_ns)},
      {head: "noise", number: true, cell: (row) => row.noise_ns === null ? "" : `± ${duration(row.noise_ns)}`},
      {head: hidden("change, as a bar"), cell: (row) => el("span.signed.wide", {"aria-hidden": "true"}, el("i", {class: row.change_ns < 0 ? "minus" : "plus", style: {width: `${50 * Math.min(1, Math.abs(row.change_ns) / largest)}%`}}))},
      {head: "verdict", cell: (row) => VERDICTS[row.verdict] || row.verdict},
      {head: "by run", cell: (row) => runMarks(row, comparison.is_after)},
    ], rows.map((row) => ({...row, own: row, attributes: {"data-find": row.name}})), {class: "compare"}),
    comparison.exact.length ? [el("h3", null, "What was counted exactly"), el("ul.exact", null, comparison.exact.slice(0, 12).map((fact) => el("li", {"data-find": fact.text}, fact.text))),
      comparison.exact.length > 12 ? el("p.hint", null, `and ${plural(comparison.exact.length - 12, "more count")}: whywait diff --top 0`) : null] : null,
    comparison.shares.length ? [el("h3", null, "What the run time's difference is made of"), table("Parts of the run time's difference", [
      {head: hidden("part"), cell: (part) => part.name},
      {head: "change", number: true, cell: (part) => change(part.change_ns)},
      {head: "of a rank on average, before", number: true, cell: (part) => duration(part.before_computing_ns)},
      {head: "after", number: true, cell: (part) => duration(part.after_computing_ns)},
      {head: "imbalance, before", number: true, cell: (part) => duration(part.before_imbalance_ns)},
      {head: "after", number: true, cell: (part) => duration(part.after_imbalance_ns)},
    ], comparison.shares.filter((part) => Math.abs(part.change_ns) >= 0.001 * comparison.run_time.before_ns).slice(0, 12), {class: "shares"})] : null,
    comparison.notes.length ? el("ul.notes", null, comparison.notes.map((note) => el("li", null, note))) : null,
    el("h3", null, "The runs"),
    table("The runs that are compared", [
      {head: "side", cell: (run) => run.side},
      {head: "run", cell: (run) => run.name},
      {head: "ranks", number: true, cell: (run) => run.report.ranks},
      {head: "run time", number: true, cell: (run) => duration(run.report.duration_ns)},
      {head: "waiting", number: true, cell: (run) => duration(run.report.waiting_ns)},
      {head: "parallel efficiency", number: true, cell: (run) => ratio(run.report.efficiency.parallel)},
      {head: "largest cause", cell: (run) => run.report.causes[0] ? `${run.report.causes[0].name} (${duration(run.report.causes[0].waiting_ns)})` : "none"},
    ], runs),
  ];
}

/** Each run as a mark on one scale: before open, after filled. */
function runMarks(row, isAfter) {
  const most = Math.max(1, ...row.runs_ns);
  return svg("svg", {viewBox: "0 0 160 14", width: 160, height: 14, role: "img", "aria-label": row.runs_ns.map((ns, i) => `${isAfter[i] ? "after" : "before"} ${duration(ns)}`).join(", "), class: "marks"},
    svg("line", {x1: 6, x2: 154, y1: 7, y2: 7, class: "grid"}),
    row.runs_ns.map((ns, i) => svg("circle", {cx: 6 + 148 * ns / most, cy: 7, r: 4, class: isAfter[i] ? "after" : "before"})));
}
