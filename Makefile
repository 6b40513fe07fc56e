# draftmill - `make help` lists what can be made.
#
# Two builds of the same sources: build/ for use, build/test/ with the sanitizers and the failpoints.
# Everything is found by wildcard: a new source or test needs no line here.
# V=1 shows the commands, WERROR=1 stops at a warning, CC=clang takes another compiler.

VERSION := 0.1.0
PREFIX  := /usr/local
BUILD   := build
CC      := gcc
Q       := $(if $(V),,@)

ifeq ($(MAKELEVEL),0)
MAKEFLAGS := -j$(shell nproc) $(MAKEFLAGS)
endif

# Asked once, and only when a compiler runs: the packages may not be there before install-packages.
once = $(eval $(1) := $$(shell $(2)))$($(1))
PACKAGES = libuv rdkafka libcurl libmicrohttpd json-c libpq libpcre2-8 libutf8proc libcmark yaml-0.1 libcrypto
PKG_CFLAGS = $(call once,PKG_CFLAGS,pkg-config --cflags $(PACKAGES))
PKG_LIBS   = $(call once,PKG_LIBS,pkg-config --libs $(PACKAGES))
DESCRIBE   = $(call once,DESCRIBE,git describe --always --dirty --exclude '*' 2>/dev/null)

# Only the files that say these words are compiled again after a commit, or for another PREFIX.
STATED    = -DDRAFTMILL_VERSION=\"$(VERSION)$(addprefix +,$(DESCRIBE))\" -DDRAFTMILL_DATADIR=\"$(PREFIX)/share/draftmill\"
STATED_C := $(shell grep -rlsE 'DRAFTMILL_(VERSION|DATADIR)' src tests --include=*.c)

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla \
	-Wno-unused-parameter $(if $(filter 1,$(WERROR)),-Werror)
CFLAGS   := -O2 -g
HARDEN   := -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
LDFLAGS  := -pie -Wl,-z,relro,-z,now
SANITIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

CC_C11       = $(CC) -std=c11 -D_GNU_SOURCE $(PKG_CFLAGS) $(WARNINGS)
COMPILE      = $(CC_C11) $(CFLAGS) $(HARDEN) -Iinclude
COMPILE_TEST = $(CC_C11) $(SANITIZE) -DDRAFTMILL_FAILPOINTS -Iinclude
COMPILE_TOOL = $(CC_C11) $(CFLAGS) -pthread
LIBS         = -Wl,--as-needed $(PKG_LIBS) -pthread -lm

# Sources, and the objects and programs made of them.
CORE_C := $(wildcard src/base/*.c src/core/*.c)
MAIN_C := $(wildcard src/cmd/main.c)
REST_C := $(filter-out $(MAIN_C),$(wildcard src/io/*.c src/app/*.c src/cmd/*.c))
TEST_C := $(wildcard tests/unit/*.c tests/trace/*.c tests/property/*.c tests/fuzz/*.c)
TOOL_C := $(wildcard tests/lib/*.c)

T := $(BUILD)/test
objects = $(patsubst %.c,$(1)/obj/%.o,$(2))
OBJECTS  := $(call objects,$(BUILD),$(CORE_C) $(REST_C) $(MAIN_C))
TEST_OBJ := $(call objects,$T,$(CORE_C) $(REST_C) $(MAIN_C) $(TEST_C))
TOOLS    := $(patsubst tests/lib/%.c,$T/lib/%,$(TOOL_C))
programs  = $(patsubst tests/%.c,$T/%,$(wildcard $(1)))
UNIT     := $(call programs,tests/unit/test_*.c)
TRACE    := $(call programs,tests/trace/run_trace.c)
PROPERTY := $(call programs,tests/property/*.c)
FUZZ     := $(call programs,tests/fuzz/*.c)
# The other files of tests/unit are fakes: a test that includes "fake_x.h" gets fake_x.c in the place of what it stands for.
FAKES    := $(call objects,$T,$(filter-out $(wildcard tests/unit/test_*.c),$(wildcard tests/unit/*.c)))
fakes_of  = $(filter $(FAKES),$(patsubst %,$T/obj/tests/unit/%.o,$(shell sed -n 's/^\#include "\([a-z_]*\)\.h".*/\1/p' $(1))))

.PHONY: all test test-kafka test-model check bench demo format install clean help objects tools unit trace property fuzz guided e2e crash kafka FORCE
.DELETE_ON_ERROR:

all: $(BUILD)/draftmill ## the program, build/draftmill

test: ## all tests: unit, traces, end-to-end, crash
	scripts/install-packages
	+tests/run

test-kafka: ## end-to-end and crash tests on a real Apache Kafka, and what only that can show
	scripts/install-packages --kafka
	+KAFKA=4.4.0 tests/run e2e crash kafka

test-model: ## 40 real jobs on a small model on this machine: one shot and loop, each with and without a schema, side by side
	scripts/install-packages
	+$(MAKE) all tools
	BUILD=$(BUILD) tests/model/run

check: ## the rules of the house: layers, purity, sizes, words, format, warnings
	+scripts/check

bench: $(BUILD)/bench/bench_step $(BUILD)/bench/bench_check ## CPU times of steps at the size caps and MB a second of checks, in the build for use
	$(BUILD)/bench/bench_step
	$(BUILD)/bench/bench_check

demo: ## a real batch on a private database, a mock broker and a scripted model (MODEL=local: a small real one)
	scripts/install-packages --demo
	+$(MAKE) all tools
	MODEL=$(MODEL) scripts/demo

format: ## rewrites the C files in the committed style
	find src include tests -name '*.[ch]' -exec clang-format -i {} +

install: all ## into PREFIX (/usr/local), below DESTDIR if that is set
	install -D -m 755 $(BUILD)/draftmill $(DESTDIR)$(PREFIX)/bin/draftmill
	install -d $(DESTDIR)$(PREFIX)/share/draftmill $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/lib/systemd/system
	$(BUILD)/draftmill help --man >$(DESTDIR)$(PREFIX)/share/man/man1/draftmill.1
	$(BUILD)/draftmill help --bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/draftmill
	cp -R config sql $(DESTDIR)$(PREFIX)/share/draftmill/
	sed 's,/usr/local,$(PREFIX),' config/systemd/draftmill.service >$(DESTDIR)$(PREFIX)/lib/systemd/system/draftmill.service

clean: ## removes what was built
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

# What the tests of each kind need; tests/run asks for these.
unit:     $(UNIT)
trace:    $(TRACE)
property: $(PROPERTY)
fuzz:     $(FUZZ)
guided: # scripts/fuzz builds it, with clang
tools:    $(TOOLS)
e2e crash: $(BUILD)/draftmill $T/draftmill $(TOOLS)
kafka: e2e # and a second program, with a librdkafka newer than the system's
	scripts/build-librdkafka $(BUILD)/librdkafka
	+PKG_CONFIG_PATH=$(abspath $(BUILD)/librdkafka/lib/pkgconfig) $(MAKE) BUILD=$(BUILD)/newer
objects:  $(OBJECTS) $(call objects,$(BUILD),$(TEST_C) $(TOOL_C))

say = @mkdir -p $(@D); echo "$(1) $@"

$(BUILD)/draftmill: $(OBJECTS)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(call objects,$(BUILD),$(CORE_C))
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$T/draftmill: $(call objects,$T,$(MAIN_C)) $T/rest.a $T/core.a
	$(call say,LD)
	$(Q)$(CC) $(SANITIZE) -o $@ $^ $(LIBS)

$T/core.a: $(call objects,$T,$(CORE_C))
$T/rest.a: $(call objects,$T,$(REST_C))
$T/%.a:
	@rm -f $@
	$(Q)ar rcs $@ $^

# The trace runner is all of tests/trace and the two pure layers: it links without io and app.
$(TRACE): $(call objects,$T,$(wildcard tests/trace/*.c)) $T/core.a
	$(call say,LD)
	$(Q)$(CC) $(SANITIZE) -o $@ $^ $(LIBS)

$(UNIT) $(PROPERTY) $(FUZZ): $T/%: $T/obj/tests/%.o $(FAKES) $T/rest.a $T/core.a
	$(call say,LD)
	$(Q)$(CC) $(SANITIZE) -o $@ $< $(call fakes_of,tests/$*.c) $(filter %.a,$^) $(LIBS) -lcmocka $(FUZZ_ENGINE)

# Programs of the tests that stand for the outer world: one file each, no code of src/.
$(TOOLS): $T/lib/%: tests/lib/%.c $T/flags
	$(call say,LD)
	$(Q)$(COMPILE_TOOL) -MMD -MP -MF $@.d -o $@ $< $(LIBS)

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(call say,CC)
	$(Q)$(COMPILE) $(if $(filter $<,$(STATED_C)),$(STATED)) -MMD -MP -c -o $@ $<

$T/obj/%.o: %.c $T/flags
	$(call say,CC)
	$(Q)$(COMPILE_TEST) $(if $(filter $<,$(STATED_C)),$(STATED)) -MMD -MP -c -o $@ $<

# The compiler does not tell what the assembler takes in.
$(call objects,$(BUILD),src/core/language.c) $(call objects,$T,src/core/language.c): src/core/language.data

# The command lines as text: when they change, what they made is made again.
remember = @mkdir -p $(@D); echo '$(1)' | cmp -s - $@ || echo '$(1)' >$@
$(BUILD)/flags $T/flags: FORCE
	$(call remember,$(COMPILE) $(COMPILE_TEST) $(COMPILE_TOOL))
$(BUILD)/stated: FORCE
	$(call remember,$(STATED))
$(call objects,$(BUILD),$(STATED_C)) $(call objects,$T,$(STATED_C)): $(BUILD)/stated

# A header that is gone: what was made with it is made again.
%.h: ;

-include $(OBJECTS:.o=.d) $(TEST_OBJ:.o=.d) $(TOOLS:=.d)
