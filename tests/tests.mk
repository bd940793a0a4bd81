# tests.mk - the suites; tests/README.md says how to run one case. Included by the Makefile.

UNIT_FOLDER   ?= *
unit_src      := $(filter-out $(if $(filter-out x86_64,$(ARCH)),tests/unit/attach/%) \
                 $(if $(filter generic,$(ARCH_FOLDER)),%/test_displace.c %/test_syscall_restart.c %/test_unwind_check.c), \
                 $(wildcard tests/unit/$(UNIT_FOLDER)/test_*.c))
UNITS  := $(patsubst tests/unit/%.c,$(O)/tests/%,$(unit_src))
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)
$(O)/tests/%.o:     MODE = $(SANFLAGS) $(CPU)

$(filter $(O)/tests/preload/%,$(UNITS)): $(O)/preload.a
$(filter-out $(O)/tests/preload/%,$(UNITS)): $(call obj,tests/unit/common/store_builder.c)
$(filter $(O)/tests/symbolize/%,$(UNITS)): $(O)/symbolize.a \
  $(call obj,$(filter-out $(unit_src),$(wildcard tests/unit/symbolize/*.c)))
$(filter $(O)/tests/top/%,$(UNITS)): $(O)/top.a $(O)/symbolize.a
$(filter $(O)/tests/serve/%,$(UNITS)): $(O)/serve.a $(O)/top.a
$(O)/tests/top/test_schema: $(call obj,tests/unit/top/json_schema.c)
$(filter $(O)/tests/control/% $(O)/tests/attach/%,$(UNITS)): $(O)/control.a $(O)/scan.a
$(filter $(O)/tests/scan/%,$(UNITS)): $(call obj,tests/unit/scan/heap.c) $(O)/scan.a
$(filter $(O)/tests/graph/%,$(UNITS)): $(call obj,tests/unit/graph/graph_builder.c) $(O)/graph.a $(O)/symbolize.a
$(filter-out $(O)/tests/preload/%,$(UNITS)): $(O)/common.a
$(UNITS): $(O)/tests/%: $(O)/tests/unit/%.o
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(CHECK_LIBS) $(REPORT_LIBS) -ldl -pthread

# Tools of the tests, linked like the unit tests.
$(O)/tests/fuzz_reader: $(call obj,tests/fuzz/fuzz_reader.c tests/unit/common/store_builder.c) $(O)/symbolize.a $(O)/common.a
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS) -pthread

$(O)/tests/fuzz_names: $(call obj,tests/fuzz/fuzz_names.c) $(O)/common.a
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS) -pthread

$(O)/tests/fuzz_core: $(call obj,tests/fuzz/fuzz_core.c) $(O)/scan.a $(O)/common.a
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS) -pthread

$(O)/tests/rows_of: $(call obj,tests/equality/rows_of.c) $(O)/preload.a
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -ldl -pthread

tests-only: $(if $(wildcard /usr/include/check.h),$(UNITS)) $(O)/tests/rows_of

# ---- Checking ---------------------------------------------------------------

# Each suite appends "passed failed skipped" to the file $$TALLY; tests/tally adds up. They run beside
# each other, the long ones first, so what two of them need is built before.
SUITES = sanitized wrapper e2e unit types verdicts conformance growth storm lint itself fuzz word32
# -O1: a third less to compile than -O2, and the sanitizers see more.
SANITIZED = $(MAKE) --no-print-directory SAN=address,undefined O=$(O)-asan CFLAGS='$(patsubst -O2,-O1,$(CFLAGS))'
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
	+@$(if $(filter sanitized fuzz,$(SUITES)),$(SANITIZED) $(JOBS) $(addprefix $(O)-asan/,leakreport leaktop leakserve) \
	  $(O)-asan/tests/fuzz_reader $(O)-asan/tests/fuzz_names $(O)-asan/tests/fuzz_core tests-only)

quick:                                ## what the uncommitted changes touch: their unit tests, layers, exports
	@scripts/quick $(O) '$(MAKE) --no-print-directory $(JOBS)'
unit:                                 ## unit tests; T=blocks runs one module
	@if tests/tally has-header check.h '$(CC)'; \
	 then $(MAKE) --no-print-directory $(JOBS) $(UNITS) && tests/tally unit $(O) '$(T)'; \
	 else tests/tally skip unit 'libcheck is not installed'; fi
golden: $(addprefix $(O)/tests/symbolize/test_,golden readback) ## rewrite tests/golden: the difference is for review
	@rm -f $(filter-out %.model,$(wildcard tests/golden/*))
	@for test in $^; do GOLDEN=rewrite CK_EXCLUDE_TAGS=readers $$test || exit; done
schema: $(O)/tests/top/test_schema    ## rewrite the JSON schemas in docs/ from the tables of fields
	@SCHEMA=rewrite $<
mutants: $(UNITS)                     ## planted mistakes, one at a time: the unit tests notice each; T=name
	+@scripts/mutants $(O) '$(MAKE) --no-print-directory' $(T)
sanitized:                            ## unit tests and preflight under AddressSanitizer and UBSan
	+@status=0; $(SANITIZED) $(JOBS) $(addprefix $(O)-asan/,leakreport leaktop leakserve) && $(SANITIZED) unit || status=1; \
	tests/wrapper/run $(O)-asan every_truncation_and_many_damages_are_survived || status=1; \
	tests/wrapper/run $(O)-asan hostile_clients_cost_little || status=1; \
	exit $$status
docs-check: all                       ## links of the site, and each command of its pages and of the README
	@status=0; for case in $(shell sed -n 's/^test_\(.*\)().*/\1/p' tests/wrapper/site.t); do tests/wrapper/run $(O) $$case || status=1; done; exit $$status
wrapper: all                          ## leakrun, leakwatch, install; T=name runs one case
	@tests/wrapper/run $(O) $(T)
e2e: all                              ## whole-program cases; T=name runs one
	@tests/e2e/run $(O) $(T)
itself: all tests-only                ## our own tests and tools under libleak give everything back; T=name
	@tests/itself/run $(O) $(T)
conformance: all                      ## real programs, with and without libleak; T=name runs one
	@tests/conformance/run $(O) $(T)
conformance-all: all                  ## every program of PATH, with and without libleak (an hour); A='--only=sed --jobs=4'
	@tests/conformance/all.py $(O) $(A)
verdicts: all                         ## real programs: nothing is called lost that valgrind does not find lost; T=name
	@tests/verdicts/run $(O) $(T)
types: all                            ## the types of blocks of 25 programs are right; T=name; FULL=1 tries every build
	@tests/types/run $(O) $(T)
types-debian: all                     ## types in programs of Debian, built with -g and confirmed by gdb; D=folder for them; T=name
	@tests/types/debian $(O) $(or $(D),$(O)/types-debian) $(T)
growth: all                           ## twenty-two programs, half of which grow: named, and nothing else; T=name
	@tests/growth/run $(O) $(T)
storm: all                            ## forks, threads, execs, kills by the thousand
	@tests/storm/run $(O) $(T)
fuzz: all                             ## damaged stores, at every byte, damaged ELF files and cores; T=reader, T=names, T=core
	@tests/fuzz/run $(O) $(T)
lint: all                             ## layers, exports, shell, man pages, warnings as errors
	@scripts/lint $(O)
features: all                         ## docs/FEATURES.md row by row: runs every test it names; T=4.14 one row
	@tests/features $(O) $(T)
soak: all                             ## the long ones: more kills, longer soaks, more damage, 500 attaches of each program
	@KILLS=2000 SOAK_SECONDS=60 tests/storm/run $(O) $(T)
	@SOAK_SECONDS=$${SOAK_SECONDS:-7200} tests/storm/run $(O) everything_at_once
	@FUZZ_RUNS=1000000 tests/fuzz/run $(O) reader
	@FUZZ_RUNS=100000 tests/fuzz/run $(O) names
	@FUZZ_RUNS=100000 tests/fuzz/run $(O) core
	@BUILD=$(O) bench/run attach

lock-order:                           ## e2e and storm with a library that asserts the order of preload/lifecycle.def
	+@$(MAKE) --no-print-directory $(JOBS) O=$(O)-order CFLAGS='$(CFLAGS) -DLEAK_DEBUG' e2e storm

equality: all                         ## every stack of real programs against two other unwinders (half an hour)
	@tests/equality/run $(O) $(T)
rows: $(O)/tests/rows_of              ## what unwind rules the objects of this machine have
	@/usr/bin/python3 tests/equality/rows.py $<

# ---- Another CPU -------------------------------------------------------------

# Cross-compiled against Debian's packages for it, unpacked below the build, and run by qemu-user. aarch64 has a
# folder in preload/arch/, riscv64 has none, and Debian 12 has no packages for it. Its gcc 12 writes unwind tables
# on request only; that of Debian 13 always does. qemu-user of Debian 12 takes the signal mask of riscv64's sigaction
# from 8 bytes behind it, so that of Debian 13, a static program, is unpacked, too.
FOREIGN          = build-$(@:check-%=%)
SYSROOT          = $(abspath $(FOREIGN))/sysroot
FOREIGN_PACKAGES = check libdw-dev libelf-dev zlib1g-dev libiberty-dev libjansson-dev libmicrohttpd-dev libncurses-dev libunwind8 libstdc++6
DEBIAN_aarch64   = arm64
DEBIAN_riscv64   = riscv64/trixie
QEMU_aarch64     = qemu-aarch64
QEMU_riscv64     = $(abspath $(FOREIGN))/qemu/usr/bin/qemu-riscv64
CODE_riscv64     = -fasynchronous-unwind-tables -L$(SYSROOT)/usr/lib/riscv64-linux-gnu

check-aarch64: FOREIGN_SUITES = unit signed e2e symbols
check-riscv64: FOREIGN_SUITES = unit e2e symbols
check-riscv64: FOREIGN_UNITS = UNIT_FOLDER=preload ONLY=generic
check-aarch64:                        ## cross-compile for aarch64, run its tests under qemu-user
check-riscv64:                        ## the same for riscv64: the runtime and whole programs, with preload/arch/generic
check-aarch64 check-riscv64: check-%:
	@scripts/setup $*
	@scripts/sysroot $(DEBIAN_$*) $(SYSROOT) $(FOREIGN_PACKAGES)
	@[ $* != riscv64 ] || scripts/sysroot $$(dpkg --print-architecture)/trixie $(abspath $(FOREIGN))/qemu qemu-user
	@PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	 PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$*-linux-gnu/pkgconfig \
	 E2E_TIMEOUT=300 \
	 $(MAKE) --no-print-directory test O=$(FOREIGN) ARCH=$* SUITES='$(FOREIGN_SUITES)' $(FOREIGN_UNITS) \
	 CC='$*-linux-gnu-gcc --sysroot=$(SYSROOT) $(CODE_$*)' AR=$*-linux-gnu-ar \
	 CXX='$*-linux-gnu-g++ --sysroot=$(SYSROOT) $(CODE_$*)' EMULATOR='$(QEMU_$*) -L $(SYSROOT)'
signed:                               ## the unit tests that walk stacks, return addresses signed (aarch64)
	@$(MAKE) --no-print-directory unit O=$(O)-signed T='arch frames reentry_guard stack_cache track unwind' \
	  CFLAGS='$(CFLAGS) -mbranch-protection=standard'
symbols: all                          ## exported and imported symbols are the listed ones
	@scripts/lint $(O) 'exported and imported symbols are the listed ones'

# The folder for CPUs that have none, on x86_64: the unit tests of what depends on the CPU, and some whole programs.
GENERIC       = $(O)/generic
AS_GENERIC    = ARCH_FOLDER=generic O=$(GENERIC)
GENERIC_UNITS = arch frames reentry_guard signal_trampoline stack_cache stop_the_world unwind
GENERIC_CASES = code_shapes_unwind exception_and_longjmp_across_frames fibres leak_lines_are_right malloc_family_counts_exactly \
                namespace_of_its_own plugin_constructor_and_looked_up_malloc runpath_of_plugin_is_honoured signal_handler_on_sigaltstack \
                small_stacks tags_of_a_forked_child_are_its_own threads_that_are_never_joined throwing_plugin_in_c_host
generic: all                          ## a CPU without a folder in preload/arch/, tried on x86_64; T=name runs one program
	+@[ $(ARCH) = x86_64 ] || { tests/tally skip generic 'x86_64 only'; exit; }; \
	$(MAKE) --no-print-directory $(JOBS) $(AS_GENERIC) $(GENERIC)/libleak.so \
	  $(if $(wildcard /usr/include/check.h),$(addprefix $(GENERIC)/tests/preload/test_,$(GENERIC_UNITS))) || exit; \
	ln -sf ../leakreport ../leakwatch ../leakctl ../leaktop $(GENERIC); status=0; \
	[ ! -e $(GENERIC)/tests ] || tests/tally unit $(GENERIC) '$(GENERIC_UNITS)' || status=1; \
	for case in $(or $(T),$(GENERIC_CASES)); do tests/e2e/run $(GENERIC) $$case || status=1; done; exit $$status

# 32-bit programs on this machine: unit tests of the library and whole programs, compiled with -m32. The tools are the
# 64-bit ones. libcheck comes from Debian's package, unpacked below the build.
UNITS_32   = $(addprefix $(O)/32/tests/preload/test_,$(shell sed 's/ *\#.*//' tests/unit/preload/word32))
PACKAGES_32 = check libunwind8
SYSROOT_32 = $(abspath $(O))/32/sysroot
CHECK_LIBS_32 = $(addprefix $(SYSROOT_32)/usr/lib/i386-linux-gnu/,libcheck.a libsubunit.a) -lrt -lm

WORD32_CASES = arena_over_malloc_is_looked_into handlers_are_seen_as_given linked_malloc_over_libcs_counts_once local_of_main_is_lost_after_return \
               longjmp_out_of_malloc malloc_family_counts_exactly waits_with_times_of_64_bits_end_in_time
word32: all                           ## a few cases of check-i386; T=name
	+@echo 'int main(void) { return 0; }' | $(CC_32) -x c -o /dev/null - 2>/dev/null || \
	  { tests/tally skip word32 'no compiler for 32 bits'; exit; }; \
	$(MAKE) --no-print-directory lib32 || exit; \
	ln -sf ../leakreport ../leakwatch ../leakctl ../leaktop ../leakgraph $(O)/32; status=0; export CC='$(CC_32)' CXX='$(CXX_32)'; \
	for case in $(or $(T),$(WORD32_CASES)); do tests/e2e/run $(O)/32 $$case || status=1; done; exit $$status
check-i386: all lib32                 ## compile for 32-bit programs, run its tests on this machine
	@ln -sf ../leakreport ../leakwatch ../leakctl ../leaktop ../leakgraph $(O)/32
	@scripts/sysroot i386 $(SYSROOT_32) $(PACKAGES_32)
	@$(MAKE) --no-print-directory $(JOBS) $(AS_32) CHECK_LIBS='$(CHECK_LIBS_32)' REPORT_LIBS= $(UNITS_32)
	@LD_LIBRARY_PATH=$(SYSROOT_32)/usr/lib/i386-linux-gnu tests/tally unit $(O)/32 '$(T)'
	@CC='$(CC_32)' CXX='$(CXX_32)' tests/e2e/run $(O)/32 $(T)

.PHONY: types-debian check-i386 docs-check conformance-all lock-order tests-only prepared demo check quick test golden schema features equality rows soak check-aarch64 check-riscv64 signed symbols $(SUITES) mutants
