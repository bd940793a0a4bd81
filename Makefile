# libleak: a heap leak detector.  `make help` lists every target; there is nothing to configure.

PREFIX  ?= /usr/local
libdir  ?= $(PREFIX)/lib
bindir  ?= $(PREFIX)/bin
mandir  ?= $(PREFIX)/share/man
ARCH    ?= $(shell uname -m)
O       ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g
V       ?= 0
SAN     ?=

VERSION := 0.1.0

# ---- Flags: one line per concern -------------------------------------------

WARN     = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(WERROR)
# Includes are written from the root ("preload/blocks.h"), so each one shows its layer.
BASE     = -std=gnu11 -D_GNU_SOURCE -DLEAK_VERSION='"$(VERSION)"' -iquote . -Iinclude \
           -MMD -MP $(WARN) $(CFLAGS) $(CPPFLAGS)
# Lives inside a stranger's process: nothing exported by default, TLS without calls into the
# loader, C++ exceptions pass through operator new, no compiler-made calls to our own malloc.
RUNTIME  = -fPIC -fvisibility=hidden -ftls-model=initial-exec -fexceptions \
           -fasynchronous-unwind-tables -fno-builtin-malloc -iquote preload/arch/$(ARCH)
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)

DW_LIBS    := -ldw -lelf
DEMANGLE   := -liberty
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)

# ---- Products: one folder, one artefact ------------------------------------

preload_src   := $(wildcard preload/*.c preload/arch/$(ARCH)/*.[cS])
symbolize_src := $(filter-out symbolize/main.c,$(wildcard symbolize/*.c))
live_src      := $(wildcard live/*.c)
unit_src      := $(wildcard tests/unit/*/test_*.c)

obj = $(patsubst %,$(O)/%.o,$(basename $(1)))

LIB    := $(O)/libleak.so
REPORT := $(O)/leakreport
WATCH  := $(O)/leakwatch
UNITS  := $(patsubst tests/unit/%.c,$(O)/tests/%,$(unit_src))

all: $(LIB) $(REPORT) $(WATCH)        ## build everything (default)

$(LIB): $(call obj,$(preload_src)) preload/libleak.map
	$(Q)$(CC) $(BASE) $(LDFLAGS) -shared -Wl,-soname,libleak.so -Wl,-z,defs -Wl,-z,now \
	  -Wl,-z,initfirst -Wl,-z,nodelete -Wl,--version-script=preload/libleak.map \
	  -o $@ $(filter %.o,$^) -ldl -pthread

# Everything of symbolize/ but main(), so that tools and tests link the same code.
$(O)/symbolize.a: $(call obj,$(symbolize_src))
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The library without its hooks: a unit test must keep the libc malloc.
$(O)/preload.a: $(call obj,$(filter-out preload/hook_%.c preload/init.c,$(preload_src)))
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(REPORT): $(O)/symbolize/main.o $(O)/symbolize.a
$(WATCH):  $(call obj,$(live_src)) $(O)/symbolize.a
$(REPORT) $(WATCH):
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(DW_LIBS) $(DEMANGLE)

$(filter $(O)/tests/preload/%,$(UNITS)): $(O)/preload.a
$(filter $(O)/tests/symbolize/%,$(UNITS)): $(O)/symbolize.a
$(UNITS): $(O)/tests/%: $(O)/tests/unit/%.o
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(SANFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(CHECK_LIBS) $(DW_LIBS) $(DEMANGLE) -ldl -pthread

$(O)/preload/%.o:   MODE = $(RUNTIME) $(if $(RUNTIME_SAN),-fsanitize=$(RUNTIME_SAN))
$(O)/symbolize/%.o: MODE = $(SANFLAGS)
$(O)/live/%.o:      MODE = $(SANFLAGS)
$(O)/tests/%.o:     MODE = $(SANFLAGS)

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(MODE) -c -o $@ $<
$(O)/%.o: %.S
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(MODE) -c -o $@ $<

# ---- Checking ---------------------------------------------------------------

unit: $(UNITS)                        ## unit tests; T=blocks runs one module
	@for t in $(or $(if $(T),$(filter %/test_$(T),$^),$^),$(error no unit test named '$(T)')); \
	do $$t || exit 1; done

clean:                                ## remove $(O)/
	rm -rf $(O)
help:                                 ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t14

ifeq ($(V),0)
Q = @echo "  $(if $(findstring .o,$(@F)),CC,LINK)	$(@:$(O)/%=%)";
endif

.PHONY: all unit clean help
.DELETE_ON_ERROR:
.SECONDARY:
-include $(shell find $(O) -name '*.d' 2>/dev/null)
