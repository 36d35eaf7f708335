// SPDX-License-Identifier: BSD-3-Clause
// The answer: where the time went, how efficient the run was, and what makes ranks wait, as `whywait report` has it.

const PARTS_OF_TIME = [["compute", "compute", PAINT.computing], ["waiting", "waiting", PAINT.waiting], ["transfer", "transfer", PAINT.transfer],
  ["mpi", "in MPI", PAINT.mpi], ["never_back", "never came back from MPI", PAINT.mpi], ["descheduled", "no CPU", PAINT.descheduled],
  ["blocked", "blocked", PAINT.blocked], ["unrecorded", "recording off", PAINT.unknown], ["ended", "already ended", PAINT.unknown]];

/** Of all time; calls without end are a part of the time in MPI that stands apart. */
function partOfTime(efficiency, key) {
  const ns = efficiency[`${key}_ns`] - (key === "mpi" ? efficiency.never_back_ns : 0);
  return efficiency.all_ns > 0 ? ns / efficiency.all_ns : 0;
}

function viewAnswer(run) {
  const {report} = run, {efficiency} = report;
  return [
    shortAnswer(report),
    el("p.head", {id: "head"}, el("strong", null, report.title), el("span", null, plural(report.ranks, "rank")),
      el("span", null, duration(report.duration_ns)), PARTS_OF_TIME.map(([key, name]) => {
        const part = partOfTime(efficiency, key);
        return part >= 0.0005 || key === "compute" || key === "waiting" ? el("span", null, `${name} ${(100 * part).toFixed(1)} %`) : null;
      })),
    el("p.run", null, [report.run, report.recorded_ns ? new Date(report.recorded_ns / 1e6).toLocaleString() : null, report.command]
      .filter(Boolean).map((text) => el("span", null, text))),
    hangOf(report),
    timeBar(efficiency),
    efficiencyTree(report),
    partitionList(run),
    causeList(run),
    machineRow(report),
    transfersRow(report),
    notesOf(report),
  ];
}

function timeBar(efficiency) {
  const bar = el("div.timebar", {role: "img", "aria-label": "Where the time of all ranks went: " +
    PARTS_OF_TIME.map(([key, name]) => `${name} ${share(partOfTime(efficiency, key))}`).join(", ")});
  for (const [key, name, paint] of PARTS_OF_TIME) {
    const part = partOfTime(efficiency, key);
    if (part > 0) put(bar, el("span", {style: {flex: `${part} 1 0`}, title: `${name} ${share(part)}`, class: `paint ${PAINT_NAMES[paint]}`},
      part > 0.09 ? el("b", null, `${name} ${share(part)}`) : null));
  }
  return bar;
}

function efficiencyTree({efficiency: e, ranks}) {
  if (e.parallel === null || ranks < 2) return null;
  const factor = (name, value, meaning) => el("div.factor", {title: meaning}, el("span.value", null, ratio(value)),
    el("span.meter", {"aria-hidden": "true"}, el("i", {style: {width: `${100 * (value ?? 0)}%`}})), el("span.label", null, name));
  const sign = (text) => el("span.sign", {"aria-hidden": "true"}, text);
  return el("div.efficiency", {id: "efficiency", role: "group", "aria-label": "Efficiency"},
    factor("parallel efficiency", e.parallel, "How much of the ranks' time was spent outside MPI"), sign("="),
    factor("load balance", e.load_balance, "How evenly the work is spread: mean over ranks / the busiest"), sign("×"),
    factor("serialisation", e.serialisation, "What is lost because ranks wait for each other in turn"), sign("×"),
    factor("transfer", e.transfer, "What is lost because data takes time to move"), sign("×"),
    factor("CPU in MPI", e.processor, "What is lost because a rank inside MPI had no CPU"));
}

/** The answer, with a link to the loop that it names. */
function shortAnswer({answer, causes}) {
  const first = answer.cause ? causes.find((cause) => cause.cause === answer.cause) : null, at = first ? answer.text.indexOf(first.name) : -1;
  return el("p.short", null, at < 0 ? answer.text
    : [answer.text.slice(0, at), el("a", {href: `#source&cause=${first.cause}`}, first.name), answer.text.slice(at + first.name.length)]);
}

/** Ranks that are late in many places for one reason: the level above the causes. */
function partitionList(run) {
  const {partitions} = run.report;
  return partitions.length ? el("ul.partitions", {"aria-label": "Reasons that causes share"}, partitions.map((partition) => el("li", null,
    el("p", null, el("strong", null, partition.name), ` ${duration(partition.waiting_ns)}, ${share(partition.share)} of all waiting`),
    el("p", null, partition.times), el("p.advice", null, el("b", null, "next: "), partition.next),
    el("p.links", null, partition.causes.slice(0, 5).map((cause) => el("a", {href: `#source&cause=${cause}`}, `cause ${cause}`)))))) : null;
}

/** Advice names options of the command line: here these are places of the page. */
function adviceOf(text) {
  const places = {"--ranks": ["#ranks", "Ranks"], "--cause": ["#classes", "Classes below"], "--critical": ["#timeline", "the critical path"]};
  return text.replace(/`whywait report (--cause) \d+`/, "$1").split(/(--ranks|--cause|--critical)\b/).map((word) => places[word] ? el("a", {href: places[word][0]}, places[word][1]) : word);
}

function causeList(run) {
  const {report} = run, n = report.answer.has_causes ? report.causes.length : 0;
  let shown = Math.min(n, 5);
  while (shown > 1 && report.causes[shown - 1].share < 0.01) shown--;
  const list = el("ol.causes", {id: "causes", "aria-label": "Why ranks wait"});
  const rest = el("p.rest"), gains = el("p.hint");
  const fill = (upTo) => {
    refill(list, n ? el("li.columns", {"aria-hidden": "true"}, el("span", null, "why ranks wait"), el("span", null, "waiting"),
      el("span", null, "of waiting"), el("span", null, "if fixed"), el("span", null, "of run")) : null, report.causes.slice(0, upTo).map((cause) => causeItem(run, cause)));
    refill(gains, report.causes.slice(0, upTo).filter((cause) => cause.gain_share_text).length > 1
      ? "if fixed: gains of rows do not add up" : null);
    const left = report.causes.slice(upTo);
    refill(rest, left.length ? [`and ${plural(left.length, "more cause")} with ${share(left.reduce((sum, c) => sum + c.share, 0))} of the waiting `,
      button("show all", () => fill(n))] : null);
  };
  run.showAllCauses = () => fill(n);
  fill(shown);
  return [list, rest, gains];
}

function causeItem(run, cause) {
  const sites = cause.sites.slice(0, 3), more = cause.sites.length - sites.length;
  const item = el("li.cause", {id: `cause-${cause.cause}`, "data-cause": cause.cause, class: "cause"},
    el("button.causehead", {type: "button", "aria-pressed": "false", onclick: () => chooseCause(cause.cause)},
      el("span.number", {class: `badge ${PAINT_NAMES[paintOf("computing", cause.cause - 1)]}`}, cause.cause),
      el("span.causename", null, cause.name),
      el("span.figure", {"data-name": "waiting", title: "waiting that it causes, all ranks together"}, duration(cause.waiting_ns)),
      el("span.figure", {"data-name": "of waiting", title: "of all waiting"}, share(cause.share)),
      el("span.figure", {"data-name": "if fixed", title: `how much sooner the run would end, about, ${cause.remedy === "as-others" ? "were late ranks as fast here as the others" : "were this work divided best"}`},
        cause.gain_text),
      el("span.figure", {"data-name": "of run", title: "the same, as a part of the run"}, cause.gain_share_text)),
    el("div.causebody", null,
      el("p", null, cause.explanation, " ", el("span.kind", null, `(${cause.kind_text})`)),
      cause.instead ? el("p", null, cause.instead.text) : null,
      whenBar(cause, run.report.duration_ns),
      cause.gain_excess ? el("p.hint", null, `if fixed: more than its waiting, since ${cause.gain_excess} goes away with it`) : null,
      partsOf(cause),
      el("ul.sites", null, sites.map((site) => el("li", null, el("span.label", null, "waiting at "), siteLink(site),
        el("span.figures", null, siteFigures(cause, site)))), more > 0 ? el("li", null, `and ${plural(more, "more call")}`) : null),
      el("p.advice", null, el("b", null, "next: "), adviceOf(cause.next)),
      el("p.links", null,
        el("a", {href: `#timeline&cause=${cause.cause}`}, "where it acts"), el("a", {href: `#ranks&cause=${cause.cause}`}, "its ranks"),
        el("a", {href: `#classes&cause=${cause.cause}`}, "its classes"), el("a", {href: `#source&cause=${cause.cause}`}, "its source"))));
  return item;
}

const siteName = (site) => `${site.call} ${site.file ? `${baseName(site.file)}${site.line ? `:${site.line}` : ""}` : ""}${site.path ? ` in ${site.path}` : ""}`;

function siteLink(site) {
  return el("a", {href: `#classes&q=${encodeURIComponent(`site ${site.site}`)}`, title: `${site.wait}: ${site.wait_text}`}, siteName(site));
}

/** "39 of 40 calls with waits", as the text report (analyze/words/amount.c). */
const callsWithWaits = (n, all) => all === 1 ? "the only call with waits" : n === all ? `${all === 2 ? "both" : `all ${count(all)}`} calls with waits` : `${count(n)} of ${count(all)} calls with waits`;

function siteFigures(cause, site) {
  const blamed = site.classes.filter((c) => c.blamed).map((c) => c.number);
  const time = cause.sites.length > 1 ? duration(site.waiting_ns) : "", whom = site.late_ranks.length ? rankList(site.late_ranks) : "it";
  const who = `${rankList(site.waiting_ranks)} ${site.waiting_ranks.length === 1 ? "waits" : "wait"}${time && ` ${time}`} for ${whom} in `;
  const all = site.classes.length + (site.left_out?.classes?.n || 0);
  const classes = all > 1 && blamed.length ? `, ${blamed.length === 1 ? "class" : "classes"} ${blamed.slice(0, 8).join(",")} of ${all}` : "";
  return `${site.waiting_ranks.length ? who : time && `${time} in `}${callsWithWaits(site.instances_blamed, site.calls)}${classes}`;
}

/** The cause's waiting over the run, as small bars. */
function whenBar(cause, durationNs) {
  const most = Math.max(...cause.when_ns, 1), part = durationNs / cause.when_ns.length;
  const first = cause.when_ns.findIndex((ns) => ns > 0), last = cause.when_ns.findLastIndex((ns) => ns > 0);
  if (first < 0) return cause.when ? el("p.whenline", null, cause.when) : null;
  const words = `waiting for it over the run, from about ${duration(first * part)} to ${duration((last + 1) * part)}`;
  return el("div.whenline", null, el("div.when", {role: "img", "aria-label": words, title: words}, cause.when_ns.map((ns) =>
    el("i", {style: {height: `${ns > 0 ? Math.max(6, 100 * ns / most) : 0}%`}}))), el("span", null, cause.when || (cause.throughout ? "all through the run" : "")));
}

function partsOf(cause) {
  const parts = cause.parts.filter((part) => part.own_ns > 0);
  if (parts.length < 2) return null;
  return el("details", null, el("summary", null, `${parts.length} places inside`),
    table(`Places inside of cause ${cause.cause}`, [
      {head: "place", cell: (part) => el("span", {style: {"padding-left": `${part.depth}em`}}, part.name, part.call_line ? ` called at line ${part.call_line}` : "")},
      {head: "waiting", number: true, cell: (part) => duration(part.waiting_ns)},
      {head: "of it, on itself", number: true, cell: (part) => duration(part.own_ns)},
      {head: "of the cause", number: true, cell: (part) => share(part.own_ns / cause.waiting_ns)},
    ], cause.parts));
}

function machineRow({machine, answer: {kind, has_causes: hasCauses}}) {
  if ((kind === "hang" && !hasCauses) || machine.share < 0.0005 || !machine.by_rank.length || !machine.places.length) return null;
  const place = machine.places[0];
  return el("section.machine", {id: "machine", "aria-label": "The machine"},
    el("p", null, el("b", null, "the machine: "), "ranks were ready to run but had no CPU. Others waited ", el("b", null, duration(machine.waiting_ns)),
      ` for that, ${share(machine.share)} of all waiting`),
    el("p", null, `${rankList(machine.ranks)}; ${2 * place.waiting_ns >= machine.waiting_ns ? "most of it" : "the largest part"} (${share(place.waiting_ns / machine.waiting_ns)}) ${place.name.startsWith("inside ") ? "" : "in "}${place.name}`),
    machine.reasons.map((reason) => el("p", null, reason)),
    machine.next ? el("p.advice", null, el("b", null, "next: "), machine.next) : null);
}

/** What ranks lose inside MPI without waiting for anybody, where that is more than what the program makes them wait. */
function transfersRow({transfers, efficiency}) {
  if (!transfers.most) return null;
  const place = transfers.places[0], part = place.transfer_ns / transfers.transfer_ns;
  return el("section.machine", {id: "transfers", "aria-label": "Transfers"},
    el("p", null, el("b", null, "transfers: "), "ranks were busy inside MPI while nobody was late: ", el("b", null, duration(transfers.transfer_ns)),
      `, ${share(transfers.transfer_ns / efficiency.all_ns)} of all time`),
    el("p", null, `${part >= 0.5 ? "most of it" : "the largest part"} (${share(part)}) ${place.name}`),
    el("p.advice", null, el("b", null, "next: "), adviceOf(transfers.next)));
}

/** Whoever opens the page of a run that hung wants to know this before anything else; the notes begin with it. */
function hangOf(report) {
  return report.open_waits.length ? el("section.hang", {"aria-label": "Calls that never came back"}, report.notes.map((note) => el("p", null, note))) : null;
}

function notesOf(report) {
  return report.notes.length && !report.open_waits.length ? el("ul.notes", {"aria-label": "Notes"}, report.notes.map((note) => el("li", null, note))) : null;
}
