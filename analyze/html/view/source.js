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
  if (!run.sources?.length) return null;
  const marks = marksOf(run.report);
  const bare = run.report.causes.filter((cause) => !cause.file && cause.share >= 0.01);
  return [run.sources.map((source) => sourceArticle(run, source, marks.get(source.file) || new Map())),
    bare.length ? el("div", null, el("h3", null, "Without source"), el("p.hint", null, "No line is known of these: compiled without -g, or inside a library. They are named by routine and offset."),
      el("ul", null, bare.map((cause) => el("li", null, el("a", {href: `#answer&cause=${cause.cause}`}, `cause ${cause.cause}: ${cause.name}`), ` ${duration(cause.waiting_ns)}`)))) : null];
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
  const rows = [];
  let last = 0;
  for (const [first, ...texts] of source.pieces) texts.forEach((text, i) => {
    const line = first + i, mark = marks.get(line);
    if (!isAll && !near(line)) return;
    if (last && line !== last + 1) rows.push(el("tr.gap", null, el("td", {colspan: 5}, "⋯")));
    last = line;
    const around = inside(line), cause = around ? paintOf("computing", around.cause.cause - 1) : null;
    rows.push(el("tr", {id: mark ? `line-${baseName(source.file)}-${line}` : null, class: around && state.cause === around.cause.cause ? "is-chosen" : null},
      el("td.number", null, mark?.causes.length ? mark.causes.map(({cause: c, part}) => el("div", null, causeBadge(c), " ", duration(part.own_ns))) : null),
      el("td.number", null, mark?.sites.length ? el("a", {href: `#classes&q=${encodeURIComponent(`site ${mark.sites[0].site}`)}`, title: mark.sites.map((s) => `${s.call}: ${s.wait}`).join("; ")}, duration(mark.sites.reduce((sum, s) => sum + s.waiting_ns, 0))) : null),
      el("td.number", null, mark?.causes.length ? mark.causes.map((c) => el("div", null, c.isItself ? runsOf(c.cause) : "")) : null),
      el("td.number.line", {class: `number line${around ? ` edge ${PAINT_NAMES[cause]}-edge` : ""}`}, line),
      el("td.code", null, el("code", null, text.replaceAll("\t", "        ") || " "))));
  });
  return el("div.scroll", {tabindex: 0, role: "region", "aria-label": `Source ${baseName(source.file)}`}, el("table.code", null,
    el("caption", null, `Source of ${baseName(source.file)}, with what its lines cost`),
    el("thead", null, el("tr", null, ["causes", "waits here", "runs and time of a rank: least, mean, most", "line", "source"].map((head, i) => el(i < 4 ? "th.number" : "th", {scope: "col"}, head)))),
    el("tbody", null, rows)));
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

function marginOf(run, mark) {
  return [mark.causes.map(({cause, part}) => [causeBadge(cause), ` causes ${duration(part.own_ns)} `]), mark.sites.map((site) => `${site.call} waits ${duration(site.waiting_ns)} `)];
}
