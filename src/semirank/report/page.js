"use strict";
// The table of features: sort, search, more rows on demand; and one tooltip for the whole page.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const STEP = 250; // rows drawn at a time, so that thousands of features stay quick
  const body = document.querySelector("#features tbody");
  const headRow = document.querySelector("#features thead tr");
  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  const collator = new Intl.Collator(undefined, { numeric: true });
  const main = data.columns.find((c) => c.bar);
  const state = { column: "rank", down: false, limit: STEP, rows: [] };

  function shown(value, kind) {
    if (value === null) return "";
    if (kind === "share") return (100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0) + " %";
    return kind === "int" ? String(value) : String(Number(value.toPrecision(4)));
  }

  const SVG = "http://www.w3.org/2000/svg";
  function shape(kind, values, cls) {
    const node = document.createElementNS(SVG, kind);
    for (const name in values) node.setAttribute(name, values[name]);
    node.setAttribute("class", cls);
    return node;
  }

  const errors = main.error ? data.values[main.error] : null;
  const scores = data.values[main.key];
  let low = 0, high = 0;
  scores.forEach((s, i) => {
    const e = errors && errors[i] !== null ? errors[i] : 0;
    low = Math.min(low, s - e);
    high = Math.max(high, s + e);
  });
  const at = (v) => (high > low ? (100 * (v - low)) / (high - low) : 0);

  function bar(i) {
    const svg = shape("svg", { viewBox: "0 0 100 18", preserveAspectRatio: "none", "aria-hidden": "true" }, "");
    const s = scores[i];
    const x = Math.min(at(0), at(s));
    svg.append(shape("rect", { x: x, y: 3, width: Math.abs(at(s) - at(0)), height: 12 }, s < 0 ? "minus" : "plus"));
    if (low < 0) svg.append(shape("line", { x1: at(0), x2: at(0), y1: 0, y2: 18 }, "zero"));
    const e = errors ? errors[i] : null;
    if (e) {
      const a = at(s - e), b = at(s + e);
      svg.append(shape("line", { x1: a, x2: b, y1: 9, y2: 9 }, "whisker"));
      for (const end of [a, b]) svg.append(shape("line", { x1: end, x2: end, y1: 5.5, y2: 12.5 }, "whisker"));
    }
    return svg;
  }

  function row(i) {
    const tr = document.createElement("tr");
    const lines = [data.values.name[i]];
    for (const c of data.columns) {
      const td = document.createElement("td");
      if (c.bar) {
        td.className = "bar";
        td.append(bar(i));
      } else {
        const value = data.values[c.key][i];
        if (c.kind === "text") td.className = "text";
        td.textContent = c.kind === "text" ? value : shown(value, c.kind);
        if (c.kind !== "text" && value !== null) {
          const e = c.error ? data.values[c.error][i] : null;
          lines.push(c.title + ": " + shown(value, c.kind) + (e === null ? "" : " ± " + shown(e, c.kind)));
        }
      }
      tr.append(td);
    }
    tr.dataset.tip = lines.join("\n");
    return tr;
  }

  function draw() {
    const part = document.createDocumentFragment();
    for (const i of state.rows.slice(0, state.limit)) part.append(row(i));
    body.replaceChildren(part);
    const total = data.values.name.length;
    const found = state.rows.length;
    count.textContent = found === total ? total + " features" : found + " of " + total + " features";
    more.hidden = found <= state.limit;
    more.textContent = "Show more (" + (found - Math.min(found, state.limit)) + " left)";
    for (const th of headRow.children) {
      if (th.dataset.key === state.column) th.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
  }

  function arrange() {
    const wanted = search.value.trim().toLowerCase();
    const names = data.values.name;
    const rows = [];
    for (let i = 0; i < names.length; i++) {
      if (names[i].toLowerCase().includes(wanted)) rows.push(i);
    }
    const values = data.values[state.column];
    const text = state.column === "name";
    const sign = state.down ? -1 : 1;
    rows.sort((a, b) => {
      const x = values[a], y = values[b];
      if (x === null || y === null) return (x === null) - (y === null) || a - b; // holes last, either way
      return sign * (text ? collator.compare(x, y) : x - y) || a - b;
    });
    state.rows = rows;
    state.limit = STEP;
    draw();
  }

  for (const c of data.columns) {
    const th = document.createElement("th");
    th.scope = "col";
    headRow.append(th);
    if (c.kind === "text" || c.bar) th.className = "text";
    if (c.bar) {
      th.textContent = c.title;
      continue;
    }
    th.dataset.key = c.key;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = c.title;
    button.addEventListener("click", () => {
      // The first click shows what is usually wanted: names and ranks upwards, numbers from the top.
      state.down = state.column === c.key ? !state.down : c.key !== "name" && c.key !== "rank";
      state.column = c.key;
      arrange();
    });
    th.append(button);
  }
  search.addEventListener("input", arrange);
  more.addEventListener("click", () => { state.limit += STEP; draw(); });
  arrange();

  for (const button of document.querySelectorAll(".code button")) {
    button.addEventListener("click", () => {
      const pre = button.parentElement.querySelector("pre");
      getSelection().selectAllChildren(pre);
      const done = () => { button.textContent = "Copied"; };
      if (navigator.clipboard) navigator.clipboard.writeText(pre.textContent).then(done, () => {});
    });
  }

  const tip = document.getElementById("tip");
  document.addEventListener("mousemove", (event) => {
    const owner = event.target.closest ? event.target.closest("[data-tip]") : null;
    tip.hidden = owner === null;
    if (owner === null) return;
    tip.textContent = owner.dataset.tip;
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
    tip.style.left = Math.max(8, x) + "px";
    tip.style.top = (below ? event.clientY + 18 : event.clientY - tip.offsetHeight - 12) + "px";
  });
  document.addEventListener("mouseleave", () => { tip.hidden = true; });
})();
