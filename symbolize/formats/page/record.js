/* ---- record.js: stacks with their source, and the card of a record ----------------------------- */

function whyNoSource(frame) {
    return frame.file ? "Source file not found (--source-path, --substitute-path)."
                      : "No line is known" + (frame.module ? " in " + frame.module : "") + ": build with -g, or install debug information.";
}
function showSource(id, row) {
    const frame = frameOf(id), lines = data.source[id], panel = $("source");
    document.querySelectorAll("tr.shown").forEach(other => other.classList.remove("shown"));
    row.classList.add("shown");
    panel.replaceChildren(
        make("button", { class: "plain close", "aria-label": "close the source", onclick: () => { hideSource(); List.placeAll(); } }, "×"),
        make("h2", {}, nameOf(frame)), make("p", { class: "note" }, placeOf(frame)),
        lines ? make("pre", {}, lines[1].map((text, i) => make("div",
            { class: lines[0] + i === frame.line && "here" }, make("span", {}, String(lines[0] + i)), text)))
              : make("p", { class: "note" }, whyNoSource(frame)));
    panel.hidden = false;
    document.querySelector("main").classList.add("split");
    List.placeAll();
}
function hideSource() {
    $("source").hidden = true;
    document.querySelector("main").classList.remove("split");
}
function stack(top, user) {
    const rows = stackFrames(top).map((id, i) => {
        const frame = frameOf(id);
        const row = make("tr", { class: (data.source[id] ? "source " : "") + (frame.file ? "placed " : "") + (i === user ? "user" : "") + (frame.role ? " dim" : ""), tabindex: 0 },
            make("td", {}, nameOf(frame) + (frame.inlined ? " (inlined)" : "")), make("td", {}, placeOf(frame)));
        const open = () => showSource(id, row);
        row.addEventListener("click", open);
        row.addEventListener("keydown", e => { if (e.key === "Enter") { open(); e.stopPropagation(); } });
        return row;
    });
    return make("table", { class: "stack" }, make("tbody", {}, rows));
}

function ages(record) {
    if (record.a == null) return "";
    const [from, to] = [span(record.a), span(record.z)];
    return (from === to ? from : from + " to " + to) + (process().running ? " ago" : " before the end");
}
function freedAt(freed) { // [place, share, other path, common function, what it calls]
    const at = frameOf(freed.length > 3 ? freed[3] : freed[0]);
    return (freed.length > 4 ? nameOf(frameOf(freed[4])) + ", called by " : "") + nameOf(at) + atPlace(at);
}
function heldBy(record) { // the records that it owns
    const records = process().records, at = records.indexOf(record) + 1;
    const held = at ? records.filter(other => other.o === at) : [];
    return held.length ? make("ul", {}, held.slice(0, 20).map(h => make("li", {}, "holds " + count(h.n, "block") + ", " + size(h.b) + " from " + (titleOf(h) ? nameOf(titleOf(h)) : "?")))) : null;
}
function recordBody(record) {
    const body = [];
    for (const [name, layout, blocks, each] of record.ty || [])
        body.push(note(blocks.toLocaleString("en") + " × " + name + layout + (each ? ", " + size(each) : "")));
    if (record.g) body.push(note(sentence(record.g)));
    if (record.c) body.push(note("Reference cycle."));
    if (record.lb) body.push(note(record.lb[0].toUpperCase() + record.lb.slice(1)));
    if (record.i) body.push(note(record.i[0].toUpperCase() + record.i.slice(1)));
    if (record.p) body.push(note("Reached by " + record.p));
    for (const [id, bytes, blocks] of record.l || [])
        body.push(note(size(bytes) + " in " + count(blocks, "block") + (record.lc ? " called by " + callOf(frameOf(id)) : "") + atPlace(frameOf(id))));
    for (const [name, bytes, blocks] of record.tg || [])
        body.push(note("Under the tag " + name + (blocks === record.n && bytes === record.b ? "." : ": " + size(bytes) + " in " + count(blocks, "block") + ".")));
    if (record.w) body.push(note((record.w[2] ? "Never freed when allocated here; other blocks from this line are freed in " : "Others are freed in ") +
                                 freedAt(record.w) +
                                 (record.w[1] ? " (" + Math.round(record.w[1] * 100) + " %)" : "") + "."));
    if (record.wb != null) body.push(note("Other allocations of the same function are freed in " + nameOf(frameOf(record.wb)) + atPlace(frameOf(record.wb)) + "."));
    if (record.h) body.push(note("It was owned by a block" + (record.h.length > 1 ? " from " + callOf(frameOf(record.h[1])) + ", which" : " that") + " was freed in " +
                                 nameOf(frameOf(record.h[0])) + atPlace(frameOf(record.h[0])) + "."));
    if (record.he != null) body.push(note("Before, by a block that was freed in " + nameOf(frameOf(record.he)) + atPlace(frameOf(record.he)) + "."));
    for (const [id, of] of record.cp || [])
        body.push(note("By its name, " + nameOf(frameOf(id)) + atPlace(frameOf(id)) + " undoes " + nameOf(frameOf(of)) + "."));
    for (const [id, caller, of] of record.ho || [])
        body.push(note(nameOf(frameOf(caller)) + " passes the result of " + nameOf(frameOf(of)) + " to " + nameOf(frameOf(id)) + atPlace(frameOf(id)) + "."));
    if (record.x) body.push(note("Suppressed by " + record.x));
    body.push(heldBy(record));
    if (data.changes) return [note("Signature " + record.s), stack(record.f, record.u)];
    body.push(note("Allocated (" + data.texts[record.k] + ") " + ages(record) + (record.t.length ? " by " + record.t.map(id => data.texts[id]).join(", ") : "") + ". Signature " + record.s));
    return body.concat(stack(record.f, record.u));
}
function callerOf(record) { // the next function of the program outside of the title, with source if that has none
    const callers = stackFrames(record.f).slice(record.u + 1).filter(id => !(frames.kind[id] & ROLES));
    const readable = data.source[titleId(record)] ? null : callers.find(id => data.source[id]);
    return readable != null ? frameOf(readable) : callers.length ? frameOf(callers[0]) : null;
}
function codeLine(frame) {
    const source = data.source[frame.id];
    return source ? make("span", { class: "where code" }, source[1][frame.line - source[0]].trim()) : null;
}
function releases(list) { // what fixing it releases, beyond itself
    const [blocks, bytes] = [sum(list, r => r.rn), sum(list, r => r.rb)];
    if (blocks <= sum(list, r => r.n)) return null;
    const what = size(bytes) + " in " + count(blocks, "block");
    return make("span", { class: "where by" }, list[0].v === 0 ? "fixing this leak releases " + what : "keeps " + what + " alive");
}
/* What happened to a record between two reports. */
function changeHead(record) {
    const words = record.w || data.words[record.v], unit = record.unit || "block";
    const now = (bytes, blocks) => record.w ? count(blocks, unit) : size(bytes) + " in " + count(blocks, unit);
    return [make("span", { class: "amount" }, record.w ? signed(blocksOf(record), n => count(n, unit)) : signed(bytesOf(record), size)), " ",
        make("span", { class: "verdict", style: "color:var(--" + sortOf(record) + ")" }, sortOf(record)), "  ",
        record.n ? now(record.b, record.n) + " " + words : "was " + now(record.ob, record.on) + " " + words,
        record.n && record.on ? make("span", { class: "by" }, ", before " + now(record.ob, record.on)) : null];
}
function amountHead(list, verdict) {
    const first = list[0];
    return [make("span", { class: "amount" }, first.n ? size(sum(list, r => r.b)) + " in " + count(sum(list, r => r.n), "block") : "up to " + size(first.gp)), " ",
        make("span", { class: "verdict", style: "color:var(--" + verdict + ")" }, first.n ? data.words[first.v] : "nothing of it is left"),
        list.length > 1 ? " in " + count(list.length, "place") : null];
}
function entryHead(list) {
    const first = list[0], title = titleOf(first), verdict = data.verdicts[first.v], caller = title && callerOf(first);
    return make("button", { "aria-expanded": "false" },
        data.changes ? changeHead(first) : amountHead(list, verdict),
        make("span", { class: "where" }, title ? nameOf(title) + "  " : "an unknown place ", make("span", { class: "by" }, title ? placeOf(title) : "")),
        title ? codeLine(title) : null,
        caller ? make("span", { class: "where by" }, "called by " + nameOf(caller) + "  " + placeOf(caller)) : null,
        caller && !data.source[title.id] ? codeLine(caller) : null,
        list.filter(r => r.g).map(r => make("span", { class: "where grows" }, r.g)),
        releases(list));
}
/* ---- Lists of cards ---------------------------------------------------------------------------- */

const PARTS = 20; /* lines of an open card, and how many more on request */
const beside = () => innerWidth > 1000; /* is there room for source beside the list? */

/* A record as a line that opens: one place of several with the same cause, or one record of a sum. */
function partOf(record, frame, before) {
    const head = make("button", { "aria-expanded": "false" }, make("span", { class: "amount" }, data.changes ? signed(bytesOf(record), size) : size(record.b) + " in " + count(record.n, "block")),
        "  " + (frame ? before + nameOf(frame) + "  " : ""), make("span", { class: "by" }, frame ? placeOf(frame) : ""));
    const node = make("div", { class: "part" }, head);
    head.addEventListener("click", () => {
        const open = head.getAttribute("aria-expanded") !== "true";
        head.setAttribute("aria-expanded", String(open));
        if (open) node.append(make("div", { class: "body" }, recordBody(record)));
        else node.lastChild.remove();
        List.placeAll();
    });
    return node;
}
/* Adds lines for the items from an index on, more of them on request. */
function addLines(box, items, lineOf, from) {
    const end = Math.min(from + PARTS, items.length);
    box.append(...items.slice(from, end).map(lineOf));
    if (end < items.length)
        box.append(make("button", { class: "plain more", onclick: e => { e.target.remove(); addLines(box, items, lineOf, end); List.placeAll(); } },
            "show more (" + number(items.length - end) + " left)"));
    return box;
}
/* The largest place with everything, the others as lines. */
const cardBody = list => addLines(make("div", { class: "body" }, recordBody(list[0])), list, r => partOf(r, callerOf(r) || titleOf(r), "called by "), 1);
/* Each card is a list of records with the same cause. */
function entryList(area, lists, openFirst) {
    const open = new Map(); /* row -> the body of its card */
    const unfold = (head, node, row) => {
        if (!open.get(row)) open.set(row, cardBody(lists[row]));
        head.setAttribute("aria-expanded", "true");
        node.append(open.get(row));
    };
    const showFirst = node => {
        const row = node.querySelector("tr.user.source, tr.user ~ tr.source") || node.querySelector("tr.user.placed");
        if (row && beside()) row.click();
        else if (!row) hideSource();
    };
    let cards = null;
    if (openFirst && lists.length) open.set(0, null);
    cards = new List(area, lists.length, 106, row => {
        const head = entryHead(lists[row]), node = make("section", { class: "entry " + sortOf(lists[row][0]) }, head);
        if (open.has(row)) unfold(head, node, row);
        if (cards && cards.at === row) node.classList.add("at");
        head.addEventListener("click", () => {
            if (open.delete(row)) {
                head.setAttribute("aria-expanded", "false");
                node.lastChild.remove();
            } else {
                unfold(head, node, row);
                showFirst(node);
            }
            List.placeAll();
        });
        return node;
    }, 10);
    if (openFirst && lists.length) showFirst(area.querySelector(".entry"));
    return cards;
}

