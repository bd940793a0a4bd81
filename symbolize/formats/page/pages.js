/* ---- pages.js: what each tab shows ------------------------------------------------------------- */

const table = (heads, rows) => make("table", { class: "plain-table" }, make("thead", {}, make("tr", {}, heads.map(h => make("th", { class: h[1] && "number" }, h[0])))),
    make("tbody", {}, rows.map(row => make("tr", {}, row.map((cell, i) => make("td", { class: heads[i][1] && "number" }, cell))))));
const checkbox = (words, attributes, on, set) =>
    make("label", {}, make("input", { type: "checkbox", checked: on ? "" : false, ...attributes, onchange: e => { set(e.target.checked); draw(); } }), words);
const choice = (words, id, options, now, set) =>
    make("label", {}, words + " ", make("select", { id, onchange: e => { set(e.target.value); draw(); } },
        options.map(option => make("option", { value: option, selected: option === now ? "" : false }, option))));

function choices() {
    const bar = make("div", { class: "bar" });
    for (const verdict of [...sorts, "suppressed"].filter(v => facts().verdicts.has(v)))
        bar.append(checkbox(verdict, { "data-verdict": verdict }, state.show[verdict], on => state.show[verdict] = on));
    bar.append(choice("by", "metric", data.changes ? ["bytes", "blocks"] : ["bytes", "blocks", "retained"], state.metric, metric => state.metric = metric), ...timeChoice());
    return bar;
}
/* What to say of an empty list. */
function whyEmpty() {
    const others = sorts.filter(word => facts().verdicts.has(word) && !state.show[word]);
    if (!process().records.length) return data.changes ? "Nothing changed." : "No records.";
    if (state.q || state.time || facts().leaks || !others.length) return "No record matches the selected verdicts and the search.";
    return (data.changes ? "Nothing new or grown. " : "No leaks. ") + "Tick “" + others.join("” or “") + "” above to list the " + count(process().records.length, "other record") + ".";
}
/* The chosen time, which a click gives up. */
function timeChoice() {
    const window = timeWindow();
    return window ? [make("button", { class: "plain", id: "time", title: "show all times", onclick: () => { state.time = ""; draw(); } }, "allocated " + span(window[0]) + " to " + span(window[1]) + " after the start  ×")] : [];
}
/* A card that is always open: an error, or a resource. */
const card = (verdict, title, words, body) => make("section", { class: "entry " + verdict },
    make("div", { class: "body" }, make("p", {}, make("b", {}, title), "  " + words), body));

const pages = {
    leaks(area) {
        const lists = listed(), bar = choices();
        if (facts().grouped) bar.append(checkbox("ungroup", { "data-apart": "" }, state.apart, on => state.apart = on));
        bar.append(make("span", { class: "space" }), make("span", { class: "count", id: "count" }, count(lists.length, "entry", "entries")));
        area.append(bar);
        for (const [verdict, records, bytes, blocks] of process().other)
            if (state.show[verdict] && !state.q) area.append(note("In other records, not in this page: " + size(bytes) + " in " + count(blocks, "block") + ", " + count(records, "record") + ", " + verdict + "."));
        if (!lists.length) area.append(make("p", { class: "empty" }, whyEmpty()));
        return entryList(area, lists, !state.q);
    },
    growing(area) {
        area.append(note("Allocation sites that grew while the program ran, freed later or not."));
        area.append(make("div", { class: "bar" }, timeChoice()));
        return entryList(area, facts().growing.filter(r => isOfTime(r, timeWindow())).map(r => [r]), true);
    },
    flame(area) {
        const bar = treeChoices();
        bar.append(checkbox("root below", { id: "flip" }, state.flip, on => state.flip = on ? "1" : ""));
        area.append(bar);
        drawFlame(area);
    },
    tree(area) { area.append(treeChoices()); drawTree(area); },
    table(area) {
        const bar = choices();
        bar.append(choice("rows", "group", Object.keys(groupings), state.group, group => { state.group = group; state.sort = ""; }));
        area.append(bar);
        return state.group === "record" ? drawRecordTable(area) : drawSums(area, groupings[state.group]);
    },
    functions(area) { area.append(treeChoices(false)); return drawFunctions(area); },
    heap(area) { return drawGraph(area); },
    owners(area) {
        area.append(note("Roots that keep the reachable blocks alive."));
        return bigTable(area, [["bytes", o => size(o.b), { number: true, width: "6em" }], ["blocks", o => number(o.n), { number: true, width: "6em" }],
                               ["owner", o => o.root], ["largest block and its path", o => o.path || ""]], process().owners);
    },
    errors(area) {
        const errors = process().errors;
        return new List(area, errors.length, 200, i => card("lost", errors[i].type, errors[i].words + (errors[i].count > 1 ? ", " + count(errors[i].count, "time") : ""),
            errors[i].stacks.map(([words, ids, user]) => [note(words), stack(ids, user)])), 10);
    },
    resources(area) {
        const resources = process().resources;
        return new List(area, resources.length, 160, i => card("possible", resources[i].type,
            count(resources[i].count, "time") + (resources[i].names.length ? ": " + resources[i].names.join(", ") : ""), stack(resources[i].f, resources[i].u)), 10);
    },
    charts(area) { area.append(choices()); drawHeap(area); drawCharts(area); },
    about(area) {
        area.append(table([["property"], ["value"]], process().facts), make("h3", {}, "Keys"), make("p", { class: "keys" }, ...[["/", "search"], ["j", "next"], ["k", "previous"], ["Enter", "open"], ["Esc", "clear, zoom out"], ["1-9", "pages"], ["d", "dark or light"]].flatMap(([key, what]) => [make("kbd", {}, key), " " + what + "   "])));
    },
};
/* A page of leakgraph has the graph alone. */
const onlyGraph = $("graph") && !data.shown.length;
const tabs = () => onlyGraph ? [["heap", "Heap"], ["about", "About"]] : [["leaks", data.changes ? "Changes" : "Leaks"], facts().growing.length && ["growing", "Growing " + facts().growing.length], ["flame", "Flame"], ["tree", "Call tree"], ["table", "Table"], !data.changes && ["functions", "Functions"],
    $("graph") && ["heap", "Heap"], process().owners.length && ["owners", "Owners"], process().errors.length && ["errors", "Errors " + process().errors.length],
    process().resources.length && ["resources", "Resources " + process().resources.length], !data.changes && ["charts", "Charts"], ["about", "About"]].filter(Boolean);
const firstTab = () => onlyGraph ? "heap" : !facts().leaks && facts().growing.length ? "growing" : "leaks";

