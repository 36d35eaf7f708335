// SPDX-License-Identifier: BSD-3-Clause
// Elements from text, never from markup: names of a recorded program are put in as they are.

/** el("td.number", {title: "all"}, "9.71 s", other) */
function el(kind, attributes, ...children) {
  const [tag, ...classes] = kind.split(".");
  const node = document.createElement(tag || "div");
  if (classes.length) node.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text);
    else node.setAttribute(name, value === true ? "" : value);
  }
  put(node, ...children);
  return node;
}

function put(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

function refill(node, ...children) {
  node.replaceChildren();
  return put(node, ...children);
}

/** A table: columns are {head, cell(row), number, title}. */
function table(caption, columns, rows, attributes) {
  return el("div.scroll", {tabindex: 0, role: "region", "aria-label": caption},
    el("table", attributes,
      el("caption", null, caption),
      el("thead", null, el("tr", null, columns.map((column) =>
        el(column.number ? "th.number" : "th", {scope: "col", title: column.title}, column.head)))),
      el("tbody", null, rows.map((row) => {
        const cells = columns.map((column, i) =>
          el((i ? "td" : "th") + (column.number ? ".number" : ""), i ? null : {scope: "row"}, column.cell(row)));
        const line = el("tr", row.attributes, cells);
        return line;
      }))));
}

/** For those who listen; nobody sees it. */
const hidden = (text) => el("span.hidden", null, text);

/** A choice among a few: a labelled select. */
function choice(label, options, value, changed) {
  const select = el("select", {onchange: () => changed(select.value)},
    options.map(([key, text]) => el("option", {value: key, selected: String(key) === String(value)}, text)));
  const field = el("label.choice", null, el("span", null, label), select);
  field.set = (key) => { select.value = String(key); };
  return field;
}

function button(text, action, attributes) {
  return el("button", {type: "button", onclick: action, ...attributes}, text);
}
