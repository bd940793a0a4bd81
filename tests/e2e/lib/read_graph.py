"""Reads a graph file as docs/GRAPH.md describes it, on its own: read_graph(path) -> Graph."""
import struct

MASK = (1 << 64) - 1
INFO, RANGES, ROOTS, BLOCKS, OTHERS, VERDICTS, MODULES, THREADS, FRAMES, NODES, SITES, CONTENT, END = range(1, 14)
VERDICT_WORDS = ["none", "lost", "indirect", "possible", "hidden", "reachable"]


class Items:
    """The numbers and texts of one section, its chunks put together."""

    def __init__(self):
        self.data, self.at = bytearray(), 0

    def more(self):
        return self.at < len(self.data)

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & MASK

    def word(self):
        self.at += 8
        return int.from_bytes(self.data[self.at - 8:self.at], "little")

    def signed(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def text(self):
        length = self.number()
        self.at += length
        return bytes(self.data[self.at - length:self.at])


def checksum(numbers, payload):
    def step(total, word):
        total = (total ^ word) * 0x9E3779B97F4A7C15 & MASK
        return total ^ total >> 29

    total = step(0x6C, numbers[0] << 32 | numbers[1])
    total = step(total, numbers[2] << 32 | numbers[3])
    for (word,) in struct.iter_unpack("<Q", payload):
        total = step(total, word)
    return total


def sections(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"LEAKGRPH" and struct.unpack_from("<II", data, 8) == (2, 16), "the head"
    found, at, ordinal = {}, 16, 0
    while at < len(data):
        *numbers, total = struct.unpack_from("<IIIIQ", data, at)
        length = numbers[2]
        whole = (length + 7) // 8 * 8
        payload = data[at + 24:at + 24 + whole]
        assert numbers[0] == 0x4B4E4843 and numbers[3] == ordinal and len(payload) == whole, "a chunk"
        assert checksum(numbers, payload) == total, "the sum of a chunk"
        found.setdefault(numbers[1], Items()).data += payload[:length]
        ordinal += 1
        at += 24 + whole
    assert list(found) == sorted(found) and END in found, "the order of the sections"
    return found


class Graph:
    def __init__(self, path):
        parts = sections(path)
        self.info(parts[INFO])
        self.ranges = list(self.read_ranges(parts[RANGES])) if RANGES in parts else []
        self.roots = list(self.read_roots(parts[ROOTS])) if ROOTS in parts else []
        self.blocks, self.edges = [], []
        if BLOCKS in parts:
            self.read_blocks(parts[BLOCKS])
        self.others = list(self.read_others(parts[OTHERS])) if OTHERS in parts else []
        if VERDICTS in parts:
            self.read_verdicts(parts[VERDICTS])
        self.samples = dict(self.read_samples(parts[CONTENT])) if CONTENT in parts else {}
        end = parts[END]
        assert [end.number() for _ in range(3)] == [len(self.blocks), len(self.edges), len(self.roots)]
        assert len(self.blocks) == self.count

    def info(self, part):
        names = ["flags", "pid", "start_time", "started", "when", "tick", "occasion", "milestone", "machine", "count"]
        for name in names:
            setattr(self, name, part.number())
        self.program, self.recording = part.text(), part.text()

    def read_ranges(self, part):
        last = 0
        while part.more():
            kind, thread = part.number(), part.number()
            start = last + part.signed()
            last = start + part.number()
            part.signed()
            part.signed()
            yield kind, thread, start, last

    def read_roots(self, part):
        at = target = number = 0
        while part.more():
            skipped = part.number()
            number, at = number + skipped, 0 if skipped else at
            word = part.number()
            at += word // 2
            target += part.signed()
            offset = part.number() if word % 2 else 0
            kind, _, start, _ = self.ranges[number]
            yield (start + 7) // 8 * 8 + 8 * (at - 1), target, offset, kind

    def read_blocks(self, part):
        address = tick = count = sort = 0
        slots = {}
        while part.more():
            number = len(self.blocks)
            address += 8 * part.number()
            size = part.number()
            site = part.number()
            tick += part.signed()
            count += part.signed()
            sort ^= part.number()
            how, word = size % 4, 0
            if how == 3:
                slots[site % 4096] = part.number()
            if how in (2, 3):
                word = slots[site % 4096]
            content = part.word() if self.flags & 4 else None
            block = {"address": address, "size": size // 4, "site": site, "thread": sort >> 8, "kind": sort & 255,
                     "count": count, "word": word, "points": how == 1, "content": content}
            at = 0
            while edge := part.number():
                at += edge // 2
                target = number + part.signed()
                self.edges.append((number, 8 * (at - 1), target, part.number() if edge % 2 else 0))
            self.blocks.append(block)

    def read_others(self, part):
        last = 0
        while part.more():
            kind = part.number()
            last += part.signed()
            yield ["encoded", "inside"][kind], last, last + part.signed()

    def read_samples(self, part):
        while part.more():
            yield part.word(), part.text()

    def read_verdicts(self, part):
        at = 0
        while part.more():
            run, verdict = part.number(), part.number()
            for block in self.blocks[at:at + run]:
                block["verdict"], block["flags"] = VERDICT_WORDS[verdict % 8], verdict // 8
            at += run
        assert at == len(self.blocks)
