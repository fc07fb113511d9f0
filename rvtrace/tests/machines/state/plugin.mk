# SPDX-License-Identifier: GPL-2.0-or-later
# make -f plugin.mk OUT=DIR QEMU_INCLUDE=DIR  ->  OUT/libregisters.so
# QEMU_INCLUDE is where qemu-plugin.h of the QEMU that loads it is.

here := $(dir $(lastword $(MAKEFILE_LIST)))
OUT ?= $(here)../../../../build/check/rvtrace-state
QEMU_INCLUDE ?= $(here)../../../../build/qemu-stock/include/qemu
CC ?= gcc
CFLAGS ?= -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror

$(OUT)/libregisters.so: $(here)registers.c $(here)../observer.h \
		$(QEMU_INCLUDE)/qemu-plugin.h
	mkdir -p $(OUT)
	$(CC) $(CFLAGS) -fPIC -shared -fvisibility=hidden \
		-I$(QEMU_INCLUDE) -I$(here).. $$(pkg-config --cflags gmodule-2.0) \
		-o $@ $< $$(pkg-config --libs gmodule-2.0)
