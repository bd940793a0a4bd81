/* The page of leakreport --format=html. data.js: the report in the script element "data", and the
 * words for its numbers. Texts come from strangers' programs, so they only ever become text nodes.
 * html.h describes the data. A report may have 100,000 records and a million frames, so whatever
 * runs over all of them runs over numbers in arrays. */
"use strict";

const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent);
$("data").textContent = ""; /* half of the page's memory */

const frames = data.frames;
const stacks = { up: Int32Array.from(data.stacks.up), frame: Int32Array.from(data.stacks.frame) };
for (let i = 0; i < stacks.up.length; i++) stacks.up[i] = i - stacks.up[i];
data.stacks = null;
for (const records of data.processes.flatMap(p => [p.records, p.grown]))
    for (const record of records) { /* what is left out has its usual value */
        record.rb ??= record.b;
        record.rn ??= record.n;
        record.z ??= record.a;
    }
const RUNTIME = 1, ROLES = 3, INLINED = 4, NAMELESS = 8; /* in frames.kind */

/* What is shown is a function of "state", which the address after # keeps: a link leads to the same
 * picture. */
/* What may be chosen of: the verdicts of records, or what happened to them between two reports. */
const sorts = data.changes || data.verdicts;
const sortIndex = record => data.changes ? record.ch : record.v;
const sortOf = record => sorts[sortIndex(record)];

const state = { tab: "leaks", q: "", metric: "bytes", process: 0, zoom: "", apart: false,
                weight: "leaked", from: "main", fold: "", flip: "", group: "record", sort: "", fn: "", time: "", node: "",
                show: Object.fromEntries(sorts.map((word, i) => [word, data.shown[i]])) };

/* Remembers the last value of a function for a key. */
function remember(keyOf, make) {
    let key = null, value;
    return () => {
        const now = keyOf();
        if (now !== key) [value, key] = [make(), now];
        return value;
    };
}

/* ---- Frames and stacks ----------------------------------------------------------------------- */

const frameOf = id => ({ id, name: data.texts[frames.fn[id]], file: data.texts[frames.file[id]], line: frames.line[id],
                         module: data.texts[frames.module[id]], role: frames.kind[id] & ROLES,
                         inlined: (frames.kind[id] & INLINED) !== 0 });
const nameOf = frame => frame.name;
const isAddress = frame => /\+0x[0-9a-f]+$/.test(frame.name); // begins with its module
// An address is no function, and a name with its parameters is a call already.
const callOf = frame => frame.name + (isAddress(frame) || /^\[|\)( const)?$/.test(frame.name) ? "" : "()");
const placeOf = frame => frame.file ? frame.file + (frame.line ? ":" + frame.line : "")
                                    : frame.module && !isAddress(frame) ? "in " + frame.module : "";
const atPlace = frame => (frame.file ? " at " : placeOf(frame) && " ") + placeOf(frame);

function stackFrames(stack) { /* the ids of its frames, innermost first */
    const ids = [];
    for (let at = stack; at; at = stacks.up[at]) ids.push(stacks.frame[at]);
    return ids;
}
function titleId(record) { /* the frame that the record is about, -1 = none */
    let at = record.f;
    for (let i = 0; i < record.u && at; i++) at = stacks.up[at];
    at = at || record.f;
    return at ? stacks.frame[at] : -1;
}
const sumsOf = flat => { /* [stack, user, bytes, blocks, ...] as records */
    const sums = [];
    for (let i = 0; i < flat.length; i += 4) sums.push({ f: flat[i], u: flat[i + 1], b: flat[i + 2], n: flat[i + 3], rb: 0 });
    return sums;
};
const titleOf = record => record.f ? frameOf(titleId(record)) : null;
const process = () => data.processes[state.process];

/* ---- Words ----------------------------------------------------------------------------------- */

function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
        if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else if (value !== false && value != null) node.setAttribute(name, value);
    for (const child of children.flat(Infinity))
        if (child != null) node.append(child);
    return node;
}
const svg = (tag, attributes, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
};
const digits = new Intl.NumberFormat("en-US");
const number = n => digits.format(n);
const count = (n, word, words = word + "s") => number(n) + " " + (n === 1 ? word : words);
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
const sentence = text => text[0].toUpperCase() + text.slice(1) + ".";
const signed = (n, words) => (n < 0 ? "−" : "+") + words(Math.abs(n));
const note = text => make("p", { class: "note" }, text);

