"""in_gdb.py - in gdb: runs a program up to a function, reads its types, and looks at the blocks (see types/debian).

Prints "types: PROGRAM: share ..." and a line for each of the ten largest types: how many of its blocks are possible
objects, of how many members (plausible.py); MAGIC has more for types whose members must fit together. As a control
the same blocks are read as other structures of their size, most of which must be refused.
"""
import glob
import json
import os
import subprocess
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import plausible

TYPES_MOST, BLOCKS_MOST = 10, 24
OTHERS_MOST, PLACES_LEAST = 8, 3  # types for the control, and members of each that can be wrong
# What must be true of an object of a type, "$" is the object.
LUA_VALUE = "($.tt_ & 15) <= 10 && (!($.tt_ & 64) || $.value_.gc->tt == ($.tt_ & 63))"
MAGIC = {
    "jq": {
        "jv": "$.kind_flags % 16 <= 7",
        "jvp_object": "$.next_free >= 0 && $.refcnt.count > 0 && "
                      "(!$.next_free || $.elements[0].string.kind_flags % 16 == 5)",
        "jvp_array": "$.length <= $.alloc_length && $.refcnt.count > 0",
        "jvp_string": "$.length_hashed / 2 <= $.alloc_length && $.refcnt.count > 0",
    },
    "xmllint": {
        "struct _xmlNode": "$.type >= 1 && $.type <= 21 && $.doc->type == 9 && "
                           "(!$.next || $.next->prev == &$) && (!$.parent || $.parent->doc == $.doc)",
        "struct _xmlAttr": "$.type == 2 && $.parent->type == 1 && $.doc->type == 9",
        "struct _xmlDoc": "$.type == 9 && $.doc == &$",
        "struct _xmlDtd": "$.type == 14",
        "struct _xmlElement": "$.type == 15",
        "struct _xmlAttribute": "$.type == 16",
        "struct _xmlEntity": "$.type == 17",
        "struct _xmlNs": "$.type == 18",
    },
    "redis-server": {
        "struct redisObject": "$.type <= 6 && $.encoding <= 11 && $.refcount > 0",
        "struct aeEventLoop": "$.maxfd < $.setsize && $.stop <= 1",
        "struct dict": "$.ht_table[0] != 0 && $.ht_used[0] > 0",
        "struct raxNode": "$.size < 65536",
        "struct zskiplist": "$.level >= 1 && $.level <= 32 && $.header != 0",
        "struct quicklistNode": "$.count > 0 && $.sz > 0 && $.encoding >= 1 && $.encoding <= 2",
        "struct quicklist": "$.count >= $.len && $.head->prev == 0 && $.tail->next == 0",
    },
    "sqlite3": {
        "struct sqlite3": "$.eOpenState == 0x76 && $.nDb >= 2",
        "struct PCache1": "$.szPage >= 512 && $.nPage <= $.nMax",
        "struct Pager": "$.eState <= 6 && $.pageSize >= 512",
        "struct Table": "$.nTabRef > 0 && $.zName != 0",
        "struct Index": "$.pTable != 0 && $.nColumn >= $.nKeyCol",
    },
    "lua": {
        "struct TValue": LUA_VALUE,
        "union Node": LUA_VALUE.replace("$.", "$.u."),
        "union StackValue": LUA_VALUE.replace("$.", "$.val."),
        "struct Table": "$.tt == 5 && $.lsizenode < 31",
        "struct TString": "$.tt % 16 == 4",
        "struct LClosure": "$.tt == 6 && $.p->tt == 10",
        "struct UpVal": "$.tt == 9",
        "struct Proto": "$.tt == 10",
    },
    "cppcheck": {
        "Token": "(!$.mPrevious || $.mPrevious->mNext == &$) && (!$.mNext || $.mNext->mPrevious == &$)",
        "TokenImpl": "$.mIndex < 100000000 && $.mLineNumber < 100000",
    },
}.get(os.path.basename(os.environ["PROGRAM"]), {})


def find_type(name):
    stars = len(name) - len(name.rstrip("*"))
    try:
        type_ = gdb.lookup_type(name.rstrip("* "))
        if plausible.real(type_).sizeof == 0:
            raise gdb.error("declared only")
    except gdb.error:
        return None
    for _ in range(stars):
        type_ = type_.pointer()
    return type_


def magic_holds(name, type_, address):
    if name not in MAGIC:
        return True
    try:
        gdb.set_convenience_variable("at", gdb.Value(address).cast(type_.pointer()))
        return bool(gdb.parse_and_eval(MAGIC[name].replace("&$", "$at").replace("$.", "$at->")))
    except gdb.error:
        return False


def look_at(memory, name, type_, blocks):
    """Of the blocks: how many are possible objects; members that were looked at, and those that are wrong; an example."""
    good = members = wrong = 0
    example = ""
    for address, array in blocks:
        count = max(1, min(array // type_.sizeof, plausible.ELEMENTS_MOST))
        look = plausible.look_at(memory, type_, address, count)
        for i in range(count if name in MAGIC else 0):
            look.members += 1
            if not magic_holds(name, type_, address + i * type_.sizeof):
                look.wrong.append(f"not {MAGIC[name]}")
        good += not look.wrong
        members += look.members
        wrong += len(look.wrong)
        example = example or (look.wrong or [""])[0]
    return good, members, wrong, example


def refuse_others(memory, type_, blocks, structures):
    """Reads some blocks as other structures of their size or, where there are few, of half of it or more: how many
    were refused, of how many."""
    refused = total = 0
    places = plausible.layout(type_)
    others = [other for size in sorted(structures, reverse=True) if type_.sizeof // 2 < size <= type_.sizeof
              for other in structures[size]
              if len(plausible.layout(other)) >= PLACES_LEAST and plausible.layout(other) != places
              and not plausible.begins_with(type_, other)]
    for other in others[:OTHERS_MOST]:
        for address, _ in blocks[:4]:
            refused += bool(plausible.look_at(memory, other, address).wrong) or not magic_holds(str(other), other, address)
            total += 1
    return refused, total


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
    graph = os.environ["STORE"] + "/graph"
    gdb.parse_and_eval(f'(long)libleak_snapshot_graph("{graph}")')
    gdb.parse_and_eval("(long)libleak_snapshot()")
    name = os.path.basename(os.environ["PROGRAM"]) # not the shell that gdb starts it with
    store = glob.glob(f"{os.environ['STORE']}/{name}.{gdb.selected_inferior().pid}.*.leak")[0]
    output = subprocess.run([os.environ["BUILD"] + "/leakreport", "--format=json", "--all", "--top=0", "--blocks", store],
                            stdout=subprocess.PIPE, check=True).stdout
    with open(os.environ["STORE"] + "/report.json", "wb") as file:
        file.write(output)
    return json.loads(output), graph


def live_blocks(graph):
    output = subprocess.run([os.environ["BUILD"] + "/leakgraph", graph, "find", "size > 0", "--no-types", "--top=0", "--json"],
                            stdout=subprocess.PIPE, check=True).stdout
    return [(int(block["address"], 16), block["size"]) for block in json.loads(output)["found"]]


def main():
    report, graph = run()
    types, total, typed, conflicts = collect(report)
    memory = plausible.Memory(live_blocks(graph))
    name = os.path.basename(gdb.current_progspace().filename)
    share = 100 * typed / total if total else 0
    failed = share < float(os.environ["LEAST"])
    print(f"types: {name}: share of bytes with a type {share:.1f} % of {total:,} bytes, "
          f"{conflicts} blocks in conflict{', TOO FEW' if failed else ''}")
    largest = sorted(types.items(), key=lambda item: -item[1]["bytes"])[:TYPES_MOST]
    known = {one: find_type(one) for one in types}
    structures = plausible.structures([type_ for type_ in known.values() if type_])
    all_refused = all_others = checked = confirmed = 0
    for one, entry in largest:
        blocks = entry["seen"][:BLOCKS_MOST]
        type_ = known[one]
        if not type_:
            print(f"types:   {entry['bytes']:>10,} bytes {entry['blocks']:>7,} x {one[:60]}: gdb does not know it")
            continue
        good, members, wrong, example = look_at(memory, one, type_, blocks)
        refused, others = refuse_others(memory, type_, blocks, structures)
        all_refused, all_others = all_refused + refused, all_others + others
        failed = failed or good < len(blocks)
        if not members:
            print(f"types:   {entry['bytes']:>10,} bytes {entry['blocks']:>7,} x {one[:60]}: no member that can be wrong")
            continue
        checked += 1
        confirmed += good == len(blocks)
        print(f"types:   {entry['bytes']:>10,} bytes {entry['blocks']:>7,} x {one[:60]}: {good} of {len(blocks)} blocks possible, "
              f"{members - wrong} of {members} members{' and magic' if one in MAGIC else ''}; "
              f"as others {refused} of {others} refused{f', WRONG? {example}' if wrong else ''}")
    print(f"types:   {confirmed} of {checked} types with such members confirmed; of {all_others} blocks read as another structure {all_refused} are refused")
    failed = failed or all_refused * 2 < all_others
    gdb.execute("kill")
    return failed


try:
    result = main()
except Exception as error:  # gdb would go on with exit status 0
    print(f"types: FAIL {error}")
    result = True
gdb.execute(f"quit {int(result)}")
