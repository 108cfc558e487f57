// The page of `assay explore`: a walk through a model. It asks a server, or a whole graph that stands in the page.
(() => {
  const { el, Lanes, drawState, why, changes } = Picture;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);

  // ------------------------------------------------------------------ who answers
  class Server {
    constructor(token) { this.token = token; }

    async ask(question, body) {
      let answer;
      try {
        answer = await fetch(`/api/${question}`, { method: "POST", body: JSON.stringify(body || {}), headers: { "X-Assay-Token": this.token } });
      } catch {
        throw new Error("assay does not answer any more: it has ended. Start `assay explore` again, and load the page that it prints.");
      }
      const found = await answer.json();
      if (found.error) throw new Error(found.error);
      return found;
    }
  }

  class WholeGraph {
    constructor(graph) { this.graph = graph; this.nodes = []; }

    async ask(question, body) { return this[question](body || {}); }

    start() {
      const g = this.graph;
      return { module: g.module, about: g.about, groups: g.groups, actions: g.actions, opened: null, ...this.initial() };
    }

    initial({ search = "" } = {}) {
      const all = this.matching(this.graph.initial, search);
      return { initial: all, count: all.length, counted: true, more: false };
    }

    begin({ number }) { return this.add({ text: this.graph.initial[number].text, lane: "", changes: [] }, this.graph.initial[number].state, -1, []); }

    add(step, state, parent, properties) {
      this.nodes.push({ state, parent, properties });
      return { node: this.nodes.length - 1, parent, ...step };
    }

    cells(state) { return this.graph.states[state].cells.map(([place, value]) => [this.graph.places[place], this.graph.texts[value]]); }

    view({ node }) {
      const { state, parent, properties } = this.nodes[node], now = this.cells(state), g = this.graph;
      const key = ([path]) => path.join("\u0000");
      const before = parent < 0 ? null : new Map(this.cells(this.nodes[parent].state).map((cell) => [key(cell), cell]));
      const here = new Set(now.map(key));
      const cells = now.map((cell) => {
        const old = before && before.get(key(cell));
        return !before || (old && old[1] === cell[1]) ? cell : [...cell, old ? old[1] : null];
      });
      if (before) for (const [name, [path, value]] of before) if (!here.has(name)) cells.push([path, null, value]);
      return { cells, shown: g.states[state].shown, properties: [...g.states[state].properties, ...properties].map((at) => g.verdicts[at]) };
    }

    matching(list, search) {
      const words = search.toLowerCase().replace(/[(),_]/g, " ").split(/\s+/).filter(Boolean);
      return list.filter((each) => words.every((word) => each.text.toLowerCase().includes(word)));
    }

    listed(node) { return this.graph.states[this.nodes[node].state].steps.map((step, number) => ({ number, ...this.graph.roles[step.role], ...step })); }

    steps({ node, search = "", offset = 0 }) {
      const all = this.matching(this.listed(node), search);
      return { steps: all.slice(offset, offset + 60), count: all.length, counted: true, more: all.length > offset + 60 };
    }

    take({ node, number }) {
      const step = this.listed(node)[number];
      return this.add(step, step.target, node, step.properties);
    }

    refused({ node, search = "", offset = 0 }) {
      const g = this.graph, all = this.matching(g.states[this.nodes[node].state].refused.map(([text, guards]) => ({ text: g.texts[text], guards: guards.map((at) => g.guards[at]) })), search);
      return { refused: all.slice(offset, offset + 60), more: all.length > offset + 60, next: offset + 60 };
    }
  }

  const source = data.graph ? new WholeGraph(data.graph) : new Server(data.token);
  if (data.graph) document.querySelectorAll(".served").forEach((each) => { each.hidden = true; });

  // ------------------------------------------------------------------ the walk: a tree of moments, and the branch that is shown
  const moments = new Map();
  let groups = {}, leaf = null, here = null, asked = 0, offset = 0, search = "", loop = null;
  const watched = [];

  function keep(drawn) {
    const known = moments.get(drawn.node);
    if (known && known.loading) Object.assign(known, { loading: false }, drawn);
    if (known) return known;
    const moment = { loading: false, ...drawn, children: [], bad: false };
    moments.set(drawn.node, moment);
    const parent = moments.get(drawn.parent);
    if (parent) parent.children.push(moment);
    return moment;
  }
  function branchTo(moment) {
    const path = [];
    for (let each = moment; each; each = moments.get(each.parent)) path.push(each);
    return path.reverse();
  }
  // A long run comes in pages: the moments that were not looked at yet have no text.
  const PAGE = 500;
  let wanted = Promise.resolve();
  const load = (node) => {
    wanted = wanted.catch(() => {}).then(async () => {
      if (!moments.get(node).loading) return;
      const found = await source.ask("path", { node: Math.max(node - PAGE / 2, 0), count: PAGE });
      found.path.filter((drawn) => moments.has(drawn.node)).forEach(keep);
    });
    return wanted;
  };
  const deepest = (moment) => { while (moment.children.length) moment = moment.children.at(-1); return moment; };

  function tell(error) {
    byId("error").hidden = !error;
    byId("error").textContent = error ? error.message : "";
  }
  async function asking(action) {
    try { tell(null); await action(); } catch (error) { tell(error); }
  }

  async function go(moment) {
    if (moment.loading) await load(moment.node);
    here = moment;
    const path = branchTo(leaf);
    if (!path.includes(moment)) leaf = deepest(moment);
    offset = 0;
    for (const each of byId("steps").querySelectorAll("button")) each.disabled = true; // they are of the moment before
    drawWalk();
    await Promise.all([drawMoment(), drawSteps()]);
  }

  function drawWalk(follow = true) {
    const path = branchTo(leaf);
    lanes.show({
      groups, steps: path, loop, chosen: path.indexOf(here), follow,
      bad: new Set(path.flatMap((each, at) => (each.bad ? [at] : []))),
      notes: (row) => (path[row].children.length > 1 ? `⑂ ${path[row].children.length}` : ""),
    });
    const others = here.children.filter((each) => !path.includes(each));
    byId("branches").replaceChildren(...(others.length ? [el("span", { class: "faint" }, "other branches from here: ")] : []),
      ...others.map((each) => el("button", { type: "button", on: { click: () => asking(() => { leaf = deepest(each); loop = null; return go(each); }) } }, each.text)));
    byId("back").disabled = here.parent < 0;
  }

  async function drawMoment() {
    const mine = here, view = await source.ask("view", { node: mine.node });
    if (mine !== here) return;
    byId("here").textContent = mine.parent < 0 ? "State" : `State after ${mine.text}`;
    byId("changes").replaceChildren(mine.parent < 0 ? "" : changes(mine.changes.length ? mine.changes : ["nothing changes"]));
    drawState(byId("state"), view.cells);
    byId("shown").replaceChildren(changes(view.shown));
    const bad = view.properties.some((each) => each.holds !== true);
    byId("properties").replaceChildren(...view.properties.map((each) => {
      const [tone, word] = each.holds === null ? ["warn", "has no value"] : each.holds ? ["good", "holds"] : ["bad", "is false"];
      return el("div", { "data-property": each.name, class: each.holds ? null : tone }, el("span", { class: `dot ${tone}` }), `${each.name} ${word}`, each.why ? why(each.why) : null);
    }));
    if (bad !== mine.bad) { mine.bad = bad; drawWalk(); }
    await drawWatched();
  }

  async function drawWatched() {
    if (!here) return;
    const mine = here, rows = [];
    for (const text of watched) {
      let value;
      try { value = await source.ask("evaluate", { node: mine.node, text }); } catch (error) { value = { shown: error.message, undefined: true }; }
      const drop = el("button", { type: "button", "aria-label": `no longer watch ${text}`, on: { click: () => { watched.splice(watched.indexOf(text), 1); drawWatched(); } } }, "×");
      rows.push(el("div", { class: "code", "data-watch": text }, drop, ` ${text} = `, el(value.shown.includes("\n") ? "pre" : "b", { class: value.undefined ? "warn" : null }, value.shown)));
    }
    if (mine === here) byId("watched").replaceChildren(...rows);
  }

  const counted = (found) => found.count.toLocaleString("en") + (found.counted ? "" : "+");

  async function drawSteps() {
    const mine = here, turn = ++asked;
    const found = await source.ask("steps", { node: mine.node, search, offset });
    if (turn !== asked) return;
    byId("steps-title").textContent = `${counted(found)} step${found.count === 1 ? "" : "s"}`;
    const rows = [];
    let action = null;
    for (const step of found.steps) {
      if (step.action !== action) { action = step.action; rows.push(el("h3", {}, action)); }
      rows.push(el("button", { type: "button", "data-step": step.text, on: { click: () => asking(() => take(mine, step)) } }, step.text,
        el("span", { class: "faint" }, step.changes.length ? step.changes.slice(0, 3).join("\n") + (step.changes.length > 3 ? "\n…" : "") : "nothing changes")));
    }
    if (!found.steps.length) rows.push(el("p", { class: "warn" }, search ? "no step fits the search" : "no step is possible here"));
    byId("steps").replaceChildren(...rows);
    byId("pages").replaceChildren(
      ...(offset ? [el("button", { type: "button", id: "earlier", on: { click: () => asking(() => { offset -= 60; return drawSteps(); }) } }, "earlier")] : []),
      ...(found.counted ? [] : [el("button", { type: "button", id: "search-on", on: { click: () => asking(drawSteps) } }, "look for more")]),
      ...(found.more ? [el("button", { type: "button", id: "more", on: { click: () => asking(() => { offset += 60; return drawSteps(); }) } }, "more")] : []));
    if (byId("refused").open) await drawRefused();
  }

  async function drawRefused(from = 0) {
    const mine = here, found = await source.ask("refused", { node: mine.node, search, offset: from });
    if (mine !== here) return;
    const rows = found.refused.map((each) => el("div", { "data-refused": each.text }, el("b", { class: "code" }, each.text),
      each.guards.map((guard) => el("div", { class: "guard" }, el("span", { class: "code" }, `${guard.label}: ${guard.text} `), el("span", { class: "faint" }, guard.kind === "guard" ? guard.place : `${guard.kind} ${guard.place}`), guard.why ? why(guard.why, true) : null))));
    if (!rows.length && !found.more) rows.push(el("p", { class: "faint" }, from ? "no more" : "nothing"));
    if (found.more) rows.push(el("button", { type: "button", on: { click: (event) => asking(() => { event.target.remove(); return drawRefused(found.next); }) } }, "more"));
    if (from) byId("refusals").append(...rows); else byId("refusals").replaceChildren(...rows);
  }

  async function take(from, step) {
    const known = from.children.find((each) => each.text === step.text);
    const next = known || keep(await source.ask("take", { node: from.node, number: step.number, search }));
    if (!branchTo(leaf).includes(next)) { leaf = deepest(next); loop = null; }
    if (search) { search = ""; byId("search").value = ""; }
    await go(next);
  }

  // ------------------------------------------------------------------ beginnings
  function offerInitial(found) {
    if (found.initial.length === 1 && !found.more && !search) return begin(found.initial[0].number);
    here = null;
    byId("back").disabled = true;
    byId("steps-title").textContent = `${counted(found)} initial state${found.count === 1 ? "" : "s"}`;
    byId("steps").replaceChildren(...found.initial.map((each) => el("button", { type: "button", "data-initial": each.number, on: { click: () => asking(() => begin(each.number)) } }, each.text,
      el("span", { class: "faint" }, each.changes.join("\n")))));
    const at = (by) => asking(() => { offset += by; return askInitial(); });
    byId("pages").replaceChildren(...(offset ? [el("button", { type: "button", on: { click: () => at(-60) } }, "earlier")] : []),
      ...(found.counted ? [] : [el("button", { type: "button", on: { click: () => at(0) } }, "look for more")]),
      ...(found.more ? [el("button", { type: "button", id: "more", on: { click: () => at(60) } }, "more")] : []));
    if (!found.initial.length) byId("steps").replaceChildren(el("p", { class: "warn" }, search ? "no initial state fits the search" : "the model has no initial state"));
    return null;
  }
  async function askInitial() {
    const turn = ++asked, found = await source.ask("initial", { search, offset });
    if (turn === asked) await offerInitial(found);
  }
  async function begin(number) {
    const first = keep(await source.ask("begin", { number }));
    search = byId("search").value = "";
    leaf = first; loop = null;
    await go(first);
  }
  async function openPath(opened) {
    for (let node = opened.first; node < opened.first + opened.count - opened.path.length; node += 1) keep({ node, parent: node > opened.first ? node - 1 : -1, text: "…", changes: [], loading: true });
    leaf = opened.path.map(keep).at(-1);
    loop = opened.loop === undefined ? null : opened.loop;
    byId("note").textContent = opened.note || "";
    await go(leaf);
  }
  const lanes = new Lanes(byId("lanes"), (row) => asking(() => go(branchTo(leaf)[row])), (step) => asking(async () => { await load(step.node); drawWalk(false); }));

  byId("new").addEventListener("click", () => asking(() => { search = byId("search").value = ""; offset = 0; return askInitial(); }));
  byId("back").addEventListener("click", () => asking(() => go(moments.get(here.parent))));
  byId("search").addEventListener("input", () => { search = byId("search").value; offset = 0; asking(here ? drawSteps : askInitial); });
  byId("refused").addEventListener("toggle", () => { if (byId("refused").open && here) asking(() => drawRefused()); });
  byId("watch").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = byId("expression").value.trim();
    if (text && !watched.includes(text)) watched.push(text);
    byId("expression").value = "";
    asking(drawWatched);
  });
  const begun = () => { if (!here) throw new Error("choose an initial state first"); };
  byId("scenario").addEventListener("click", () => asking(async () => {
    begun();
    const found = await source.ask("scenario", { node: here.node, name: "walked" });
    byId("scenario-text").hidden = false;
    byId("scenario-text").textContent = found.text;
  }));
  byId("save").addEventListener("click", () => asking(async () => {
    begun();
    const found = await source.ask("trace", { node: here.node });
    const link = el("a", { download: "run.json", href: URL.createObjectURL(new Blob([JSON.stringify(found, null, 1)], { type: "application/json" })) });
    link.click();
    URL.revokeObjectURL(link.href);
  }));
  byId("file").addEventListener("change", () => asking(async () => {
    let trace;
    try { trace = JSON.parse(await byId("file").files[0].text()); } catch { throw new Error("the file is no saved trace: it is no JSON"); }
    await openPath(await source.ask("open", { trace }));
  }));

  asking(async () => {
    const start = await source.ask("start", {});
    groups = start.groups;
    byId("module").textContent = start.module;
    byId("about").textContent = start.about.join(" ");
    document.title = `${start.module} – assay explore`;
    await (start.opened ? openPath(start.opened) : offerInitial(start));
    document.body.dataset.ready = "true";
  });
})();
