// SPDX-License-Identifier: BSD-3-Clause
// The view, as the address holds it: "#timeline&cause=2&t=3.1..3.4&rank=5&pale=descheduled". One place; views listen.

const state = {view: "answer", cause: 0, rank: null, from: null, to: null, search: "", run: 0, pale: [], colours: "causes", listeners: []};

function readAddress() {
  const address = decodeURIComponent(location.hash.slice(1)).split("&");
  const fields = Object.fromEntries(address.slice(1).map((field) => {
    const at = field.indexOf("=");
    return at < 0 ? [field, ""] : [field.slice(0, at), field.slice(at + 1)];
  }));
  const time = /^([0-9.]+)\.\.([0-9.]+)$/.exec(fields.t || "");
  const number = (text) => /^\d+$/.test(text || "") ? Number(text) : null;
  state.view = address[0] || "answer";
  state.cause = number(fields.cause) || 0;
  state.rank = number(fields.rank);
  state.run = number(fields.run) || 0;
  state.colours = fields.colours === "routines" ? "routines" : "causes";
  state.search = fields.q || "";
  state.pale = (fields.pale || "").split(",").filter((name) => name in PAINT);
  state.from = time ? Math.round(Number(time[1]) * 1e9) : null;
  state.to = time && Number(time[2]) > Number(time[1]) ? Math.round(Number(time[2]) * 1e9) : null;
  if (state.to === null) state.from = null;
}

function address() {
  const parts = [state.view];
  if (state.cause) parts.push(`cause=${state.cause}`);
  if (state.from !== null) parts.push(`t=${seconds(state.from)}..${seconds(state.to)}`);
  if (state.rank !== null) parts.push(`rank=${state.rank}`);
  if (state.run) parts.push(`run=${state.run}`);
  if (state.colours !== "causes") parts.push(`colours=${state.colours}`);
  if (state.pale.length) parts.push(`pale=${state.pale.join(",")}`);
  if (state.search) parts.push(`q=${encodeURIComponent(state.search)}`);
  return `#${parts.join("&")}`;
}

const seconds = (ns) => String(Number((ns / 1e9).toFixed(9)));

let writing = 0;
/** Changes what is shown. A choice is a step of the history; moving about is not. */
function show(changes, isChoice) {
  Object.assign(state, changes);
  clearTimeout(writing);
  if (isChoice) history.pushState(null, "", address());
  else writing = setTimeout(() => history.replaceState(null, "", address()), 150);
  for (const listener of state.listeners) listener(changes);
}

const listen = (listener) => state.listeners.push(listener);

addEventListener("popstate", () => {
  readAddress();
  for (const listener of state.listeners) listener({cause: state.cause, from: state.from, rank: state.rank, view: state.view, pale: state.pale, colours: state.colours, jump: true});
});
