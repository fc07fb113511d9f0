/*
 * Entries of traps, with call frame information: see frames.c
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.cfi_sections .debug_frame

/* What a trap saves: struct frame in walk.h */
#define FRAME   (36 * XBYTES)
#define STATUS  (32 * XBYTES)
#define NEXT    (33 * XBYTES)   /* where it goes on */

/* DWARF's numbers, see frames.c; those of CSRs begin at 0x1000. */
#define COLUMN_EPC      64
#define COLUMN_SSCRATCH 0x1140
#define COLUMN_SEPC     0x1141
#define COLUMN_MSCRATCH 0x1340
#define COLUMN_MEPC     0x1341

/* All registers but sp */
.macro each_register macro
	.irp    n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, \
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\macro  \n
	.endr
.endm
.macro save n
	SX      x\n, \n * XBYTES(sp)
	.cfi_offset \n, \n * XBYTES - FRAME
.endm
.macro load n
	LX      x\n, \n * XBYTES(sp)
.endm
.macro forget n
	.cfi_restore \n
.endm

.macro begin_handler name, epc
	.balign 4
fn \name
	.cfi_startproc
	.cfi_signal_frame
	.cfi_return_column COLUMN_EPC
	.cfi_register COLUMN_EPC, \epc
.endm

.macro save_all mode
	addi    sp, sp, -FRAME
	.cfi_def_cfa_offset FRAME
	each_register save
	csrr    t0, \mode\()status
	SX      t0, STATUS(sp)
	csrr    t0, \mode\()epc
	SX      t0, 0(sp)
	.cfi_offset COLUMN_EPC, -FRAME
	SX      t0, NEXT(sp)
.endm

.macro load_all mode
	LX      t0, STATUS(sp)
	csrw    \mode\()status, t0
	LX      t0, NEXT(sp)
	csrw    \mode\()epc, t0
	each_register load
.endm

.macro end_handler name, mode, epc
	each_register forget
	.cfi_restore 2
	.cfi_register COLUMN_EPC, \epc
\name\()_leaves_switching:
	\mode\()ret
	.cfi_endproc
end \name
.endm

/*
 * struct frame *handler(struct frame *, xlen_t cause) says what goes on. Here
 * it is called on the stack that was interrupted ...
 */
.macro handler_here mode, epc
	begin_handler \mode\()_here, \epc
	save_all \mode
	mv      a0, sp
	csrr    a1, \mode\()cause
	call    \mode\()_handler
	bne     a0, sp, \mode\()_here_switching
	load_all \mode
	addi    sp, sp, FRAME
	.cfi_def_cfa_offset 0
	end_handler \mode\()_here, \mode, \epc
fn \mode\()_here_switching
	mv      sp, a0
	load_all \mode
	addi    sp, sp, FRAME
	\mode\()ret
end \mode\()_here_switching
.endm

/*
 * ... and here on that in xscratch, which is 0 while the handler runs. @same:
 * a bit of xstatus that says that the same mode was interrupted
 */
.macro enter_own mode, scratch
	csrrw   sp, \mode\()scratch, sp
	.cfi_register 2, \scratch
	bnez    sp, 1f
	csrr    sp, \mode\()scratch
1:	save_all \mode
	csrr    t0, \mode\()scratch
	SX      t0, 2 * XBYTES(sp)
	.cfi_offset 2, 2 * XBYTES - FRAME
	csrw    \mode\()scratch, zero
.endm
.macro leave_own mode, same
	LX      t0, STATUS(sp)
	li      t1, \same
	and     t1, t1, t0
	bnez    t1, 2f
	addi    t1, sp, FRAME
	csrw    \mode\()scratch, t1
2:	load_all \mode
	LX      sp, 2 * XBYTES(sp)
.endm
.macro handler_own mode, epc, scratch, same
	begin_handler \mode\()_own, \epc
	enter_own \mode, \scratch
	mv      a0, sp
	csrr    a1, \mode\()cause
	call    \mode\()_handler
	bne     a0, sp, \mode\()_own_switching
	leave_own \mode, \same
	.cfi_def_cfa_offset 0
	end_handler \mode\()_own, \mode, \epc
fn \mode\()_own_switching
	mv      sp, a0
	leave_own \mode, \same
	\mode\()ret
end \mode\()_own_switching
.endm

#if LEVEL == 3
	handler_here m, COLUMN_MEPC
#else
	handler_own m, COLUMN_MEPC, COLUMN_MSCRATCH, 0x1000
#if LEVEL == 1
	handler_here s, COLUMN_SEPC
#else
	handler_own s, COLUMN_SEPC, COLUMN_SSCRATCH, 0x100
#endif
#endif

/* begin_at(struct frame *): goes on there, in a lower mode or in M-mode */
fn begin_at_switching
	mv      sp, a0
	load_all m
	LX      sp, 2 * XBYTES(sp)
	mret
end begin_at_switching
