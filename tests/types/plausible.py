"""plausible.py - in gdb: could this memory be an object of that type? Each member that can be wrong is checked:

a pointer is NULL, or leads to memory that is aligned for its type; into the heap only to a live block that has room for
  what is pointed to;
a pointer to a function leads to code; one to characters to a text that ends;
a bool is 0 or 1, an enumeration has a value with a name;
a floating-point number is none that only the bits of a pointer make, an integer is no address of a block;
a class with virtual functions has a virtual table of its own or of a derived class;
a counter of references is small and not negative; what is used is not more than there is room for.
"""
import bisect
import re

import gdb

ELEMENTS_MOST, DEPTH_MOST, STRUCTURES_MOST = 16, 6, 2000
TEXT_MOST, REFERENCES_MOST = 1 << 20, 1 << 24
NO_ADDRESS = (1 << 64) - 1
# Members that may hold something else than their type says.
OTHER = {
    "_xmlNode.properties", "_xmlNode.nsDef",  # short texts are in the node itself: content points here
    "sqlite3.pWalArg",  # a number
}
REFERENCES = re.compile(r"(^|\.)(m_?)?n?(\w*_)?ref(erence)?s?_?(count|cnt|num)?(\.|$)", re.I)
USED = re.compile(r"(^|_)(len|length|used|count|size|n)$", re.I)
ROOM = re.compile(r"(^|_)(alloc|allocated|cap|capacity|room|max|alloc_?len(gth)?|alloc_?size)$", re.I)


def real(type_):
    return type_.strip_typedefs().unqualified()


class Memory:
    """The mappings of the process, and its live blocks."""

    def __init__(self, blocks):
        self.inferior = gdb.selected_inferior()
        self.blocks = sorted(blocks)
        self.starts = [start for start, _ in self.blocks]
        self.maps = []
        for line in open(f"/proc/{self.inferior.pid}/maps"):
            words = line.split()
            start, end = (int(word, 16) for word in words[0].split("-"))
            self.maps.append((start, end, words[1], len(words) > 5 and words[5] == "[heap]"))

    def mapping(self, address):
        at = bisect.bisect_right(self.maps, (address, NO_ADDRESS)) - 1
        return self.maps[at] if at >= 0 and address < self.maps[at][1] and self.maps[at][2][0] == "r" else None

    def block_around(self, address):
        """The block that has the address inside, or ends there."""
        at = bisect.bisect_right(self.starts, address) - 1
        if at >= 0 and address <= sum(self.blocks[at]):
            return self.blocks[at]
        return None

    def begins_block(self, address):
        at = bisect.bisect_left(self.starts, address)
        return at < len(self.starts) and self.starts[at] == address

    def text_ends(self, address):
        try:
            self.inferior.search_memory(address, 1, b"x")
            return self.inferior.search_memory(address, min(TEXT_MOST, self.mapping(address)[1] - address), b"\0") is not None
        except gdb.MemoryError:
            return False


def unsigned(value):
    return int(value) & NO_ADDRESS


def wrong_pointer(memory, value):
    """Why the pointer is impossible; None: it is possible."""
    address = unsigned(value)
    target = real(value.type.target())
    if address < 16 or address == NO_ADDRESS:
        return None  # NULL, and small numbers that stand for something
    mapping = memory.mapping(address)
    if not mapping:
        return "leads nowhere"
    if target.code == gdb.TYPE_CODE_FUNC:
        return None if "x" in mapping[2] else "leads to no code"
    size = target.sizeof if target.code != gdb.TYPE_CODE_VOID else 0
    if size > 1 and not target.dynamic and address % target.alignof:
        return "is not aligned"
    if mapping[3]:
        block = memory.block_around(address)
        if not block:
            return "leads to no live block"
        if 1 < size and sum(block) - address < size // 2 and address != sum(block):
            return "leads to a block that is too small"
    if target.code == gdb.TYPE_CODE_INT and size == 1 and target.name == "char" and not memory.text_ends(address):
        return "leads to a text without an end"
    return None


def wrong_enum(value):
    values = [field.enumval for field in real(value.type).fields()]
    number, mask = int(value), 0
    for one in values:
        mask |= one if one > 0 else 0
    return None if number in values or (number >= 0 and number & ~mask == 0) else "has no such value"


def wrong_number(memory, value, name):
    number = int(value)
    if value.type.sizeof == 8 and memory.begins_block(unsigned(value)) and "ptr" not in str(value.type):
        return "is the address of a block"
    if REFERENCES.search(name) and not 0 <= number < REFERENCES_MOST:
        return "is no counter of references"
    return None


def wrong_float(value):
    number = float(value)
    return "is the bits of a pointer" if number != 0 and abs(number) < 2.3e-308 and value.type.sizeof == 8 else None


def wrong_table(value):
    """Of an object with virtual functions: its first word leads to the table of a class that is, or derives from, its type."""
    dynamic = value.dynamic_type
    if dynamic == value.type:
        word = unsigned(value.address.cast(gdb.lookup_type("unsigned long").pointer()).dereference())
        symbol = gdb.execute(f"info symbol {word}", to_string=True)
        return None if f"vtable for {real(value.type).name}" in symbol else "has another virtual table"
    return None


class Look:
    """Counts members of objects: those that can be wrong, and what is wrong."""

    def __init__(self, memory):
        self.memory = memory
        self.members = 0
        self.wrong = []

    def add(self, why, value, name):
        self.members += 1
        if why:
            self.wrong.append(f"{name.lstrip('.')} = {str(value)[:40]} {why}")

    def look(self, value, name="", depth=0):
        type_ = real(value.type)
        if depth > DEPTH_MOST:
            return
        if type_.code == gdb.TYPE_CODE_PTR:
            self.add(wrong_pointer(self.memory, value), value, name)
        elif type_.code == gdb.TYPE_CODE_BOOL:
            number = int(value.cast(gdb.lookup_type("unsigned char")))
            self.add(None if number <= 1 else "is neither true nor false", number, name)
        elif type_.code == gdb.TYPE_CODE_ENUM:
            self.add(wrong_enum(value), value, name)
        elif type_.code == gdb.TYPE_CODE_FLT and type_.sizeof <= 8:
            self.add(wrong_float(value), value, name)
        elif type_.code == gdb.TYPE_CODE_INT and (type_.sizeof == 8 or REFERENCES.search(name)):
            self.add(wrong_number(self.memory, value, name), value, name)
        elif type_.code == gdb.TYPE_CODE_ARRAY and type_.sizeof:
            low, high = type_.range()
            for i in range(low, min(high, low + ELEMENTS_MOST) + 1):
                self.look(value[i], f"{name}[{i}]", depth + 1)
        elif type_.code == gdb.TYPE_CODE_STRUCT:
            self.look_at_members(value, type_, name, depth)

    def look_at_members(self, value, type_, name, depth):
        numbers = {}
        for field in type_.fields():
            if not hasattr(field, "bitpos") or field.bitsize or f"{type_.tag}.{field.name}" in OTHER:
                continue
            if field.name and field.name.startswith("_vptr"):
                self.add(wrong_table(value), value[field], f"{name}.{field.name}")
                continue
            member = value[field]
            if real(member.type).code == gdb.TYPE_CODE_INT and not field.is_base_class:
                numbers[field.name] = int(member)
            self.look(member, name if field.is_base_class else f"{name}.{field.name}", depth + 1)
        used = [one for one in numbers if USED.search(one) and not ROOM.search(one)]
        room = [one for one in numbers if ROOM.search(one)]
        if len(used) == 1 and len(room) == 1 and used != room:
            self.add(None if numbers[used[0]] <= numbers[room[0]] else f"is more than {room[0]}", numbers[used[0]],
                     f"{name}.{used[0]}")


def look_at(memory, type_, address, count=1):
    """The members of count objects there, and what is wrong with them."""
    look = Look(memory)
    try:
        for i in range(count):
            look.look(gdb.Value(address + i * type_.sizeof).cast(type_.pointer()).dereference())
    except (gdb.MemoryError, gdb.error) as error:
        look.wrong.append(str(error))
    return look


def layout(type_, offset=0, depth=0):
    """What can be wrong in a type, and where: types with equal layouts cannot be told apart."""
    type_ = real(type_)
    places = []
    if type_.code == gdb.TYPE_CODE_STRUCT and depth < DEPTH_MOST:
        for field in type_.fields():
            if hasattr(field, "bitpos") and not field.bitsize:
                places += layout(field.type, offset + field.bitpos // 8, depth + 1)
    elif type_.code == gdb.TYPE_CODE_ARRAY:
        places.append((offset, "array", type_.sizeof))
    elif type_.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_FLT):
        places.append((offset, type_.code, type_.sizeof))
    return places


def begins_with(type_, other):
    """The other type is the type's base class or first member."""
    type_ = real(type_)
    if str(type_) == str(real(other)):
        return True
    if type_.code != gdb.TYPE_CODE_STRUCT:
        return False
    return any(begins_with(field.type, other) for field in type_.fields() if hasattr(field, "bitpos") and field.bitpos == 0)


def structures(types):
    """The structures that members and pointers of some types lead to, these included, by size."""
    found, seen, left = {}, set(), list(types)
    while left and len(seen) < STRUCTURES_MOST:
        type_ = real(left.pop())
        if type_.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ARRAY):
            left.append(type_.target())
        elif type_.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) and str(type_) not in seen:
            seen.add(str(type_))
            left += [field.type for field in type_.fields() if hasattr(field, "bitpos")]
            if type_.code == gdb.TYPE_CODE_STRUCT and type_.sizeof:
                found.setdefault(type_.sizeof, []).append(type_)
    return found
