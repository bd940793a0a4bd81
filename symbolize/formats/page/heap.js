/* ---- heap.js: the graph of the heap: who holds it as a map, and the pointers of its largest blocks - */

/* The graph is parsed when it is shown for the first time. graph/verbs/verbs_html.c describes it. */
const heap = remember(() => "", () => {
    const graph = JSON.parse($("graph").textContent), below = new Map(), index = new Map();
    $("graph").textContent = "";
    for (let i = 0; i < graph.address.length; i++) index.set(graph.address[i], i);
    for (let i = 0; i < graph.explored; i++) {
        const above = graph.up[i] - 1;
        if (!below.has(above)) below.set(above, []);
        below.get(above).push(i); /* the largest first, as they come */
    }
    return { ...graph, below, index };
});
const NOTHING = -1; /* the block above all others */

const heapName = i => heap().texts[heap().type[i]] || heap().texts[heap().site[i]];
const hex = address => "0x" + address.toString(16);
const heapChosen = () => {
    const i = heap().index.get(Number(state.node));
    return i === undefined ? NOTHING : i;
};
function chooseBlock(i) {
    state.node = i === NOTHING ? "" : hex(heap().address[i]);
    draw();
    document.querySelector("#map button")?.focus({ preventScroll: true });
}
/* What holds a block, from the outermost on, itself included. */
function holdersOf(i) {
    const holders = [];
    for (; i !== NOTHING; i = i < heap().explored ? heap().up[i] - 1 : NOTHING) holders.unshift(i);
    return holders;
}

/* ---- The map ----------------------------------------------------------------------------------- */

/* What a block retains, in parts: itself, the blocks that it alone holds, and the rest of these, which are too
 * small for the page. */
function partsOf(i) {
    const graph = heap(), parts = (graph.below.get(i) || []).map(block => ({ block, value: graph.retained[block] }));
    const all = i === NOTHING ? graph.bytes : graph.retained[i], blocks = i === NOTHING ? graph.blocks : graph.held[i];
    let rest = all, left = blocks;
    for (const part of parts) { rest -= part.value; left -= graph.held[part.block]; }
    if (i !== NOTHING) {
        parts.push({ words: "itself", value: graph.size[i] });
        rest -= graph.size[i];
        left--;
    }
    if (rest > 0) parts.push({ words: count(left, "smaller block"), value: rest });
    return parts.filter(part => part.value > 0).sort((a, b) => b.value - a.value);
}
/* Rectangles as square as possible, of areas in proportion: rows along the shorter side. */
function squarify(parts, x, y, width, height) {
    const total = sum(parts, part => part.value), scale = width * height / (total || 1), made = [];
    const worst = (row, area, side) => {
        const across = area / side, ends = [row[0].value, row[row.length - 1].value].map(value => value * scale / across);
        return Math.max(...ends.map(along => Math.max(along / across, across / along)));
    };
    for (let at = 0; at < parts.length;) {
        const side = Math.min(width, height), row = [parts[at]];
        let area = parts[at].value * scale;
        if (side < 1) break;
        for (let next = at + 1; next < parts.length; next++) {
            const more = parts[next].value * scale;
            if (worst([...row, parts[next]], area + more, side) > worst(row, area, side)) break;
            row.push(parts[next]);
            area += more;
        }
        const across = area / side;
        let along = 0;
        for (const part of row) {
            const length = part.value * scale / across;
            made.push(width >= height ? [part, x, y + along, across, length] : [part, x + along, y, length, across]);
            along += length;
        }
        if (width >= height) { x += across; width -= across; }
        else { y += across; height -= across; }
        at += row.length;
    }
    return made;
}
/* One colour for each type or site. */
function tint(text) {
    let hash = 7;
    for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)) | 0;
    return `hsl(${Math.abs(hash) % 360} ${45 + Math.abs(hash >> 9) % 20}% ${74 + Math.abs(hash >> 15) % 8}%)`;
}
const TITLE = 20, RECTANGLES_MOST = 1500; /* TITLE: the height of a name above what its block holds */

function drawMap(area, root) {
    const graph = heap(), width = Math.max(area.clientWidth, 240), height = Math.round(Math.min(Math.max(innerHeight * .45, 260), 520));
    const map = make("div", { id: "map", role: "group", "aria-label": "what is held, by size", style: `height:${height}px` });
    const all = root === NOTHING ? graph.bytes : graph.retained[root];
    const rectangle = (part, x, y, w, h) => {
        const { block } = part, known = block !== undefined, name = known ? heapName(block) : part.words;
        const title = name + "\n" + size(part.value) + ", " + (100 * part.value / all).toFixed(1) + " %" +
            (known ? "\n" + hex(graph.address[block]) + ", " + graph.texts[graph.verdict[block]] + "\nfrom " + graph.texts[graph.site[block]] : "");
        const place = `left:${x}px;top:${y}px;width:${w}px;height:${h}px;`, label = w > 40 && h > 14 ? [make("b", {}, name), " " + size(part.value)] : [];
        return known ? make("button", { class: graph.texts[graph.verdict[block]], "data-block": block, title, "aria-label": title, tabindex: map.querySelector("button") ? -1 : 0,
            style: place + "background:" + tint(name), onclick: () => chooseBlock(block) }, label) : make("div", { class: "rest", title, style: place }, label);
    };
    /* Level by level, so that what is left out is deep, and small. */
    let level = squarify(partsOf(root), 0, 0, width, height);
    for (let drawn = 0; level.length && drawn < RECTANGLES_MOST;) {
        const below = [];
        for (const [part, x, y, w, h] of level.filter(at => at[3] > 2 && at[4] > 2)) {
            map.append(rectangle(part, x, y, w, h));
            if (++drawn === RECTANGLES_MOST) break;
            if (w > 60 && h > 2 * TITLE && (graph.below.get(part.block) || []).length)
                below.push(...squarify(partsOf(part.block), x + 3, y + TITLE, w - 6, h - TITLE - 3));
        }
        level = below;
    }
    map.addEventListener("keydown", e => moveOnMap(map, e));
    area.append(map);
}
/* The arrows go to the nearest rectangle in that direction, Backspace to what holds this block. */
function moveOnMap(map, e) {
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }, direction = directions[e.key];
    if (e.key === "Backspace" && heapChosen() !== NOTHING) chooseBlock(heap().up[heapChosen()] - 1);
    if (!direction || !document.activeElement || document.activeElement.parentNode !== map) return;
    const middle = element => [element.offsetLeft + element.offsetWidth / 2, element.offsetTop + element.offsetHeight / 2];
    const [x, y] = middle(document.activeElement);
    let best = null, least = Infinity;
    for (const button of map.querySelectorAll("button")) {
        const [dx, dy] = middle(button).map((at, i) => at - [x, y][i]);
        const ahead = dx * direction[0] + dy * direction[1], beside = Math.abs(dx * direction[1]) + Math.abs(dy * direction[0]);
        if (ahead > 1 && ahead + 2 * beside < least) [best, least] = [button, ahead + 2 * beside];
    }
    if (best) {
        document.activeElement.tabIndex = -1;
        best.tabIndex = 0;
        best.focus();
    }
    e.preventDefault();
}

/* ---- The pointers of a block -------------------------------------------------------------------- */

function pointerList(flat, all) { /* [block, text of the word, ...] */
    const graph = heap(), lines = [];
    for (let i = 0; i < flat.length; i += 2) {
        const [block, word] = [flat[i], graph.texts[flat[i + 1]]], known = block < graph.explored;
        lines.push(make("button", { class: "plain", "data-block": block, disabled: known ? null : "", title: known ? "" : "not among the largest blocks, of which the page has the pointers", onclick: () => chooseBlock(block) },
            word ? [make("b", {}, word), " "] : [], heapName(block), make("span", { class: "by" }, " " + size(graph.retained[block]) + "  " + hex(graph.address[block]))));
    }
    const left = all - flat.length / 2;
    return [...lines, left > 0 ? note(count(left, "more pointer") + ": leakgraph lists them.") : null];
}
function drawBlock(area, i) {
    const graph = heap(), command = words => make("p", { class: "code" }, "leakgraph FILE " + words + " " + hex(graph.address[i]));
    const roots = graph.roots[i].map(text => make("p", { class: "root" }, "root: " + graph.texts[text]));
    area.append(make("section", { class: "around" },
        make("div", { id: "held-by" }, make("h3", {}, "Who points to it"), roots, pointerList(graph.in[i], graph.in_all[i])),
        make("div", { id: "chosen" }, make("h3", {}, heapName(i)), note("from " + graph.texts[graph.site[i]]),
            make("p", {}, make("b", {}, size(graph.retained[i])), " go with it, in " + count(graph.held[i], "block")),
            make("p", {}, make("b", {}, size(graph.size[i])), " itself, " + graph.texts[graph.verdict[i]] + ", at " + hex(graph.address[i])),
            command("path"), command("refs")),
        make("div", { id: "holds" }, make("h3", {}, "What it points to"), pointerList(graph.out[i], graph.out_all[i]))));
}
function drawBlocks(area, root) {
    const graph = heap(), q = state.q.toLowerCase();
    const inside = i => root === NOTHING || holdersOf(i).includes(root);
    const blocks = Array.from({ length: graph.explored }, (_, i) => i).filter(i => (!q || (heapName(i) + " " + graph.texts[graph.site[i]]).toLowerCase().includes(q)) && inside(i));
    area.append(make("h3", {}, "The largest blocks" + (root === NOTHING ? "" : " of these")));
    return bigTable(area, [sizeColumn("retained", i => graph.retained[i]), sizeColumn("size", i => graph.size[i]), numberColumn("blocks", number, i => graph.held[i]),
        ["type", i => heapName(i), { mono: true, value: heapName }], ["from", i => graph.texts[graph.site[i]], { mono: true, value: i => graph.texts[graph.site[i]] }],
        ["verdict", i => graph.texts[graph.verdict[i]], { width: "minmax(5em, 7em)", value: i => graph.texts[graph.verdict[i]] }]], blocks, { open: chooseBlock });
}
const CRUMBS_MOST = 8;

function drawGraph(area) {
    const chosen = heapChosen(), graph = heap();
    const crumb = (i, words) => make("button", { class: "plain", "aria-current": i === chosen ? "true" : null, onclick: () => chooseBlock(i) }, words);
    const holders = holdersOf(chosen), left = holders.length - CRUMBS_MOST; /* the nodes of a list hold each other */
    const crumbs = holders.map(i => ["›", crumb(i, heapName(i) + " " + size(graph.retained[i]))]);
    if (left > 0) crumbs.splice(CRUMBS_MOST / 2, left, "› … " + number(left) + " more …");
    area.append(make("div", { class: "bar", id: "crumbs" }, crumb(NOTHING, "all " + size(graph.bytes)), crumbs));
    if (chosen < graph.explored) drawMap(area, chosen);
    if (chosen !== NOTHING && chosen < graph.explored) drawBlock(area, chosen);
    return drawBlocks(area, chosen);
}
