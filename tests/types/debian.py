"""debian.py - in gdb: runs a program up to a function, reads its types, and looks at the blocks (see types/debian).

Prints "types: PROGRAM: share ..." and a line for each of the ten largest types. A member is possible when
a pointer is NULL or leads to memory, a pointer to a function to code, a bool is 0 or 1, an enumeration has a
value with a name; MAGIC has more for types whose members must fit together. As a control the same blocks are
read as each other of these types, which must mostly be impossible.
"""
import glob
import json
import os
import subprocess
import sys

import gdb

TYPES_MOST, BLOCKS_MOST, ELEMENTS_MOST = 10, 24, 16
# What must be true of an object of a type, "$" is the object.
MAGIC = {
    "struct _xmlNode": "$.type >= 1 && $.type <= 21 && $.doc->type == 9 && "
                       "(!$.next || $.next->prev == &$) && (!$.parent || $.parent->doc == $.doc)",
    "struct _xmlAttr": "$.type == 2 && $.parent->type == 1 && $.doc->type == 9",
    "struct _xmlDoc": "$.type == 9 && $.doc == &$",
    "struct redisObject": "$.type <= 6 && $.encoding <= 11 && $.refcount > 0",
    "struct aeEventLoop": "$.maxfd < $.setsize && $.stop <= 1",
    "struct dict": "$.ht_table[0] != 0 && $.ht_used[0] > 0",
    "struct zskiplist": "$.level >= 1 && $.level <= 32 && $.header != 0",
    "struct quicklistNode": "$.count > 0 && $.sz > 0 && $.encoding >= 1 && $.encoding <= 2",
    "struct quicklist": "$.count >= $.len && $.head->prev == 0 && $.tail->next == 0",
    "sqlite3": "$.eOpenState == 0x76 && $.nDb >= 2",
    "struct sqlite3": "$.eOpenState == 0x76 && $.nDb >= 2",
    "struct PCache1": "$.szPage >= 512 && $.nPage <= $.nMax",
    "struct Pager": "$.eState <= 6 && $.pageSize >= 512",
    "struct Table": "$.nTabRef > 0 && $.zName != 0",
    "struct Index": "$.pTable != 0 && $.nColumn >= $.nKeyCol",
    "Token": "(!$.mPrevious || $.mPrevious->mNext == &$) && (!$.mNext || $.mNext->mPrevious == &$)",
    "TokenImpl": "$.mIndex < 100000000 && $.mLineNumber < 100000",
}
# Members that may hold something else than their type says.
OTHER = {
    "_xmlNode.properties", "_xmlNode.nsDef",  # short texts are in the node itself: content points here
    "sqlite3.pWalArg",  # a number
}


def real(type_):
    return type_.strip_typedefs().unqualified()


def readable(address):
    try:
        gdb.selected_inferior().read_memory(address, 1)
        return True
    except gdb.MemoryError:
        return False


def is_possible_pointer(value):
    address = int(value) & (1 << 64) - 1
    if address < 4096 or address >= 1 << 63:
        return address == 0 or address == (1 << 64) - 1 or address < 16
    if real(value.type.target()).code == gdb.TYPE_CODE_FUNC:
        return gdb.execute(f"info symbol {address}", to_string=True).find(" in section ") >= 0
    return readable(address & ~7)


def is_possible_enum(value):
    values = [field.enumval for field in real(value.type).fields()]
    number = int(value)
    mask = 0
    for one in values:
        mask |= one if one > 0 else 0
    return number in values or (number >= 0 and number & ~mask == 0)


class Tally:
    def __init__(self):
        self.members = 0
        self.impossible = []

    def add(self, possible, value, name):
        self.members += 1
        if not possible:
            self.impossible.append(f"{name} = {value}")

    def look(self, value, name, depth=0):
        type_ = real(value.type)
        if depth > 6:
            return
        if type_.code == gdb.TYPE_CODE_PTR:
            self.add(is_possible_pointer(value), value, name)
        elif type_.code == gdb.TYPE_CODE_BOOL:
            self.add(int(value.cast(gdb.lookup_type("unsigned char"))) <= 1, value, name)
        elif type_.code == gdb.TYPE_CODE_ENUM:
            self.add(is_possible_enum(value), value, name)
        elif type_.code == gdb.TYPE_CODE_ARRAY and type_.sizeof:
            low, high = type_.range()
            for i in range(low, min(high, low + ELEMENTS_MOST) + 1):
                self.look(value[i], f"{name}[{i}]", depth + 1)
        elif type_.code == gdb.TYPE_CODE_STRUCT:
            for field in type_.fields():
                if hasattr(field, "bitpos") and not field.bitsize and f"{type_.tag}.{field.name}" not in OTHER:
                    self.look(value[field], f"{name}.{field.name}", depth + 1)


def find_type(name):
    stars = len(name) - len(name.rstrip("*"))
    try:
        type_ = gdb.lookup_type(name.rstrip("* "))
        if real(type_).sizeof == 0:
            raise gdb.error("declared only")
    except gdb.error:
        return None
    for _ in range(stars):
        type_ = type_.pointer()
    return type_


def magic_holds(name, type_, address):
    if name not in MAGIC:
        return True
    gdb.set_convenience_variable("object", gdb.Value(address).cast(type_.pointer()).dereference())
    try:
        gdb.set_convenience_variable("at", gdb.Value(address).cast(type_.pointer()))
        return bool(gdb.parse_and_eval(MAGIC[name].replace("&$", "$at").replace("$.", "$at->")))
    except gdb.error:
        return False


def look_at(name, type_, blocks):
    """Blocks whose members are all possible and whose magic holds, of how many."""
    good = 0
    why = ""
    for address, array in blocks:
        tally = Tally()
        try:
            for i in range(max(1, min(array // type_.sizeof, ELEMENTS_MOST))):
                tally.look(gdb.Value(address + i * type_.sizeof).cast(type_.pointer()).dereference(), "")
                if not magic_holds(name, type_, address + i * type_.sizeof):
                    tally.impossible.append(f"not {MAGIC[name]}")
        except (gdb.MemoryError, gdb.error) as error:
            tally.impossible.append(str(error))
        good += not tally.impossible
        why = why or (tally.impossible or [""])[0]
    return good, why


def objects_of(record, one):
    """Addresses of the objects in a record's blocks of that type, and the bytes of each block's array, else 0. In a
    record of several types the size of a block tells its type."""
    at = record["type"]["at"] if record["type"]["name"] == one["name"] else 0
    for sample in record["samples"]:
        fits = [other for other in record["types"] if other["bytes"] == other["blocks"] * sample["size"]]
        if len(record["types"]) == 1 or fits == [one]:
            yield int(sample["address"], 16) + at, sample["size"] if one["layout"] == "array" else 0


def collect(report):
    """Type -> its bytes and blocks that were seen; and the sums."""
    types, total, typed, conflicts = {}, 0, 0, 0
    for process in report["processes"]:
        for record in process["records"]:
            if record["verdict"] == "runtime":
                continue
            total += record["bytes"]
            conflicts += record["type_conflicts"]
            for one in record["types"]:
                entry = types.setdefault(one["name"], {"bytes": 0, "blocks": 0, "seen": []})
                entry["bytes"] += one["bytes"]
                entry["blocks"] += one["blocks"]
                typed += one["bytes"]
                entry["seen"] += objects_of(record, one)
    return types, total, typed, conflicts


def run():
    gdb.execute("set pagination off")
    gdb.execute("set confirm off")
    gdb.execute("set debuginfod enabled off")
    gdb.execute("set startup-with-shell on")
    gdb.execute(f"file {os.environ['PROGRAM']}", to_string=True)
    gdb.execute("handle SIG62 SIGUSR1 SIGPIPE nostop noprint pass", to_string=True)
    gdb.execute(f"set environment LD_PRELOAD={os.environ['BUILD']}/libleak.so")
    gdb.execute(f"set environment LIBLEAK_OPTIONS=dir={os.environ['STORE']}:exit_look=off:content=64")
    gdb.Breakpoint(os.environ["FUNCTION"])
    gdb.execute(f"run {os.environ['ARGUMENTS']} < {os.environ['INPUT']} > /dev/null")
    gdb.parse_and_eval("(long)libleak_snapshot()")
    name = os.path.basename(os.environ["PROGRAM"]) # not the shell that gdb starts it with
    store = glob.glob(f"{os.environ['STORE']}/{name}.{gdb.selected_inferior().pid}.*.leak")[0]
    output = subprocess.run([os.environ["BUILD"] + "/leakreport", "--format=json", "--all", "--top=0", "--blocks", store],
                            stdout=subprocess.PIPE, check=True).stdout
    with open(os.environ["STORE"] + "/report.json", "wb") as file:
        file.write(output)
    return json.loads(output)


def main():
    types, total, typed, conflicts = collect(run())
    name = os.path.basename(gdb.current_progspace().filename)
    share = 100 * typed / total if total else 0
    failed = share < float(os.environ["LEAST"])
    print(f"types: {name}: share of bytes with a type {share:.1f} % of {total:,} bytes, "
          f"{conflicts} blocks in conflict{', TOO FEW' if failed else ''}")
    largest = sorted(types.items(), key=lambda item: -item[1]["bytes"])[:TYPES_MOST]
    known = {one: find_type(one) for one, _ in largest}
    other_good = other_total = 0
    for one, entry in largest:
        blocks = entry["seen"][:BLOCKS_MOST]
        type_ = known[one]
        good, why = look_at(one, type_, blocks) if type_ else (0, "")
        bad = type_ and good < len(blocks)
        failed = failed or bool(bad)
        verdict = "gdb does not know it" if not type_ else f"{good} of {len(blocks)} blocks confirmed"
        print(f"types:   {entry['bytes']:>10,} bytes {entry['blocks']:>7,} x {one[:60]}: {verdict}"
              f"{' by magic' if one in MAGIC else ''}{f', WRONG? {why}' if bad else ''}")
        for other, other_type in known.items():
            if other != one and other_type and real(other_type).code == gdb.TYPE_CODE_STRUCT:
                other_good += look_at(other, other_type, [(at, 0) for at, _ in blocks[:4]])[0]
                other_total += len(blocks[:4])
    print(f"types:   control: of {other_total} blocks read as another of these structures {other_good} look possible")
    gdb.execute("kill")
    return failed


try:
    result = main()
except Exception as error:  # gdb would go on with exit status 0
    print(f"types: FAIL {error}")
    result = True
gdb.execute(f"quit {int(result)}")
