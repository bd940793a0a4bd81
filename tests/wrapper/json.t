# The forms of the JSON report.

valid_report() { # file
    /usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip 'no python3-jsonschema here'
    /usr/bin/python3 -c 'import json, jsonschema, sys
jsonschema.Draft7Validator(json.load(open(sys.argv[1]))).validate(json.load(open(sys.argv[2])))' "$root/docs/schema.json" "$1"
}
same_report() { # with frames in place of their indices, the second file is the first one
    /usr/bin/python3 - "$1" "$2" <<'END'
import json, sys
inline, table = (json.load(open(path)) for path in sys.argv[1:])
frames = table.pop("frames")
assert len(frames) == len({json.dumps(frame) for frame in frames}), "a frame is there twice"
stacks = {"frames", "holder", "at", "jumped_from", "before", "after", "used", "opened", "closed", "others_released_in"}
def expand(value, key=None):
    if isinstance(value, dict):
        return {k: expand(v, k) for k, v in value.items()}
    if isinstance(value, list):
        if key in stacks:
            assert all(isinstance(item, int) for item in value), (key, value)
            return [frames[item] for item in value]
        return [expand(item) for item in value]
    return value
assert expand(table) == inline, "another report"
END
}
test_json_with_a_table_of_frames_is_the_same_report() {
    compile leak -g -O0 <<'END'
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
struct node { struct node *next; };
__attribute__((noinline)) static struct node *grow(int left) { struct node *n = malloc(50); n->next = left ? grow(left - 1) : 0; return n; }
int main(void) {
    struct node *volatile list = grow(5);
    char *volatile twice = strdup("freed twice");
    list = grow(7);
    list = NULL;
    fopen("/dev/null", "r");
    free(twice), free(twice);
    return 0;
}
END
    leakrun --keep=leak.leak --no-report ./leak || : # libc aborts it
    "$O/leakreport" --format=json -o default.json leak.leak
    "$O/leakreport" --format=json --json-frames=inline -o inline.json leak.leak
    "$O/leakreport" --format=json --json-frames=table -o table.json leak.leak
    cmp default.json inline.json || fail 'a small report has frames in its stacks'
    valid_report inline.json
    valid_report table.json
    same_report inline.json table.json
    for command in diff merge; do
        "$O/leakreport" $command --format=json leak.leak inline.json >of-inline || [ $? -le 2 ]
        "$O/leakreport" $command --format=json leak.leak table.json >of-table || [ $? -le 2 ]
        cmp of-inline of-table || fail "$command reads both forms"
    done
    "$O/leakreport" merge table.json >merged
    says merged 'grow .*leak|grow'
}
test_json_of_many_records_has_each_frame_once() {
    python3 "$root/bench/sites.py" 101 99 | compile few -g -O1
    python3 "$root/bench/sites.py" 101 100 | compile many -g -O1
    for program in few many; do
        leakrun --keep=$program.leak --no-report ./$program
        "$O/leakreport" --format=json -o $program.json $program.leak
    done
    "$O/leakreport" --format=json --json-frames=inline -o inline.json many.leak
    /usr/bin/python3 -c 'import json, sys; sys.exit("frames" in json.load(open("few.json")))' || fail '9,999 records have frames in their stacks'
    valid_report many.json
    same_report inline.json many.json
    [ $(($(stat -c %s many.json) * 3)) -lt "$(stat -c %s inline.json)" ] || fail 'it is not much smaller'
}
test_json_with_a_damaged_table_of_frames_is_read_without_them() {
    cat >odd.json <<'END'
{"format": "libleak", "version": 1, "processes": [{"pid": 1, "records": [
  {"signature": "0123456789abcdef", "verdict": "lost", "kind": "malloc", "bytes": 5, "blocks": 1, "frames": [0, 7, -1, null, 9223372036854775807]},
  {"signature": "0123456789abcdee", "verdict": "lost", "kind": "malloc", "bytes": 6, "blocks": 1, "frames": [0]}]}],
 "frames": [{"function": "first", "user": true}]}
END
    "$O/leakreport" merge odd.json >out
    says out 'first'
    says out '11 bytes in 2 blocks lost'
    sed '/^ "frames"/s/.*/ "frames": 3}/' odd.json >odder.json
    "$O/leakreport" merge odder.json >out
    says out '11 bytes in 2 blocks lost'
    silent_about out 'first'
}
