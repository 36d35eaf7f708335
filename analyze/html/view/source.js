// SPDX-License-Identifier: BSD-3-Clause
// The source, with what its lines cost in the margin: waiting that they cause, waiting at their calls, and how often and
// how long each rank ran them.

const NEAR = 4; // lines around a mark that are shown at first

/** By file and line: what causes and sites say of it. */
function marksOf(report) {
  const files = new Map(), at = (file, line) => {
    const lines = files.get(file) || files.set(file, new Map()).get(file);
    return lines.get(line) || lines.set(line, {causes: [], sites: []}).get(line);
  };
  for (const cause of report.causes) for (const [i, part] of cause.parts.entries()) {
    if (!part.file || !part.line_first || !(part.own_ns > 0)) continue;
    at(part.file, part.line_first).causes.push({cause, part, isItself: part.name === cause.name || i === 0 && part.line_first === cause.line_first, last: Math.max(part.line_first, part.line_last)});
  }
  for (const site of report.sites) if (site.file && site.line) at(site.file, site.line).sites.push(site);
  return files;
}

function viewSource(run) {
  const {files, bare} = run.sources, marks = marksOf(run.report);
  if (!files.length && !bare.length) return null;
  const fill = () => bareRoutines(run, bare), node = el("div", null, fill());
  run.refillSources = [() => refill(node, fill())];
  const held = files.filter((source) => source.pieces.length).map((source) => source.file);
  return [held.length ? el("p.hint", null, `This page holds text of: ${held.join(", ")}`) : null, files.map((source) => sourceArticle(run, source, marks.get(source.file) || new Map())), node];
}

/** Loops of the machine code, as they lie in each other, where no line is known. */
function bareRoutines(run, bare) {
  if (!bare.length) return null;
  return [el("h3", null, "Without source"), el("p.hint", null, "No line is known of this code: it was compiled without -g, or lies in a library. These are the loops of its machine code, by their offset in the routine."),
    bare.map(({routine, module, loops}) => el("article.source", {"data-find": `${routine} ${module}`},
      el("h4", null, `${routine || "unnamed routine"} `, el("small", null, ` in ${baseName(module)}`)),
      table(`Loops of ${routine || "a routine"}`, [
        {head: "place", cell: ({offset, depth}) => el("span", {style: {"padding-left": `${1.4 * depth}em`}}, depth ? `loop at +0x${offset.toString(16)}` : "outside of loops")},
        {head: "causes", number: true, cell: ({cause, own}) => cause ? [causeBadge(cause), " ", duration(own)] : ""},
        {head: "time, all ranks", number: true, cell: ({time}) => time ? duration(time) : ""},
        {head: "runs and time of a rank: least, mean, most", number: true, cell: ({cause, isItself}) => cause && isItself ? runsOf(cause) : ""},
      ], bareLines(run, routine, loops), {class: "bare"})))];
}

function bareLines(run, routine, loops) {
  const shown = loops.map(([offset, depth, time, own, cause]) => ({offset, depth, time, own, cause: run.report.causes[cause]}))
    .sort((a, b) => (a.depth > 0) - (b.depth > 0) || a.offset - b.offset || a.depth - b.depth);
  const named = new Set();
  for (const line of shown) {
    line.isItself = !!line.cause && !named.has(line.cause);
    if (line.cause) named.add(line.cause);
    line.attributes = {class: line.cause && line.cause.cause === state.cause ? "is-chosen" : null};
  }
  return shown;
}

function sourceArticle(run, source, marks) {
  const name = source.file, body = el("div");
  let isAll = false;
  const fill = () => refill(body, sourceLines(run, source, marks, isAll), !isAll && source.pieces.some((piece) => piece.length > 2 * NEAR + 2) ? button("show more of it", () => {
    isAll = true;
    fill();
  }) : null);
  fill();
  run.refillSources = [...(run.refillSources || []), fill];
  return el("article.source", {"data-find": `${name} ${[...marks.values()].flatMap((m) => m.causes.map((c) => c.part.name)).join(" ")}`},
    el("h3", {title: name}, baseName(name), el("small", null, ` ${name}`)),
    source.state === "missing" ? el("p.warn", null, `This file cannot be read: ${source.reason}. whywait html --source DIR says where else to look.`)
      : source.warning ? el("p.warn", null, source.warning) : null,
    source.pieces.length ? body : linesWithoutText(run, marks));
}

function linesWithoutText(run, marks) {
  return el("ul", null, [...marks].sort((a, b) => a[0] - b[0]).map(([line, mark]) => el("li", null, `line ${line}: `, marginOf(run, mark))));
}

function sourceLines(run, source, marks, isAll) {
  const near = (line) => [...marks].some(([at, mark]) => line >= at - NEAR && line <= Math.max(at, ...mark.causes.map((c) => c.last)) + NEAR);
  const inside = (line) => [...marks].flatMap(([at, mark]) => mark.causes.filter((c) => line >= at && line <= c.last)).sort((a, b) => b.part.own_ns - a.part.own_ns)[0];
  const facts = new Map((source.facts || []).map((fact) => [fact[0], fact])), nDeep = Math.max(0, ...(source.loops || []).map((loop) => loop[2] + 1));
  const isCounted = (source.facts || []).some((fact) => fact.length > 2), hasWays = (source.facts || []).some((fact) => fact[5]);
  const heads = ["causes", "waits here", "time", ...isCounted ? ["runs of a rank: least, mean, most"] : [], ...hasWays ? ["ways %"] : [], "line", "source"];
  const rows = [];
  let last = 0;
  for (const [first, ...texts] of source.pieces) texts.forEach((text, i) => {
    const line = first + i, mark = marks.get(line), fact = facts.get(line);
    if (!isAll && !near(line)) return;
    if (last && line !== last + 1) rows.push(el("tr.gap", null, el("td", {colspan: heads.length}, "⋯")));
    last = line;
    const around = inside(line), cause = around ? paintOf("computing", around.cause.cause - 1) : null;
    rows.push(el("tr", {id: mark ? `line-${baseName(source.file)}-${line}` : null, class: around && state.cause === around.cause.cause ? "is-chosen" : null},
      el("td.number", null, mark?.causes.length ? mark.causes.map(({cause: c, part}) => el("div", null, causeBadge(c), " ", duration(part.own_ns))) : null),
      el("td.number", null, mark?.sites.length ? el("a", {href: `#classes&q=${encodeURIComponent(`site ${mark.sites[0].site}`)}`, title: mark.sites.map((s) => `${s.call}: ${s.wait}`).join("; ")}, duration(mark.sites.reduce((sum, s) => sum + s.waiting_ns, 0))) : null),
      el("td.number", {title: mark?.causes.filter((c) => c.isItself).map((c) => `a rank in it: ${runsText(c.cause)}`).join("; ")}, fact && fact[1] ? duration(fact[1]) : null),
      isCounted ? el("td.number.runs", null, fact && fact.length > 2 ? runsOfLine(fact) : null) : null,
      hasWays ? el("td.number.ways", null, fact?.[5] || null) : null,
      el("td.number.line", {class: `number line${around ? ` edge ${PAINT_NAMES[cause]}-edge` : ""}`}, line),
      el("td.code", null, nDeep ? el("span.brackets", {"aria-hidden": "true"}, brackets(source.loops, line, nDeep)) : null, el("code", null, text.replaceAll("\t", "        ") || " "))));
  });
  return el("div.scroll", {tabindex: 0, role: "region", "aria-label": `Source ${baseName(source.file)}`}, el("table.code", null,
    el("caption", null, `Source of ${baseName(source.file)}, with what its lines cost`),
    el("thead", null, el("tr", null, heads.map((head, i) => el(i < heads.length - 1 ? "th.number" : "th", {scope: "col"}, head)))),
    el("tbody", null, rows)));
}

/** Least, mean and most of the ranks; where all are alike the mean says it. */
function runsOfLine([, , least, mean, most]) {
  return least >= 0.99 * mean && most <= 1.01 * mean ? brief(mean) : `${brief(least)}, ${brief(mean)}, ${brief(most)}`;
}

/** Brackets around nested loops, the outer to the left, as annotated source has them. */
function brackets(loops, line, nDeep) {
  const signs = new Array(nDeep).fill(" ");
  for (const [first, last, depth] of loops) if (line >= first && line <= last) signs[depth] = first === last ? "╶" : line === first ? "┌" : line === last ? "└" : "│";
  return signs.join("");
}

const causeBadge = (cause) => el("a", {href: `#answer&cause=${cause.cause}`, class: `badge ${PAINT_NAMES[paintOf("computing", cause.cause - 1)]}`, title: cause.name}, cause.cause);

function spread(values, text) {
  const least = Math.min(...values), most = Math.max(...values), mean = values.reduce((a, b) => a + b, 0) / values.length;
  return least === most ? text(most) : `${text(least)}, ${text(mean)}, ${text(most)}`;
}

/** How often and how long a rank ran the place of a cause. */
function runsOf(cause) {
  const ranks = cause.by_rank;
  if (!ranks.length) return "";
  const isCounted = ranks.some((rank) => rank.executions > 0);
  return [isCounted ? el("div", null, `${spread(ranks.map((rank) => rank.executions), count)} times`) : null, el("div", null, spread(ranks.map((rank) => rank.time_ns), duration))];
}

const runsText = (cause) => runsOf(cause) === "" ? "" : runsOf(cause).filter(Boolean).map((node) => node.textContent).join(", ");

function marginOf(run, mark) {
  return [mark.causes.map(({cause, part}) => [causeBadge(cause), ` causes ${duration(part.own_ns)} `]), mark.sites.map((site) => `${site.call} waits ${duration(site.waiting_ns)} `)];
}
