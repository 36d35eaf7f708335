// SPDX-License-Identifier: BSD-3-Clause
// Data in the page: reports as JSON, cells of the timeline, a comparison. Deflated, in base64.

async function inflate(id) {
  const node = document.getElementById(id);
  if (!node) return null;
  const text = node.textContent;
  node.remove();
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function inflateJson(id) {
  const data = await inflate(id);
  return data && JSON.parse(new TextDecoder().decode(data));
}

async function loadRun(number) {
  const [report, head, streams, sources] = await Promise.all([inflateJson(`report-${number}`), inflateJson(`timeline-${number}`),
    inflate(`cells-${number}`), inflateJson(`sources-${number}`)]);
  const run = {number, report, sources, timeline: readCells(head, streams, report.duration_ns)};
  run.name = report.run || report.program || "run";
  return run;
}

async function loadPage() {
  const n = document.querySelectorAll("script[id^='report-']").length;
  const comparison = inflateJson("comparison");
  const runs = await Promise.all(Array.from({length: n}, (_, i) => loadRun(i)));
  return {runs, comparison: await comparison};
}
