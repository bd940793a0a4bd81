// The short form of make equality: each stack of some real programs is the same for two other unwinders.
// NOBUILD:
// NEEDS: /usr/lib/x86_64-linux-gnu/libunwind.so.8 jq sqlite3 clang-format perl xmllint
// RUN: unset TALLY; CAPTURES=2000 SAMPLE=7 %S/../equality/run %O jq sqlite3 clang_format perl xmllint
// EXPECT: ^equality: 10 passed, 0 failed, 0 skipped

/* Nothing to compile. */
