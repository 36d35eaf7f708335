// SPDX-License-Identifier: BSD-3-Clause
// The timeline in typed arrays, as analyze/html/cells.h packs it, and what can be asked of it.

// Colours of parts: states, with causes 1 to 6 apart and all others together.
const CAUSES_APART = 6;
const PAINT = {unknown: 0, computing: 1, cause: 2, otherCause: 2 + CAUSES_APART, blocked: 3 + CAUSES_APART, descheduled: 4 + CAUSES_APART,
  mpi: 5 + CAUSES_APART, transfer: 6 + CAUSES_APART, waiting: 7 + CAUSES_APART, caused: 8 + CAUSES_APART};
const N_PAINTS = 9 + CAUSES_APART;

/** A state in the words of the report. */
const stateWords = (name) => ({computing: "other code", mpi: "in MPI", descheduled: "no CPU", unknown: "not recorded"})[name] ?? name;

// A cause of hardly any waiting is shown as the code that it is.
const WORTH_A_COLOUR = 0.01;

// Which cause each of the colours stands for, by name, so that two runs agree: the largest ones of the run that is shown;
// one that is chosen takes the last of them.
const slots = new Array(CAUSES_APART).fill(null);
const causeInSlot = (slot) => shownRun().report.causes.findIndex((cause) => cause.name === slots[slot]);

const causeByName = (run, name) => run.report.causes.find((cause) => cause.name === name);

/** `cause`: an index into the causes of a run, the shown one unless another is named; -1 = none. */
function paintOf(stateName, cause, run = shownRun()) {
  if (cause < 0 || stateName === "descheduled") return PAINT[stateName];
  const found = run.report.causes[cause], slot = found ? slots.indexOf(found.name) : -1;
  if (slot >= 0) return PAINT.cause + slot;
  return found && found.share < WORTH_A_COLOUR ? PAINT[stateName] : PAINT.otherCause;
}

// Instead of causes, the routines in which the shown run computes for longest have the colours; null = causes have them.
let routines = null;

function largestRoutines({timeline: t}) {
  const sums = new Map();
  for (let i = 0; i < t.kind.length; i++) {
    const {state: stateName, routine} = t.kinds[t.kind[i]];
    if (stateName === "computing" && routine) sums.set(routine, (sums.get(routine) || 0) + t.ns[i]);
  }
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, CAUSES_APART).map(([routine]) => routine);
}

function paintOfRoutine({state: stateName, routine}) {
  const slot = stateName === "computing" ? routines.indexOf(routine) : -1;
  return slot >= 0 ? PAINT.cause + slot : PAINT[stateName];
}

/** Gives the largest causes, and the chosen one, colours of their own, or routines; true when that changes what is painted. */
function setSlots(runs, causes, chosen, byRoutine) {
  const before = [slots, routines].join("\n");
  routines = byRoutine ? largestRoutines(shownRun()) : null;
  for (let i = 0; i < CAUSES_APART; i++) slots[i] = causes[i] && causes[i].share >= WORTH_A_COLOUR ? causes[i].name : null;
  if (causes[chosen] && !slots.includes(causes[chosen].name)) slots[CAUSES_APART - 1] = causes[chosen].name;
  const isNew = [slots, routines].join("\n") !== before;
  for (const run of runs) {
    const t = run.timeline;
    if (!isNew && t.paint) continue;
    for (const kind of t.kinds) kind.paint = routines ? paintOfRoutine(kind) : paintOf(kind.state, kind.cause, run);
    const paints = t.kinds.map((kind) => kind.paint);
    t.paint = new Uint8Array(t.kind.length);
    for (let i = 0; i < t.kind.length; i++) t.paint[i] = paints[t.kind[i]];
    t.bins = t.litBins = null;
  }
  return isNew;
}

function readCells(head, bytesIn, durationNs) {
  const rows = [], n = head.rows.reduce((sum, row) => sum + row[2], 0);
  let first = 0;
  for (const [rank, thread, cells] of head.rows) {
    rows.push({rank, thread, first, end: first + cells, name: thread ? `${rank} thread ${thread}` : `${rank}`});
    first += cells;
  }
  const starts = [];
  head.streams.reduce((at, length) => (starts.push(at), at + length), 0);
  const at = [...starts];
  function number(stream) {
    let value = 0, scale = 1, byte;
    do {
      byte = bytesIn[at[stream]++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return value;
  }
  const t = {rows, n, durationNs, resolutionNs: head.resolution_ns, begin: new Float64Array(n), end: new Float64Array(n),
    part: new Uint32Array(n + 1), waitOf: new Int32Array(n).fill(-1), kinds: head.kinds.map(([stateName, cause, name, routine]) =>
      ({state: stateName, cause, name, routine})), comms: head.comms || [], workers: head.workers || 0, lit: null};
  const kinds = [], lengths = [], waits = [];
  for (const row of rows) {
    let now = 0;
    for (let cell = row.first; cell < row.end; cell++) {
      const length = number(0), code = number(1), hasWait = code & 1, inner = Math.floor(code / 2);
      t.begin[cell] = now;
      t.end[cell] = now += length;
      t.part[cell] = kinds.length;
      const parts = inner & 1 ? 1 : inner / 2;
      if (inner & 1) {
        kinds.push((inner - 1) / 2 - 1);
        lengths.push(length);
      }
      for (let i = 0; i < parts && !(inner & 1); i++) {
        kinds.push(number(2));
        lengths.push(number(2));
      }
      if (hasWait) {
        const by = number(3), site = number(3), flags = number(3), isSeveral = flags & 2;
        const waited = isSeveral ? number(3) : length, release = isSeveral ? t.begin[cell] + number(3) : now;
        t.waitOf[cell] = waits.length;
        waits.push({cell, by, site, isInferred: !!(flags & 1), isSeveral: !!isSeveral, waited, release});
      }
    }
  }
  t.part[n] = kinds.length;
  t.kind = Uint32Array.from(kinds);
  t.ns = Float32Array.from(lengths);
  t.waits = waits;
  t.lastWait = lastWaits(t);
  return t;
}

/** Of each cell, itself or the last before it in its row in which another row was waited for; -1 = none. */
function lastWaits(t) {
  const last = new Int32Array(t.n).fill(-1);
  t.rows.forEach((row, rowAt) => {
    for (let cell = row.first, at = -1; cell < row.end; cell++) {
      if (t.waitOf[cell] >= 0 && t.waits[t.waitOf[cell]].by !== rowAt) at = cell;
      last[cell] = at;
    }
  });
  return last;
}

/** The first cell of a row that ends behind `ns`; row.end when none does. */
function cellAt(t, row, ns) {
  let low = row.first, high = row.end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t.end[middle] > ns) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** One step back along what a row was doing until `ns`: to where it was released last, or to its start. */
function stepBack(t, rowAt, ns) {
  const row = t.rows[rowAt], last = Math.min(cellAt(t, row, ns), row.end - 1);
  for (let cell = last < row.first ? -1 : t.lastWait[last]; cell >= 0; cell = cell > row.first ? t.lastWait[cell - 1] : -1) {
    const wait = t.waits[t.waitOf[cell]];
    if (wait.release <= ns)
      return {row: rowAt, from: wait.release, to: ns, next: {row: wait.by, ns: wait.release}, wait};
  }
  return {row: rowAt, from: 0, to: ns, next: null};
}

/** The critical path: from what ends last back to the start, in pieces {row, from, to}. */
function criticalPath(t) {
  if (t.path) return t.path;
  let at = {row: 0, ns: 0};
  t.rows.forEach((row, i) => {
    if (row.end > row.first && t.end[row.end - 1] > at.ns) at = {row: i, ns: t.end[row.end - 1]};
  });
  const path = [];
  for (let same = 0; at && at.ns > 0 && same < t.rows.length;) {
    const step = stepBack(t, at.row, at.ns);
    same = step.from < at.ns ? 0 : same + 1;
    path.push(step);
    at = step.next;
  }
  return t.path = path.reverse();
}

/**
 * Why a wait was as long: the way of who released it, and of who waited, back to where both last met. Pieces
 * {row, from, to, isLate}.
 */
function explanation(t, wait, rowAt) {
  const pieces = [];
  let late = {row: wait.by, ns: wait.release}, waiting = {row: rowAt, ns: Math.max(t.begin[wait.cell], wait.release - wait.waited)};
  for (let steps = 0; steps < 2000 && late && waiting; steps++) {
    const isLate = late.ns >= waiting.ns, at = isLate ? late : waiting, other = isLate ? waiting : late;
    const step = stepBack(t, at.row, at.ns);
    if (at.row === other.row && step.from <= other.ns) {
      pieces.push({row: at.row, from: other.ns, to: at.ns, isLate});
      break;
    }
    pieces.push({row: at.row, from: step.from, to: at.ns, isLate});
    if (isLate) late = step.next;
    else waiting = step.next;
  }
  return pieces;
}

/* * The part of each wait that is due to a cause: its part of what causes, and the lack of a CPU, took on the way
 * that was waited for, back to where the nearest of them acts. Waits that one late rank ends at one time share their
 * way.
 */
function sharesOfCause(run, cause) {
  const t = run.timeline, known = t.rows.map(() => new Map()), acting = actingSums(t, cause.cause - 1);
  const sites = cause.left_out?.sites ? null : new Set(cause.sites.map((site) => site.site)), shares = new Float32Array(t.waits.length);
  for (let i = 0; i < shares.length; i++) {
    const wait = t.waits[i], ways = known[wait.by];
    if (wait.site && sites && !sites.has(wait.site)) continue;
    let share = ways.get(wait.release);
    if (share === undefined) ways.set(wait.release, share = shareOnWay(t, wait, acting));
    shares[i] = share;
  }
  return shares;
}

/** ns before each cell of its row, and behind the last one: of one cause, and of all causes and the lack of a CPU. */
function actingSums(t, index) {
  const own = new Float64Array(t.n + 1), all = new Float64Array(t.n + 1), isActing = t.kinds.map((kind) => kind.cause >= 0 || kind.state === "descheduled");
  for (let cell = 0; cell < t.n; cell++) {
    own[cell + 1] = own[cell];
    all[cell + 1] = all[cell];
    for (let i = t.part[cell], end = t.part[cell + 1]; i < end; i++) {
      if (!isActing[t.kind[i]]) continue;
      all[cell + 1] += t.ns[i];
      if (t.kinds[t.kind[i]].cause === index) own[cell + 1] += t.ns[i];
    }
  }
  return {own, all};
}

/** Such a sum up to a time, as if a cell were evenly mixed. */
function sumUntil(t, row, sums, ns) {
  const cell = cellAt(t, row, ns);
  if (cell >= row.end) return sums[row.end];
  const part = Math.max(0, ns - t.begin[cell]) / (t.end[cell] - t.begin[cell]);
  return sums[cell] + part * (sums[cell + 1] - sums[cell]);
}

function shareOnWay(t, wait, {own, all}) {
  const MOST_STEPS = 16, LEAST_NS = 0.5;
  let at = {row: wait.by, ns: wait.release};
  for (let steps = 0; at && steps < MOST_STEPS; steps++) {
    const step = stepBack(t, at.row, at.ns), row = t.rows[step.row], acted = sumUntil(t, row, all, step.to) - sumUntil(t, row, all, step.from);
    if (acted > LEAST_NS) return Math.max(0, Math.min(1, (sumUntil(t, row, own, step.to) - sumUntil(t, row, own, step.from)) / acted));
    at = step.next;
  }
  return 0;
}

/** Lights up the waits of a cause (null: of none). */
function lightWaits(run, cause) {
  const t = run.timeline;
  t.lit = cause ? sharesOfCause(run, cause) : null;
  t.litBins = null;
}

/** The lit part of a cell's waiting, in [0, 1]. */
const litOf = (t, cell) => t.lit && t.waitOf[cell] >= 0 ? t.lit[t.waitOf[cell]] : 0;

/** Adds a part of a cell to sums by paint from `at` on. */
function addPart(t, cell, paint, ns, sums, at) {
  const lit = paint === PAINT.waiting ? litOf(t, cell) : 0;
  sums[at + paint] += ns * (1 - lit);
  if (lit > 0) sums[at + PAINT.caused] += ns * lit;
}

/** ns by paint of some rows between two times, added to `sums`. */
function addSums(t, rowAt, from, to, sums) {
  const row = t.rows[rowAt];
  for (let cell = cellAt(t, row, from); cell < row.end && t.begin[cell] < to; cell++) {
    const inside = Math.min(t.end[cell], to) - Math.max(t.begin[cell], from), part = inside / (t.end[cell] - t.begin[cell]);
    for (let i = t.part[cell]; i < t.part[cell + 1]; i++) addPart(t, cell, t.paint[i], part * t.ns[i], sums, 0);
  }
  return sums;
}

/* * Shares by paint in equal bins over the run, 1 to 255: of bin b of row r those from start[r * n +
 * b] on, each with its paint. Anything there at all is at least 1. Made once, of about two million
 * bins.
 */
function bins(t) {
  if (t.bins) return t.bins;
  let n = 256;
  while (n < 8192 && t.rows.length * n * 2 <= 2.2e6) n *= 2;
  const width = t.durationNs / n, sums = new Float32Array(n * N_PAINTS), start = new Uint32Array(t.rows.length * n + 1);
  let most = 1 << 20, at = 0, paint = new Uint8Array(most), value = new Uint8Array(most);
  t.rows.forEach((row, r) => {
    sums.fill(0);
    for (let cell = row.first; cell < row.end; cell++) {
      const begin = t.begin[cell], end = t.end[cell], last = Math.min(Math.floor(end / width), n - 1);
      for (let bin = Math.min(Math.floor(begin / width), n - 1); bin <= last; bin++) {
        const inside = Math.min(end, (bin + 1) * width) - Math.max(begin, bin * width);
        if (inside <= 0) continue;
        const part = inside / (end - begin) / width;
        for (let i = t.part[cell]; i < t.part[cell + 1]; i++) sums[bin * N_PAINTS + t.paint[i]] += part * t.ns[i];
      }
    }
    if (at + n * N_PAINTS > most) {
      most = 2 * most + n * N_PAINTS;
      const more = [new Uint8Array(most), new Uint8Array(most)];
      more[0].set(paint);
      more[1].set(value);
      [paint, value] = more;
    }
    for (let bin = 0; bin < n; bin++) {
      start[r * n + bin] = at;
      for (let k = 0; k < N_PAINTS; k++) {
        const share = sums[bin * N_PAINTS + k];
        if (!(share > 0)) continue;
        paint[at] = k;
        value[at++] = Math.min(255, Math.max(1, Math.round(255 * share)));
      }
    }
  });
  start[t.rows.length * n] = at;
  return t.bins = {n, width, start, paint, value};
}

/** The lit waiting of each of these bins, 1 to 255; null when none is. Of the waits alone, so that a choice is soon seen. */
function litBins(t) {
  if (t.litBins || !t.lit) return t.litBins;
  const {n, width} = bins(t), sums = new Float32Array(t.rows.length * n);
  let row = 0;
  for (const [i, wait] of t.waits.entries()) {
    if (!(t.lit[i] > 0)) continue;
    while (wait.cell >= t.rows[row].end) row++;
    const {cell} = wait, begin = t.begin[cell], end = t.end[cell];
    let waited = 0;
    for (let k = t.part[cell]; k < t.part[cell + 1]; k++) if (t.paint[k] === PAINT.waiting) waited += t.ns[k];
    const first = Math.min(Math.floor(begin / width), n - 1), last = Math.min(Math.floor(end / width), n - 1), share = 255 * t.lit[i] * waited / (end - begin) / width;
    for (let bin = first; bin <= last; bin++) sums[row * n + bin] += share * (Math.min(end, (bin + 1) * width) - Math.max(begin, bin * width));
  }
  const values = new Uint8Array(sums.length), {start, paint, value} = bins(t);
  for (let i = 0; i < sums.length; i++) {
    if (!(sums[i] > 0)) continue;
    let waiting = 0; // no more can be lit up than is there, rounded
    for (let k = start[i]; k < start[i + 1]; k++) if (paint[k] === PAINT.waiting) waiting = value[k];
    values[i] = Math.min(waiting, Math.max(1, Math.round(sums[i])));
  }
  return t.litBins = values;
}
