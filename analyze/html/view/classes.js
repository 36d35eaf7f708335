// SPDX-License-Identifier: BSD-3-Clause
// Each call at which ranks wait, with its classes side by side: instances of alike behaviour, and what the two sides did
// differently in them. To the right what the late side did longer, to the left what the waiting side did meanwhile.

const SITES_FIRST = 6;

function viewClasses(run) {
  const {report} = run, body = el("div.sitelist"), rest = el("p.rest");
  if (!report.sites.length) return null;
  run.causeOfStep = new Map(report.causes.flatMap((cause) => cause.parts.map((part) => [part.name, cause.cause])).reverse());
  let isAll = false;
  const fill = () => {
    const ofCause = new Set((report.causes[state.cause - 1]?.sites || []).map((site) => site.site));
    const words = state.search.toLowerCase();
    const shown = report.sites.filter((site, i) => isAll || i < SITES_FIRST || ofCause.has(site.site) || (words && siteText(site).includes(words)));
    if (state.cause) shown.sort((a, b) => ofCause.has(b.site) - ofCause.has(a.site) || a.site - b.site);
    refill(body, shown.map((site) => siteArticle(run, site, ofCause.has(site.site))));
    const left = report.sites.length - shown.length, missing = report.left_out?.sites;
    refill(rest, left > 0 ? [`and ${plural(left, "more call")} `, button("show all", () => {
      isAll = true;
      fill();
    })] : null, missing ? ` ${plural(missing.n, "further call")} with ${duration(missing.waiting_ns)} of waiting: whywait report --format json --all` : null);
  };
  run.refillClasses = fill;
  fill();
  return [el("p.hint", null, "The calls of a class have the same reason to wait: on each side the same steps came before. Right: the late side took longer. Left: the waiting side did this meanwhile. The times are those of one call, with all ranks that wait in it added up."), body, rest];
}

const siteText = (site) => `site ${site.site} ${site.call} ${site.file || ""}:${site.line} ${site.path || ""} ${site.wait}`.toLowerCase();

function siteArticle(run, site, isOfCause) {
  const most = Math.max(1, ...site.classes.flatMap((c) => stepsShown(c).map((step) => Math.abs(step.duration_ns) / c.instances)));
  const blamed = new Set((run.report.causes[state.cause - 1]?.sites.find((s) => s.site === site.site)?.classes || []).filter((c) => c.blamed).map((c) => c.number));
  const missing = site.left_out?.classes;
  return el("article.site", {id: `site-${site.site}`, class: `site${isOfCause ? " is-chosen" : ""}`, "data-find": siteText(site)},
    el("h3", null, `site ${site.site}: ${siteName(site)}`, el("small", null, ` ${site.wait}, ${duration(site.waiting_ns)} in ${plural(site.calls, "call")} with waits, ${plural(site.classes.length + (missing?.n || 0), "class", "classes")}`)),
    el("p.hint", null, `${site.wait}: ${site.wait_text}`),
    el("div.classes", null, site.classes.slice(0, 12).map((c) => classCard(run, site, c, most, blamed.has(c.number)))),
    site.classes.length > 12 || missing ? el("p.hint", null, `${plural(Math.max(0, site.classes.length - 12) + (missing?.n || 0), "smaller class", "smaller classes")} more`) : null);
}

const stepsShown = (c) => c.steps.filter((step) => !step.redundant || step.blame_ns > 0.05 * c.waiting_ns).slice(0, 8);

function classCard(run, site, c, most, isBlamed) {
  const steps = stepsShown(c);
  const bar = (step) => {
    const part = 100 * Math.min(1, Math.abs(step.duration_ns) / c.instances / most);
    return el("span.signed", {"aria-hidden": "true"}, el("i", {class: step.duration_ns < 0 ? "minus" : "plus", style: {width: `${part / 2}%`}}));
  };
  return el("div.class", {class: `class${isBlamed ? " is-chosen" : ""}`},
    el("h4", null, `class ${c.number}`, el("small", null, ` ${plural(c.instances, "call")}, ${duration(c.waiting_ns)}`)),
    el("p.hint", null, `${moment(c.first_ns, run.report.duration_ns / 1e3)} – ${moment(c.last_ns, run.report.duration_ns / 1e3)}; one: ${duration(c.smallest_ns)} – ${duration(c.largest_ns)}, ± ${duration(c.deviation_ns)}`),
    el("ul.steps", null, steps.map((step) => {
      const cause = run.causeOfStep.get(step.name);
      const perOne = step.duration_ns / c.instances;
      return el("li", null, el("span.stepname", null,
        `${change(perOne)} rank ${step.rank} ${step.name}`,
        step.executions ? `, ${step.executions > 0 ? "+" : "−"}${count(Math.abs(step.executions) / c.instances)} executions` : null,
        cause && step.blame_ns > 0 ? [" ", el("a", {href: `#answer&cause=${cause}`}, `cause ${cause}`)] : null), bar(step));
    })),
    steps.length ? null : el("p.hint", null, "Both sides did the same; times differ by little."));
}
