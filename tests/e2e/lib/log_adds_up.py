"""log_adds_up.py LOG - every line of an event log of level 3 is one of its forms, each block comes before it
goes, no address is given twice, and each event has its stack."""
import re, sys

event = re.compile(r"[0-9]+\.[0-9]{6} (T[0-9]+)(#[0-9]+)? ([a-z ]+?) ([0-9]+) at (0x[0-9a-f]+)(?:, (T[0-9]+#[0-9]+))?$")
frame = re.compile(r"    /.*\+0x[0-9a-f]+$")
live, came, went, serials, frames = {}, 0, 0, set(), 1
for number, line in enumerate(open(sys.argv[1]), 1):
    line = line.rstrip("\n")
    if frame.match(line):
        frames += 1
        continue
    found = event.match(line)
    if not found:
        sys.exit("line %d is torn: %r" % (number, line))
    if not frames:
        sys.exit("line %d: the event before has no stack" % number)
    frames = 0
    thread, count, what, size, address, of = found.groups()
    if count:
        serial = thread + count
        if address in live:
            sys.exit("line %d: %s is given twice" % (number, address))
        if serial in serials:
            sys.exit("line %d: %s comes twice" % (number, serial))
        serials.add(serial)
        live[address] = serial, size
        came += thread != "T1"
    elif live.pop(address, None) != (of, size):
        sys.exit("line %d: %s was not there so" % (number, of))
    else:
        went += thread != "T1"
print("threads add up: %d came, %d went" % (came, went))
