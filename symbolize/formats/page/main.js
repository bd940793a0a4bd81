/* ---- main.js: draws the page, and obeys the address, the keys and the mouse --------------------- */

let list = null; /* that j and k act on */

function openTab(tab) {
    if (state.tab !== tab) state.sort = "";
    state.tab = tab;
    scrollTo(0, 0);
    draw();
}
function draw() {
    if (!tabs().some(t => t[0] === state.tab)) state.tab = firstTab();
    if (!weighings().includes(state.weight)) state.weight = "leaked";
    $("tabs").replaceChildren(...tabs().map(([tab, words]) => make("button", { role: "tab", "aria-selected": String(tab === state.tab), "data-tab": tab, onclick: () => openTab(tab) }, words)));
    $("name").textContent = process().name;
    $("process").value = state.process;
    $("headline").replaceChildren(make("b", { class: onlyGraph ? "plainly" : !facts().leaks && !facts().growing.length && !facts().wrong && "good" }, process().headline[0]), process().headline[1]);
    hideSource();
    $("page").replaceChildren();
    list = pages[state.tab]($("page")) || null;
    if ($("search").value !== state.q) $("search").value = state.q;
    const hash = "#" + new URLSearchParams({ tab: state.tab, q: state.q, p: state.process, zoom: state.zoom, ...(state.sort && { sort: state.sort }), ...(state.fn && { fn: state.fn }), ...(state.time && { time: state.time }), ...(state.node && { node: state.node }),
        ...Object.fromEntries(Object.entries(words).filter(([, [key, values]]) => state[key] !== values[0]).map(([word, [key]]) => [word, state[key]])) });
    if (location.hash !== hash) history.replaceState(null, "", hash);
}
/* Words of the address: what they set, and the values, the default first. */
const words = { by: ["metric", ["bytes", "blocks", "retained"]], what: ["weight", ["leaked", "allocated", "peak"]],
                from: ["from", ["main", "allocation"]], sums: ["group", Object.keys(groupings)], fold: ["fold", ["", "1"]], flip: ["flip", ["", "1"]] };

function readHash() {
    const asked = new URLSearchParams(location.hash.slice(1));
    state.q = asked.get("q") || "";
    for (const [word, [key, values]] of Object.entries(words)) state[key] = values.includes(asked.get(word)) ? asked.get(word) : values[0];
    state.process = Math.min(Math.max(Number(asked.get("p")) || 0, 0), data.processes.length - 1);
    state.sort = /^\d+,-?1$/.test(asked.get("sort")) ? asked.get("sort") : "";
    state.fn = asked.get("fn") || "";
    state.node = /^0x[0-9a-f]+$/.test(asked.get("node")) ? asked.get("node") : "";
    state.time = /^[\d.]+,[\d.]+$/.test(asked.get("time")) ? asked.get("time") : "";
    if (!weighings().includes(state.weight)) state.weight = "leaked";
    state.tab = asked.get("tab") in pages ? asked.get("tab") : firstTab();
    try { state.zoom = Array.isArray(JSON.parse(asked.get("zoom"))) ? asked.get("zoom") : ""; } catch { state.zoom = ""; }
}
// The button says what a click changes to.
const isDark = () => document.documentElement.classList.contains("dark");
function setDark(on) {
    document.documentElement.classList.toggle("dark", on);
    $("dark").textContent = on ? "light" : "dark";
}
document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key === "Escape") { state.q = state.zoom = state.fn = state.node = ""; $("search").blur(); draw(); return; }
    if (["INPUT", "SELECT"].includes(e.target.tagName)) return;
    if (e.key === "/") { $("search").focus(); e.preventDefault(); }
    else if (e.key === "j") { if (list) list.go(list.at + 1); }
    else if (e.key === "k") { if (list) list.go(list.at - 1); }
    else if (e.key === "d") setDark(!isDark());
    else if (tabs()[Number(e.key) - 1]) openTab(tabs()[Number(e.key) - 1][0]);
});
$("search").addEventListener("input", e => { state.q = e.target.value; draw(); });
$("dark").addEventListener("click", () => setDark(!isDark()));
if (data.processes.length > 1) {
    $("process").replaceChildren(...data.processes.map((p, i) => make("option", { value: i }, p.name)));
    $("process").hidden = false;
    $("process").addEventListener("change", e => { state.process = Number(e.target.value); draw(); });
}
setDark(matchMedia("(prefers-color-scheme: dark)").matches);
addEventListener("hashchange", () => { readHash(); draw(); });
let drawnWidth = innerWidth;
addEventListener("resize", () => {
    if (drawnWidth !== innerWidth && ["flame", "charts", "heap"].includes(state.tab)) draw();
    drawnWidth = innerWidth;
});
readHash();
/* What is wrong somewhere is seen first. */
const worst = data.processes.findIndex(p => p.errors.length || p.records.some(isBad));
if (!location.hash && worst > 0) state.process = worst;
draw();
/* The first look at a tree, and the first search, do not wait for these. */
if (window.requestIdleCallback) for (const work of [treeSums, () => callTree("1"), haystack]) requestIdleCallback(work);
