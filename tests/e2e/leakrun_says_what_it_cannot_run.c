// Hard case 32: static, setuid, AddressSanitizer, a directory, unreadable, no program, a script whose
// interpreter is static, a plain script: one clear line each and the status env(1) would give.
// NEEDS: root setpriv
// BUILD: gcc -static -w -o %d/static %s; gcc -fsanitize=address -w -o %d/asan %s; gcc -w -o %d/suid %s && chmod 4755 %d/suid; gcc -w -o %d/noexec %s && chmod 644 %d/noexec; gcc -w -static-pie -fPIE -o %d/staticpie %s; mkdir %d/folder; chmod 755 %d
// BUILD: echo '#!%d/static' >%d/script_static; printf '#!/bin/sh\nexit 3\n' >%d/script; printf '#!/no/such/sh\nexit 3\n' >%d/script_none; printf '\177ELF garbage' >%d/garbage; : >%d/empty; chmod +x %d/script* %d/garbage %d/empty; rm -f %d/link; ln -s %d/t %d/link
// RUN: for p in static staticpie asan suid noexec folder script_static script script_none garbage none/at/all link; do %run -- %d/$p >o 2>e; s=$?; echo "$p=$s lines=$(grep -c '^leakrun: ' e) $(grep -m1 '^leakrun: ' e)"; done
// RUN: %run -- no-such-program-anywhere 2>&1; echo "path=$?"
// RUN: %run 2>&1 | sed 's/^/usage: /'; %run --no-such-option 2>/dev/null -- %t; echo "bad option=$?"; %run --help >help; echo "help=$? $(grep -c . help | sed 's/[0-9][0-9]*/lines/')"; %run --version; %run -- sh -c 'kill -TERM $$' 2>/dev/null; echo "signal=$?"; %run -- sh -c 'exit 77' 2>/dev/null; echo "own=$?"
// EXPECT: ^static=126 lines=1 .*static
// EXPECT: ^staticpie=126 lines=1 .*static
// EXPECT: ^asan=126 lines=1 .*(AddressSanitizer|ASan)
// EXPECT: ^suid=126 lines=1 .*set-?(user|uid)|^suid=126 lines=1 .*setuid
// EXPECT: ^noexec=126 lines=1
// EXPECT: ^folder=126 lines=1
// EXPECT: ^script_static=126 lines=1 .*static
// EXPECT: ^script=3 
// EXPECT: ^script_none=(126|127) lines=1
// EXPECT: ^garbage=126 lines=1
// EXPECT: ^none/at/all=127 lines=1
// EXPECT: ^link=0 
// EXPECT: ^path=127
// EXPECT: ^bad option=125
// EXPECT: ^help=0 lines
// EXPECT: ^signal=143
// EXPECT: ^own=77

#include <stdlib.h>

void *volatile sink;

int main(void)
{
    sink = malloc(10);
    return 0;
}
