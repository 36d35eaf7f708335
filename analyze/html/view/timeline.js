// SPDX-License-Identifier: BSD-3-Clause
// Ranks over time, on a canvas; what is chosen is told in words below it, and what is in view is there as a table.

const AXIS = 20, LEAST_BAND = 4, MOST_BAND = 30, LEAST_NAMED = 20, MOST_ALONE = 12, ALONE_BAND = 13;
let leftRoom = 64; // for names of rows: those of threads are longer
const timelines = []; // all on the page: they share the range

const wholeNs = () => Math.max(...page.runs.map((run) => run.report.duration_ns));
const rangeFrom = () => state.from ?? 0;
const rangeTo = () => state.to ?? wholeNs();

/* * Sets the time in view, within the run and not closer than a microsecond. A move keeps the
 * length to the nanosecond, whatever fractions round to: only then what has been drawn can be
 * shifted.
 */
function setRange(from, to, isChoice) {
  const whole = wholeNs(), shown = rangeTo() - rangeFrom(), isMove = Math.abs(to - from - shown) < 1;
  const length = isMove ? shown : Math.min(Math.max(to - from, 1000), whole);
  from = Math.max(0, Math.min(from, whole - length));
  const isWhole = length >= whole * 0.999999;
  show({from: isWhole ? null : Math.round(from), to: isWhole ? null : Math.round(from) + Math.round(length)}, isChoice);
}

function zoomRange(factor, aroundNs) {
  const from = rangeFrom(), to = rangeTo(), around = aroundNs ?? (from + to) / 2;
  setRange(around - (around - from) * factor, around + (to - around) * factor);
}

/**
 * Bands of the canvas: one row of the run each, or several neighbours of the list where there are many. Then each of the
 * `late` rows has a band of its own, high enough for its name.
 */
function bandsFor(list, room, late) {
  const most = Math.max(1, Math.floor(room / LEAST_BAND)), group = Math.max(1, Math.ceil(list.length / most)), bands = [];
  const alone = group > 1 ? new Set(list.filter((row) => late.has(row)).slice(0, MOST_ALONE)) : new Set();
  const nBands = Math.ceil(list.length / group), height = Math.max(LEAST_BAND, Math.min(MOST_BAND, Math.floor(room / Math.max(1, nBands))));
  let y = AXIS;
  for (const row of list) {
    const last = bands[bands.length - 1], isAlone = alone.has(row);
    if (last && !isAlone && !last.isAlone && last.rows.length < group) {
      last.rows.push(row);
      continue;
    }
    const ownHeight = isAlone ? Math.max(height, ALONE_BAND) : height;
    bands.push({rows: [row], y, height: ownHeight - (ownHeight > 6 ? 1 : 0), isAlone});
    y += ownHeight;
  }
  return bands;
}

/** Orders of the rows: as ranks are numbered, or those first that make the others wait most, which puts alike ones together. */
function orderRows(view, order) {
  const {t, run} = view, rank = run.report.by_rank, all = t.rows.map((_, i) => i), key = (i) => rank[t.rows[i].rank]?.[order] || 0;
  view.order = order === "rank" ? all : all.sort((a, b) => key(b) - key(a) || a - b);
  view.place = new Int32Array(all.length);
  view.order.forEach((row, place) => { view.place[row] = place; });
  view.bands = [];
}

/** Fewer rows in view, or more, around the one in focus. */
function zoomRows(view, factor) {
  const n = view.t.rows.length, count = Math.max(Math.min(n, 8), Math.min(n, Math.round(view.count * factor)));
  const focus = view.place[view.focusRow], inside = focus >= view.first && focus < view.first + view.count ? (focus - view.first) / view.count : 0.5;
  setRows(view, Math.round(view.first + inside * (view.count - count)), count);
}

function setRows(view, first, count) {
  view.count = Math.min(count, view.t.rows.length);
  view.first = Math.max(0, Math.min(view.t.rows.length - view.count, first));
  view.bands = [];
  view.draw();
}

function makeTimeline(run) {
  const t = run.timeline;
  const canvas = el("canvas.time", {tabindex: 0, role: "application", "aria-roledescription": "timeline",
    "aria-label": `Timeline of ${plural(t.rows.length, t.rows.some((row) => row.thread) ? "thread" : "rank")}: arrow keys move, plus and minus zoom, n and p go to the next and the last wait, Enter explains it, Backspace goes back, 0 shows the whole run`});
  const chosen = el("div.chosen", {"aria-live": "polite"});
  const tip = el("div.tip", {hidden: true});
  const view = {run, t, canvas, chosen, tip, bands: [], first: 0, count: t.rows.length, width: 0, selected: null, focusRow: 0, lit: null, tiles: null, isPathShown: true, frames: []};
  const context = canvas.getContext("2d", {alpha: false});
  let isQueued = false;
  view.drawNow = () => drawTimeline(view, context);
  view.draw = () => {
    if (isQueued) return;
    isQueued = true;
    requestAnimationFrame(() => {
      isQueued = false;
      const start = performance.now();
      drawTimeline(view, context);
      view.drawMs = performance.now() - start;
      view.frames.push(performance.now());
      if (view.frames.length > 240) view.frames.shift();
    });
  };
  view.restyle = () => {
    view.tiles = null;
    view.draw();
  };
  const late = new Set(run.report.answer.ranks || []);
  view.late = new Set([...t.rows.keys()].filter((row) => late.has(t.rows[row].rank)));
  orderRows(view, "rank");
  handleTimeline(view);
  new ResizeObserver(view.draw).observe(canvas);
  timelines.push(view);
  view.node = el("div.timeline", null, canvas, tip, chosen);
  return view;
}

function layout(view) {
  const {canvas} = view, width = canvas.clientWidth || 800, scale = Math.min(2, devicePixelRatio || 1);
  const room = Math.min(Math.max(view.count * MOST_BAND, 60), Math.max(240, Math.min(560, innerHeight * 0.6)));
  if (!view.bands.length || view.room !== room) {
    view.bands = bandsFor(view.order.slice(view.first, view.first + view.count), room, view.late);
    view.bandAt = new Map(view.bands.flatMap((band) => band.rows.map((row) => [row, band])));
  }
  view.room = room;
  const last = view.bands[view.bands.length - 1], height = last ? last.y + last.height + 2 : AXIS + 20;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
  }
  view.width = width;
  view.height = height;
  view.scale = scale;
}

const xOf = (view, ns) => leftRoom + (ns - rangeFrom()) / (rangeTo() - rangeFrom()) * (view.width - leftRoom);
const nsOf = (view, x) => rangeFrom() + (x - leftRoom) / (view.width - leftRoom) * (rangeTo() - rangeFrom());
/** The middle of a row's band; of one that is not in view, beyond the edge where it would be. */
const middleOf = (view, row) => {
  const band = view.bandAt.get(row);
  return band ? band.y + band.height / 2 : view.place[row] < view.first ? AXIS - 6 : view.height + 6;
};

function drawTimeline(view, context) {
  layout(view);
  const {scale} = view, from = rangeFrom(), to = rangeTo();
  if (!view.tiles) {
    view.drawn = null;
    view.lit = state.cause ? paintOf("computing", state.cause - 1) : null;
    view.tiles = tilesFor(view.lit);
    view.elsewhere = tilesFor(view.lit, true);
    const theme = GROUNDS[isDark() ? "dark" : "light"];
    view.paper = theme.paper;
  }
  const width = Math.max(1, Math.round((view.width - leftRoom) * scale)), height = view.canvas.height;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = view.paper;
  context.fillRect(0, 0, view.canvas.width, height);
  if (!view.image || view.image.width !== width || view.image.height !== height) {
    view.image = context.createImageData(width, height);
    view.drawn = null;
    view.pixels = new Uint32Array(view.image.data.buffer);
    view.shares = new Float32Array(width * N_PAINTS);
  }
  drawColumns(view, width, from, to);
  context.putImageData(view.image, Math.round(leftRoom * scale), 0);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  drawAxis(view, context);
  drawRowNames(view, context);
  context.save();
  context.beginPath();
  context.rect(leftRoom, 0, view.width - leftRoom, view.height);
  context.clip();
  if (view.isPathShown) drawCriticalPath(view, context);
  drawNear(view, context);
  drawSelected(view, context);
  context.restore();
}

/**
 * Columns lie on a grid of time, so that moving about shifts those that have been drawn, and only what comes into view
 * is drawn anew.
 */
function drawColumns(view, width, from, to) {
  const column = (to - from) / width, first = Math.round(from / column), {pixels} = view, old = view.drawn;
  const shift = old && old.column === column && old.bands === view.bands ? first - old.first : width;
  let x0 = 0, n = width;
  if (Math.abs(shift) < width) {
    for (let y = 0; shift && y < view.image.height; y++) {
      const at = y * width;
      if (shift > 0) pixels.copyWithin(at, at + shift, at + width);
      else pixels.copyWithin(at - shift, at, at + width + shift);
    }
    n = Math.abs(shift);
    x0 = shift > 0 ? width - shift : 0;
  }
  view.drawn = {column, first, bands: view.bands};
  if (!n) return;
  const ground = word(rgb(view.paper)), shares = view.shares.subarray(0, n * N_PAINTS);
  if (n === width) pixels.fill(ground);
  for (const band of view.bands) {
    shares.fill(0);
    for (const row of band.rows) addShares(view.t, row, (first + x0) * column, (first + x0 + n) * column, n, shares);
    fillBand(pixels, width, x0, n, first + x0, Math.round(band.y * view.scale), Math.round((band.y + band.height) * view.scale), shares, band.rows.length, tilesOf(view, band), ground);
  }
}

/** Of a band: causes in which one of its ranks is late have their full colours. */
function tilesOf(view, band) {
  if (routines) return view.tiles;
  return view.tiles.map((tile, paint) => {
    const cause = paint >= PAINT.cause && paint < PAINT.otherCause ? causeByName(view.run, slots[paint - PAINT.cause]) : null;
    return !cause || band.rows.some((row) => cause.ranks.includes(view.t.rows[row].rank)) ? tile : view.elsewhere[paint];
  });
}

const ink = (part) => `${isDark() ? "rgba(235,238,242," : "rgba(25,28,33,"}${part})`;

function ticks(from, to, most) {
  const raw = (to - from) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const list = [];
  for (let ns = Math.ceil(from / step) * step; ns <= to; ns += step) list.push(ns);
  return {step, list};
}

function drawAxis(view, context) {
  const {step, list} = ticks(rangeFrom(), rangeTo(), (view.width - leftRoom) / 110);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const ns of list) {
    const x = Math.round(xOf(view, ns)) + 0.5;
    context.strokeStyle = ink(0.12);
    context.beginPath();
    context.moveTo(x, AXIS - 5);
    context.lineTo(x, view.height);
    context.stroke();
    context.fillStyle = ink(0.75);
    if (x + 50 < view.width) context.fillText(moment(ns, step), x + 3, AXIS / 2);
  }
}

function drawRowNames(view, context) {
  context.textAlign = "right";
  context.font = "11px system-ui, sans-serif";
  const named = [];
  for (const band of [...view.bands.filter((other) => other.isAlone), ...view.bands.filter((other) => !other.isAlone)]) {
    const y = band.y + band.height / 2;
    if (named.some((other) => Math.abs(other - y) < 12)) continue;
    named.push(y);
    const isFocus = document.activeElement === view.canvas && band.rows.includes(view.focusRow);
    context.fillStyle = ink(isFocus || band.isAlone || (state.rank !== null && band.rows.some((row) => view.t.rows[row].rank === state.rank)) ? 1 : 0.7);
    context.font = `${isFocus ? "bold " : ""}11px system-ui, sans-serif`;
    context.fillText(band.rows.length === 1 && (band.isAlone || view.bands.length <= 40) ? `rank ${bandName(view, band)}` : bandName(view, band), leftRoom - 8, y);
  }
}

/** "7", "8–15", or "8 and 7" of neighbours that are none by number. */
function bandName(view, band) {
  const names = band.rows.map((row) => view.t.rows[row].name), last = names[names.length - 1];
  if (names.length === 1) return names[0];
  return Number(last) - Number(names[0]) === names.length - 1 ? `${names[0]}–${last}` : `${names[0]}, …`;
}

/** Each column of pixels has a line over the rows that the path goes through in its time. */
function drawCriticalPath(view, context) {
  const from = rangeFrom(), to = rangeTo(), path = criticalPath(view.t), width = Math.ceil(view.width);
  let low = 0, high = path.length, jumps = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (path[middle].to > from) high = middle;
    else low = middle + 1;
  }
  const tops = new Float32Array(width + 1).fill(Infinity), bottoms = new Float32Array(width + 1).fill(-Infinity);
  context.beginPath();
  for (let i = low; i < path.length && path[i].from < to; i++) {
    const piece = path[i], y = middleOf(view, piece.row), x0 = Math.max(leftRoom, xOf(view, piece.from)), x1 = Math.min(view.width, xOf(view, piece.to));
    if (x1 - x0 >= 1.5) {
      context.moveTo(x0, y);
      context.lineTo(x1, y);
    }
    const next = path[i + 1];
    jumps++;
    for (const at of [y, next && next.from < to ? middleOf(view, next.row) : y]) {
      const x = Math.max(0, Math.min(width, Math.round(x1)));
      tops[x] = Math.min(tops[x], at);
      bottoms[x] = Math.max(bottoms[x], at);
    }
  }
  for (let x = leftRoom; x <= width; x++) {
    if (bottoms[x] > tops[x]) {
      context.moveTo(x, tops[x]);
      context.lineTo(x, bottoms[x]);
    }
  }
  const isDense = jumps > width / 8;
  for (const [style, lineWidth] of isDense ? [[ink(0.55), 1]] : [[isDark() ? "rgba(20,23,27,0.8)" : "rgba(255,255,255,0.85)", 3.5], [isDark() ? "#ffffff" : "#111418", 1.5]]) {
    Object.assign(context, {strokeStyle: style, lineWidth});
    context.stroke();
  }
}

/** Widths that suffice: names in cells, arrows to waits from what released them. */
function drawNear(view, context) {
  const {t} = view, from = rangeFrom(), to = rangeTo();
  let nSeen = 0;
  const arrows = [], MOST = 4000;
  for (const band of view.bands) {
    if (band.rows.length > 1) return;
    const row = t.rows[band.rows[0]], first = cellAt(t, row, from);
    nSeen += cellAt(t, row, to) - first;
    if (nSeen > MOST) return;
  }
  context.font = "10px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const band of view.bands) {
    const row = t.rows[band.rows[0]];
    for (let cell = cellAt(t, row, from); cell < row.end && t.begin[cell] < to; cell++) {
      const x0 = Math.max(leftRoom, xOf(view, t.begin[cell])), x1 = Math.min(view.width, xOf(view, t.end[cell]));
      if (x1 - x0 < LEAST_NAMED) continue;
      const wait = t.waitOf[cell] >= 0 ? t.waits[t.waitOf[cell]] : null;
      if (wait && !wait.isSeveral) arrows.push([wait, band.rows[0]]);
      if (band.height >= 12) drawCellName(view, context, band, cell, wait, x0, x1);
    }
  }
  if (arrows.length <= view.width / 10) for (const [wait, row] of arrows) drawArrow(view, context, wait, row, 0.55);
}

function drawCellName(view, context, band, cell, wait, x0, x1) {
  const text = cellName(view, cell, wait);
  const width = context.measureText(text).width + 6;
  let shown = text;
  if (width > x1 - x0) {
    const cause = mainKind(view.t, cell)?.cause ?? -1;
    shown = cause >= 0 ? String(cause + 1) : "";
    if (context.measureText(shown).width + 6 > x1 - x0 || !shown) return;
  }
  const y = band.y + Math.min(band.height / 2, 8), textWidth = context.measureText(shown).width;
  context.fillStyle = isDark() ? "rgba(20,23,27,0.82)" : "rgba(255,255,255,0.85)";
  context.fillRect(x0 + 2, y - 6, textWidth + 4, 12);
  context.fillStyle = ink(0.95);
  context.fillText(shown, x0 + 4, y + 0.5);
}

/** The kind that most of a cell is. */
function mainKind(t, cell) {
  let best = -1, most = 0;
  for (let i = t.part[cell]; i < t.part[cell + 1]; i++) if (t.ns[i] > most) {
    most = t.ns[i];
    best = t.kind[i];
  }
  return best < 0 ? null : t.kinds[best];
}

function cellName(view, cell, wait) {
  if (wait) {
    const site = wait.site ? siteOf(view.run, wait.site) : null;
    return `${site ? site.call : "waits"} ← rank ${view.t.rows[wait.by].name}`;
  }
  const kind = mainKind(view.t, cell);
  if (!kind) return "";
  return `${kind.cause >= 0 ? `${kind.cause + 1} ` : ""}${kind.name ?? stateWords(kind.state)}`;
}

const siteOf = (run, number) => run.report.sites.find((site) => site.site === number);

function drawArrow(view, context, wait, row, strength) {
  const x = xOf(view, wait.release), y0 = middleOf(view, wait.by), y1 = middleOf(view, row), way = Math.sign(y1 - y0) || 1;
  if (y0 === y1) return;
  context.strokeStyle = context.fillStyle = ink(strength);
  context.lineWidth = strength > 0.8 ? 2 : 1;
  context.beginPath();
  context.arc(x, y0, 2.2, 0, 7);
  context.fill();
  context.beginPath();
  context.moveTo(x, y0);
  context.lineTo(x, y1 - 4 * way);
  context.stroke();
  context.beginPath();
  context.moveTo(x, y1);
  context.lineTo(x - 3.5, y1 - 6 * way);
  context.lineTo(x + 3.5, y1 - 6 * way);
  context.fill();
}

/** The chosen wait, with the way of its explanation through the ranks: solid who was late, dashed who waited. */
function drawSelected(view, context) {
  const selected = view.selected;
  if (!selected) return;
  const {t} = view, band = view.bandAt.get(selected.row), x0 = xOf(view, t.begin[selected.cell]), x1 = xOf(view, t.end[selected.cell]);
  for (const piece of selected.pieces || []) {
    const y = middleOf(view, piece.row);
    context.strokeStyle = piece.isLate ? (isDark() ? "#ff9d85" : "#b3301a") : ink(0.8);
    context.lineWidth = 3;
    context.setLineDash(piece.isLate ? [] : [5, 4]);
    context.beginPath();
    context.moveTo(xOf(view, piece.from), y);
    context.lineTo(xOf(view, piece.to), y);
    context.stroke();
  }
  context.setLineDash([]);
  const late = (selected.pieces || []).filter((piece) => piece.isLate);
  context.strokeStyle = isDark() ? "#ff9d85" : "#b3301a";
  for (let i = 1; i < late.length; i++) {
    const x = xOf(view, late[i].to);
    context.beginPath();
    context.moveTo(x, middleOf(view, late[i].row));
    context.lineTo(x, middleOf(view, late[i - 1].row));
    context.stroke();
  }
  if (selected.wait) drawArrow(view, context, selected.wait, selected.row, 1);
  context.strokeStyle = ink(1);
  context.lineWidth = 2;
  if (band) context.strokeRect(x0, band.y, Math.max(2, x1 - x0), band.height);
}

function rowAtY(view, y) {
  const band = view.bands.find((b) => y >= b.y && y < b.y + b.height + 1);
  if (!band) return -1;
  return band.rows[Math.min(band.rows.length - 1, Math.floor((y - band.y) / band.height * band.rows.length))];
}

function selectCell(view, row, cell) {
  const {t} = view;
  for (const other of timelines) if (other !== view) other.selected = null;
  const wait = t.waitOf[cell] >= 0 ? t.waits[t.waitOf[cell]] : null;
  view.selected = {row, cell, wait, pieces: wait ? explanation(t, wait, row) : null};
  view.focusRow = row;
  refill(view.chosen, describe(view, row, cell, wait));
  show({rank: t.rows[row].rank});
  view.draw();
}

/** A cell in words. */
function describe(view, row, cell, wait) {
  const {t, run} = view, length = t.end[cell] - t.begin[cell], who = `rank ${t.rows[row].name}`;
  const parts = [];
  for (let i = t.part[cell]; i < t.part[cell + 1]; i++) parts.push([t.kinds[t.kind[i]], t.ns[i]]);
  parts.sort((a, b) => b[1] - a[1]);
  const when = `from ${moment(t.begin[cell], length / 10)} to ${moment(t.end[cell], length / 10)}`;
  const lines = [];
  if (wait) {
    const site = wait.site ? siteOf(run, wait.site) : null, by = t.rows[wait.by];
    lines.push(el("p", null, el("b", null, wait.isSeveral ? `${who} waits several times here, longest ${duration(wait.waited)}` : `${who} waits ${duration(wait.waited)}`),
      site ? [" at ", siteLink(site), ` (${site.wait}: ${site.wait_text})`] : null, `, ${when}; released by rank ${by.name} at ${moment(wait.release, length / 10)}`,
      wait.isInferred ? " (only times tell)" : "", ". ",
      button(`go to rank ${by.name}`, () => {
        const at = Math.max(t.rows[wait.by].first, cellAt(t, t.rows[wait.by], wait.release - 1));
        selectCell(view, wait.by, Math.min(at, t.rows[wait.by].end - 1));
        reveal(view);
      })));
    const late = lateWork(view, row);
    if (late.length) lines.push(el("p", null, "Meanwhile, on the way that it waited for: ", late.slice(0, 6).map(([kind, ns, rank], i) =>
      [i ? "; " : "", kindLink(run, kind), ` on rank ${rank} ${duration(ns)}`]), "."));
  } else {
    lines.push(el("p", null, el("b", null, `${who}, ${duration(length)}`), `, ${when}: `, parts.slice(0, 6).map(([kind, ns], i) =>
      [i ? "; " : "", kindLink(run, kind), parts.length > 1 ? ` ${share(ns / length)}` : ""]), parts.length ? "." : "nothing is known."));
  }
  if (wait && wait.isSeveral) lines.push(el("p", null, parts.slice(0, 6).map(([kind, ns], i) => [i ? "; " : "", kindLink(run, kind), ` ${share(ns / length)}`]), "."));
  return lines;
}

/** The late side's doing along a chosen wait's explanation: [kind, ns, rank], most first. */
function lateWork(view, row) {
  const {t} = view, wait = view.selected?.row === row ? view.selected.wait : null;
  const sums = new Map();
  for (const piece of (view.selected?.pieces || []).filter((p) => p.isLate && wait)) {
    const from = Math.max(piece.from, wait.release - 20 * wait.waited), line = t.rows[piece.row];
    for (let cell = cellAt(t, line, from), n = 0; cell < line.end && t.begin[cell] < piece.to && n < 20000; cell++, n++) {
      const part = (Math.min(t.end[cell], piece.to) - Math.max(t.begin[cell], from)) / (t.end[cell] - t.begin[cell]);
      for (let i = t.part[cell]; i < t.part[cell + 1]; i++) {
        const key = `${t.kind[i]} ${line.rank}`, known = sums.get(key) || [t.kinds[t.kind[i]], 0, line.name];
        known[1] += part * t.ns[i];
        sums.set(key, known);
      }
    }
  }
  return [...sums.values()].filter(([kind]) => kind.state !== "waiting").sort((a, b) => b[1] - a[1]);
}

function kindLink(run, kind) {
  const name = kind.name ?? stateWords(kind.state);
  if (kind.cause < 0) return name;
  return el("a", {href: `#answer&cause=${kind.cause + 1}`, title: run.report.causes[kind.cause]?.name}, `${name} [cause ${kind.cause + 1}]`);
}

/** Moves the time and the rows in view so that what is chosen is in it. */
function reveal(view) {
  const {t, selected} = view;
  if (!selected) return;
  const place = view.place[selected.row];
  if (place < view.first || place >= view.first + view.count) setRows(view, place - (view.count >> 1), view.count);
  const begin = t.begin[selected.cell], end = t.end[selected.cell], length = rangeTo() - rangeFrom();
  if (begin >= rangeFrom() && end <= rangeTo()) return;
  const around = Math.max(length, 3 * (end - begin)), middle = (begin + end) / 2;
  setRange(middle - around / 2, middle + around / 2);
}

function nextWait(view, way) {
  const {t} = view, row = t.rows[view.focusRow];
  let cell = view.selected && view.selected.row === view.focusRow ? view.selected.cell + way : cellAt(t, row, rangeFrom()) - (way < 0 ? 1 : 0);
  while (cell >= row.first && cell < row.end && t.waitOf[cell] < 0) cell += way;
  if (cell < row.first || cell >= row.end) return;
  selectCell(view, view.focusRow, cell);
  reveal(view);
}

function handleTimeline(view) {
  const {canvas, t} = view, pointers = new Map();
  let drag = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  };
  canvas.addEventListener("wheel", (event) => {
    if (event.altKey) {
      event.preventDefault();
      const row = rowAtY(view, at(event).y);
      if (row >= 0) view.focusRow = row;
      zoomRows(view, event.deltaY > 0 ? 1.5 : 1 / 1.5);
    } else if (event.ctrlKey || event.metaKey || document.activeElement === canvas && !event.shiftKey && Math.abs(event.deltaY) > Math.abs(event.deltaX)) {
      event.preventDefault();
      zoomRange(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), nsOf(view, at(event).x));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const by = (event.deltaX || event.deltaY) / view.width * (rangeTo() - rangeFrom());
      setRange(rangeFrom() + by, rangeTo() + by);
    }
  }, {passive: false});
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at(event));
    drag = {start: at(event), from: rangeFrom(), to: rangeTo(), isMoved: false, spread: 0, select: at(event).y < AXIS};
    if (pointers.size === 2) drag.spread = spreadOf(pointers);
  });
  canvas.addEventListener("pointermove", (event) => {
    const point = at(event);
    if (!pointers.has(event.pointerId)) {
      hover(view, point);
      return;
    }
    pointers.set(event.pointerId, point);
    view.tip.hidden = true;
    if (pointers.size === 2 && drag.spread) {
      const spread = spreadOf(pointers), points = [...pointers.values()], middle = (points[0].x + points[1].x) / 2;
      zoomRange(drag.spread / Math.max(spread, 8), nsOf(view, middle));
      drag.spread = Math.max(spread, 8);
      drag.isMoved = true;
    } else if (drag && Math.abs(point.x - drag.start.x) > 3) {
      drag.isMoved = true;
      const by = (drag.start.x - point.x) / (view.width - leftRoom) * (drag.to - drag.from);
      if (!drag.select) setRange(drag.from + by, drag.to + by);
    }
  });
  const up = (event) => {
    const point = at(event);
    if (drag && drag.select && drag.isMoved) {
      const [a, b] = [nsOf(view, drag.start.x), nsOf(view, point.x)];
      setRange(Math.min(a, b), Math.max(a, b), true);
    } else if (drag && !drag.isMoved && pointers.size === 1 && event.type === "pointerup") {
      const row = rowAtY(view, point.y);
      if (row >= 0 && point.x > leftRoom) {
        const cell = cellAt(t, t.rows[row], nsOf(view, point.x));
        if (cell < t.rows[row].end) selectCell(view, row, cell);
      }
    }
    pointers.delete(event.pointerId);
    if (!pointers.size) drag = null;
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => { view.tip.hidden = true; });
  canvas.addEventListener("dblclick", (event) => zoomRange(event.shiftKey ? 2 : 0.4, nsOf(view, at(event).x)));
  canvas.addEventListener("focus", view.draw);
  canvas.addEventListener("blur", view.draw);
  canvas.addEventListener("keydown", (event) => timelineKey(view, event));
}

function spreadOf(pointers) {
  const [a, b] = [...pointers.values()];
  return Math.abs(a.x - b.x);
}

function timelineKey(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const length = rangeTo() - rangeFrom(), last = view.t.rows.length - 1;
  const actions = {
    ArrowLeft: () => setRange(rangeFrom() - length / (event.shiftKey ? 2 : 8), rangeTo() - length / (event.shiftKey ? 2 : 8)),
    ArrowRight: () => setRange(rangeFrom() + length / (event.shiftKey ? 2 : 8), rangeTo() + length / (event.shiftKey ? 2 : 8)),
    "+": () => zoomRange(0.5), "=": () => zoomRange(0.5), "-": () => zoomRange(2), 0: () => setRange(0, wholeNs()),
    Home: () => setRange(0, length), End: () => setRange(wholeNs() - length, wholeNs()),
    ArrowUp: () => focusRow(view, view.order[Math.max(0, view.place[view.focusRow] - 1)]), ArrowDown: () => focusRow(view, view.order[Math.min(last, view.place[view.focusRow] + 1)]),
    "]": () => zoomRows(view, 0.5), "[": () => zoomRows(view, 2),
    PageDown: () => setRows(view, view.first + Math.ceil(view.count / 2), view.count), PageUp: () => setRows(view, view.first - Math.ceil(view.count / 2), view.count),
    n: () => nextWait(view, 1), p: () => nextWait(view, -1), Enter: () => nextOrExplain(view), Backspace: () => history.back(),
    Escape: () => {
      view.selected = null;
      refill(view.chosen);
      view.draw();
    },
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
}

function focusRow(view, row) {
  view.focusRow = row;
  if (view.place[row] < view.first || view.place[row] >= view.first + view.count) setRows(view, view.place[row] - (view.count >> 1), view.count);
  const {t} = view, line = t.rows[row], middle = (rangeFrom() + rangeTo()) / 2;
  const keep = view.selected && t.end[view.selected.cell] > rangeFrom() && t.begin[view.selected.cell] < rangeTo() ? (t.begin[view.selected.cell] + t.end[view.selected.cell]) / 2 : middle;
  const cell = Math.min(cellAt(t, line, keep), line.end - 1);
  if (cell >= line.first) selectCell(view, row, cell);
}

/** Enter: what a chosen wait waited for, in view as a whole; without one, the next wait. */
function nextOrExplain(view) {
  if (!view.selected?.wait) {
    nextWait(view, 1);
    return;
  }
  const pieces = view.selected.pieces, from = Math.min(...pieces.map((p) => p.from), view.t.begin[view.selected.cell]);
  const to = Math.max(view.t.end[view.selected.cell], view.selected.wait.release);
  setRange(Math.max(from, to - 50 * view.selected.wait.waited) - 0.05 * (to - from), to + 0.05 * (to - from), true);
}

function hover(view, point) {
  const {t} = view, row = point.x > leftRoom ? rowAtY(view, point.y) : -1;
  const cell = row < 0 ? -1 : cellAt(t, t.rows[row], nsOf(view, point.x));
  if (cell < 0 || cell >= t.rows[row].end) {
    view.tip.hidden = true;
    return;
  }
  const band = view.bandAt.get(row), isOne = band.rows.length === 1, wait = t.waitOf[cell] >= 0 ? t.waits[t.waitOf[cell]] : null;
  const column = (rangeTo() - rangeFrom()) / (view.width - leftRoom);
  let lines;
  if (t.end[cell] - t.begin[cell] < 2 * column || !isOne) {
    const sums = new Float64Array(N_PAINTS), ns = nsOf(view, point.x);
    for (const r of band.rows) addSums(t, r, ns - 2 * column, ns + 2 * column, sums);
    const all = sums.reduce((a, b) => a + b, 0) || 1;
    lines = [`${isOne ? "rank" : "ranks"} ${bandName(view, band)} around ${moment(ns, column)}`,
      ...[...sums].map((value, paint) => [value / all, paint]).filter(([value]) => value > 0).sort((a, b) => b[0] - a[0]).slice(0, 6)
        .map(([value, paint]) => `${paintName(view.run, paint)} ${share(value)}`)];
  } else {
    lines = [`rank ${t.rows[row].name}, ${duration(t.end[cell] - t.begin[cell])}`, cellName(view, cell, wait), ...callPath(view, row, cell)];
  }
  refill(view.tip, lines.map((line) => el("div", null, line)));
  view.tip.hidden = false;
  view.tip.style.left = `${Math.min(point.x + 14, view.width - view.tip.offsetWidth - 4)}px`;
  view.tip.style.top = `${point.y + 16}px`;
}

/** The call path of a wait; of what ran before one, that of the wait that it leads to. */
function callPath(view, row, cell) {
  const {t} = view, MOST_AHEAD = 16;
  for (let at = cell; at < t.rows[row].end && at < cell + MOST_AHEAD; at++) {
    const site = t.waitOf[at] >= 0 && t.waits[t.waitOf[at]].site ? siteOf(view.run, t.waits[t.waitOf[at]].site) : null;
    if (site) return [`${at > cell ? `then ${site.call} ` : ""}${site.path ? `in ${site.path}` : ""}`].filter((line) => line.trim());
  }
  return [];
}

function paintName(run, paint) {
  if (routines && paint >= PAINT.cause && paint < PAINT.otherCause) return routines[paint - PAINT.cause] ?? "";
  if (routines && paint === PAINT.computing) return "other code";
  if (paint >= PAINT.cause && paint < PAINT.otherCause) {
    const cause = run.report.causes[causeInSlot(paint - PAINT.cause)];
    return cause ? `cause ${cause.cause}: ${cause.name}` : `cause ${paint - PAINT.cause + 1}`;
  }
  if (paint === PAINT.computing) return "computing";
  return {caused: `waiting for cause ${state.cause}`, otherCause: "other causes"}[PAINT_NAMES[paint]] || stateWords(PAINT_NAMES[paint]);
}

/** The view in numbers. */
function inView(run) {
  const t = run.timeline, many = t.rows.length > 64, group = many ? Math.ceil(t.rows.length / 32) : 1, rows = [];
  const from = rangeFrom(), to = Math.min(rangeTo(), run.report.duration_ns);
  for (let first = 0; first < t.rows.length; first += group) {
    const sums = new Float64Array(N_PAINTS), end = Math.min(first + group, t.rows.length);
    for (let row = first; row < end; row++) addSums(t, row, from, to, sums);
    rows.push({name: end - first > 1 ? `${t.rows[first].name}–${t.rows[end - 1].name}` : t.rows[first].name, sums, ns: (to - from) * (end - first)});
  }
  const present = STACK.filter((paint) => paint !== PAINT.unknown && rows.some((row) => row.sums[paint] > 0));
  return table(`From ${moment(from, (to - from) / 1e3)} to ${moment(to, (to - from) / 1e3)}, by rank`, [
    {head: many ? "ranks" : "rank", cell: (row) => row.name},
    ...present.map((paint) => ({head: shortPaintName(run, paint), number: true, cell: (row) => share(row.sums[paint] / row.ns)})),
  ], rows);
}

const shortPaintName = (run, paint) => !routines && paint >= PAINT.cause && paint < PAINT.otherCause ? `cause ${causeInSlot(paint - PAINT.cause) + 1}` : paintName(run, paint);

function legend(run) {
  const t = run.timeline, present = new Set(t.kinds.map((kind) => kind.paint));
  if (t.lit) present.add(PAINT.caused);
  return el("ul.legend", {"aria-label": "Legend"}, STACK.filter((paint) => present.has(paint) && paint !== PAINT.unknown).map((paint) => {
    const isCause = !routines && paint >= PAINT.cause && paint < PAINT.otherCause, number = causeInSlot(paint - PAINT.cause) + 1, isPale = state.pale.includes(PAINT_NAMES[paint]);
    return el("li", {"data-paint": paint}, swatch(paint, state.cause ? paintOf("computing", state.cause - 1) : null), isCause
      ? el("button.plain", {type: "button", onclick: () => chooseCause(number), title: paintName(run, paint)}, `cause ${number}`)
      : el("button.plain", {type: "button", "aria-pressed": String(isPale), onclick: () => togglePale(PAINT_NAMES[paint]),
        title: isPale ? "as it was" : "pale, so that the rest stands out"}, paintName(run, paint), isPale ? " (pale)" : ""));
  }));
}

/** States that fill the picture can be made pale. */
function togglePale(name) {
  show({pale: state.pale.includes(name) ? state.pale.filter((other) => other !== name) : [...state.pale, name]}, true);
}

function viewTimeline(runs) {
  leftRoom = runs.some((run) => run.timeline.rows.some((row) => row.thread)) ? 104 : 64;
  const views = runs.map((run) => makeTimeline(run));
  const inWords = el("div");
  const details = el("details", {ontoggle: () => details.open && refill(inWords, runs.map((run) => inView(run)))}, el("summary", null, "What is in view, in numbers"), inWords);
  const span = el("output.span", {"aria-live": "off"});
  const refresh = () => {
    refill(span, `${moment(rangeFrom(), (rangeTo() - rangeFrom()) / 1e3)} – ${moment(rangeTo(), (rangeTo() - rangeFrom()) / 1e3)} (${duration(rangeTo() - rangeFrom())})`);
    if (details.open) refill(inWords, runs.map((run) => inView(run)));
  };
  listen(() => {
    refresh();
    for (const view of views) view.draw();
  });
  refresh();
  const path = el("input", {type: "checkbox", checked: true, onchange: () => {
    for (const view of views) {
      view.isPathShown = path.checked;
      view.draw();
    }
  }});
  const colours = choice("colours for", [["causes", "causes"], ["routines", "routines"]], state.colours, (of) => show({colours: of, cause: 0}, true));
  listen(() => colours.set(state.cause ? "causes" : state.colours));
  const many = runs.some((run) => run.timeline.rows.length > 16);
  const exact = runs.map((run) => run.timeline.resolutionNs);
  return {views, nodes: [
    el("div.controls", {role: "group", "aria-label": "Time in view"}, button("−", () => zoomRange(2), {"aria-label": "Zoom out", id: "zoom-out"}),
      button("+", () => zoomRange(0.5), {"aria-label": "Zoom in", id: "zoom-in"}),
      button("←", () => setRange(rangeFrom() - (rangeTo() - rangeFrom()) / 4, rangeTo() - (rangeTo() - rangeFrom()) / 4), {"aria-label": "Earlier", id: "earlier"}),
      button("→", () => setRange(rangeFrom() + (rangeTo() - rangeFrom()) / 4, rangeTo() + (rangeTo() - rangeFrom()) / 4), {"aria-label": "Later", id: "later"}),
      button("whole run", () => setRange(0, wholeNs(), true), {id: "whole"}), span, el("label.check", null, path, " critical path"), colours,
      many ? [choice("order by", [["rank", "rank"], ["caused_ns", "waiting caused"], ["waiting_ns", "waiting"]], "rank", (order) => {
        for (const view of views) {
          orderRows(view, order);
          view.draw();
        }
      }), button("more ranks", () => views.forEach((view) => zoomRows(view, 2)), {id: "more-ranks"}), button("fewer ranks", () => views.forEach((view) => zoomRows(view, 0.5)), {id: "fewer-ranks"})] : null),
    views.map((view) => [runs.length > 1 ? el("h3", null, view.run.side, " ", el("small", null, view.run.name)) : null, view.node]),
    legend(runs[state.run]),
    el("p.hint", null, "Drag to move, Ctrl+wheel or pinch to zoom, drag along the axis to choose a time, click a wait to see what released it, click a state of the legend to make it pale. A cause is pale on ranks that are not late in it. Keys: ← → + − 0, ↑ ↓ [ ] n p Enter Backspace; g goes to a rank."),
    exact.some((ns) => ns > 0) ? el("p.hint", null, `What is shorter than ${duration(Math.max(...exact))} is shown by its shares; what is longer, exactly.`) : null,
    runs.some((run) => run.timeline.workers) ? el("p.hint", null, "Threads that never call MPI have no row: their work is shown on the main thread of their rank.") : null,
    details]};
}
