/* The page of leakreport --format=html: reads the report in the script element "data" and shows it.
 * Texts come from strangers' programs, so they only ever become text nodes. What is shown is a
 * function of "state", which the address after # keeps: a link leads to the same picture. */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const state = { tab: "leaks", q: "", metric: "bytes", process: 0, zoom: "", apart: false,
                show: Object.fromEntries(data.verdicts.map((v, i) => [v, data.shown[i]])) };
const $ = id => document.getElementById(id);
const FIRST = 200; /* entries drawn at first */

/* ---- Words ---------------------------------------------------------------------------------- */

function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
        if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else if (value !== false && value != null) node.setAttribute(name, value);
    for (const child of children.flat(Infinity))
        if (child != null) node.append(child);
    return node;
}
const number = n => n.toLocaleString("en-US");
const count = (n, word) => number(n) + " " + word + (n === 1 ? "" : "s");
function size(n) {
    let unit = -1;
    if (n < 1000) return count(n, "byte");
    for (; n >= 999.5 && unit < 3; unit++) n /= 1000;
    return (n < 9.95 ? n.toFixed(1) : n.toFixed(0)) + " " + ["kB", "MB", "GB", "TB"][unit];
}
function span(seconds) {
    if (seconds < 60) return seconds.toFixed(1) + " s";
    if (seconds < 3600) return (seconds / 60).toFixed(1) + " min";
    return (seconds / 3600).toFixed(1) + " h";
}
const amount = (value, metric) => metric === "blocks" ? count(value, "block") : size(value);
const frameOf = id => { const [fn, file, line, module, role, inlined, at] = data.frames[id]; return { id, fn, file, line, module, role, inlined, at }; };
const nameOf = frame => frame.fn || frame.at;
const placeOf = frame => frame.file ? frame.file + (frame.line ? ":" + frame.line : "") : frame.module ? "in " + frame.module : "";
const titleOf = record => record.f.length ? frameOf(record.f[record.u < record.f.length ? record.u : 0]) : null;
const process = () => data.processes[state.process];
const valueOf = r => state.metric === "blocks" ? r.n : state.metric === "retained" ? Math.max(r.rb, r.b) : r.b;

/* ---- What is listed -------------------------------------------------------------------------- */

function fits(record) {
    if (!state.show[data.verdicts[record.v]] || (record.x && !state.show.suppressed)) return false;
    if (!state.q) return true;
    const q = state.q.toLowerCase();
    return record.s.startsWith(q) || record.f.some(id => data.search[id].includes(q));
}
data.search = data.frames.map(f => [f[0], f[1], f[3], f[6]].filter(Boolean).join("\n").toLowerCase());

function listed() {
    const records = process().records;
    const parts = state.apart ? records.map((_, i) => [i]) : process().entries;
    return parts.map(list => list.filter(i => fits(records[i])).map(i => records[i]))
                .filter(list => list.length);
}
const sum = (list, of) => list.reduce((total, item) => total + of(item), 0);

/* ---- Stacks and their source ----------------------------------------------------------------- */

function showSource(id, row) {
    const frame = frameOf(id), lines = data.source[id];
    document.querySelectorAll("tr.shown").forEach(other => other.classList.remove("shown"));
    row.classList.add("shown");
    $("source").replaceChildren(
        make("h2", {}, nameOf(frame)), make("p", { class: "note" }, placeOf(frame)),
        lines ? make("pre", {}, lines[1].map((text, i) => make("div",
            { class: lines[0] + i === frame.line && "here" }, make("span", {}, String(lines[0] + i)), text)))
              : make("p", { class: "note" }, "Source file not found: " + placeOf(frame) +
                                             " (--source-path, --substitute-path)."));
    $("source").hidden = false;
    document.querySelector("main").classList.add("split");
}
function stack(ids, user) {
    const rows = ids.map((id, i) => {
        const frame = frameOf(id);
        const row = make("tr", { class: (i === user ? "user" : "") + (frame.role ? " dim" : ""), tabindex: 0 },
            make("td", {}, nameOf(frame) + (frame.inlined ? " (inlined)" : "")), make("td", {}, placeOf(frame)));
        const open = () => showSource(id, row);
        row.addEventListener("click", open);
        row.addEventListener("keydown", e => { if (e.key === "Enter") { open(); e.stopPropagation(); } });
        return row;
    });
    return make("table", { class: "stack" }, make("tbody", {}, rows));
}
const sentence = text => text[0].toUpperCase() + text.slice(1) + ".";
const note = text => make("p", { class: "note" }, text);

function ages(record) {
    if (record.a == null) return "";
    const [from, to] = [span(record.a), span(record.z)];
    return (from === to ? from : from + " to " + to) + (process().running ? " ago" : " before the end");
}
function freedAt(freed) { // [place, share, other path, common function, what it calls]
    const at = frameOf(freed.length > 3 ? freed[3] : freed[0]);
    return (freed.length > 4 ? nameOf(frameOf(freed[4])) + ", called by " : "") + nameOf(at) + " at " + placeOf(at);
}
function recordBody(record) {
    const body = [];
    if (record.g) body.push(note(sentence(record.g)));
    if (record.c) body.push(note("Reference cycle."));
    if (record.lb) body.push(note(record.lb[0].toUpperCase() + record.lb.slice(1)));
    if (record.i) body.push(note(record.i[0].toUpperCase() + record.i.slice(1)));
    if (record.p) body.push(note("Reached by " + record.p));
    for (const [id, bytes, blocks] of record.l || [])
        body.push(note(size(bytes) + " in " + count(blocks, "block") + " at " + placeOf(frameOf(id))));
    for (const [name, bytes, blocks] of record.tg || [])
        body.push(note("Under the tag " + name + (blocks === record.n && bytes === record.b ? "." : ": " + size(bytes) + " in " + count(blocks, "block") + ".")));
    if (record.w) body.push(note((record.w[2] ? "Never freed when allocated here; other blocks from this line are freed in " : "Others are freed in ") +
                                 freedAt(record.w) +
                                 (record.w[1] ? " (" + Math.round(record.w[1] * 100) + " %)" : "") + "."));
    if (record.h) body.push(note("It was owned by a block" + (record.h.length > 1 ? " from " + nameOf(frameOf(record.h[1])) + "(), which" : " that") + " was freed in " +
                                 nameOf(frameOf(record.h[0])) + " at " + placeOf(frameOf(record.h[0])) + "."));
    if (record.x) body.push(note("Suppressed by " + record.x));
    const held = process().records.filter(other => other.o && process().records[other.o - 1] === record);
    if (held.length) body.push(make("ul", {}, held.slice(0, 20).map(h => make("li", {}, "holds " + count(h.n, "block") + ", " + size(h.b) + " from " + (titleOf(h) ? nameOf(titleOf(h)) : "?")))));
    body.push(note("Allocated (" + record.k + ") " + ages(record) + (record.t.length ? " by " + record.t.join(", ") : "") + ". Signature " + record.s));
    return body.concat(stack(record.f, record.u));
}
function entry(list) {
    const first = list[0], title = titleOf(first), verdict = data.verdicts[first.v];
    const caller = title && first.f.slice(first.u + 1).map(frameOf).find(f => !f.role);
    const [keeps, with_] = [sum(list, r => r.rn), sum(list, r => r.rb)], source = title && data.source[title.id];
    const head = make("button", { "aria-expanded": "false" },
        make("span", { class: "amount" }, first.n ? size(sum(list, r => r.b)) + " in " + count(sum(list, r => r.n), "block") : "up to " + size(first.gp)), " ",
        make("span", { class: "verdict", style: "color:var(--" + verdict + ")" }, first.n ? data.words[first.v] : "nothing of it is left"),
        list.length > 1 ? " in " + count(list.length, "place") : null,
        make("span", { class: "where" }, title ? nameOf(title) + "  " : "an unknown place ", make("span", { class: "by" }, title ? placeOf(title) : "")),
        source ? make("span", { class: "where code" }, source[1][title.line - source[0]].trim()) : null,
        caller ? make("span", { class: "where by" }, "called by " + nameOf(caller) + "  " + placeOf(caller)) : null,
        list.filter(r => r.g).map(r => make("span", { class: "where grows" }, r.g)),
        keeps > sum(list, r => r.n) ? make("span", { class: "where by" }, (first.v === 0 ? "fix this one: " + count(keeps, "block") + ", " + size(with_) + " go away" : "keeps " + count(keeps, "block") + ", " + size(with_) + " alive")) : null);
    const node = make("section", { class: "entry " + verdict }, head);
    head.addEventListener("click", () => {
        const open = head.getAttribute("aria-expanded") !== "true";
        head.setAttribute("aria-expanded", String(open));
        if (!open) { node.lastChild.remove(); return; }
        node.append(make("div", { class: "body" }, list.map(recordBody)));
        const user = node.querySelector("tr.user");
        if (user) user.click();
    });
    return node;
}

/* ---- Trees ----------------------------------------------------------------------------------- */

/* Outermost first; runtime frames around main say nothing. */
function callTree() {
    const root = { name: "all", value: 0, children: new Map(), id: null };
    for (const list of listed())
        for (const record of list) {
            let at = root;
            at.value += valueOf(record);
            for (let i = record.f.length - 1; i >= 0; i--) {
                const id = record.f[i], key = data.frames[id][0] || "#" + id;
                if (data.frames[id][4] === 1 && at === root) continue;
                if (!at.children.has(key)) at.children.set(key, { name: key, value: 0, children: new Map(), id, up: at });
                at = at.children.get(key);
                at.value += valueOf(record);
            }
        }
    return root;
}
const byValue = node => [...node.children.values()].sort((a, b) => b.value - a.value);
const pathOf = node => node.up ? [...pathOf(node.up), node.name] : [];
function hue(text) {
    let hash = 0;
    for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)) | 0;
    return "hsl(" + (20 + Math.abs(hash) % 45) + " 85% " + (62 + Math.abs(hash >> 6) % 12) + "%)";
}
function drawFlame(area) {
    const root = callTree(), width = Math.max(area.clientWidth, 300), q = state.q.toLowerCase();
    let at = root, deepest = 0, drawn = 0;
    for (const name of state.zoom ? JSON.parse(state.zoom) : []) at = at.children.get(name) || at;
    const flame = make("div", { id: "flame" });
    const put = (node, x, w, depth) => {
        if (w < 2 || drawn > 4000 || !node.value) return;
        drawn++;
        deepest = Math.max(deepest, depth);
        const hit = q && node.name.toLowerCase().includes(q);
        flame.append(make("div", { class: hit && "hit", "data-name": node.name, title: node.name + "\n" + amount(node.value, state.metric) + " (" + (100 * node.value / root.value).toFixed(1) + " %)" + (node.id == null ? "" : "\n" + placeOf(frameOf(node.id))),
            style: `left:${x}px;width:${w}px;top:${depth * 20}px;background:${hue(node.name)}`,
            onclick: () => { state.zoom = node === root || node === at && !node.up ? "" : JSON.stringify(pathOf(node === at ? node.up : node)); draw(); } }, w > 30 ? node.name : ""));
        let left = x;
        for (const child of byValue(node)) {
            put(child, left, w * child.value / node.value, depth + 1);
            left += w * child.value / node.value;
        }
    };
    put(at, 0, width, 0);
    flame.style.height = (deepest + 1) * 20 + "px";
    area.append(root.value ? flame : make("p", { class: "empty" }, "No listed record has a stack."));
}
function treeNode(node, total) {
    const hit = state.q && node.name.toLowerCase().includes(state.q.toLowerCase());
    const details = make("details", {}, make("summary", { class: hit && "hit" }, make("b", {}, amount(node.value, state.metric)),
        node.name + "  ", make("span", { class: "by" }, node.id == null ? "" : placeOf(frameOf(node.id)))));
    details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1) byValue(node).forEach(child => details.append(treeNode(child, total)));
    });
    return details;
}

/* ---- Charts ---------------------------------------------------------------------------------- */

const svg = (tag, attributes, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
};
function histogram(title, bins) {
    const most = Math.max(...bins.map(b => b[1]), 1), width = Math.max(34 * bins.length, 120);
    return [make("h3", {}, title), svg("svg", { viewBox: `0 0 ${width} 150`, width, height: 150, role: "img", "aria-label": title },
        ...bins.flatMap(([label, value], i) => [
            svg("rect", { class: "barfill", x: 34 * i + 3, width: 28, y: 120 - 100 * value / most, height: 100 * value / most }, svg("title", {}, label + ": " + amount(value, state.metric))),
            svg("text", { x: 34 * i + 17, y: 136, "text-anchor": "middle" }, label)]))];
}
function bin(records, of, label) {
    const bins = new Map();
    for (const record of records) {
        const key = of(record);
        if (key != null) bins.set(key, (bins.get(key) || 0) + valueOf(record));
    }
    const keys = [...bins.keys()];
    if (!keys.length) return [];
    const out = [];
    for (let k = Math.min(...keys); k <= Math.max(...keys); k++) out.push([label(k), bins.get(k) || 0]);
    return out;
}
function drawCharts(area) {
    const records = listed().flat();
    const sizes = bin(records, r => Math.floor(Math.log2(Math.max(r.b / r.n, 1))), k => k < 10 ? String(2 ** k) : k < 20 ? 2 ** (k - 10) + "k" : 2 ** (k - 20) + "M");
    const older = bin(records, r => r.a == null ? null : Math.max(-3, Math.floor(Math.log10(Math.max(r.a, 0.001)))), k => "1e" + k + " s");
    const history = process().history;
    if (history.length > 1) {
        const [peak, ...parts] = process().peak, most = Math.max(...history.map(h => h[1]), peak ? peak[1] : 1), [t0, t1] = [history[0][0], history[history.length - 1][0]];
        const x = t => (800 * Math.min(Math.max((t - t0) / (t1 - t0 || 1), 0), 1)).toFixed(1), y = bytes => (190 - 170 * bytes / most).toFixed(1);
        area.append(make("h3", {}, "Live bytes over " + span(t1) + ", peak " + size(most)), svg("svg", { id: "history", viewBox: "-6 0 812 200", width: 812, height: 200, role: "img", "aria-label": "live bytes over time" },
            svg("polyline", { class: "curve", points: history.map(h => x(h[0]) + "," + y(h[1])).join(" ") }),
            ...(peak ? [svg("circle", { class: "peak", cx: x(peak[0]), cy: y(peak[1]), r: 5 }, svg("title", {}, "the peak: " + size(peak[1]) + " in " + count(peak[2], "block") + ", " + span(peak[0]) + " after the start"))] : [])));
        if (parts.length) area.append(make("h3", {}, "Live at the peak, " + span(peak[0]) + " after the start"), table([["bytes", 1], ["blocks", 1], ["from"], ["at"]],
            parts.map(([bytes, blocks, id]) => [size(bytes), number(blocks), id == null ? "an unknown place" : nameOf(frameOf(id)), id == null ? "" : placeOf(frameOf(id))])));
    }
    area.append(...histogram("Block sizes (lower bounds, bytes)", sizes), ...(older.length ? histogram("Ages (since the first block of each record)", older) : []));
}

/* ---- Pages ----------------------------------------------------------------------------------- */

const table = (heads, rows) => make("table", { class: "plain-table" }, make("thead", {}, make("tr", {}, heads.map(h => make("th", { class: h[1] && "number" }, h[0])))),
    make("tbody", {}, rows.map(row => make("tr", {}, row.map((cell, i) => make("td", { class: heads[i][1] && "number" }, cell))))));
function choices(withVerdicts) {
    const bar = make("div", { class: "bar" });
    const present = new Set(process().records.map(r => data.verdicts[r.v]));
    if (process().records.some(r => r.x)) present.add("suppressed");
    if (withVerdicts) for (const verdict of [...data.verdicts, "suppressed"].filter(v => present.has(v)))
        bar.append(make("label", {}, make("input", { type: "checkbox", checked: state.show[verdict] ? "" : false, "data-verdict": verdict, onchange: e => { state.show[verdict] = e.target.checked; draw(); } }), verdict));
    bar.append(make("label", {}, "by ", make("select", { id: "metric", onchange: e => { state.metric = e.target.value; draw(); } },
        ["bytes", "blocks", "retained"].map(m => make("option", { value: m, selected: m === state.metric ? "" : false }, m)))));
    return bar;
}
const pages = {
    leaks(area) {
        const lists = listed(), bar = choices(true);
        if (process().entries.some(parts => parts.length > 1))
            bar.append(make("label", {}, make("input", { type: "checkbox", "data-apart": "", checked: state.apart ? "" : false, onchange: e => { state.apart = e.target.checked; draw(); } }), "ungroup"));
        area.append(bar);
        if (state.metric !== "retained") lists.sort((a, b) => a[0].v - b[0].v || sum(b, valueOf) - sum(a, valueOf));
        const more = from => {
            area.append(...lists.slice(from, from + FIRST).map(entry));
            if (lists.length > from + FIRST)
                area.append(make("button", { class: "plain", id: "more", onclick: e => { e.target.remove(); more(from + FIRST); } }, "show more (" + number(lists.length - from - FIRST) + " left)"));
        };
        more(0);
        if (lists.length && !state.q) area.querySelector(".entry > button").click();
        for (const [verdict, records, bytes, blocks] of process().other)
            if (state.show[verdict] && !state.q) area.append(note("In other records, not in this page: " + size(bytes) + " in " + count(blocks, "block") + ", " + count(records, "record") + ", " + verdict + "."));
        if (!lists.length) area.append(make("p", { class: "empty" }, process().records.length ? "No record matches the selected verdicts and the search." : "No records."));
    },
    growing(area) {
        area.append(note("Allocation sites that grew while the program ran, freed later or not."), ...growing().map(r => entry([r])));
        const first = area.querySelector(".entry > button");
        if (first) first.click();
    },
    flame(area) { area.append(choices(true)); drawFlame(area); },
    tree(area) {
        const root = callTree();
        area.append(choices(true), make("div", { class: "tree" }, byValue(root).map(node => treeNode(node, root.value))));
        const first = area.querySelector("details");
        if (first) first.open = true;
    },
    owners(area) {
        area.append(note("Roots that keep the reachable blocks alive."), table([["bytes", 1], ["blocks", 1], ["owner"], ["largest block and its path"]],
            process().owners.map(o => [size(o.b), number(o.n), o.root, o.path || ""])));
    },
    errors(area) {
        for (const error of process().errors)
            area.append(make("section", { class: "entry lost" }, make("div", { class: "body" }, make("p", {}, make("b", {}, error.type), "  " + error.words + (error.count > 1 ? ", " + count(error.count, "time") : "")),
                error.stacks.map(([words, ids, user]) => [note(words), stack(ids, user)]))));
    },
    resources(area) {
        for (const r of process().resources)
            area.append(make("section", { class: "entry possible" }, make("div", { class: "body" }, make("p", {}, make("b", {}, r.type), "  " + count(r.count, "time") + (r.names.length ? ": " + r.names.join(", ") : "")), stack(r.f, r.u))));
    },
    charts(area) { area.append(choices(true)); drawCharts(area); },
    about(area) {
        area.append(table([["property"], ["value"]], process().facts), make("h3", {}, "Keys"), make("p", {}, ...[["/", "search"], ["j", "next"], ["k", "previous"], ["Enter", "open"], ["Esc", "clear, zoom out"], ["1-9", "pages"], ["d", "dark or light"]].flatMap(([key, what]) => [make("kbd", {}, key), " " + what + "   "])));
    },
};
const growing = () => [...process().records, ...process().grown].filter(r => r.g && !r.x).sort((a, b) => b.gr - a.gr);
const tabs = () => [["leaks", "Leaks"], growing().length && ["growing", "Growing " + growing().length], ["flame", "Flame"], ["tree", "Call tree"], process().owners.length && ["owners", "Owners"], process().errors.length && ["errors", "Errors " + process().errors.length],
    process().resources.length && ["resources", "Resources " + process().resources.length], ["charts", "Charts"], ["about", "About"]].filter(Boolean);

const leaks = () => process().records.some(r => data.shown[r.v] && !r.x);
const first = () => !leaks() && growing().length ? "growing" : "leaks";

function draw() {
    if (!tabs().some(t => t[0] === state.tab)) state.tab = first();
    $("tabs").replaceChildren(...tabs().map(([tab, words]) => make("button", { "aria-selected": String(tab === state.tab), "data-tab": tab, onclick: () => { state.tab = tab; draw(); } }, words)));
    $("name").textContent = process().name;
    $("headline").replaceChildren(make("b", { class: !leaks() && !growing().length && !process().errors.length && "good" }, process().headline[0]), process().headline[1]);
    $("source").hidden = true;
    document.querySelector("main").classList.remove("split");
    $("page").replaceChildren();
    pages[state.tab]($("page"));
    $("search").value = state.q;
    const hash = "#" + new URLSearchParams({ tab: state.tab, q: state.q, by: state.metric, p: state.process, zoom: state.zoom });
    if (location.hash !== hash) history.replaceState(null, "", hash);
}
function readHash() {
    const asked = new URLSearchParams(location.hash.slice(1));
    state.q = asked.get("q") || "";
    state.metric = ["bytes", "blocks", "retained"].includes(asked.get("by")) ? asked.get("by") : "bytes";
    state.process = Math.min(Math.max(Number(asked.get("p")) || 0, 0), data.processes.length - 1);
    state.tab = asked.get("tab") in pages ? asked.get("tab") : first();
    try { state.zoom = Array.isArray(JSON.parse(asked.get("zoom"))) ? asked.get("zoom") : ""; } catch { state.zoom = ""; }
}
function step(by) {
    const all = [...document.querySelectorAll(".entry > button")].map(b => b.parentNode);
    const now = all.findIndex(node => node.classList.contains("at"));
    if (!all.length) return;
    if (now >= 0) all[now].classList.remove("at");
    const next = all[Math.min(Math.max(now + by, 0), all.length - 1)];
    next.classList.add("at");
    next.firstChild.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
}
document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key === "Escape") { state.q = state.zoom = ""; $("search").blur(); draw(); return; }
    if (["INPUT", "SELECT"].includes(e.target.tagName)) return;
    if (e.key === "/") { $("search").focus(); e.preventDefault(); }
    else if (e.key === "j") step(1);
    else if (e.key === "k") step(-1);
    else if (e.key === "d") document.documentElement.classList.toggle("dark");
    else if (tabs()[Number(e.key) - 1]) { state.tab = tabs()[Number(e.key) - 1][0]; draw(); }
});
$("search").addEventListener("input", e => { state.q = e.target.value; draw(); });
$("dark").addEventListener("click", () => document.documentElement.classList.toggle("dark"));
if (data.processes.length > 1) {
    $("process").replaceChildren(...data.processes.map((p, i) => make("option", { value: i }, p.name)));
    $("process").hidden = false;
    $("process").addEventListener("change", e => { state.process = Number(e.target.value); draw(); });
}
document.documentElement.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
addEventListener("hashchange", () => { readHash(); draw(); });
addEventListener("resize", () => { if (state.tab === "flame") draw(); });
readHash();
/* What is wrong somewhere is seen first. */
const worst = data.processes.findIndex(p => p.errors.length || p.records.some(r => data.shown[r.v] && !r.x));
if (!location.hash && worst > 0) { state.process = worst; $("process").value = worst; }
draw();
