/* ---- tables.js: records and their sums, and the functions with their callers and callees -------- */

/* What sums are made by: each returns the keys of a record, with its bytes and blocks. */
const whole = (record, key) => [[key, bytesOf(record), blocksOf(record)]];
const ofTitle = word => r => whole(r, r.f ? word(titleOf(r)) || "unknown" : "unknown");
const groupings = {
    record: null,
    function: ofTitle(nameOf),
    file: ofTitle(frame => frame.file),
    module: ofTitle(frame => frame.module),
    thread: r => whole(r, r.t.map(id => data.texts[id]).join(", ") || "unknown"),
    owner: r => whole(r, ownerOf(r)),
    kind: r => whole(r, data.texts[r.k]),
    size: r => whole(r, sizeClass(r)),
    verdict: r => whole(r, r.x ? "suppressed" : r.w || data.verdicts[r.v]),
    tag: r => r.tg ? r.tg : whole(r, "no tag"),
};
function sizeClass(record) {
    const least = 2 ** Math.floor(Math.log2(Math.max(record.b / record.n, 1)));
    return number(least) + " to " + count(2 * least - 1, "byte");
}
/* The record that owns it, or the variable that reaches it. */
function ownerOf(record) {
    const owner = record.o && process().records[record.o - 1];
    if (owner) return "a " + data.verdicts[owner.v] + " block" + (owner.f ? " from " + nameOf(titleOf(owner)) : "");
    return record.p ? record.p.split(" -> ")[0].trim() : "none: " + data.words[record.v];
}
function grouped(records, keysOf) {
    const groups = new Map();
    for (const record of records)
        for (const [key, bytes, blocks] of keysOf(record)) {
            let group = groups.get(key);
            if (!group) groups.set(key, group = { key, b: 0, n: 0, list: [] });
            group.b += bytes;
            group.n += blocks;
            group.list.push(record);
        }
    return [...groups.values()].sort((a, b) => b.b - a.b);
}
const numberColumn = (name, words, value, width = "minmax(4em, 6em)") => [name, o => words(value(o)), { number: true, width, value }];
const amountColumns = (bytes, blocks) => data.changes
    ? [numberColumn("bytes", n => signed(n, size), bytes, "minmax(5em, 7em)"), numberColumn("blocks", n => signed(n, number), blocks)]
    : [numberColumn("bytes", size, bytes, "minmax(5em, 7em)"), numberColumn("blocks", number, blocks)];
const sizeColumn = (name, value) => numberColumn(name, size, value, "minmax(5em, 7em)");

function drawRecordTable(area) {
    const title = r => r.f ? titleOf(r) : { name: "unknown" };
    const sizes = data.changes ? [sizeColumn("before", r => r.ob), sizeColumn("now", r => r.b)] : [sizeColumn("releases", r => Math.max(r.rb, r.b))];
    const age = data.changes ? [] : [["age", r => r.a == null ? "" : span(r.a), { number: true, width: "minmax(4em, 6em)", value: r => r.a == null ? -1 : r.a }]];
    return bigTable(area, [...amountColumns(bytesOf, blocksOf), ...sizes,
        [data.changes ? "change" : "verdict", r => make("span", { style: "color:var(--" + sortOf(r) + ")" }, r.x ? "suppressed" : sortOf(r)), { width: "minmax(5em, 7em)", value: r => r.x ? 99 : sortIndex(r) }],
        ["function", r => title(r).name, { mono: true, value: r => title(r).name }],
        ["place", r => placeOf(title(r)), { mono: true, value: r => placeOf(title(r)) }], ...age],
        sorted(fittingRecords(), valueOf, -1), { detail: recordBody });
}
function drawSums(area, keysOf) {
    const records = fittingRecords(), groups = grouped(records, keysOf), total = sum(records, valueOf) || 1;
    const lines = group => addLines(make("div", {}), sorted(group.list, valueOf, -1), r => partOf(r, r.f ? titleOf(r) : null, ""), 0);
    return bigTable(area, [...amountColumns(g => g.b, g => g.n), ["share", g => (100 * Math.abs(state.metric === "blocks" ? g.n : g.b) / total).toFixed(1) + " %", { number: true, width: "minmax(4em, 5em)" }],
        ["records", g => number(g.list.length), { number: true, width: "minmax(4em, 6em)", value: g => g.list.length }],
        [state.group, g => g.key, { mono: true, value: g => g.key }]], groups, { detail: lines });
}

/* ---- Functions: what each allocates itself and with its callees --------------------------------- */

/* By text of the name. Recursion is folded, so a function is on each path once. */
const functionSums = remember(weighedKey, () => {
    const tree = callTree("1"), { own, all } = sumsIn(tree), items = [];
    const allOf = new Float64Array(data.texts.length), ownOf = new Float64Array(data.texts.length), frame = new Int32Array(data.texts.length);
    for (let i = 1; i < all.length; i++) {
        const fn = frames.fn[tree.frame[i]];
        allOf[fn] += all[i];
        ownOf[fn] += own[i];
        if (all[i] > 0) frame[fn] = tree.frame[i];
    }
    for (let fn = 1; fn < allOf.length; fn++) if (allOf[fn] > 0) items.push({ fn, frame: frame[fn], all: allOf[fn], own: ownOf[fn] });
    return { tree, all, total: all[0], items: items.sort((a, b) => b.all - a.all) };
});
/* [callers, callees] of a function: { fn, value }, the largest first. */
function neighbours(fn) {
    const { tree, all } = functionSums(), callers = new Map(), callees = new Map();
    const add = (map, node) => { const key = node ? frames.fn[tree.frame[node]] : 0; return value => map.set(key, (map.get(key) || 0) + value); };
    for (let i = 1; i < all.length; i++) {
        if (frames.fn[tree.frame[i]] !== fn) continue;
        add(callers, tree.up[i])(all[i]);
        for (let child = tree.first[i]; child; child = tree.next[child]) add(callees, child)(all[child]);
    }
    return [callers, callees].map(map => [...map].filter(pair => pair[1] > 0).sort((a, b) => b[1] - a[1]));
}
function drawFunctions(area) {
    const { items, total } = functionSums(), chosen = items.find(item => data.texts[item.fn] === state.fn), q = state.q.toLowerCase();
    const choose = item => { state.fn = data.texts[item.fn]; scrollTo(0, 0); draw(); };
    const share = value => amount(value, state.metric) + "  " + (100 * value / total).toFixed(1) + " %";
    if (chosen) {
        const [callers, callees] = neighbours(chosen.fn);
        const line = ([fn, value]) => make("button", { class: "plain", "data-fn": data.texts[fn] || "", disabled: fn ? null : "", onclick: () => choose({ fn }) },
            make("b", {}, share(value)), " ", fn ? data.texts[fn] : "the start of the thread");
        area.append(make("section", { class: "around" },
            make("div", { id: "callers" }, make("h3", {}, "Callers"), addLines(make("div", {}), callers, line, 0)),
            make("div", { id: "chosen" }, make("h3", {}, data.texts[chosen.fn]), note(placeOf(frameOf(chosen.frame))), codeLine(frameOf(chosen.frame)),
                make("p", {}, make("b", {}, share(chosen.all)), " with what it calls"), make("p", {}, make("b", {}, share(chosen.own)), " allocated itself"),
                make("button", { class: "plain", onclick: () => { state.q = data.texts[chosen.fn]; state.tab = "leaks"; draw(); } }, "its records")),
            make("div", { id: "callees" }, make("h3", {}, "Callees"), addLines(make("div", {}), callees, line, 0))));
    }
    return bigTable(area, [["with callees", item => share(item.all), { number: true, width: "minmax(8em, 12em)", value: item => item.all }],
        ["itself", item => amount(item.own, state.metric), { number: true, width: "minmax(5em, 8em)", value: item => item.own }],
        ["function", item => data.texts[item.fn], { mono: true, value: item => data.texts[item.fn] }],
        ["place", item => placeOf(frameOf(item.frame)), { mono: true, value: item => placeOf(frameOf(item.frame)) }]],
        q ? items.filter(item => data.texts[item.fn].toLowerCase().includes(q)) : items, { open: choose });
}

