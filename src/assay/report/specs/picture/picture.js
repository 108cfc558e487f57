"use strict";
// Parts of pages about runs of a spec: lanes with arrows, the state as a tree, reasons. All text is set as text, never as markup.
const Picture = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  function set(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "on") for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, String(value));
    }
    node.append(...children.flat().filter((each) => each !== null && each !== undefined));
    return node;
  }
  const el = (tag, attributes, ...children) => set(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => set(document.createElementNS(SVG, tag), attributes, children);
  const fitted = (text, width) => {
    const most = Math.max(3, Math.floor(width / 6.6));
    return text.length <= most ? text : text.slice(0, most - 1) + "…";
  };

  // ------------------------------------------------------------------ lanes
  const ROW = 28, SHARED = "shared";

  // The lanes of a run: all elements of a set of which one acts (of a large set those that act), then what is shared.
  function lanesOf(groups, steps) {
    const used = new Map();
    let shared = false;
    for (const step of steps) {
      if (step.group) {
        if (!used.has(step.group)) used.set(step.group, new Set());
        for (const name of [step.lane, ...(step.others || [])]) used.get(step.group).add(name);
      } else if (step.action) shared = true;
    }
    const lanes = [];
    for (const [group, names] of used) {
      const all = groups[group] || [...names];
      for (const name of all.length <= 8 ? all : all.filter((each) => names.has(each))) lanes.push({ name, group });
    }
    if (shared || !lanes.length) lanes.push({ name: SHARED, group: "" });
    return lanes;
  }

  // What a label says where there is little room: the names of fields are left out.
  const brief = (text, width) => fitted(text.length * 6.6 <= width ? text : text.replace(/[A-Za-z_]\w* = /g, ""), width);

  // Arrows: a message that a step receives comes from the last step before it that sent it; one that somebody sends to
  // itself is an arc.
  function arrowsOf(steps, laneAt) {
    const senders = new Map(), arrows = [];
    steps.forEach((step, at) => {
      if (step.loading) senders.clear(); // it may have sent what a later step receives
      for (const [place, text] of step.received || []) {
        const from = senders.get(place + "\u0000" + text);
        if (from !== undefined && (step.group || laneAt(steps[from]) !== laneAt(step))) arrows.push({ from, to: at, text });
      }
      for (const [place, text] of step.sent || []) senders.set(place + "\u0000" + text, at);
    });
    return arrows;
  }

  class Lanes {
    // `choose` is told the row that is clicked; `load` a step that is seen and has `loading`.
    constructor(frame, choose, load = () => {}) {
      this.frame = frame;
      this.choose = choose;
      this.load = load;
      this.steps = [];
      frame.classList.add("lanes");
      frame.tabIndex = 0;
      frame.addEventListener("scroll", () => this.paint());
      frame.addEventListener("keydown", (event) => {
        const by = { ArrowUp: -1, ArrowDown: 1, j: 1, k: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        const at = this.chosen + by;
        if (at >= 0 && at < this.steps.length) this.choose(at);
      });
      new ResizeObserver(() => { if (this.lanes) { this.layOut(); this.paint(); } }).observe(frame);
    }

    // `notes` gives a row further words at its end; `bad` the rows at which something is false; `follow` shows what is chosen.
    show({ groups, steps, loop = null, chosen = 0, bad = new Set(), notes = () => "", follow = true }) {
      Object.assign(this, { steps, loop, chosen, bad, notes });
      this.lanes = lanesOf(groups, steps);
      const where = new Map(this.lanes.map((lane, at) => [lane.group + "\u0000" + lane.name, at]));
      this.laneAt = (step) => (step.action ? where.get((step.group || "") + "\u0000" + (step.group ? step.lane : SHARED)) : -1);
      this.otherAt = (step, name) => where.get(step.group + "\u0000" + name);
      this.arrows = arrowsOf(steps, this.laneAt);
      this.longest = Math.max(...steps.slice(-2000).map((step, row) => step.text.length + notes(row).length));
      this.layOut();
      if (follow) this.reveal(chosen);
      this.paint();
    }

    // Names take what they need up to half of the frame, and lanes share the rest; rows go on to its edge.
    layOut() {
      const seen = (this.frame.clientWidth || 700) - 18 - (this.loop === null ? 0 : 140), lanes = this.lanes;
      this.edge = Math.max(30, String(this.steps.length).length * 7 + 2); // where the numbers of the steps end
      this.names = Math.min(Math.max(100, this.longest * 6.7 + 22) + this.edge, Math.max(200, seen / 2));
      this.lane = Math.min(170, Math.max(66, (seen - this.names) / lanes.length));
      const several = new Set(this.lanes.map((lane) => lane.group)).size > 2;
      this.right = this.names + lanes.length * this.lane;
      this.width = Math.max(seen, this.right) + (this.loop === null ? 0 : 140);
      this.top = several ? 40 : 28;
      this.head = el("div", { class: "head" }, lanes.map((lane, at) => {
        const group = several && lane.group ? el("span", { class: "group" }, lane.group) : null;
        const label = el("div", { class: "lane", title: `${lane.group} ${lane.name}` }, group, this.labelled(lane.name));
        label.style.left = `${this.x(at) - this.lane / 2 + 4}px`;
        label.style.width = `${this.lane - 8}px`;
        label.style.textAlign = "center";
        return label;
      }));
      this.head.style.width = `${this.width}px`;
      this.head.style.height = `${this.top}px`;
      this.body = el("div");
      this.body.style.position = "relative";
      this.body.style.width = `${this.width}px`;
      this.body.style.height = `${this.steps.length * ROW + 6}px`;
      this.frame.replaceChildren(this.head, this.body);
    }

    // A long name keeps its end: names of one set mostly differ there.
    labelled(name) {
      const most = Math.max(3, Math.floor((this.lane - 14) / 7.2));
      return name.length <= most ? name : `…${name.slice(1 - most)}`;
    }

    x(lane) { return this.names + (lane + 0.5) * this.lane; }

    y(row) { return row * ROW + ROW / 2; }

    reveal(row) {
      const top = row * ROW, seen = this.frame.clientHeight - this.top;
      if (top < this.frame.scrollTop) this.frame.scrollTop = top;
      else if (top + ROW > this.frame.scrollTop + seen) this.frame.scrollTop = top + ROW - seen + 4;
    }

    // Only the rows that can be seen are drawn, so that a run may have 100,000 steps.
    paint() {
      if (!this.body) return;
      const first = Math.max(0, Math.floor(this.frame.scrollTop / ROW) - 6);
      const last = Math.min(this.steps.length, first + Math.ceil((this.frame.clientHeight || 600) / ROW) + 14);
      const height = (last - first) * ROW + 6;
      const drawing = svg("svg", { width: this.width, height, viewBox: `0 ${first * ROW} ${this.width} ${height}`, role: "img", "aria-label": "the steps of the run, in lanes" },
        svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0 L8 4 L0 8 z" }))));
      drawing.style.top = `${first * ROW}px`;
      for (let row = first; row < last; row += 1) drawing.append(this.background(row));
      this.lanes.forEach((_, lane) => drawing.append(svg("line", { class: "life", x1: this.x(lane), x2: this.x(lane), y1: first * ROW, y2: last * ROW })));
      for (const arrow of this.arrows) if (arrow.to >= first && arrow.from <= last) drawing.append(...this.arrow(arrow));
      for (let row = first; row < last; row += 1) drawing.append(...this.row(row));
      if (this.loop !== null) drawing.append(...this.back());
      this.body.replaceChildren(drawing);
      const missing = this.steps.slice(first, last).find((step) => step.loading);
      if (missing && missing !== this.missing) this.load(missing);
      this.missing = missing;
    }

    background(row) {
      const name = ["row", row === this.chosen ? "chosen" : "", row > this.chosen ? "later" : ""].join(" ").trim();
      return svg("rect", { class: name, "data-row": row, x: 0, y: row * ROW, width: this.width, height: ROW, on: { click: () => this.choose(row) } },
        svg("title", {}, [this.steps[row].text, ...this.steps[row].changes].join("\n")));
    }

    row(row) {
      const step = this.steps[row], lane = this.laneAt(step), y = this.y(row), parts = [];
      parts.push(svg("text", { class: "faint", x: this.edge, y: y + 4, "text-anchor": "end", "pointer-events": "none" }, String(row + 1)));
      const note = this.notes(row);
      parts.push(svg("text", { x: this.edge + 8, y: y + 4, "pointer-events": "none" }, fitted(step.text + (note ? `  ${note}` : ""), this.names - this.edge - 14)));
      if (lane < 0 || lane === undefined) return parts;
      const takes = this.arrows.some((arrow) => arrow.to === row);
      for (const name of takes ? [] : step.others || []) {
        const other = this.otherAt(step, name);
        if (other !== undefined) parts.push(svg("line", { class: "reads", x1: this.x(other), x2: this.x(lane), y1: y, y2: y }));
      }
      parts.push(svg("circle", { class: this.bad.has(row) ? "dot bad" : "dot", cx: this.x(lane), cy: y, r: 5 }));
      return parts;
    }

    arrow({ from, to, text }) {
      const x1 = this.x(this.laneAt(this.steps[from])), x2 = this.x(this.laneAt(this.steps[to])), y1 = this.y(from), y2 = this.y(to);
      const shorter = 7 / Math.hypot(x2 - x1, y2 - y1), tipX = x2 - (x2 - x1) * shorter, tipY = y2 - (y2 - y1) * shorter;
      const shown = brief(text, Math.max(this.lane * 1.6, Math.abs(x2 - x1)) - 10);
      if (x1 === x2) {
        const out = x1 + Math.min(26, this.lane / 3);
        return [svg("path", { class: "arrow", d: `M${x1} ${y1} C${out} ${y1 + 4} ${out} ${y2 - 4} ${x2 + 7} ${y2}` }, svg("title", {}, text)),
          svg("text", { class: "label", x: out - 2, y: (y1 + y2) / 2 + 4 }, shown)];
      }
      return [svg("line", { class: "arrow", x1, y1, x2: tipX, y2: tipY }, svg("title", {}, text)),
        svg("text", { class: "label", x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 3, "text-anchor": "middle" }, shown)];
    }

    back() {
      const right = this.right, top = this.y(this.loop), bottom = this.y(this.steps.length - 1);
      const stays = this.loop === this.steps.length - 1;
      const d = `M${right - 12} ${bottom} H${right} V${top} H${right - 12}`;
      return [svg("path", { class: "loop", d, "marker-end": "url(#tip)" }),
        svg("text", { class: "looptext", x: right + 6, y: (top + bottom) / 2 + 4 }, stays ? "stays so for ever" : "for ever")];
    }
  }

  // ------------------------------------------------------------------ the state
  const FEW = 40;

  function treeOf(cells) {
    const root = { children: new Map() };
    for (const [path, value, ...old] of cells) {
      let node = root;
      for (const part of path) {
        node.children ||= new Map();
        if (!node.children.has(part)) node.children.set(part, { name: part });
        node = node.children.get(part);
      }
      const gone = value === null, changed = old.length > 0;
      Object.assign(node, gone && node.value !== undefined ? {} : { value, old: old[0], changed, gone });
    }
    mark(root);
    return root;
  }
  function mark(node) {
    node.leaves = node.children ? 0 : 1;
    node.touched = Boolean(node.changed);
    for (const child of node.children ? node.children.values() : []) {
      mark(child);
      node.leaves += child.leaves;
      node.touched ||= child.touched;
    }
  }
  function leaf(node) {
    const name = el("span", { class: node.value === "" ? null : "name" }, node.name, node.value === "" || node.gone ? "" : " ");
    const parts = [name, node.gone ? "" : node.value || ""];
    if (node.changed && !node.gone && node.old !== null && node.old !== undefined && node.old !== node.value) parts.push(" ", el("span", { class: "was" }, node.old));
    const kind = node.gone ? "cell gone" : node.changed ? "cell changed" : "cell";
    return el("div", { class: kind, "data-cell": node.name, title: node.gone ? "was here before the step" : null }, parts);
  }
  function branch(node, open) {
    const inside = el("div");
    const list = [...node.children.values()];
    const fill = (from, to) => {
      for (const child of list.slice(from, to)) inside.append(child.children ? branch(child, node.leaves <= 60 || child.touched) : leaf(child));
      if (to < list.length) {
        const more = el("button", { type: "button", on: { click: () => { more.remove(); fill(to, to + 400); } } }, `${list.length - to} more`);
        inside.append(more);
      }
    };
    const whole = el("details", { open }, el("summary", { class: node.touched ? "changed" : null }, node.name, el("span", { class: "faint" }, open || list.length < 2 ? "" : ` ${list.length} entries`)), inside);
    let filled = false;
    const once = () => { if (!filled && whole.open) { filled = true; fill(0, FEW); } };
    whole.addEventListener("toggle", once);
    once();
    return whole;
  }
  function drawState(frame, cells) {
    frame.classList.add("tree");
    const root = treeOf(cells);
    frame.replaceChildren(...[...(root.children || new Map()).values()].map((node) => (node.children ? branch(node, root.leaves <= 60 || node.touched || node.leaves <= 8) : leaf(node))));
  }

  // ------------------------------------------------------------------ reasons
  function why(reason, bare) {
    const values = (pairs) => pairs.map(([text, value]) => `${text} = ${value}`).join(", ");
    return el("div", { class: "why" },
      bare ? null : el("div", {}, el("b", {}, reason.label), reason.undefined ? ` is undefined: ${reason.undefined}` : " is false ", el("span", { class: "faint" }, reason.place)),
      reason.with.length ? el("div", { class: "code" }, `with ${values(reason.with)}`) : null,
      el("ul", {}, reason.parts.map((part) => el("li", { class: "code" }, part.text, el("span", { class: part.holds ? "good" : "bad" }, part.holds ? " is true" : " is false"),
        part.values.length ? el("div", { class: "value" }, values(part.values)) : null))));
  }
  const changes = (lines) => el("ul", { class: "changes" }, lines.map((line) => el("li", {}, line)));

  return { el, svg, Lanes, drawState, why, changes, fitted };
})();
