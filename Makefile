# tarry: see README.md for the two commands (make demo, make check), CONTRIBUTING.md for the rest.
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules

# Short lines ("CC cli/main.c"); make V=1 shows the commands.
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@echo "  $(1)  $(2)")
# All CPUs, unless the caller says -j himself.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
SUBMAKE = $(MAKE) --no-print-directory $(JOBS)

# Another machine's build: make CROSS=aarch64-linux-gnu- (CONTRIBUTING.md).
CROSS   ?=
B       ?= build$(CROSS:%-=/%)
CC      := $(if $(filter default undefined,$(origin CC)),$(CROSS)gcc,$(CC))
PREFIX  ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0
PKGCONF ?= $(if $(CROSS),PKG_CONFIG_LIBDIR=/usr/lib/$(CROSS:%-=%)/pkgconfig:/usr/share/pkgconfig )pkg-config

# The include DAG (docs/architecture.md): a folder sees only what it may include, so that an arrow
# against the data flow does not compile.
FOLDERS        := base format recorder decoder model analysis analysis/graph session tui report export cli
SEES_base      := base
SEES_format    := base format
SEES_recorder  := base format recorder
SEES_decoder   := base format decoder
SEES_model     := base decoder model
SEES_analysis  := base decoder model analysis analysis/graph
SEES_analysis/graph := base analysis/graph
SEES_session   := base format decoder model analysis analysis/graph session
SEES_tui       := base decoder model analysis analysis/graph tui
SEES_report    := base format decoder model analysis analysis/graph session report
SEES_export    := base format decoder model analysis analysis/graph session export
SEES_cli       := base format recorder decoder model analysis analysis/graph session tui report export cli
SEES_tests     := $(FOLDERS) tests/unit

LIBS_PC   := libzstd liblz4 zlib libtraceevent libtracefs libseccomp ncursesw capstone libdw libelf
LIBS_TEST := cmocka vterm

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Werror -Wshadow -Wvla -Wundef -Wpointer-arith -Wstrict-prototypes \
           -Wmissing-prototypes -Wold-style-definition -Wno-unused-parameter -Wno-sign-compare
HARDEN  := -fstack-protector-strong -fPIE $(if $(SAN),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
CPPFLAGS_ALL = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DTY_VERSION='"$(VERSION)"' $(CPPFLAGS)
CFLAGS_ALL   = -std=gnu17 $(WARN) $(HARDEN) -pthread $(CFLAGS) $(SAN)
LDFLAGS_ALL  = -pie -Wl,-z,relro,-z,now -pthread $(SAN) $(LDFLAGS)
SAN     ?=

PC_CFLAGS := $(shell $(PKGCONF) --cflags $(LIBS_PC) 2>/dev/null)
# capstone is loaded when it is needed (decoder/disasm.c).
PC_LIBS   := $(shell $(PKGCONF) --libs $(filter-out capstone,$(LIBS_PC)) 2>/dev/null) -ldl
# libipt has no .pc file. Without it tarry says "built without Intel PT decoding". Linked, because a
# cross compiler sees the headers of this machine, too.
HASH := \#
ifneq ($(shell printf '$(HASH)include <intel-pt.h>\nint main(void) { return 0; }\n' | $(CC) $(LDFLAGS) -x c - -o /dev/null -lipt 2>/dev/null && echo yes),)
PC_CFLAGS += -DTY_HAVE_IPT
PC_LIBS   += -lipt
endif

# Nor has libiberty. Without it names of C++ and Rust functions stay as they are in the file.
ifneq ($(shell printf '$(HASH)include <libiberty/demangle.h>\nint main(void) { return !cplus_demangle_v3_callback; }\n' | $(CC) $(LDFLAGS) -x c - -o /dev/null -liberty 2>/dev/null && echo yes),)
PC_CFLAGS += -DTY_HAVE_IBERTY
PC_LIBS   += -liberty
endif

# What reads strings and stacks in the kernel (recorder/*.bpf.c) is built with clang and becomes headers
# with bpftool. Without these, or without libbpf, "built without BPF".
BPFCC    ?= clang
BPFTOOL  ?= $(firstword $(wildcard $(addsuffix /bpftool,$(subst :, ,$(PATH)) /usr/sbin)))
ifneq ($(and $(BPFTOOL),$(shell command -v $(BPFCC))),)
ifneq ($(shell $(PKGCONF) --exists libbpf 2>/dev/null && echo yes),)
BPF_SKEL  := $(B)/gen/call_data.skel.h $(B)/gen/stacks.skel.h $(B)/gen/sampler.skel.h $(B)/gen/counters.skel.h $(B)/gen/untraced_culprits.skel.h
PC_CFLAGS += -DTY_HAVE_BPF $(shell $(PKGCONF) --cflags libbpf)
PC_LIBS   += $(shell $(PKGCONF) --libs libbpf)
endif
endif

SRC      := $(filter-out %.bpf.c,$(foreach d,$(FOLDERS),$(wildcard $(d)/*.c)))
OBJ      := $(SRC:%.c=$(B)/obj/%.o)
LIBOBJ   := $(filter-out $(B)/obj/cli/main.o,$(OBJ))
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_LIB := $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(B)/unit/%)
PROG_SRC := $(wildcard tests/programs/*.c)
PROG_BIN := $(PROG_SRC:tests/programs/%.c=$(B)/programs/%)
# What tests preload into tarry.
PRELOAD  := $(patsubst tests/programs/preload/%.c,$(B)/programs/%.so,$(wildcard tests/programs/preload/*.c))
# Planted stalls and controls without one; stalls.sh records them.
STALL_SRC := $(wildcard tests/programs/stalls/*.c)
STALL_BIN := $(STALL_SRC:tests/programs/stalls/%.c=$(B)/programs/stalls/%)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/fuzz/%)
FUZZ_SECONDS ?= 120
# Programs for an emulated machine (tests/rig); the kernel modules there are built by their own script.
RIG_BIN := $(patsubst tests/rig/%.c,$(B)/rig/%,$(filter-out tests/rig/%_replay.c,$(wildcard tests/rig/*.c)))

.PHONY: all demo check golden bench soak lint asan sanitized fuzz install uninstall clean deps deps-test deps-rig deps-bench deps-fuzz unit unit-syntax programs rig fuzzers

all: $(B)/tarry

# A build that cannot find its libraries says which command helps.
$(B)/.deps-ok:
	@$(PKGCONF) --exists $(LIBS_PC) || { \
	  echo "tarry: libraries are missing ($(LIBS_PC)). $(if $(CROSS),They are needed for $(CROSS:%-=%): add them to the packages of that architecture:,As root on Debian: make deps. Elsewhere install:)" >&2; \
	  scripts/deps --list build >&2; exit 1; }
	@mkdir -p $(B) && touch $@

# Another compiler or other flags: everything is built again.
$(B)/.flags: FORCE
	@mkdir -p $(B)
	@echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PC_CFLAGS) $(LDFLAGS_ALL)' | cmp -s - $@ || \
	  echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PC_CFLAGS) $(LDFLAGS_ALL)' >$@
FORCE:

define folder_rules
$(B)/obj/$(1)/%.o: $(1)/%.c $(B)/.flags | $(B)/.deps-ok
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)
	$$(Q)$(CC) $$(CPPFLAGS_ALL) $$(CFLAGS_ALL) $$(PC_CFLAGS) $(patsubst %,-iquote %,$(SEES_$(1))) -MMD -MP -c -o $$@ $$<
endef
$(foreach d,$(FOLDERS),$(eval $(call folder_rules,$(d))))

# -mcpu=v3: kernels from 5.12 on. <linux/types.h> of the machine that builds: its types are alike.
BPF_INCLUDE := $(addprefix -idirafter ,/usr/include $(wildcard /usr/include/$(shell gcc -print-multiarch 2>/dev/null)))
BPF_ARCH := $(if $(findstring aarch64,$(shell $(CC) -dumpmachine)),arm64,x86)
$(B)/gen/%.bpf.o: recorder/%.bpf.c $(wildcard recorder/*_bpf.h) format/call_data_record.h format/stack_record.h format/counter_record.h $(B)/.flags
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(BPFCC) -O2 -g -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-parameter $(BPF_INCLUDE) -iquote format -iquote recorder -c -o $@ $<

$(B)/gen/%.skel.h: $(B)/gen/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@.new && mv $@.new $@

ifdef BPF_SKEL
$(BPF_SKEL:$(B)/gen/%.skel.h=$(B)/obj/recorder/%.o): $(B)/obj/recorder/%.o: $(B)/gen/%.skel.h
$(BPF_SKEL:$(B)/gen/%.skel.h=$(B)/obj/recorder/%.o): PC_CFLAGS += -isystem $(B)/gen
endif

# Loops over the rows of blocks: a fifth to a third fewer instructions.
$(B)/obj/model/table_fill.o $(B)/obj/model/table_code.o $(B)/obj/model/mem_points.o $(B)/obj/model/mem_points_fill.o $(B)/obj/model/store.o: CFLAGS_ALL += -O3 -funroll-loops

$(B)/libtarry.a: $(LIBOBJ)
	@rm -f $@
	$(call say,AR,$(patsubst $(B)/%,%,$@))
	$(Q)$(CROSS)ar rcs $@ $^

# libc first: the dynamic linker looks through libraries in this order, and most functions are libc's (start
# and end of tarry --version: 3.03 instead of 3.46 million instructions).
$(B)/tarry: $(B)/obj/cli/main.o $(B)/libtarry.a
	$(call say,LD,$(patsubst $(B)/%,%,$@))
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(if $(SAN),,-lc) $(PC_LIBS) -lm

# tests ---------------------------------------------------------------------------------------------
$(B)/obj/tests/unit/%.o: tests/unit/%.c $(B)/.flags | $(B)/.deps-ok
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PC_CFLAGS) $(patsubst %,-iquote %,$(SEES_tests)) -MMD -MP -c -o $@ $<

# An archive: a test that stands in for a part of the program takes no fixture that needs the part.
$(B)/libfixtures.a: $(UNIT_LIB:%.c=$(B)/obj/%.o)
	@rm -f $@
	$(call say,AR,$(patsubst $(B)/%,%,$@))
	$(Q)$(CROSS)ar rcs $@ $^

$(B)/unit/%: $(B)/obj/tests/unit/%.o $(B)/libfixtures.a $(B)/libtarry.a
	@mkdir -p $(@D)
	$(call say,LD,$(patsubst $(B)/%,%,$@))
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(PC_LIBS) $(shell $(PKGCONF) --libs $(LIBS_TEST)) -lm

$(B)/programs/%: tests/programs/%.c
	@mkdir -p $(@D)
	$(call say,LD,$(patsubst $(B)/%,%,$@))
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Werror -pthread -o $@ $<

# Reads recordings with tarry's own reader.
$(B)/programs/section_text: $(B)/obj/tests/programs/section_text.o $(B)/libtarry.a
	@mkdir -p $(@D)
	$(call say,LD,$(patsubst $(B)/%,%,$@))
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(PC_LIBS) -lm

$(B)/obj/tests/programs/section_text.o: tests/programs/section_text.c $(B)/.flags | $(B)/.deps-ok
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PC_CFLAGS) $(patsubst %,-iquote %,$(SEES_tests)) -MMD -MP -c -o $@ $<

$(B)/programs/%.so: tests/programs/preload/%.c
	@mkdir -p $(@D)
	$(call say,LD,$(patsubst $(B)/%,%,$@))
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O2 -g -Wall -Werror -shared -fPIC -o $@ $< -ldl

$(B)/programs/stalls/%: tests/programs/stalls/%.c $(wildcard tests/programs/stalls/*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Werror -pthread -o $@ $<

$(B)/obj/tests/rig/%.o: tests/rig/%.c $(B)/.flags | $(B)/.deps-ok
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PC_CFLAGS) $(patsubst %,-iquote %,$(SEES_tests)) -MMD -MP -c -o $@ $<

$(B)/rig/%: $(B)/obj/tests/rig/%.o $(B)/libtarry.a
	@mkdir -p $(@D)
	$(call say,LD,$(patsubst $(B)/%,%,$@))
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(PC_LIBS) -lm

$(B)/obj/tests/bench/%.o: tests/bench/%.c $(B)/.flags | $(B)/.deps-ok
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PC_CFLAGS) $(patsubst %,-iquote %,$(SEES_tests)) -MMD -MP -c -o $@ $<

$(B)/bench/%: $(B)/obj/tests/bench/%.o $(B)/libfixtures.a $(B)/libtarry.a
	@mkdir -p $(@D)
	$(call say,LD,$(patsubst $(B)/%,%,$@))
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(PC_LIBS) $(shell $(PKGCONF) --libs $(LIBS_TEST)) -lm

# Fuzzers (clang only): libFuzzer's main is linked in here, everything else is built with SAN.
$(B)/obj/tests/fuzz/%.o: tests/fuzz/%.c $(B)/.flags | $(B)/.deps-ok
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PC_CFLAGS) $(patsubst %,-iquote %,$(SEES_tests)) -MMD -MP -c -o $@ $<

$(B)/fuzz/fuzz_%: $(B)/obj/tests/fuzz/fuzz_%.o $(B)/libtarry.a
	@mkdir -p $(@D)
	$(call say,LD,$(patsubst $(B)/%,%,$@))
	$(Q)$(CC) $(CFLAGS_ALL) -fsanitize=fuzzer $(LDFLAGS_ALL) -o $@ $^ $(PC_LIBS) -lm

$(B)/fuzz/seeds: $(B)/obj/tests/fuzz/seeds.o $(UNIT_LIB:%.c=$(B)/obj/%.o) $(B)/libtarry.a
	@mkdir -p $(@D)
	$(call say,LD,$(patsubst $(B)/%,%,$@))
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $^ $(PC_LIBS) $(shell $(PKGCONF) --libs $(LIBS_TEST)) -lm

fuzzers: $(FUZZ_BIN)

unit: $(UNIT_BIN)
# The warnings of another compiler, without building anything: 4 s. The fuzzers, too, which no other check builds.
unit-syntax: $(B)/.deps-ok
	$(call say,CHECK,tests/unit)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PC_CFLAGS) $(patsubst %,-iquote %,$(SEES_tests)) -fsyntax-only $(UNIT_SRC) $(UNIT_LIB) $(FUZZ_SRC) tests/fuzz/seeds.c

programs: $(PROG_BIN) $(PRELOAD) $(STALL_BIN)
rig: $(RIG_BIN)

deps:
	scripts/deps build

deps-test:
	scripts/deps build test

deps-bench:
	scripts/deps build test bench

deps-fuzz:
	scripts/deps build test fuzz

check: deps-test
	$(SUBMAKE) all unit programs
	$(SUBMAKE) CC=clang B=build/clang all unit-syntax
	scripts/lint
	tests/run

# Both sanitizers, by clang: gcc's UBSan does not see that something is added to a null pointer. What the
# tests record is built as always.
SANITIZED := B=build/asan CC=clang SAN="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
sanitized: deps-test
	$(SUBMAKE) programs
	$(SUBMAKE) $(SANITIZED) all unit

asan: sanitized
	tests/sanitized unit

fuzz: deps-fuzz
	$(SUBMAKE) B=build/fuzz CC=clang CPPFLAGS="-DINDEX_MIN=0 -DLATER_MIN=1" SAN="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined" fuzzers build/fuzz/fuzz/seeds
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run

# The frames that tests compare with (tests/golden), drawn anew: read the diff.
GOLDEN := timeline timeline_memory timeline_regions timeline_lanes memory_view spectrum path_overlay flow_view flame perf_stat_rounds
golden: $(GOLDEN:%=$(B)/unit/test_%)
	for t in $(GOLDEN:%=$(B)/unit/test_%); do GOLDEN_UPDATE=1 $$t >/dev/null || exit 1; done
	git diff --stat -- tests/golden

deps-rig:
	scripts/deps build test rig

soak: deps-rig sanitized
	$(SUBMAKE) all unit programs
	tests/soak

bench: deps-bench
	$(SUBMAKE) all programs $(B)/bench/frame_cost
	tests/bench/run
	tests/bench/evidence
	tests/bench/open
	tests/bench/memory
	tests/bench/frame
	tests/bench/view
	tests/bench/flow
	tests/bench/regions
	tests/bench/sampling

demo: deps
	$(SUBMAKE) all $(B)/programs/demo_stall
	scripts/demo

lint:
	scripts/lint

# -----------------------------------------------------------------------------------------------------
install: all
	install -D -m 755 $(B)/tarry $(DESTDIR)$(PREFIX)/bin/tarry
	install -D -m 644 include/tarry.h $(DESTDIR)$(PREFIX)/include/tarry.h
	install -D -m 644 completions/tarry.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tarry
	install -D -m 644 completions/_tarry $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_tarry
	install -D -m 644 completions/tarry.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/tarry.fish
	for m in docs/*.[15]; do [ ! -f $$m ] || install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/}; done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/tarry $(DESTDIR)$(PREFIX)/include/tarry.h
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tarry
	rm -f $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_tarry
	rm -f $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/tarry.fish
	for m in docs/*.[15]; do rm -f $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/}; done

clean:
	rm -rf $(B)

.SECONDARY:
-include $(OBJ:.o=.d) $(wildcard $(B)/obj/tests/unit/*.d $(B)/obj/tests/fuzz/*.d $(B)/obj/tests/rig/*.d $(B)/obj/tests/bench/*.d)
