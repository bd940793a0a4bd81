# bench.mk - rules for the benchmarks of libleak and other tools; see bench/README.md. The Makefile includes it.

# Programs of the benchmarks. They are compiled without frame pointers, like most programs.
BENCH_TOOLS := $(addprefix $(O)/bench/,measure pairs shapes growth forks store blocks look looks files blocked busy libforward.so libcensus.so)
$(addprefix $(O)/bench/,pairs shapes growth forks): $(O)/bench/stacks.o
$(addprefix $(O)/bench/,blocks look): $(O)/preload.a
$(filter-out %.so %/blocked %/busy,$(BENCH_TOOLS)): $(O)/bench/%: $(O)/bench/%.o
	$(Q)$(CC) $(BASE) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) -ldl -pthread
$(filter %.so,$(BENCH_TOOLS)): $(O)/bench/lib%.so: $(O)/bench/%.o
	$(Q)$(CC) $(BASE) $(LDFLAGS) -shared -o $@ $^ -ldl
bench-tools: $(BENCH_TOOLS)
# Programs that rounds.py attaches to, built like any other program.
$(O)/bench/blocked $(O)/bench/busy: $(O)/bench/%: bench/attach/%.c
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O1 -g -Wall -Wextra $(LDFLAGS) -o $@ $< -ldl -lrt -pthread
$(O)/bench/%.o:     MODE = -fomit-frame-pointer -fPIC -fno-builtin-malloc -fno-builtin-calloc -Wno-missing-prototypes $(CPU)


bench:                                ## install other tools, compare libleak with them: two hours
	@scripts/setup bench
	@BUILD=$(O) bench/run programs
	@BUILD=$(O) bench/run wild
	@BUILD=$(O) bench/run shapes
	@BUILD=$(O) bench/run micro
bench-blocks:                         ## memory per live block
	@BUILD=$(O) bench/run blocks

.PHONY: bench bench-tools bench-blocks
