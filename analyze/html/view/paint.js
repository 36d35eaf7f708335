// SPDX-License-Identifier: BSD-3-Clause
// Bands of time in pixels: each column of a band is shared out by the shares of what happened in its time. Every kind has
// a colour and a pattern of its own, so that it can be told without colour.

const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

// [ground, ink] of each kind, and where the ink goes.
const CAUSE_COLOURS = {
  light: ["#c8452c", "#2f6db5", "#27794f", "#9a5fb0", "#93690a", "#0b7888"],
  dark: ["#f0785c", "#6ea8ec", "#5cc193", "#c792dc", "#dcb04a", "#4cc3d6"],
};
const GROUNDS = {
  light: {paper: "#ffffff", unknown: ["#ffffff", "#ffffff"], computing: ["#ccd3db", "#ccd3db"], otherCause: ["#8a6d5a", "#8a6d5a"],
    blocked: ["#e3c9a3", "#8a5f1d"], descheduled: ["#79828f", "#aab1bb"], mpi: ["#dfe7f5", "#8ca3cf"], transfer: ["#cfe8e4", "#2d8478"],
    waiting: ["#faf3e6", "#c08a2b"]},
  dark: {paper: "#14171b", unknown: ["#14171b", "#14171b"], computing: ["#454e59", "#454e59"], otherCause: ["#b0917c", "#b0917c"],
    blocked: ["#5a4524", "#d3a75c"], descheduled: ["#8b95a3", "#5d6672"], mpi: ["#2a3550", "#6f87bd"], transfer: ["#1d4641", "#5fc4b4"],
    waiting: ["#2a241a", "#a87f36"]},
};
const INKS = {
  waiting: (x, y) => (x + y) % 6 === 0, caused: (x, y) => (x + y) % 6 < 2, transfer: (x, y) => x % 4 === 0 && y % 4 === 0, mpi: (x, y) => x % 6 === 0 && y % 4 === 2,
  blocked: (x) => x % 4 === 0, descheduled: (x, y) => y % 3 === 0, computing: () => false, unknown: () => false,
  otherCause: (x, y) => (x + y) % 4 === 0 && (x - y + 24) % 4 === 0,
};
const CAUSE_INKS = [() => false, (x) => x % 6 === 0, (x, y) => (x - y + 24) % 8 === 0, (x, y) => x % 4 === 0 && y % 4 === 0,
  (x, y) => y % 4 === 0, (x, y) => (x + y) % 8 === 0 || (x - y + 24) % 8 === 0];
const TILE = 24;

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const mix = (a, b, part) => a.map((value, i) => Math.round(value + (b[i] - value) * part));
const word = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;

/** Names of the kinds of paint, in the order of PAINT. */
const PAINT_NAMES = (() => {
  const names = [];
  for (const [name, at] of Object.entries(PAINT)) if (name !== "cause") names[at] = name;
  for (let i = 0; i < CAUSES_APART; i++) names[PAINT.cause + i] = `cause${i}`;
  return names;
})();

function coloursOf(paint, lit = PAINT.cause) {
  const theme = isDark() ? "dark" : "light";
  if (paint === PAINT.caused) {
    const [ink] = coloursOf(lit ?? PAINT.cause);
    return [mix(rgb(GROUNDS[theme].waiting[0]), ink, 0.14), ink];
  }
  if (paint >= PAINT.cause && paint < PAINT.cause + CAUSES_APART) {
    const ground = CAUSE_COLOURS[theme][paint - PAINT.cause];
    return [rgb(ground), mix(rgb(ground), rgb(GROUNDS[theme].paper), 0.45)];
  }
  return GROUNDS[theme][PAINT_NAMES[paint]].map(rgb);
}

function inkOf(paint) {
  return paint >= PAINT.cause && paint < PAINT.cause + CAUSES_APART ? CAUSE_INKS[paint - PAINT.cause] : INKS[PAINT_NAMES[paint]];
}

/** Tiles of pixels by paint. All but `lit` and the waits that it causes are pale when something is lit, and what was made pale is;
 * with `isElsewhere` causes are, as on ranks that are not late in them. */
function tilesFor(lit, isElsewhere = false) {
  const paper = rgb(GROUNDS[isDark() ? "dark" : "light"].paper);
  return Array.from({length: N_PAINTS}, (_, paint) => {
    const [ground, ink] = coloursOf(paint, lit), inked = inkOf(paint), tile = new Uint32Array(TILE * TILE);
    const isCause = paint >= PAINT.cause && paint < PAINT.otherCause, isOther = lit !== null && paint !== lit && paint !== PAINT.caused;
    const pale = state.pale.includes(PAINT_NAMES[paint]) ? 0.88 : isOther ? 0.72 : isElsewhere && isCause ? 0.6 : 0;
    const words = [word(mix(ground, paper, pale)), word(mix(ink, paper, pale))];
    for (let y = 0; y < TILE; y++) for (let x = 0; x < TILE; x++) tile[y * TILE + x] = words[inked(x, y) ? 1 : 0];
    return tile;
  });
}

/** A small picture of a paint for a legend. */
function swatch(paint, lit = null) {
  const canvas = el("canvas.swatch", {width: 24, height: 24, "aria-hidden": "true"});
  const context = canvas.getContext("2d"), image = context.createImageData(24, 24);
  new Uint32Array(image.data.buffer).set(tilesFor(lit)[paint]);
  context.putImageData(image, 0, 0);
  return canvas;
}

// From the bottom of a band to its top.
const STACK = [PAINT.computing, ...Array.from({length: CAUSES_APART}, (_, i) => PAINT.cause + i), PAINT.otherCause, PAINT.blocked,
  PAINT.descheduled, PAINT.mpi, PAINT.transfer, PAINT.caused, PAINT.waiting, PAINT.unknown];

/* * Fills rows y0 to y1 of `pixels`, from column x0 on, from shares by [column][paint], whose sum a column is `whole`.
 * Patterns move with time: `column` is the number of the first column of `shares`. A remainder of a pixel is carried on
 * to the next column, and whatever begins in a column is seen there, however little it is.
 */
function fillBand(pixels, width, x0, nColumns, column, y0, y1, shares, whole, tiles, ground) {
  const height = y1 - y0, carried = new Float32Array(N_PAINTS), counts = new Int32Array(N_PAINTS);
  const present = new Uint8Array(N_PAINTS);
  for (let x = 0; x < nColumns; x++) {
    const at = x * N_PAINTS, inTile = (column + x) % TILE;
    let left = height, largest = 0, most = -1;
    for (let k = 0; k < N_PAINTS; k++) {
      const value = shares[at + k];
      if (value > 0) {
        const exact = value / whole * height + carried[k];
        let n = Math.round(exact);
        if (n <= 0 && (!present[k] || value > 0.01 * whole)) n = 1;
        if (n < 0) n = 0;
        if (n > height) n = height;
        carried[k] = Math.max(-1, Math.min(1, exact - n));
        counts[k] = n;
        left -= n;
        present[k] = 1;
        if (value > most) {
          most = value;
          largest = k;
        }
      } else {
        counts[k] = 0;
        carried[k] = 0;
        present[k] = 0;
      }
    }
    const known = most > 0;
    if (known) {
      counts[largest] += left;
      if (counts[largest] < 0) {
        let over = -counts[largest];
        counts[largest] = 0;
        for (let k = 0; k < N_PAINTS && over > 0; k++) {
          const taken = Math.min(over, counts[k]);
          counts[k] -= taken;
          over -= taken;
        }
      }
    }
    let y = y1 - 1;
    for (let i = 0; known && i < STACK.length; i++) {
      const paint = STACK[i], tile = tiles[paint];
      for (let n = counts[paint]; n > 0 && y >= y0; n--, y--) pixels[y * width + x0 + x] = tile[(y % TILE) * TILE + inTile];
    }
    for (; y >= y0; y--) pixels[y * width + x0 + x] = ground;
  }
}

/** Shares by [column][paint] of one row between two times, added to `shares`. */
function addShares(t, rowAt, from, to, width, shares) {
  const column = (to - from) / width, row = t.rows[rowAt];
  if (t.n > 40000 && column >= bins(t).width) {
    addBins(t, rowAt, from, to, width, shares);
    return;
  }
  for (let cell = cellAt(t, row, from); cell < row.end && t.begin[cell] < to; cell++) {
    const begin = t.begin[cell], end = t.end[cell], x0 = (begin - from) / column, x1 = (end - from) / column;
    const first = Math.max(0, Math.floor(x0)), last = Math.min(width - 1, Math.floor(x1));
    for (let i = t.part[cell], stop = t.part[cell + 1]; i < stop; i++) {
      const paint = t.paint[i];
      if (first === last) {
        addPart(t, cell, paint, t.ns[i] / column * (x1 > width || x0 < 0 ? (Math.min(x1, width) - Math.max(x0, 0)) / (x1 - x0) : 1), shares, first * N_PAINTS);
        continue;
      }
      const part = t.ns[i] / (end - begin);
      for (let x = first; x <= last; x++) addPart(t, cell, paint, part * (Math.min(x + 1, x1) - Math.max(x, x0)), shares, x * N_PAINTS);
    }
  }
}

function addBins(t, rowAt, from, to, width, shares) {
  const {n, width: binNs, start, paint, value} = bins(t), lit = litBins(t), perColumn = (to - from) / width / binNs, base = rowAt * n;
  for (let x = 0; x < width; x++) {
    const begin = from / binNs + x * perColumn, end = begin + perColumn, at = x * N_PAINTS;
    const last = Math.min(n - 1, Math.ceil(end) - 1);
    for (let bin = Math.max(0, Math.floor(begin)); bin <= last; bin++) {
      const part = (Math.min(end, bin + 1) - Math.max(begin, bin)) / perColumn / 255, due = lit ? lit[base + bin] : 0;
      for (let i = start[base + bin], stop = start[base + bin + 1]; i < stop; i++) shares[at + paint[i]] += part * value[i];
      if (due > 0) {
        shares[at + PAINT.waiting] -= part * due;
        shares[at + PAINT.caused] += part * due;
      }
    }
  }
}
