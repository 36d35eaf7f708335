// SPDX-License-Identifier: BSD-3-Clause
// What chrome://tracing makes of trace events: prints, as JSON, the model that its own importer builds. The importer is that of
// the trace viewer of Chromium, as the package bigrig has it; it expects to run in a page.
//
//     node viewer.cjs PACKAGE FILE
"use strict";
const fs = require("fs"), path = require("path");
const [folder, file] = process.argv.slice(2), library = (name) => require(path.join(path.resolve(folder), "lib", name));

library("global-config.js").enable();
library("third_party/tracing/importer/import.js");
library("third_party/tracing/extras/importer/trace_event_importer.js");
library("tracing-config.js");

const options = new tr.importer.ImportOptions(), model = new tr.Model();
Object.assign(options, {showImportWarnings: false, shiftWorldToZero: false, pruneEmptyContainers: false});
new tr.importer.Import(model, options).importTraces([fs.readFileSync(file, "utf8")]);

const depth = (slice) => slice.parentSlice ? 1 + depth(slice.parentSlice) : 0;
const processes = model.getAllProcesses().map((process) => ({
  pid: process.pid, name: process.name,
  threads: Object.values(process.threads).map((thread) => ({tid: thread.tid, name: thread.name,
    slices: thread.sliceGroup.slices.map((slice) => ({name: slice.title, category: slice.category, start_ms: slice.start, duration_ms: slice.duration,
      is_unfinished: !!slice.didNotFinish, depth: depth(slice), starts_flows: slice.outFlowEvents.length, ends_flows: slice.inFlowEvents.length}))})),
  counters: Object.values(process.counters).map((counter) => ({name: counter.name, values: counter.series.flatMap((series) => series.samples.map((sample) => sample.value))}))}));
process.stdout.write(JSON.stringify({processes, flows: model.flowEvents.length, warnings: model.importWarnings}));
