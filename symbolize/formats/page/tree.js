/* ---- tree.js: call trees, from main to the allocation or the other way round ------------------- */

/* What is weighed: what leaked, all that was ever allocated, what lived when the heap was largest,
 * or what lived for a few allocations only; each where the recording has it. */
const weighings = () => ["leaked", process().allocated.length && "allocated", process().at_peak.length && "peak",
    process().temporary.length && "temporary"].filter(Boolean);
const allocations = remember(() => state.process, () => sumsOf(process().allocated));
const atPeak = remember(() => state.process, () => sumsOf(process().at_peak));
const briefly = remember(() => state.process, () => sumsOf(process().temporary));
function weighed() { /* records, or what has stacks and sums like them */
    if (state.weight === "leaked") return fittingRecords();
    const hit = matchingStacks();
    return { peak: atPeak, allocated: allocations, temporary: briefly }[state.weight]().filter(sum => !state.q || hit[sum.f]);
}
const weighedKey = () => selectionKey() + state.metric + state.weight;

/* The stacks as one tree, in which equal functions with equal callers are one node; with "fold", a
 * function that calls itself again is one node, too. Runtime frames around main say nothing and are
 * left out. Node 0 is the root, up < node for all others; to: the node of each stack. */
const callTrees = {}; /* by "fold" */
const callTree = (fold = state.fold) => callTrees[fold] ??= buildTree(fold);

/* The functions that occur twice on a path: 1 for the text of each name; null = there is none. */
function recursiveNames(tree) {
    const onPath = new Int32Array(data.texts.length), found = new Uint8Array(data.texts.length);
    let any = null;
    for (let at = tree.first[0]; at;) {
        const fn = frames.fn[tree.frame[at]];
        if (onPath[fn]) found[fn] = any = 1;
        onPath[fn]++;
        if (tree.first[at]) { at = tree.first[at]; continue; }
        while (at && !tree.next[at]) { leave(at); at = tree.up[at]; }
        if (at) { leave(at); at = tree.next[at]; }
    }
    function leave(node) { onPath[frames.fn[tree.frame[node]]]--; }
    return any && found;
}
function buildTree(fold) {
    const recursive = fold && recursiveNames(callTree(""));
    if (fold && !recursive) return callTree("");
    const total = stacks.up.length, to = new Int32Array(total), up = new Int32Array(total), frame = new Int32Array(total);
    let size = 1, nodes = 1;
    while (size < 2 * total) size *= 2;
    const table = new Int32Array(size); /* a hash table of nodes by parent and function */
    for (let i = 1; i < total; i++) {
        const id = stacks.frame[i], parent = to[stacks.up[i]];
        if (!parent && (frames.kind[id] & ROLES) === RUNTIME) continue;
        let again = recursive && recursive[frames.fn[id]] ? parent : 0;
        while (again && frames.fn[frame[again]] !== frames.fn[id]) again = up[again];
        if (again) {
            to[i] = again;
            continue;
        }
        let slot = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(frames.fn[id], 0x85ebca6b)) >>> 0 & size - 1;
        while (table[slot] && (up[table[slot]] !== parent || frames.fn[frame[table[slot]]] !== frames.fn[id])) slot = slot + 1 & size - 1;
        if (!table[slot]) {
            up[nodes] = parent;
            frame[nodes] = id;
            table[slot] = nodes++;
        }
        to[i] = table[slot];
    }
    return { to, up: up.slice(0, nodes), frame: frame.slice(0, nodes), ...siblings(up, nodes) };
}
/* The first child of each node, and the next child of the same parent; 0 = none. */
function siblings(up, nodes) {
    const first = new Int32Array(nodes), next = new Int32Array(nodes);
    for (let i = nodes - 1; i > 0; i--) {
        next[i] = first[up[i]];
        first[up[i]] = i;
    }
    return { first, next };
}
/* What each node allocated itself, and with all that it called. */
const treeSums = remember(() => weighedKey() + state.fold, () => sumsIn(callTree()));
/* Each also as "net": in a comparison less is below 0, and what became more and less adds up. */
function sumsIn(tree) {
    const own = new Float64Array(tree.up.length);
    const ownNet = data.changes ? new Float64Array(tree.up.length) : own;
    for (const record of weighed()) {
        own[tree.to[record.f]] += valueOf(record);
        if (data.changes) ownNet[tree.to[record.f]] += netOf(record);
    }
    const withCallees = sums => {
        const all = sums.slice();
        for (let i = all.length - 1; i > 0; i--) all[tree.up[i]] += all[i];
        return all;
    };
    const all = withCallees(own);
    return { own, all, ownNet, allNet: data.changes ? withCallees(ownNet) : all };
}

/* A function of a drawn tree. Its children are made when they are asked for. */
class Call {
    constructor(up, frame, value, net) {
        Object.assign(this, { up, frame, value, net, depth: up ? up.depth + 1 : 0, kids: null });
        this.name = frame < 0 ? "all" : data.texts[frames.fn[frame]];
    }
    children() {
        if (!this.kids) this.kids = this.expand().filter(call => call.value > 0).sort((a, b) => b.value - a.value);
        return this.kids;
    }
    path() { return this.up ? [...this.up.path(), this.name] : []; }
}
/* From main on: a node of the tree. */
class Callee extends Call {
    constructor(up, node) {
        super(up, node ? callTree().frame[node] : -1, treeSums().all[node], treeSums().allNet[node]);
        this.node = node;
    }
    expand() {
        const tree = callTree(), calls = [];
        for (let child = tree.first[this.node]; child; child = tree.next[child]) calls.push(new Callee(this, child));
        return calls;
    }
}
/* From the allocation outwards: the nodes that the callers continue from, each with what it counts. */
class Caller extends Call {
    constructor(up, frame, value, net, nodes, values, nets) {
        super(up, frame, value, net);
        Object.assign(this, { nodes, values, nets });
    }
    expand() {
        const tree = callTree(), calls = new Map();
        for (let i = 0; i < this.nodes.length; i++) {
            const node = this.nodes[i], id = tree.frame[node];
            if (!node) continue;
            let call = calls.get(frames.fn[id]);
            if (!call) calls.set(frames.fn[id], call = new Caller(this, id, 0, 0, [], [], []));
            call.value += this.values[i];
            call.net += this.nets[i];
            call.nets.push(this.nets[i]);
            call.nodes.push(tree.up[node]);
            call.values.push(this.values[i]);
        }
        return [...calls.values()];
    }
}
function callersOfAllocations() {
    const { own, all, ownNet, allNet } = treeSums(), nodes = [], values = [], nets = [];
    for (let i = 1; i < own.length; i++) if (own[i] > 0) { nodes.push(i); values.push(own[i]); nets.push(ownNet[i]); }
    return new Caller(null, -1, all[0], allNet[0], nodes, values, nets);
}
const treeRoot = remember(() => weighedKey() + state.fold + state.from, () => state.from === "main" ? new Callee(null, 0) : callersOfAllocations());

/* What the icicle graph and the call tree are drawn by. */
function treeChoices(shape = true) {
    const bar = state.weight === "leaked" ? choices() : make("div", { class: "bar" }, choice("by", "metric", ["bytes", "blocks"], state.metric, metric => state.metric = metric));
    const anew = set => value => { set(value); state.zoom = ""; };
    if (weighings().length > 1)
        bar.prepend(choice("what", "weight", weighings(), state.weight, anew(weight => {
            state.weight = weight;
            if (weight !== "leaked" && state.metric === "retained") state.metric = "bytes";
        })));
    if (state.weight !== "leaked" && timeWindow()) bar.append(make("span", {}, "(of all times)"));
    if (shape) bar.append(choice("from", "from", ["main", "allocation"], state.from, anew(from => state.from = from)),
        checkbox("merge recursion", { id: "fold" }, state.fold, anew(on => state.fold = on ? "1" : "")));
    return bar;
}

/* ---- The icicle graph ------------------------------------------------------------------------- */

const ROW = 20, DRAWN_MOST = 2000;

function hue(text) {
    let hash = 0;
    for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)) | 0;
    return "hsl(" + (20 + Math.abs(hash) % 45) + " 85% " + (62 + Math.abs(hash >> 6) % 12) + "%)";
}
/* Of a comparison: red is more, green is less, and what is both is pale. */
const balance = call => call.net >= 0 ? `hsl(4 ${80 * call.net / call.value}% 72%)` : `hsl(140 ${-45 * call.net / call.value}% 66%)`;
const paint = call => data.changes ? balance(call) : hue(call.name);
const measure = call => data.changes ? signed(call.net, n => amount(n, state.metric)) : amount(call.value, state.metric);

function drawFlame(area) {
    const root = treeRoot(), width = Math.max(area.clientWidth, 300), q = state.q.toLowerCase();
    let at = root, deepest = 0;
    for (const name of state.zoom ? JSON.parse(state.zoom) : []) at = at.children().find(call => call.name === name) || at;
    const flame = make("div", { id: "flame" }), edge = state.flip ? "bottom" : "top";
    area.append(note((at === root ? "All: " : at.name + ": ") + measure(at) +
        (at === root ? (data.changes ? ". Red is more than before, green is less" : "") + ". Click on a function to zoom in." : ", " + (100 * at.value / root.value).toFixed(1) + " %, " + placeOf(frameOf(at.frame)) + ". Click on its bar, or press Esc, to zoom out.")));
    /* Level by level, so that what is left out is deep, and small. */
    for (let level = [[at, 0, width]], depth = 0, drawn = 0; level.length; depth++) {
        const below = [];
        for (const [call, left, w] of level) {
            if (drawn++ >= DRAWN_MOST) break;
            deepest = depth;
            flame.append(make("div", { class: q && call.name.toLowerCase().includes(q) && "hit", "data-name": call.name,
                title: call.name + "\n" + measure(call) + " (" + (100 * call.value / root.value).toFixed(1) + " %)" + (call.frame < 0 ? "" : "\n" + placeOf(frameOf(call.frame))),
                style: `left:${left}px;width:${w}px;${edge}:${depth * ROW}px;background:${paint(call)}`,
                onclick: () => { state.zoom = call === root || call === at && !call.up ? "" : JSON.stringify((call === at ? call.up : call).path()); draw(); } }, w > 30 ? call.name + (data.changes ? "  " + measure(call) : "") : ""));
            let x = left;
            for (const child of w >= 4 ? call.children() : []) {
                const wide = w * child.value / call.value;
                if (wide < 2) break;
                below.push([child, x, wide]);
                x += wide;
            }
        }
        level = drawn < DRAWN_MOST ? below : [];
    }
    flame.style.height = (deepest + 1) * ROW + "px";
    area.append(root.value ? flame : make("p", { class: "empty" }, "No listed record has a stack."));
}

/* ---- The tree as a list ------------------------------------------------------------------------ */

/* The rows are the calls that are not below a closed one. */
function drawTree(area) {
    const box = make("div", { class: "tree", role: "tree" }), open = new Set();
    let rows = [...treeRoot().children()], list = null;
    const toggle = i => {
        const call = rows[i], here = scrollY;
        if (open.delete(call)) {
            let end = i + 1;
            while (end < rows.length && rows[end].depth > call.depth) open.delete(rows[end++]);
            rows.splice(i + 1, end - i - 1);
        } else if (call.children().length) {
            open.add(call);
            rows = [...rows.slice(0, i + 1), ...call.children(), ...rows.slice(i + 1)];
        }
        fill();
        scrollTo(0, here);
        list.go(i);
    };
    const render = i => {
        const call = rows[i], place = placeOf(frameOf(call.frame)), leaf = !call.children().length;
        return make("div", { role: "treeitem", tabindex: 0, class: state.q && call.name.toLowerCase().includes(state.q.toLowerCase()) && "hit",
            "aria-level": call.depth, "aria-expanded": leaf ? null : String(open.has(call)), onclick: () => toggle(i),
            onkeydown: e => {
                if (e.key === "Enter" || e.key === "ArrowRight" && !open.has(call) || e.key === "ArrowLeft" && open.has(call)) toggle(i);
                else if (e.key === "ArrowDown" || e.key === "ArrowUp") list.go(i + (e.key === "ArrowDown" ? 1 : -1));
                else return;
                e.preventDefault();
            } },
            make("b", {}, measure(call)), make("span", { class: "share", style: `--part:${100 * call.value / treeRoot().value}%` }, (100 * call.value / treeRoot().value).toFixed(1) + " %"),
            make("span", { class: "call", style: `padding-left:${Math.min(call.depth - 1, 24) * 14}px` },
                make("i", {}, leaf ? "·" : open.has(call) ? "▾" : "▸"), call.name + "  ", make("span", { class: "by" }, place)));
    };
    const fill = () => {
        box.replaceChildren();
        list = new List(box, rows.length, 23, render);
    };
    area.append(box);
    /* Down to the first branch: until there nothing is to choose. */
    for (let call = rows[0]; call; call = open.has(call) && call.children().length === 1 ? call.children()[0] : null) {
        open.add(call);
        rows.splice(rows.indexOf(call) + 1, 0, ...call.children());
    }
    fill();
}

