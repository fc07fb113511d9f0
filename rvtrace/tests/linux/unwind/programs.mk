# SPDX-License-Identifier: GPL-2.0-or-later
# make -f programs.mk OUT=DIR: the programs of run.sh, and what goes with them
#
# Each one has addresses of its own, so that they say which program runs.

here := $(dir $(lastword $(MAKEFILE_LIST)))
unwind := $(here)../../machines/unwind
guests := $(here)../../../../tests-tcg-riscv64/guests
OUT ?= $(here)../../../../build/check/rvtrace-linux-unwind/programs
CROSS ?= riscv64-linux-gnu-
CC := $(CROSS)gcc
CXX := $(CROSS)g++
CPPFLAGS := -I$(here) -I$(unwind) -I$(unwind)/../stacks -I$(guests)
CFLAGS := -Wall -Wno-unused-parameter -no-pie -fasynchronous-unwind-tables \
	-Wl,-z,lazy
MILLICODE := -Os -msave-restore
walk := $(unwind)/context.S $(unwind)/walk.c
copies := $(foreach n,0 1 2 3 4,$(OUT)/copy-$(n).c)
at = -Wl,-Ttext-segment=$(1) -o $@

programs := signals signals-os contexts contexts-os exceptions \
	exceptions-os lazy pages
all: $(programs:%=$(OUT)/%)
$(OUT):
	mkdir -p $@

signals := $(here)signals.c $(walk)
$(OUT)/signals: $(signals) | $(OUT)
	$(CC) -O2 $(CPPFLAGS) $(CFLAGS) $(call at,0x20000000) $^
$(OUT)/signals-os: $(signals) | $(OUT)
	$(CC) $(MILLICODE) $(CPPFLAGS) $(CFLAGS) $(call at,0x21000000) $^

$(copies): $(OUT)/copy-%.c: | $(OUT)
	printf '#define COPY %s\n#include "walk.c"\n#include "coroutine.c"\n' \
		$* > $@
contexts := $(here)contexts.c $(walk) $(copies)
$(OUT)/contexts: $(contexts)
	$(CC) -O2 $(CPPFLAGS) $(CFLAGS) -DSWITCHES=switch_ucontext \
		$(call at,0x22000000) $^
$(OUT)/contexts-os: $(contexts)
	$(CC) $(MILLICODE) $(CPPFLAGS) $(CFLAGS) -DSWITCHES=switch_ucontext \
		$(call at,0x23000000) $^

$(OUT)/exceptions: $(here)exceptions.cc | $(OUT)
	$(CXX) -O2 $(CFLAGS) $(call at,0x24000000) $^
$(OUT)/exceptions-os: $(here)exceptions.cc | $(OUT)
	$(CXX) $(MILLICODE) $(CFLAGS) $(call at,0x25000000) $^

$(OUT)/many.c $(OUT)/each.c $(OUT)/pages.c: $(OUT)/%.c: $(here)programs.py \
		| $(OUT)
	python3 $< $* > $@
$(OUT)/libmany.so: $(OUT)/many.c
	$(CC) -O2 $(CFLAGS) -fPIC -shared -Wl,-soname,libmany.so -o $@ $<
$(OUT)/lazy: $(here)lazy.c $(OUT)/each.c $(OUT)/libmany.so
	$(CC) -O2 $(CFLAGS) $(call at,0x26000000) $^
$(OUT)/pages: $(OUT)/pages.c
	$(CC) -O2 $(CFLAGS) $(call at,0x27000000) $<
