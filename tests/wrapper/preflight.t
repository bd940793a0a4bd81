# What cannot be tracked is said before it runs: one line, what to do next, and env(1)'s status.

program='int main(void) { return 0; }'

refused() { # status, words, program...
    wanted=$1 words=$2
    shift 2
    status=0
    leakrun -- "$@" >out 2>err || status=$?
    equal "status of $1" "$status" "$wanted"
    equal "lines about $1" "$(wc -l <err)" 1
    says err "^leakrun: .*$words"
    status=0
    "$O/leakreport" preflight "$1" >pre 2>&1 || status=$?
    equal "leakreport preflight $1" "$status" "$wanted"
    says pre "$words"
}

test_static_program() {
    echo "$program" | compile s -static
    refused 126 'statically linked.*without -static' ./s
}
test_static_pie_program() {
    echo "$program" | compile s -static-pie -fPIE
    refused 126 'statically linked' ./s
}
test_setuid_and_setgid_program() {
    echo "$program" | compile s
    cp s g
    chmod 4755 s
    chmod 2755 g
    refused 126 'setuid' ./s
    refused 126 'setgid' ./g
}
test_file_capabilities() {
    need_root
    need setpriv setcap
    echo "$program" | compile s
    copy_for_all_users "$O/leakreport" s
    chmod 755 "$place/s"
    setcap cap_net_raw+ep "$place/s" || skip "no file capabilities on this file system"
    setpriv --reuid=65534 --clear-groups "$place/tool" preflight "$place/s" >pre || equal status $? 126
    says pre 'file capabilities'
}
test_32_bit_program() {
    # The header alone decides: no 32-bit compiler needed.
    echo "$program" | compile s
    printf '\001' | dd of=s bs=1 seek=4 conv=notrunc 2>/dev/null
    mkdir alone
    cp "$O/libleak.so" "$O/leakreport" alone # without 32/libleak.so beside them
    status=0
    leakrun --with-library=alone/libleak.so -- ./s >out 2>err || status=$?
    equal 'status' "$status" 126
    says err '^leakrun: .*32-bit'
    status=0
    alone/leakreport preflight ./s >pre || status=$?
    equal 'leakreport preflight' "$status" 126
    says pre '32-bit'
    # With it the machine decides, and this one is none of both.
    mkdir alone/32
    cp "$O/libleak.so" alone/32
    status=0
    alone/leakreport preflight ./s >pre || status=$?
    equal 'with a library' "$status" 126
    says pre 'another machine'
}
test_other_machine() {
    echo "$program" | compile s
    printf '\363\000' | dd of=s bs=1 seek=18 conv=notrunc 2>/dev/null
    refused 126 'another machine' ./s
}
test_address_sanitizer_of_gcc() {
    echo "$program" | compile s -fsanitize=address || skip "no libasan here"
    refused 126 'AddressSanitizer' ./s
}
test_address_sanitizer_of_clang() {
    need clang
    echo "$program" >s.c
    clang -w -fsanitize=address -o s s.c || skip "clang has no runtime here"
    refused 126 'AddressSanitizer' ./s
}
test_thread_sanitizer() {
    echo "$program" | compile s -fsanitize=thread || skip "no libtsan here"
    refused 126 'ThreadSanitizer, .*-fsanitize=thread' ./s
    echo "$program" | compile s -fsanitize=thread -static-libtsan || skip "no libtsan.a here"
    refused 126 'ThreadSanitizer' ./s
}
test_memory_sanitizer_of_clang() {
    need clang
    echo "$program" >s.c
    clang -w -fsanitize=memory -o s s.c || skip "clang has no runtime here"
    refused 126 'MemorySanitizer, .*-fsanitize=memory' ./s
}
test_musl_program() {
    need musl-gcc
    echo "$program" >s.c
    musl-gcc -w -o s s.c
    refused 126 'musl' ./s
}
test_missing_loader() {
    echo "$program" | compile s -Wl,--dynamic-linker=/no/such/ld.so
    refused 127 'needs the loader /no/such/ld.so' ./s
}
test_unreadable_program() {
    need_root
    need setpriv
    echo "$program" | compile s
    copy_for_all_users "$O/leakreport" s
    chmod 111 "$place/s"
    setpriv --reuid=65534 --clear-groups "$place/tool" preflight "$place/s" >pre || equal status $? 126
    says pre 'cannot be read.*chmod \+r'
}
test_not_executable_file() {
    echo "$program" | compile s
    chmod 644 s
    refused 126 'not executable.*chmod \+x' ./s
    mkdir dir
    mv s dir/only_here
    PATH=$PWD/dir:$PATH refused 126 'not executable' only_here
}
test_directory() {
    mkdir folder
    refused 126 'is a directory' ./folder
}
test_missing_program() {
    refused 127 'No such file' ./none
    refused 127 'no such program in \$PATH' no-such-program-anywhere
    refused 127 'no such program' ''
}
test_empty_and_damaged_files() {
    : >empty
    printf '\177ELF' >short
    echo "$program" | compile s
    head -c 100 s >cut
    { printf '\0'; head -c 3000 /dev/urandom; } >noise # a line without a NUL would make it a script
    echo "$program" | compile object.o -c
    chmod +x empty short cut noise object.o
    refused 126 'is empty' ./empty
    refused 126 'cut short' ./short
    refused 126 'damaged' ./cut
    refused 126 'neither an ELF program nor a script' ./noise
    refused 126 'object file' ./object.o
}
test_every_truncation_and_many_damages_are_survived() {
    need python3
    echo "$program" | compile s -Wl,--build-id=none
    python3 - "$O/leakreport" <<'P'
import os, random, subprocess, sys
whole = open("s", "rb").read()
random.seed(1)
names = []
def put(data):
    name = "d%d" % len(names)
    open(name, "wb").write(data)
    os.chmod(name, 0o755)
    names.append("./" + name)
for size in list(range(1, 1200, 7)) + list(range(1200, len(whole), 997)):
    put(whole[:size])
for i in range(600):
    data = bytearray(whole)
    for _ in range(random.randint(1, 8)):
        data[random.randrange(0, 1024 if i % 2 else len(data))] = random.choice([0, 255, random.randrange(256)])
    put(bytes(data))
run = subprocess.run([sys.argv[1], "preflight"] + names, capture_output=True, text=True, errors="replace")
assert run.returncode in (0, 126, 127), (run.returncode, run.stderr)
assert len(run.stdout.splitlines()) >= len(names), run.stdout
P
    rm -f d*
}
test_scripts_are_judged_by_their_interpreter() {
    echo "$program" | compile static -static
    printf '#!%s/static\n' "$PWD" >direct
    printf '#! %s/static -x y\n' "$PWD" >spaced
    printf '#!/usr/bin/env static\n' >by_env
    printf '#!/usr/bin/env -S A=1 static -x\n' >by_split
    printf '#!%s/direct\n' "$PWD" >twice
    printf '#!/no/such/sh\n' >none
    chmod +x direct spaced by_env by_split twice none
    for script in direct spaced by_env by_split twice; do
        PATH=$PWD:$PATH refused 126 "static .*script.*statically linked" ./$script
    done
    refused 127 '/no/such/sh .*script' ./none
    printf '#!%s/loop\n' "$PWD" >loop
    chmod +x loop
    refused 126 'too deep' ./loop
}
test_scripts_run() {
    printf '#!/bin/sh\nexit 3\n' >one
    printf '#!/usr/bin/env -S sh -e\nexit 4\n' >two
    printf 'exit 5\n' >three
    printf '#!/usr/bin/env sh\r\nexit 6\n' >four
    chmod +x one two three
    equal one "$(status_of leakrun ./one)" 3
    equal two "$(status_of leakrun ./two)" 4
    equal 'no #! line: sh, as execvp does it' "$(status_of leakrun ./three)" 5
}
test_own_malloc_runs_and_what_cannot_be_tracked_is_said_once() {
    compile s <<'C'
#include <stddef.h>
static char heap[1 << 20]; static size_t used;
void *malloc(size_t n) { void *p = heap + used; used += (n + 15) & ~15ul; return p; }
void free(void *);
__asm__(".text; .globl free; .type free, %function; free: .byte 6, 0, 0, 0, 0, 0, 0, 0; .size free, 8");
int main(void) { return malloc(1) ? 6 : 7; }
C
    status=0
    leakrun ./s 2>err || status=$?
    equal status $status 6
    says err "^libleak: the program's own malloc is not tracked: free: it begins with code that cannot be moved\$"
    equal lines "$(grep -c 'own malloc' err)" 1
}
test_loader_as_the_program() {
    loader=$(readelf -l /bin/true | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    equal status "$(status_of leakrun "$loader" /bin/true)" 0
}
