# libleak: a heap leak detector.  `make help` lists every target; there is nothing to configure.
# Here: flags, products, installing. tests/tests.mk has the suites, bench/bench.mk what measures.

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

VERSION := $(shell cat VERSION)

# ---- Flags: one line per concern -------------------------------------------

# A switch over an enum names every value, so that a new one is noticed here.
WARN     = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror=switch $(WERROR)
# Includes are written from the root ("preload/blocks/blocks.h"), so each one shows its folder.
BASE     = -std=gnu11 -D_GNU_SOURCE -DLEAK_VERSION='"$(VERSION)"' -DLEAK_BINDIR='"$(bindir)"' \
           -iquote . -Iinclude -MMD -MP $(WARN) $(CFLAGS) $(CPPFLAGS) $(ANYWHERE)
# The same bytes from every folder (make reproducible); debuggers find the sources in the root of the tree.
ANYWHERE = -ffile-prefix-map=$(CURDIR)=.
# Lives inside a stranger's process: nothing exported by default, TLS without calls into the
# loader, C++ exceptions pass through operator new, no compiler-made calls to our own malloc.
# Two words written as one vector and read as words again make the processor wait: no SLP.
RUNTIME  = -fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions \
           -fasynchronous-unwind-tables -fno-builtin-malloc -fno-tree-slp-vectorize \
           -U_FORTIFY_SOURCE -fno-stack-protector $(CPU)
CPU      = -iquote preload/arch/$(ARCH_FOLDER) $(CPU_$(ARCH))
# A CPU without a folder of its own; also make ARCH_FOLDER=generic O=build/generic (make generic).
ARCH_FOLDER ?= $(if $(wildcard preload/arch/$(ARCH)),$(ARCH),generic)
# The instructions of the two x86 are read by one decoder. No vector registers: programs may call with a
# stack that has no room for them.
CPU_i386 = -iquote preload/arch/x86_64 -march=i686 -mno-sse -mno-mmx -Wno-psabi -Wno-type-limits -Wno-int-to-pointer-cast $(if $(filter hooks interpose,$(notdir $(<D))),,-D_FILE_OFFSET_BITS=64)
CPU_SHARED_i386 = preload/arch/x86_64/instruction.c preload/arch/x86_64/displace.c preload/arch/generic/frame_code.c
CPU_SHARED_aarch64 = preload/arch/generic/frame_code.c
# SAN= is for the tools and the unit tests; libleak.so itself cannot be sanitized.
# The tools read what programs wrote (SECURITY.md). Sanitizers see more without it; fortify needs optimization.
HARDEN   = $(if $(SAN),,-fPIE -fstack-protector-strong -fstack-clash-protection $(HARDEN_$(ARCH)) \
           $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN_x86_64  = -fcf-protection=full
HARDEN_aarch64 = -mbranch-protection=standard
HARDEN_LINK = $(if $(SAN),,-pie) -Wl,-z,relro,-z,now,-z,noexecstack
# LIBS_BESIDE=1 (make dist-bin): the tools take their libraries from lib/libleak/lib, wherever they are unpacked; RPATH, which
# counts for libraries of libraries, too.
BESIDE = -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib/libleak/lib:$$ORIGIN/lib'
HARDEN_LINK += $(if $(LIBS_BESIDE),$(BESIDE))
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined -fno-omit-frame-pointer)

REPORT_LIBS := -ldw -lelf -lz -lm -liberty -ljansson -ldl -pthread
SERVE_LIBS := -lmicrohttpd
SCREEN_LIBS := -lncursesw -ltinfo

# ---- Products: one folder, one artefact ------------------------------------

# Sorted, because older versions of make list files in the order of the folder.
files = $(sort $(wildcard $(1)))
preload_src   := $(call files,preload/*/*.c preload/arch/$(ARCH_FOLDER)/*.[cS]) $(CPU_SHARED_$(ARCH))
common_src    := $(call files,common/*/*.[cS])
symbolize_src := $(filter-out symbolize/cli/main.c,$(call files,symbolize/*/*.[cS]))
live_src      := $(call files,live/*.c)
top_src       := $(filter-out top/main.c,$(call files,top/*.c))
attach_src    := $(if $(filter x86_64,$(ARCH)),$(filter-out attach/other_cpu.c,$(call files,attach/*.c)), \
                 attach/refusal.c attach/other_cpu.c)
control_src   := $(filter-out control/main.c,$(call files,control/*.c))
scan_src      := $(call files,scan/*.c scan/*/*.c)
serve_src     := $(filter-out serve/main.c,$(call files,serve/*.[cS]))
graph_src     := $(filter-out graph/cli/main.c,$(call files,graph/*/*.c))

obj = $(patsubst %,$(O)/%.o,$(basename $(1)))

LIB    := $(O)/libleak.so
REPORT := $(O)/leakreport
WATCH  := $(O)/leakwatch
TOP    := $(O)/leaktop
SERVE  := $(O)/leakserve
CTL    := $(O)/leakctl
GRAPH  := $(O)/leakgraph
JUDGE  := $(O)/leakselftest
PLANT  := $(O)/leakplant

# The library for 32-bit programs of this machine, beside the other one: 32/libleak.so. A compiler without the
# link /usr/include/asm finds the kernel's headers, which are the same, by the last option.
CC_32  ?= $(CC) -m32 -idirafter /usr/include/$(ARCH)-linux-gnu
CXX_32 ?= $(or $(CXX),c++) -m32 -idirafter /usr/include/$(ARCH)-linux-gnu
LIB_32 := $(O)/32/libleak.so
AS_32   = ARCH=i386 O=$(O)/32 CC='$(CC_32)' CXX='$(CXX_32)'

COMPLETIONS := $(addprefix $(O)/completion/,libleak.bash _libleak leakrun.fish leakreport.fish leaktop.fish leakctl.fish leakgraph.fish)

all: $(LIB) $(REPORT) $(WATCH) $(TOP) $(SERVE) $(CTL) $(GRAPH) $(JUDGE) $(PLANT) $(COMPLETIONS) ## build everything (default)
	@:

lib32:                                ## libleak.so for 32-bit programs (x86_64 with gcc -m32)
	+@$(MAKE) --no-print-directory $(JOBS) $(AS_32) $(LIB_32)

# Renamed when it is whole: programs may start with the library of before while another is linked.
$(LIB): $(call obj,$(preload_src))
	$(Q)$(CC) $(BASE) $(LDFLAGS) -shared -Wl,-soname,libleak.so -Wl,-z,defs -Wl,-z,relro,-z,now,-z,noexecstack \
	  -Wl,-z,initfirst -Wl,-z,nodelete \
	  -o $@.new $(filter %.o,$^) -ldl -pthread && mv -f $@.new $@

# Everything but main(), so that tools and tests link the same code; of the library everything but
# its hooks, for a unit test must keep the libc malloc.
$(O)/common.a:    $(call obj,$(common_src))
$(O)/symbolize.a: $(call obj,$(symbolize_src))
$(O)/top.a:       $(call obj,$(top_src))
$(O)/control.a:   $(call obj,$(control_src) $(attach_src))
$(O)/scan.a:      $(call obj,$(scan_src))
$(O)/serve.a:     $(call obj,$(serve_src))
$(O)/graph.a:     $(call obj,$(graph_src))
$(O)/preload.a:   $(call obj,$(filter-out preload/hooks/hook_%.c preload/arch/%/tail.S preload/arch/%/tail.c,$(preload_src)))
$(O)/common.a $(O)/symbolize.a $(O)/top.a $(O)/control.a $(O)/scan.a $(O)/serve.a $(O)/graph.a $(O)/preload.a:
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

$(REPORT): $(O)/symbolize/cli/main.o $(O)/symbolize.a $(O)/scan.a $(O)/common.a
$(WATCH):  $(call obj,$(live_src)) $(O)/common.a
$(TOP):    $(O)/top/main.o $(O)/top.a $(O)/common.a
$(SERVE):  $(O)/serve/main.o $(O)/serve.a $(O)/top.a $(O)/common.a
$(SERVE): TOOL_LIBS = $(SERVE_LIBS)
$(TOP) $(REPORT) $(GRAPH): TOOL_LIBS = $(SCREEN_LIBS)
$(CTL):    $(O)/control/main.o $(O)/control.a $(O)/scan.a $(O)/common.a
$(GRAPH):  $(O)/graph/cli/main.o $(O)/graph.a $(O)/symbolize.a $(O)/common.a
$(REPORT) $(WATCH) $(TOP) $(SERVE) $(CTL) $(GRAPH):
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(HARDEN_LINK) $(LDFLAGS) -o $@ $^ $(REPORT_LIBS) $(TOOL_LIBS)

$(JUDGE): $(O)/selftest/judge.o
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(HARDEN_LINK) $(LDFLAGS) -o $@ $^ -ljansson
# Its functions keep their names when it is stripped; calls are left as they are written.
$(PLANT): $(O)/selftest/plant.o
	$(Q)$(CC) $(BASE) $(HARDEN_LINK) $(LDFLAGS) -rdynamic -o $@ $^ -ldl

MODE = $(HARDEN) $(SANFLAGS)
$(O)/preload/%.o: MODE = $(RUNTIME) $(SANFLAGS)
# Where libleak.so and leakserve are when the tools are installed, as leakrun knows it; and the way back.
TO_PARTS = -DLEAK_PARTS='"$(shell realpath -m --relative-to=$(bindir) $(partsdir))"'
TO_TOOLS = -DLEAK_TOOLS='"$(shell realpath -m --relative-to=$(partsdir) $(bindir))"'
$(O)/top/%.o:     MODE = $(HARDEN) $(SANFLAGS) -pthread $(TO_PARTS)
$(O)/serve/%.o:   MODE = $(HARDEN) $(SANFLAGS) -pthread $(TO_TOOLS)
$(O)/attach/%.o:  MODE = $(HARDEN) $(SANFLAGS) $(TO_PARTS)
$(O)/selftest/plant.o: MODE = -fPIE -O1 -g -fno-builtin -fno-optimize-sibling-calls -Wno-missing-prototypes
include tests/tests.mk bench/bench.mk

# What the compiler says is kept beside the object: make lint wants it empty and need not compile again.
KEEP = 2>$(@:.o=.said); status=$$?; cat $(@:.o=.said) >&2; exit $$status
$(O)/%.o: %.c VERSION
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(MODE) -c -o $@ $< $(KEEP)
$(O)/symbolize/formats/html_assets.o: $(wildcard symbolize/formats/page/*)
$(O)/serve/page_assets.o: serve/page.css
$(O)/common/suppress/default_suppressions.o: common/suppress/default.supp
$(O)/%.o: %.S
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(MODE) -c -o $@ $<

# ---- Installing -------------------------------------------------------------

partsdir = $(libdir)/libleak
docdir   = $(datadir)/doc/libleak
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir ?= $(datadir)/zsh/site-functions
sharedir = $(datadir)/libleak
LISTENERS = $(wildcard share/libleak_*)
cmakedir = $(datadir)/cmake/libleak
fishcompdir = $(datadir)/fish/vendor_completions.d
TOOLS     = leakrun leakreport leaktop leakctl leakgraph
DOCUMENTS = LICENSE README.md NEWS.md SECURITY.md $(wildcard docs/*.md docs/*.json)

install: all man                      ## honours PREFIX, DESTDIR, bindir, libdir, mandir ...
	install -d $(DESTDIR)$(partsdir) $(DESTDIR)$(bindir) $(DESTDIR)$(includedir)/libleak \
	  $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(cmakedir) $(addprefix $(DESTDIR)$(mandir)/,man1 man3 man7) \
	  $(addprefix $(DESTDIR),$(docdir)/fleet $(bashcompdir) $(zshcompdir) $(fishcompdir))
	install -m 755 $(LIB) $(WATCH) $(SERVE) $(JUDGE) $(PLANT) $(DESTDIR)$(partsdir)
	$(if $(wildcard $(LIB_32)),install -d $(DESTDIR)$(partsdir)/32 && install -m 755 $(LIB_32) $(DESTDIR)$(partsdir)/32)
	install -m 755 $(REPORT) $(TOP) $(CTL) $(GRAPH) $(DESTDIR)$(bindir)
	sed "s|^parts=.*|parts='$$(realpath -m --relative-to=$(bindir) $(partsdir))'|" \
	  scripts/leakrun >$(DESTDIR)$(bindir)/leakrun
	sed "s|^leakrun=.*|leakrun='$$(realpath -m --relative-to=$(partsdir) $(bindir))/leakrun'|" \
	  scripts/memcheck >$(DESTDIR)$(partsdir)/memcheck
	chmod 755 $(DESTDIR)$(bindir)/leakrun $(DESTDIR)$(partsdir)/memcheck
	install -m 644 include/* $(DESTDIR)$(includedir)/libleak
	sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(libdir)|' -e 's|@includedir@|$(includedir)|' \
	  -e 's|@version@|$(VERSION)|' scripts/libleak.pc.in >$(DESTDIR)$(libdir)/pkgconfig/libleak.pc
	chmod 644 $(DESTDIR)$(libdir)/pkgconfig/libleak.pc
	install -m 644 share/libleakConfig.cmake $(DESTDIR)$(cmakedir)
	install -d $(DESTDIR)$(sharedir)
	install -m 644 $(LISTENERS) $(DESTDIR)$(sharedir)
	install -d $(DESTDIR)$(sharedir)/ci $(DESTDIR)$(sharedir)/meson
	install -m 644 $(wildcard share/ci/*) $(DESTDIR)$(sharedir)/ci
	install -m 644 share/meson/meson.build $(DESTDIR)$(sharedir)/meson
	$(foreach n,1 3 7,install -m 644 $(O)/man/*.$(n) $(DESTDIR)$(mandir)/man$(n) &&) true
	install -m 644 $(DOCUMENTS) $(DESTDIR)$(docdir)
	install -m 644 $(wildcard docs/fleet/*) $(DESTDIR)$(docdir)/fleet
	$(foreach tool,$(TOOLS),install -m 644 $(O)/completion/libleak.bash $(DESTDIR)$(bashcompdir)/$(tool) &&) true
	install -m 644 $(O)/completion/_libleak $(DESTDIR)$(zshcompdir)
	install -m 644 $(O)/completion/*.fish $(DESTDIR)$(fishcompdir)
uninstall:                            ## removes what install put there
	rm -f $(addprefix $(DESTDIR)$(partsdir)/,libleak.so 32/libleak.so leakwatch leakserve leakselftest leakplant memcheck) \
	  $(addprefix $(DESTDIR)$(bindir)/,$(TOOLS)) $(addprefix $(DESTDIR)$(bashcompdir)/,$(TOOLS)) \
	  $(DESTDIR)$(zshcompdir)/_libleak $(addprefix $(DESTDIR)$(fishcompdir)/,$(addsuffix .fish,$(TOOLS))) \
	  $(addprefix $(DESTDIR)$(includedir)/libleak/,$(notdir $(wildcard include/*))) \
	  $(addprefix $(DESTDIR)$(sharedir)/,$(notdir $(LISTENERS)) $(patsubst share/%,%,$(wildcard share/ci/*)) meson/meson.build) \
	  $(DESTDIR)$(libdir)/pkgconfig/libleak.pc $(DESTDIR)$(cmakedir)/libleakConfig.cmake \
	  $(foreach n,1 3 7,$(patsubst man/%,$(DESTDIR)$(mandir)/man$(n)/%,$(wildcard man/*.$(n)))) \
	  $(addprefix $(DESTDIR)$(docdir)/,$(notdir $(DOCUMENTS))) \
	  $(addprefix $(DESTDIR)$(docdir)/fleet/,$(notdir $(wildcard docs/fleet/*)))
	-rmdir $(DESTDIR)$(partsdir)/32 2>/dev/null
	-rmdir $(DESTDIR)$(partsdir) $(addprefix $(DESTDIR)$(sharedir)/,ci meson) $(DESTDIR)$(sharedir) $(DESTDIR)$(cmakedir) $(DESTDIR)$(includedir)/libleak $(DESTDIR)$(docdir)/fleet $(DESTDIR)$(docdir) 2>/dev/null

# Manual pages get the version, and libleak(7) its options from the table, so that they agree.
man: $(patsubst %,$(O)/%,$(wildcard man/*)) ## the manual pages
$(O)/man/%: man/% include/leak_options.def scripts/make-man VERSION
	@mkdir -p $(@D)
	$(Q)scripts/make-man $< include/leak_options.def $(VERSION) >$@

# The documentation as pages: docs/site, the other documents and the manual pages.
site: man                             ## the documentation as HTML pages, in $(O)/site
	@scripts/make-site $(O)/site $(O)/man

# Completion comes from the tables of options, which the tools print.
completion: $(COMPLETIONS)            ## for bash, zsh and fish
$(O)/completion/rows: $(REPORT) $(WATCH) $(TOP) $(CTL) $(GRAPH)
	@mkdir -p $(@D)
	@for tool in $^; do $(EMULATOR) $$tool --list-options || exit; done >$@
$(O)/completion/%: scripts/make-completion $(O)/completion/rows
	$(Q)scripts/make-completion $(COMPLETE) >$@
$(O)/completion/libleak.bash: COMPLETE = bash $(O)/completion/rows scripts/completion/bash
$(O)/completion/libleak.bash: scripts/completion/bash
$(O)/completion/_libleak: COMPLETE = zsh $(O)/completion/rows scripts/completion/zsh
$(O)/completion/_libleak: scripts/completion/zsh
$(O)/completion/%.fish: COMPLETE = fish $(O)/completion/rows scripts/completion/fish $*
$(O)/completion/%.fish: scripts/make-completion $(O)/completion/rows scripts/completion/fish
	$(Q)scripts/make-completion $(COMPLETE) >$@

# ---- Releasing --------------------------------------------------------------

DIST = libleak-$(VERSION)
dist: $(O)/$(DIST).tar.gz             ## the sources of the last commit as a tarball, which builds without git
$(O)/%.tar.gz: FORCE
	@mkdir -p $(@D)
	$(Q)git archive --format=tar --prefix=$*/ HEAD | gzip -9n >$@
reproducible: dist                    ## two builds of that tarball in two folders: the same bytes
	@scripts/reproducible $(O)/$(DIST).tar.gz

# The packages of Debian, from that tarball; debian/changelog comes from VERSION, too.
deb: dist                             ## libleak, libleak0, libleak-dev and libleak-doc in $(O)/deb/
	@scripts/make-deb $(O)/$(DIST).tar.gz $(O)/deb

# For rpmbuild -ba, with the tarball of make dist in %_sourcedir.
rpm-spec: $(O)/libleak.spec           ## the specification of RPM packages, with the version
$(O)/libleak.spec: packaging/libleak.spec.in VERSION
	@mkdir -p $(@D)
	@sed "s/@version@/$(VERSION)/; s/@date@/$$(LC_ALL=C date -u -r VERSION '+%a %b %d %Y')/" $< >$@

# Built in the oldest system that has what is needed: its glibc is the oldest that the products run with.
dist-bin: dist                        ## a tarball that runs where it is unpacked: $(O)/libleak-VERSION-CPU.tar.gz
	@scripts/make-dist-bin $(O)/$(DIST).tar.gz $(O)

compdb:                               ## compile_commands.json, for editors and clang tools
	@$(MAKE) --no-print-directory -nB V=1 KEEP= all tests-only | scripts/compdb >compile_commands.json
clean:                                ## remove $(O)/ and its flavours
	rm -rf $(O) $(O)-asan $(O)-order $(O)-gcc $(O)-clang build-aarch64 build-aarch64-signed build-riscv64
help:                                 ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t16

ifeq ($(V),0)
Q = @echo "  $(if $(findstring .o,$(@F)),CC,$(if $(findstring /man/,$@),MAN,$(if $(findstring /completion/,$@),MAKE,LINK)))	$(@:$(O)/%=%)";
endif

FORCE:
.PHONY: FORCE lib32 deb dist dist-bin rpm-spec reproducible completion all install uninstall man site compdb clean help
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $(O) \( -path $(O)/sysroot -o -path $(O)/32 -o -path $(O)/generic -o -path $(O)/wrapper -o -path $(O)/e2e \) -prune -o -type f -name '*.d' -print 2>/dev/null)
