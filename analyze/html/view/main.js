// SPDX-License-Identifier: BSD-3-Clause
// Puts the page together: views in order, their names in the bar, the chosen cause, search, keys and themes.

let page = null;

const VIEWS = [
  ["comparison", "Comparison", viewComparison],
  ["answer", "Answer", (runs) => viewAnswer(runs[state.run])],
  ["timeline", "Timeline", (runs) => viewTimeline(runs).nodes],
  ["ranks", "Ranks", (runs) => viewRanks(runs[state.run])],
  ["time", "Time", (runs) => viewTime(runs[state.run])],
  ["classes", "Classes", (runs) => viewClasses(runs[state.run])],
  ["source", "Source", (runs) => viewSource(runs[state.run])],
];

const shownRun = () => page.runs[state.run];

/** Chooses a cause (0: none): it lights up in every view. */
function chooseCause(number, isStill) {
  const cause = number === state.cause && !isStill ? 0 : number;
  show({cause}, true);
}

/** A chosen cause has its colour, whatever else the colours are for. */
const setColours = () => setSlots(page.runs, shownRun().report.causes, state.cause - 1, state.colours === "routines" && !state.cause);

function light() {
  for (const item of document.querySelectorAll("[data-cause]")) {
    const isChosen = Number(item.dataset.cause) === state.cause;
    item.classList.toggle("is-chosen", isChosen);
    item.querySelector(".causehead")?.setAttribute("aria-pressed", String(isChosen));
  }
  document.body.classList.toggle("has-cause", state.cause > 0);
  const isNew = setColours();
  if (state.cause !== shownCause) lightAllWaits();
  if (isNew && state.cause === shownCause) for (const view of timelines) view.restyle();
  if (isNew || state.cause !== shownCause) refillLegend();
  if (state.cause !== shownCause) refillViews();
  const cause = shownRun().report.causes[state.cause - 1], chip = document.getElementById("chip");
  refill(chip, cause ? [el("span", {class: `badge ${PAINT_NAMES[paintOf("computing", state.cause - 1)]}`}, state.cause), el("span.chipname", null, cause.name),
    button("×", () => chooseCause(state.cause), {"aria-label": "No cause chosen any more"})] : null);
  chip.hidden = !cause;
}

/** Of every run the cause of that name: sides of a comparison number theirs apart. */
function lightAllWaits() {
  const name = shownRun().report.causes[state.cause - 1]?.name;
  for (const run of page.runs) lightWaits(run, run.report.causes.find((cause) => cause.name === name));
}

let shownCause = 0; // by the views that are made anew when another one is chosen
function refillViews() {
  shownCause = state.cause;
  for (const view of timelines) view.restyle();
  for (const run of page.runs) {
    run.refillRanks?.();
    run.refillTime?.();
    run.refillClasses?.();
    for (const fill of run.refillSources || []) fill();
  }
}

function refillLegend() {
  const old = document.querySelector("#timeline ul.legend");
  if (!old) return;
  const focus = old.contains(document.activeElement) ? document.activeElement.closest("li").dataset.paint : null, made = legend(shownRun());
  old.replaceWith(made);
  if (focus !== null) made.querySelector(`li[data-paint="${focus}"] button`)?.focus();
}

function jumpTo(view) {
  const section = document.getElementById(view);
  if (!section) return;
  state.view = view;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  section.scrollIntoView({behavior: still ? "auto" : "smooth", block: "start"});
  show({view});
}

/** Links inside the page change what is shown, and go there. */
function followLink(event) {
  const link = event.target.closest?.("a[href^='#']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const kept = {from: state.from, to: state.to, cause: state.cause, pale: state.pale};
  history.pushState(null, "", link.getAttribute("href"));
  readAddress();
  if (!link.getAttribute("href").includes("t=")) Object.assign(state, {from: kept.from, to: kept.to});
  if (!link.getAttribute("href").includes("cause=")) state.cause = kept.cause;
  state.pale = kept.pale;
  show({...state.cause !== kept.cause ? {cause: state.cause} : {}, view: state.view});
  if (state.search) applySearch(state.search);
  jumpTo(state.view);
  document.getElementById(state.view)?.querySelector("h2")?.focus({preventScroll: true});
}

/** Marks what is found, and returns it, in the order of the page. */
function applySearch(text) {
  const box = document.getElementById("search"), list = [];
  if (box.value !== text) box.value = text;
  state.search = text;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length) shownRun().showAllCauses?.();
  shownRun().refillClasses?.();
  light();
  for (const item of document.querySelectorAll("li.cause, article.site, tr[data-ranks], [data-find]")) {
    const own = (item.dataset.find || item.textContent).toLowerCase();
    const isFound = words.length > 0 && words.every((w) => own.includes(w));
    item.classList.toggle("is-found", isFound);
    item.classList.toggle("is-other", words.length > 0 && !isFound);
    if (isFound) list.push(item);
  }
  sayFound(words.length ? `${list.length} found` : "");
  foundAt = -1;
  return list;
}

let foundAt = -1; // the one that was gone to last
const sayFound = (text) => refill(document.getElementById("found"), text);

/** Enter: to the next place that is found, or the last one; "rank 7" leads to that rank in the timeline. */
function goToFound(text, way) {
  const rank = /^\s*rank\s*(\d+)\s*$/i.exec(text), at = foundAt;
  if (rank && goToRank(Number(rank[1]))) return;
  const list = applySearch(text);
  if (!list.length) return;
  foundAt = at < 0 && way < 0 ? list.length - 1 : (at + way + list.length) % list.length;
  sayFound(`${foundAt + 1} of ${list.length}`);
  list[foundAt].scrollIntoView({block: "center"});
}

/** False where there is no such rank, or no timeline. */
function goToRank(rank) {
  const view = timelines[state.run] ?? timelines[0], row = view ? view.t.rows.findIndex((other) => other.rank === rank) : -1;
  if (row < 0) return false;
  jumpTo("timeline");
  focusRow(view, row);
  view.canvas.focus({preventScroll: true});
  return true;
}

function askForRank() {
  const box = document.getElementById("search");
  box.value = "rank ";
  box.focus();
}

function makeTools() {
  const search = el("input", {type: "search", id: "search", placeholder: "search", "aria-label": "Search causes, calls, files, ranks", autocomplete: "off",
    oninput: () => {
      applySearch(search.value);
      show({search: search.value});
    },
    onkeydown: (event) => {
      if (event.key === "Enter") goToFound(search.value, event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        search.value = "";
        applySearch("");
        show({search: ""});
        search.blur();
      }
    }});
  const theme = button("◐", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    restyleAll();
  }, {id: "theme", "aria-label": "Dark or light", title: "dark or light"});
  const help = button("?", toggleHelp, {id: "help", "aria-label": "Keys", title: "keys"});
  put(document.getElementById("tools"), el("div.chip", {id: "chip", hidden: true}), search, el("output", {id: "found", for: "search"}), theme, help);
}

function restyleAll() {
  refillLegend();
  refillViews();
}

/** Paper is light: the theme goes back to what it was when the page has been printed. */
let themeOnScreen = null;
function printInLight(isPrinting) {
  const theme = document.documentElement.dataset;
  if (isPrinting) {
    if (!isDark()) return;
    themeOnScreen = theme.theme ?? "";
    theme.theme = "light";
  } else {
    if (themeOnScreen === null) return;
    if (themeOnScreen) theme.theme = themeOnScreen;
    else delete theme.theme;
    themeOnScreen = null;
  }
  restyleAll();
  for (const view of timelines) view.drawNow();
}

function toggleHelp() {
  const old = document.getElementById("keys");
  if (old) {
    old.close();
    old.remove();
    return;
  }
  const keys = [["1 – 7", "views"], ["c", "next cause"], ["Esc", "no cause; no search"], ["/", "search (Enter: the next place, Shift: the last)"], ["g", "go to a rank"], ["m", "the machine pale, or not"], ["d", "dark or light"], ["t", "to the timeline"],
    ["← →", "timeline: earlier, later (Shift: further)"], ["+ −", "timeline: zoom in, out"], ["0", "timeline: whole run"], ["↑ ↓", "timeline: rank"], ["[ ]", "timeline: more ranks, fewer"],
    ["n p", "timeline: next, last wait of the rank"], ["Enter", "timeline: show what a wait waited for"], ["Backspace", "timeline: back to what was shown"], ["?", "this"]];
  const dialog = el("dialog", {id: "keys", "aria-label": "Keys", onclose: () => dialog.remove()}, el("h2", null, "Keys"),
    el("dl", null, keys.map(([key, what]) => [el("dt", null, el("kbd", null, key)), el("dd", null, what)])), button("close", () => dialog.close()));
  document.body.append(dialog);
  dialog.showModal();
}

function pageKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const onTimeline = event.target.tagName === "CANVAS", causes = shownRun().report.causes.length;
  const actions = {
    "/": () => document.getElementById("search").focus(), g: () => askForRank(), "?": toggleHelp, d: () => document.getElementById("theme").click(),
    m: () => togglePale("descheduled"), c: () => causes && chooseCause(state.cause % causes + 1, true), Escape: () => state.cause && chooseCause(state.cause),
    t: () => {
      jumpTo("timeline");
      timelines[0]?.canvas.focus({preventScroll: true});
    },
  };
  const view = !onTimeline && /^[1-9]$/.test(event.key) ? document.querySelectorAll("#nav a")[Number(event.key) - 1] : null;
  if (!view && (!actions[event.key] || event.defaultPrevented)) return;
  event.preventDefault();
  if (view) view.click();
  else actions[event.key]();
}

function spyOnViews() {
  const links = new Map([...document.querySelectorAll("#nav a")].map((link) => [link.dataset.view, link]));
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) {
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, {rootMargin: "-20% 0px -70% 0px"});
  for (const section of document.querySelectorAll("main > section")) observer.observe(section);
}

/** Which of several runs the views below the timelines show. */
function makeRunChoice() {
  if (page.runs.length < 2) return null;
  return choice("run", page.runs.map((run, i) => [i, `${run.side}: ${run.name}`]), state.run, (run) => {
    state.cause = 0;
    show({run: Number(run)}, true);
    build();
    jumpTo(state.view);
  });
}

/** All views, from the data. */
function build() {
  const main = document.getElementById("main"), nav = document.getElementById("nav");
  timelines.length = 0;
  state.listeners.length = 0;
  for (const run of page.runs) for (const key of Object.keys(run)) if (key.startsWith("refill") || key === "showAllCauses") delete run[key];
  setColours();
  shownCause = state.cause;
  lightAllWaits();
  main.replaceChildren();
  nav.replaceChildren();
  listen((changes) => {
    if ("cause" in changes || "colours" in changes) light();
    if ("pale" in changes) {
      for (const view of timelines) view.restyle();
      refillLegend();
    }
    if (changes.jump) jumpTo(state.view);
  });
  for (const [id, title, make] of VIEWS) {
    const nodes = make(page.runs, page.comparison);
    if (!nodes) continue;
    put(main, el("section", {id, "aria-labelledby": `${id}-title`}, el("h2", {id: `${id}-title`, tabindex: -1}, title), id === "answer" ? makeRunChoice() : null, nodes));
    put(nav, el("a", {href: `#${id}`, "data-view": id}, title));
  }
  spyOnViews();
  light();
  if (state.search) applySearch(state.search);
}

async function open() {
  const start = performance.now();
  page = await loadPage();
  for (const [i, run] of page.runs.entries()) run.side = page.comparison ? (page.comparison.is_after[i] ? "after" : "before") : "";
  readAddress();
  state.run = Math.min(state.run, page.runs.length - 1);
  const first = shownRun().report;
  document.getElementById("name").textContent = first.title;
  makeTools();
  build();
  refill(document.getElementById("footer"), `${first.tool}; ${count(first.mpi_calls)} MPI calls, ${count(first.events)} events read${first.lost ? `, ${count(first.lost)} records lost` : ""}`);
  document.addEventListener("click", followLink);
  document.addEventListener("keydown", pageKey);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restyleAll);
  addEventListener("beforeprint", () => printInLight(true));
  addEventListener("afterprint", () => printInLight(false));
  if (location.hash) document.getElementById(state.view)?.scrollIntoView();
  for (const view of timelines) view.draw();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  document.documentElement.dataset.openMs = Math.round(performance.now() - start);
}

// For tests, which look at the page from outside.
window.whywait = {state, timelines, duration, get page() { return page; }, setRange, zoomRange, rangeFrom, rangeTo, chooseCause, criticalPath, findSteps, addSums, PAINT};

open().catch((problem) => {
  refill(document.getElementById("main"), el("p", {role: "alert"}, `This page could not be opened: ${problem.message}. It needs a browser of 2023 or later.`));
  throw problem;
});
