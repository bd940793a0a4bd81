/* ---- select.js: which records are listed, and in which order ---------------------------------- */

/* All texts in lower case as one, which is searched many times faster than each by itself; starts:
 * where each begins. */
const haystack = remember(() => "", () => {
    const texts = data.texts.map(text => (text || "").toLowerCase()), starts = new Int32Array(texts.length + 1);
    for (let i = 0; i < texts.length; i++) starts[i + 1] = starts[i] + texts[i].length + 1;
    return { all: texts.join("\n") + "\n", starts };
});
function matchingTexts(wanted) { /* 1 for each text that contains it */
    const { all, starts } = haystack(), hit = new Uint8Array(data.texts.length);
    for (let i = 0, at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, starts[i])) {
        while (starts[i + 1] <= at) i++;
        hit[i++] = 1;
    }
    return hit;
}
/* Which stacks contain what is searched: a stack has what its caller has. */
const matchingStacks = remember(() => state.q, () => {
    const hit = new Uint8Array(stacks.up.length), of = new Uint8Array(frames.fn.length);
    if (!state.q) return hit.fill(1);
    const texts = matchingTexts(state.q.toLowerCase()), { fn, file, module } = frames;
    for (let i = 0; i < of.length; i++) of[i] = texts[fn[i]] | texts[file[i]] | texts[module[i]];
    for (let i = 1; i < hit.length; i++) hit[i] = of[stacks.frame[i]] | hit[stacks.up[i]];
    return hit;
});
/* The chosen part of the run, in seconds from its start; null = all of it. */
const timeWindow = () => state.time && process().length ? state.time.split(",").map(Number) : null;
/* When the first and the last block of a record were allocated. */
const bornFrom = record => process().length - record.a;
const bornUntil = record => process().length - record.z;
/* Was some of it allocated in the window? */
const isOfTime = (record, window) => !window || record.a != null && bornFrom(record) <= window[1] && bornUntil(record) >= window[0];

const selectionKey = () => JSON.stringify([state.process, state.q, state.show, state.time]);

/* 1 for each record of the process that fits the verdicts and the search. */
const fitting = remember(selectionKey, () => {
    const hit = matchingStacks(), q = state.q.toLowerCase(), shown = sorts.map(word => state.show[word]), window = timeWindow();
    return Uint8Array.from(process().records, record =>
        shown[sortIndex(record)] && (!record.x || state.show.suppressed) && (hit[record.f] || (q && record.s.startsWith(q))) && isOfTime(record, window) ? 1 : 0);
});
const fittingRecords = remember(selectionKey, () => {
    const fits = fitting();
    return process().records.filter((_, i) => fits[i]);
});

/* Of a comparison: what was added, or less than 0. */
const bytesOf = r => data.changes ? r.b - r.ob : r.b;
const blocksOf = r => data.changes ? r.n - r.on : r.n;
const netOf = r => state.metric === "blocks" ? blocksOf(r) : state.metric === "retained" ? Math.max(r.rb, r.b) : bytesOf(r);
const valueOf = r => Math.abs(netOf(r));
const sum = (list, of) => list.reduce((total, item) => total + of(item), 0);

/* The entries of the list: lists of records, the largest of each verdict first. */
const listed = remember(() => selectionKey() + state.metric + state.apart, () => {
    const records = process().records, fits = fitting(), lists = [];
    if (state.apart) records.forEach((record, i) => { if (fits[i]) lists.push([record]); });
    else for (const parts of process().entries) {
        const list = parts.filter(i => fits[i]).map(i => records[i]);
        if (list.length) lists.push(list);
    }
    if (state.metric === "retained") return lists;
    return lists.map(list => [list, sortIndex(list[0]), sum(list, valueOf)]).sort((a, b) => a[1] - b[1] || b[2] - a[2]).map(item => item[0]);
});

/* Is it what the user looks for: a shown verdict, or new or more than before? */
const isBad = record => data.changes ? netOf(record) > 0 || record.ch === 0 : data.shown[record.v] && !record.x;

/* Facts of a process that no choice changes. */
const facts = remember(() => state.process, () => {
    const { records, grown, errors } = process();
    const verdicts = new Set(records.map(sortOf));
    if (records.some(r => r.x)) verdicts.add("suppressed");
    return { verdicts, growing: [...records, ...grown].filter(r => r.g && !r.x).sort((a, b) => b.gr - a.gr),
             leaks: records.some(isBad), grouped: process().entries.some(parts => parts.length > 1),
             wrong: errors.length > 0 };
});

