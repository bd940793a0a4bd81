// Programs that handle or report faults themselves: python's faulthandler, and a crash under it.
// NEEDS: python3
// NOBUILD:
// RUN: python3 -X faulthandler -c 'import os; os.abort()' 2>without; a=$?
// RUN: PYTHONMALLOC=malloc %leak python3 -X faulthandler -c 'import os; os.abort()' 2>with; b=$?
// RUN: echo "status $a $b"; sed -i s/0x[0-9a-f]*// with without; cmp without with && cat with
// RUN: %leak python3 -X faulthandler -c 'import faulthandler; faulthandler._sigsegv()' 2>&1; echo "status $?"
// RUN: %report store/*.leak | grep CRASH
// EXPECT: ^status 134 134$
// EXPECT: Fatal Python error: Aborted
// EXPECT: Fatal Python error: Segmentation fault
// EXPECT: ^status 139$
// EXPECT: CRASH: SIGABRT
// EXPECT: CRASH: SIGSEGV
