# libleak: a heap leak detector.  `make help` lists every target; there is nothing to configure.

PREFIX  ?= /usr/local
libdir  ?= $(PREFIX)/lib
bindir  ?= $(PREFIX)/bin
datadir ?= $(PREFIX)/share
mandir  ?= $(datadir)/man
includedir ?= $(PREFIX)/include
ARCH    ?= $(shell uname -m)
O       ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g
V       ?= 0
SAN     ?=

VERSION := 0.1.0

# ---- Flags: one line per concern -------------------------------------------

WARN     = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(WERROR)
# Includes are written from the root ("preload/heap/blocks.h"), so each one shows its folder.
BASE     = -std=gnu11 -D_GNU_SOURCE -DLEAK_VERSION='"$(VERSION)"' -DLEAK_BINDIR='"$(bindir)"' \
           -iquote . -Iinclude -MMD -MP $(WARN) $(CFLAGS) $(CPPFLAGS)
# Lives inside a stranger's process: nothing exported by default, TLS without calls into the
# loader, C++ exceptions pass through operator new, no compiler-made calls to our own malloc.
# Two words written as one vector and read as words again make the processor wait: no SLP.
RUNTIME  = -fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions \
           -fasynchronous-unwind-tables -fno-builtin-malloc -fno-tree-slp-vectorize \
           -U_FORTIFY_SOURCE $(CPU)
CPU      = -iquote preload/arch/$(ARCH)
# SAN= is for the tools and the unit tests; libleak.so itself cannot be sanitized.
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined -fno-omit-frame-pointer)

REPORT_LIBS := -ldw -lelf -lz -lm -liberty -ljansson
TOP_LIBS := -lncursesw -ltinfo -pthread
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)

# ---- Products: one folder, one artefact ------------------------------------

preload_src   := $(wildcard preload/*/*.c preload/arch/$(ARCH)/*.[cS])
common_src    := $(wildcard common/*/*.[cS])
symbolize_src := $(filter-out symbolize/cli/main.c,$(wildcard symbolize/*/*.[cS]))
live_src      := $(wildcard live/*.c)
top_src       := $(filter-out top/main.c,$(wildcard top/*.c))
control_src   := $(filter-out control/main.c,$(wildcard control/*.c))
unit_src      := $(wildcard tests/unit/*/test_*.c)

obj = $(patsubst %,$(O)/%.o,$(basename $(1)))

LIB    := $(O)/libleak.so
REPORT := $(O)/leakreport
WATCH  := $(O)/leakwatch
TOP    := $(O)/leaktop
CTL    := $(O)/leakctl
JUDGE  := $(O)/leakselftest
PLANT  := $(O)/leakplant
UNITS  := $(patsubst tests/unit/%.c,$(O)/tests/%,$(unit_src))

all: $(LIB) $(REPORT) $(WATCH) $(TOP) $(CTL) $(JUDGE) $(PLANT)      ## build everything (default)
	@:

$(LIB): $(call obj,$(preload_src))
	$(Q)$(CC) $(BASE) $(LDFLAGS) -shared -Wl,-soname,libleak.so -Wl,-z,defs -Wl,-z,now \
	  -Wl,-z,initfirst -Wl,-z,nodelete \
	  -o $@ $(filter %.o,$^) -ldl -pthread

# Everything but main(), so that tools and tests link the same code; of the library everything but
# its hooks, for a unit test must keep the libc malloc.
$(O)/common.a:    $(call obj,$(common_src))
$(O)/symbolize.a: $(call obj,$(symbolize_src))
$(O)/top.a:       $(call obj,$(top_src))
$(O)/control.a:   $(call obj,$(control_src))
$(O)/preload.a:   $(call obj,$(filter-out preload/hooks/hook_%.c preload/arch/%/tail.S preload/hooks/init.c,$(preload_src)))
$(O)/common.a $(O)/symbolize.a $(O)/top.a $(O)/control.a $(O)/preload.a:
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(REPORT): $(O)/symbolize/cli/main.o $(O)/symbolize.a $(O)/common.a
$(WATCH):  $(call obj,$(live_src)) $(O)/common.a
$(TOP):    $(O)/top/main.o $(O)/top.a $(O)/common.a
$(TOP): TOOL_LIBS = $(TOP_LIBS)
$(CTL):    $(O)/control/main.o $(O)/control.a $(O)/common.a
$(REPORT) $(WATCH) $(TOP) $(CTL):
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS) $(TOOL_LIBS)

$(JUDGE): $(O)/selftest/judge.o
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -ljansson
# Its functions keep their names when it is stripped; calls are left as they are written.
$(PLANT): $(O)/selftest/plant.o
	$(Q)$(CC) $(BASE) $(LDFLAGS) -rdynamic -o $@ $^ -ldl

$(filter $(O)/tests/preload/%,$(UNITS)): $(O)/preload.a
$(filter-out $(O)/tests/preload/%,$(UNITS)): $(call obj,tests/unit/common/store_builder.c)
$(filter $(O)/tests/symbolize/%,$(UNITS)): $(O)/symbolize.a \
  $(call obj,$(filter-out $(unit_src),$(wildcard tests/unit/symbolize/*.c)))
$(filter $(O)/tests/top/%,$(UNITS)): $(O)/top.a $(O)/symbolize.a
$(filter $(O)/tests/control/%,$(UNITS)): $(O)/control.a
$(filter-out $(O)/tests/preload/%,$(UNITS)): $(O)/common.a
$(UNITS): $(O)/tests/%: $(O)/tests/unit/%.o
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(CHECK_LIBS) $(REPORT_LIBS) -ldl -pthread

# Tools of the tests, linked like the unit tests.
$(O)/tests/fuzz_reader: $(call obj,tests/fuzz/fuzz_reader.c tests/unit/common/store_builder.c) $(O)/common.a
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS) -pthread

$(O)/tests/rows_of: $(call obj,tests/equality/rows_of.c) $(O)/preload.a
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -ldl -pthread

# Tools of the benchmarks. What they time has no frame pointers, like most of what people run.
BENCH_TOOLS := $(addprefix $(O)/bench/,measure pairs growth forks store blocks look looks files libforward.so libcensus.so)
$(addprefix $(O)/bench/,pairs growth forks): $(O)/bench/stacks.o
$(addprefix $(O)/bench/,blocks look): $(O)/preload.a
$(filter-out %.so,$(BENCH_TOOLS)): $(O)/bench/%: $(O)/bench/%.o
	$(Q)$(CC) $(BASE) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) -ldl -pthread
$(filter %.so,$(BENCH_TOOLS)): $(O)/bench/lib%.so: $(O)/bench/%.o
	$(Q)$(CC) $(BASE) $(LDFLAGS) -shared -o $@ $^ -ldl
bench-tools: $(BENCH_TOOLS)

$(O)/bench/%.o:     MODE = -fomit-frame-pointer -fPIC -fno-builtin-malloc -fno-builtin-calloc -Wno-missing-prototypes $(CPU)
$(O)/preload/%.o:   MODE = $(RUNTIME) $(SANFLAGS)
$(O)/common/%.o:    MODE = $(SANFLAGS)
$(O)/symbolize/%.o: MODE = $(SANFLAGS)
$(O)/live/%.o:      MODE = $(SANFLAGS)
$(O)/top/%.o:       MODE = $(SANFLAGS) -pthread
$(O)/control/%.o:   MODE = $(SANFLAGS)
$(O)/selftest/judge.o: MODE = $(SANFLAGS)
$(O)/selftest/plant.o: MODE = -O1 -g -fno-builtin -fno-optimize-sibling-calls -Wno-missing-prototypes
$(O)/tests/%.o:     MODE = $(SANFLAGS) $(CPU)

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(MODE) -c -o $@ $<
$(O)/symbolize/formats/html_assets.o: symbolize/formats/report.css symbolize/formats/report.js
$(O)/common/suppress/default_suppressions.o: common/suppress/default.supp
$(O)/%.o: %.S
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(MODE) -c -o $@ $<

# ---- Checking ---------------------------------------------------------------

# Each suite appends "passed failed skipped" to the file $$TALLY; tests/tally adds up. They run beside
# each other, the long ones first, so what two of them need is built before.
SUITES = sanitized wrapper e2e unit verdicts conformance growth storm lint itself fuzz
SANITIZED = $(MAKE) --no-print-directory SAN=address,undefined O=$(O)-asan
JOBS   = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 1))

demo:                                 ## install what is missing, build, run an example, show its report
	@scripts/setup build
	@$(MAKE) --no-print-directory $(JOBS) all
	@examples/demo $(O)
check:                                ## install what is missing, build, run every test
	@scripts/setup check
	@$(MAKE) --no-print-directory test
test:                                 ## make check without installing: what is missing is skipped
	@$(MAKE) --no-print-directory $(JOBS) prepared
	@tests/tally all $(abspath $(O))/tally '$(MAKE) --no-print-directory' $(SUITES)

prepared: all man tests-only
	+@$(if $(filter sanitized fuzz,$(SUITES)),$(SANITIZED) $(JOBS) $(O)-asan/leakreport \
	  $(O)-asan/tests/fuzz_reader tests-only)

unit:                                 ## unit tests; T=blocks runs one module
	@if tests/tally has-header check.h '$(CC)'; \
	 then $(MAKE) --no-print-directory $(JOBS) $(UNITS) && tests/tally unit $(O) '$(T)'; \
	 else tests/tally skip unit 'libcheck is not installed'; fi
golden: $(O)/tests/symbolize/test_golden ## rewrite tests/golden: the difference is for review
	@GOLDEN=rewrite $<
sanitized:                            ## unit tests and preflight under AddressSanitizer and UBSan
	+@status=0; $(SANITIZED) $(JOBS) $(O)-asan/leakreport && $(SANITIZED) unit || status=1; \
	tests/wrapper/run $(O)-asan every_truncation_and_many_damages_are_survived || status=1; \
	exit $$status
wrapper: all                          ## leakrun, leakwatch, install; T=name runs one case
	@tests/wrapper/run $(O) $(T)
e2e: all                              ## whole-program cases; T=name runs one
	@tests/e2e/run $(O) $(T)
itself: all tests-only                ## our own tests and tools under libleak give everything back; T=name
	@tests/itself/run $(O) $(T)
conformance: all                      ## real programs, with and without libleak; T=name runs one
	@tests/conformance/run $(O) $(T)
verdicts: all                         ## real programs: nothing is called lost that valgrind does not find lost; T=name
	@tests/verdicts/run $(O) $(T)
growth: all                           ## twenty programs, ten of which grow: named, and nothing else; T=name
	@tests/growth/run $(O) $(T)
storm: all                            ## forks, threads, execs, kills by the thousand
	@tests/storm/run $(O) $(T)
fuzz: all                             ## damaged stores, at every byte
	@tests/fuzz/run $(O) $(T)
lint: all                             ## layers, exports, shell, man pages, warnings as errors
	@scripts/lint $(O)
features: all                         ## docs/FEATURES.md row by row: runs every test it names; T=4.14 one row
	@tests/features $(O) $(T)
soak: all                             ## the long ones: more kills, longer soaks, more damage
	@KILLS=2000 SOAK_SECONDS=60 tests/storm/run $(O) $(T)
	@FUZZ_RUNS=1000000 tests/fuzz/run $(O)

equality: all                         ## every stack of real programs against two other unwinders (half an hour)
	@tests/equality/run $(O) $(T)
rows: $(O)/tests/rows_of              ## what unwind rules the objects of this machine have
	@/usr/bin/python3 tests/equality/rows.py $<

# ---- Another CPU -------------------------------------------------------------

# Cross-compiled against Debian's packages for it, unpacked below the build, and run by qemu-user.
FOREIGN          = build-aarch64
SYSROOT          = $(abspath $(FOREIGN))/sysroot
FOREIGN_PACKAGES = check libdw-dev libelf-dev zlib1g-dev libiberty-dev libjansson-dev libncurses-dev libunwind8 libstdc++6

check-aarch64:                        ## cross-compile for aarch64, run its tests under qemu-user
	@scripts/setup aarch64
	@scripts/sysroot arm64 $(SYSROOT) $(FOREIGN_PACKAGES)
	@PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	 PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/aarch64-linux-gnu/pkgconfig \
	 E2E_TIMEOUT=300 \
	 $(MAKE) --no-print-directory test O=$(FOREIGN) ARCH=aarch64 SUITES='unit signed e2e symbols' \
	 CC='aarch64-linux-gnu-gcc --sysroot=$(SYSROOT)' AR=aarch64-linux-gnu-ar \
	 CXX='aarch64-linux-gnu-g++ --sysroot=$(SYSROOT)' EMULATOR='qemu-aarch64 -L $(SYSROOT)'
signed:                               ## the unit tests that walk stacks, return addresses signed (aarch64)
	@$(MAKE) --no-print-directory unit O=$(O)-signed T='arch frames reentry_guard stack_cache track unwind' \
	  CFLAGS='$(CFLAGS) -mbranch-protection=standard'
symbols: all                          ## exported and imported symbols are the listed ones
	@scripts/lint $(O) 'exported and imported symbols are the listed ones'

# ---- Measuring ---------------------------------------------------------------

bench:                                ## install the peers, measure libleak beside them: an hour
	@scripts/setup bench
	@BUILD=$(O) bench/run programs
	@BUILD=$(O) bench/run micro
bench-blocks:                         ## memory per live block
	@BUILD=$(O) bench/run blocks

# ---- Installing -------------------------------------------------------------

partsdir = $(libdir)/libleak
docdir   = $(datadir)/doc/libleak
compdir  = $(datadir)/bash-completion/completions
headers   = $(notdir $(wildcard include/*))

install: all man                      ## honours PREFIX, DESTDIR, bindir, libdir, mandir ...
	install -d $(DESTDIR)$(partsdir) $(DESTDIR)$(bindir) $(DESTDIR)$(includedir)/libleak \
	  $(DESTDIR)$(libdir)/pkgconfig $(addprefix $(DESTDIR)$(mandir)/,man1 man3 man7) \
	  $(DESTDIR)$(docdir)/fleet $(DESTDIR)$(compdir)
	install -m 755 $(LIB) $(WATCH) $(JUDGE) $(PLANT) $(DESTDIR)$(partsdir)
	install -m 755 $(REPORT) $(TOP) $(CTL) $(DESTDIR)$(bindir)
	sed "s|^parts=.*|parts='$$(realpath -m --relative-to=$(bindir) $(partsdir))'|" \
	  scripts/leakrun >$(DESTDIR)$(bindir)/leakrun
	sed "s|^leakrun=.*|leakrun='$$(realpath -m --relative-to=$(partsdir) $(bindir))/leakrun'|" \
	  scripts/memcheck >$(DESTDIR)$(partsdir)/memcheck
	chmod 755 $(DESTDIR)$(bindir)/leakrun $(DESTDIR)$(partsdir)/memcheck
	install -m 644 include/* $(DESTDIR)$(includedir)/libleak
	sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(libdir)|' -e 's|@includedir@|$(includedir)|' \
	  -e 's|@version@|$(VERSION)|' scripts/libleak.pc.in >$(DESTDIR)$(libdir)/pkgconfig/libleak.pc
	chmod 644 $(DESTDIR)$(libdir)/pkgconfig/libleak.pc
	install -m 644 man/*.1 $(DESTDIR)$(mandir)/man1
	install -m 644 man/*.3 $(DESTDIR)$(mandir)/man3
	install -m 644 $(O)/man/libleak.7 $(DESTDIR)$(mandir)/man7
	install -m 644 LICENSE README.md $(wildcard docs/*.md docs/*.json) $(DESTDIR)$(docdir)
	install -m 644 $(wildcard docs/fleet/*) $(DESTDIR)$(docdir)/fleet
	install -m 644 scripts/completion.bash $(DESTDIR)$(compdir)/leakrun
	install -m 644 scripts/completion.bash $(DESTDIR)$(compdir)/leakreport
	install -m 644 scripts/completion.bash $(DESTDIR)$(compdir)/leaktop
	install -m 644 scripts/completion.bash $(DESTDIR)$(compdir)/leakctl
uninstall:                            ## removes what install put there
	rm -f $(addprefix $(DESTDIR)$(partsdir)/,libleak.so leakwatch leakselftest leakplant memcheck) \
	  $(addprefix $(DESTDIR)$(bindir)/,leakrun leakreport leaktop leakctl) \
	  $(addprefix $(DESTDIR)$(includedir)/libleak/,$(headers)) \
	  $(DESTDIR)$(libdir)/pkgconfig/libleak.pc \
	  $(addprefix $(DESTDIR)$(mandir)/man1/,$(notdir $(wildcard man/*.1))) \
	  $(addprefix $(DESTDIR)$(mandir)/man3/,$(notdir $(wildcard man/*.3))) \
	  $(DESTDIR)$(mandir)/man7/libleak.7 \
	  $(addprefix $(DESTDIR)$(docdir)/,LICENSE README.md $(notdir $(wildcard docs/*.md docs/*.json))) \
	  $(addprefix $(DESTDIR)$(docdir)/fleet/,$(notdir $(wildcard docs/fleet/*))) \
	  $(addprefix $(DESTDIR)$(compdir)/,leakrun leakreport leaktop leakctl)
	-rmdir $(DESTDIR)$(partsdir) $(DESTDIR)$(includedir)/libleak $(DESTDIR)$(docdir)/fleet $(DESTDIR)$(docdir) 2>/dev/null

# libleak(7) gets its options from the table, so that they cannot drift apart.
man: $(O)/man/libleak.7               ## the generated manual page
$(O)/man/libleak.7: man/libleak.7.in include/leak_options.def scripts/make-man
	@mkdir -p $(@D)
	$(Q)scripts/make-man $< include/leak_options.def >$@

clean:                                ## remove $(O)/ and its flavours
	rm -rf $(O) $(O)-asan $(O)-gcc $(O)-clang $(FOREIGN) $(FOREIGN)-signed
help:                                 ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t16

ifeq ($(V),0)
Q = @echo "  $(if $(findstring .o,$(@F)),CC,$(if $(findstring /man/,$@),MAN,LINK))	$(@:$(O)/%=%)";
endif

tests-only: $(if $(wildcard /usr/include/check.h),$(UNITS)) $(O)/tests/rows_of
.PHONY: bench bench-tools equality features rows bench-blocks all tests-only prepared demo check check-aarch64 test $(SUITES) signed symbols soak golden install uninstall man clean help
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $(O) \( -path $(O)/sysroot -o -path $(O)/wrapper -o -path $(O)/e2e \) -prune -o -type f -name '*.d' -print 2>/dev/null)
