/*
 * Control transfer records as S-mode software uses them
 *
 * M-mode lets S-mode have CTR (mstateen0.CTR) and drops to S-mode, which
 * records transfers of every kind, freezes the record, prints it on the UART
 * and compares it with what it did. Control Transfer Records 1.0: chapters
 * "CSRs" (sctrctl, sctrstatus, sctrdepth), "Entry Registers" (ctrsource,
 * ctrtarget, ctrdata) and "Behavior" (types, filters, RAS emulation, modes).
 *
 * To be run with
 *   -cpu rv64,smctr=on,ssctr=on,smcsrind=on,sscsrind=on,smstateen=on
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define mstateen0   0x30c
#define sctrctl     0x14e
#define sctrstatus  0x14f
#define siselect    0x150
#define sireg       0x151       /* ctrsource: pc, bit 0 valid */
#define sireg2      0x152       /* ctrtarget: pc, bit 0 mispredicted */
#define sireg3      0x153       /* ctrdata: bits 3:0 type */
#define sctrdepth   0x15f
#define mctrctl     0x34e

#define SCTRCLR .word 0x10400073

#define STATEEN_CTR     (1 << 54)
#define STATEEN_CSRIND  (1 << 60)
#define STATEEN_SE0     (1 << 63)

#define CTR_U           (1 << 0)
#define CTR_S           (1 << 1)
#define CTR_RASEMU      (1 << 7)
#define CTR_EXCINH      (1 << 33)
#define CTR_TRETINH     (1 << 35)
#define CTR_NTBREN      (1 << 36)
#define CTR_TKBRINH     (1 << 37)
#define CTR_INDCALLINH  (1 << 40)
#define CTR_DIRCALLINH  (1 << 41)
#define CTR_DIRJMPINH   (1 << 43)
#define CTR_RETINH      (1 << 45)
#define FROZEN          0x80000000

#define FIRST_ENTRY 0x200
#define DEPTH_32    1

#define EXCEPTION       1
#define TRAP_RETURN     3
#define NOT_TAKEN       4
#define TAKEN           5
#define INDIRECT_CALL   8
#define DIRECT_CALL     9
#define INDIRECT_JUMP   10
#define DIRECT_JUMP     11
#define SWAP            12
#define RETURN          13
#define OTHER_INDIRECT  14
#define OTHER_DIRECT    15

/* Clears the record and begins to record with this sctrctl. Changes t0. */
#define RECORD(ctl) li t0, ctl; csrw sctrctl, t0; SCTRCLR; \
	li t0, FROZEN; csrc sctrstatus, t0
#define FREEZE li t0, FROZEN; csrs sctrstatus, t0
/* Fails unless the record is that of the table. */
#define COMPARE(table) la a0, table; li a1, __LINE__; call compare

	.text
	.globl  main
main:
	PMP_ALL
	li      t0, STATEEN_CTR | STATEEN_CSRIND | STATEEN_SE0
	csrw    mstateen0, t0
	csrw    mctrctl, zero
	li      t0, (1 << CAUSE_BREAKPOINT) | (1 << CAUSE_ECALL_U)
	csrw    medeleg, t0
	la      t0, s_trap
	csrw    stvec, t0
	SET_MTVEC(m_trap)
	MRET_TO(MPP_S, in_s)

in_s:
	li      t0, DEPTH_32
	csrw    sctrdepth, t0
	csrr    t1, sctrdepth
	CHECK_EQ(t0, t1)
	csrw    sctrctl, zero
	SCTRCLR
	COMPARE(nothing)

	/* Transfers of every kind; M-mode and U-mode are not recorded. */
	la      t1, e
	la      t2, g
	la      a4, i
	la      a5, l
	RECORD(CTR_S)
a:	beqz    zero, b
	nop
b:	bnez    zero, bad           /* not taken: NTBREN is off */
c:	j       d
	nop
d:	jal     ra, function        /* returns */
d1:
e0:	jalr    t1                  /* indirect call: e is a function, too */
f:	jr      t2
	nop
g:	jal     a3, h               /* neither link register */
	nop
h:	jalr    a3, a4              /* the same, indirect */
	nop
i:	jal     t0, swapper         /* it swaps back */
i1:	jalr    ra, a5
j1:	nop
	.option push
	.option norvc
k:	ebreak                      /* to S: exception and trap return */
k1:	ecall                       /* to M: not recorded, nor the return */
	.option pop
k2:	beqz    zero, k3
	nop
k3:	FREEZE
	j       1f                  /* frozen: not recorded */
1:	la      a0, everything
	call    print_record
	COMPARE(everything)
	/* The frozen bit can be read. */
	csrr    t1, sctrstatus
	li      t0, FROZEN
	and     t1, t1, t0
	CHECK_EQ(t1, t0)

	/* Branches that are not taken */
	RECORD(CTR_S | CTR_NTBREN | CTR_TKBRINH)
n:	bnez    zero, bad
n1:	beqz    zero, n2
	nop
n2:	bnez    zero, bad
n3:	FREEZE
	COMPARE(not_taken)

	/* Filters: only returns are left */
	RECORD(CTR_S | CTR_EXCINH | CTR_TRETINH | CTR_TKBRINH | \
	       CTR_INDCALLINH | CTR_DIRCALLINH | CTR_DIRJMPINH)
	beqz    zero, 1f
1:	j       1f
1:	call    function
o:	la      t1, e
	jalr    t1
	.option push
	.option norvc
p:	ebreak
	.option pop
	FREEZE
	COMPARE(filtered)

	/* RAS emulation: calls push, returns pop, whatever the filters say */
	RECORD(CTR_S | CTR_RASEMU | CTR_DIRCALLINH | CTR_RETINH)
	beqz    zero, 1f
1:	call    function
q:	jal     ra, outer           /* freezes within inner */
q1:
	li      t0, FROZEN
	csrc    sctrstatus, t0
	csrw    sctrctl, zero

	/* U-mode is not recorded: no target on the way, no source back. */
	la      t1, in_u
	csrw    sepc, t1
	li      t1, MSTATUS_SPP
	csrc    sstatus, t1
	RECORD(CTR_S)
r:	sret
in_u:
	j       1f
1:
	ecall                       /* s_trap returns to S-mode behind it */
t:	FREEZE
	COMPARE(partial)

	/* More transfers than the record is deep: the newest ones are left. */
	RECORD(CTR_S)
	li      t2, 100
u:	addi    t2, t2, -1
v:	bnez    t2, u
	FREEZE
	COMPARE(full)
	csrw    sctrctl, zero
	la      a0, text_ok
	call    print
	PASS

function:
function_ret:
	ret
e:
e_ret:
	ret
swapper:
swap:
	jalr    ra, t0              /* rd and rs1: both link registers */
l:
l_ret:
	jr      ra
outer:
	mv      s5, ra
outer_call:
	jal     ra, inner
outer_1:
	mv      ra, s5
	ret
inner:
	FREEZE
	mv      s6, ra
	COMPARE(stack)
	mv      ra, s6
	j       inner_ret
inner_ret:
	ret

/* Both go on behind the instruction; from U-mode in S-mode */
	.balign 4
m_trap:
	csrr    t3, mcause
	addi    t3, t3, -CAUSE_ECALL_S
	bnez    t3, bad
	csrr    t3, mepc
	addi    t3, t3, 4
	csrw    mepc, t3
	mret
	.balign 4
s_trap:
	csrr    t3, sepc
	addi    t3, t3, 4
	csrw    sepc, t3
	li      t3, MSTATUS_SPP
	csrs    sstatus, t3
s_ret:
	sret

bad:
	li      a0, __LINE__
	j       fail

/*
 * a0: table of (source, target, type), oldest first, ended by type 0;
 * a1: line. Entries behind the table's must be invalid.
 */
compare:
	mv      s0, a0
	mv      s1, a0
1:	ld      t1, 16(s1)          /* the end */
	beqz    t1, 2f
	addi    s1, s1, 24
	j       1b
2:	li      s2, FIRST_ENTRY
3:	csrw    siselect, s2
	csrr    t1, sireg
	csrr    t2, sireg2
	csrr    t3, sireg3
	andi    t3, t3, 15
	beq     s1, s0, 4f
	addi    s1, s1, -24
	ld      t4, 0(s1)
	ori     t4, t4, 1
	bne     t1, t4, 5f
	ld      t4, 8(s1)
	andi    t2, t2, ~1
	bne     t2, t4, 5f
	ld      t4, 16(s1)
	bne     t3, t4, 5f
	j       6f
4:	bnez    t1, 5f
6:	addi    s2, s2, 1
	li      t4, FIRST_ENTRY + 32
	bne     s2, t4, 3b
	ret
5:	mv      s3, a1
	call    print_record
	mv      a0, s3
	j       fail

/* Prints the valid entries, newest first. */
print_record:
	mv      s4, ra
	la      a0, text_head
	call    print
	li      s2, FIRST_ENTRY
1:	csrw    siselect, s2
	csrr    t1, sireg
	andi    t1, t1, 1
	beqz    t1, 2f
	csrr    t3, sireg3
	andi    t3, t3, 15
	slli    t3, t3, 4
	la      a0, type_names
	add     a0, a0, t3
	call    print
	csrr    a0, sireg
	andi    a0, a0, ~1
	call    print_digits
	la      a0, text_to
	call    print
	csrr    a0, sireg2
	andi    a0, a0, ~1
	call    print_hex
2:	addi    s2, s2, 1
	li      t1, FIRST_ENTRY + 32
	bne     s2, t1, 1b
	jr      s4

	.section .rodata
text_head:
	.asciz  "CTR, newest first: type, source, target\n"
text_to:
	.asciz  " -> "
text_ok:
	.asciz  "CTR: all records are as expected\n"

/* 16 bytes each */
type_names:
	.asciz  "none           "
	.asciz  "exception      "
	.asciz  "interrupt      "
	.asciz  "trap return    "
	.asciz  "not taken      "
	.asciz  "taken branch   "
	.asciz  "6              "
	.asciz  "7              "
	.asciz  "indirect call  "
	.asciz  "direct call    "
	.asciz  "indirect jump  "
	.asciz  "direct jump    "
	.asciz  "coroutine swap "
	.asciz  "return         "
	.asciz  "other indirect "
	.asciz  "other direct   "

.macro  record source, target, type
	.dword  \source, \target, \type
.endm
.macro  end
	.dword  0, 0, 0
.endm
	.balign 8
nothing:
	end
everything:
	record  a, b, TAKEN
	record  c, d, DIRECT_JUMP
	record  d, function, DIRECT_CALL
	record  function_ret, d1, RETURN
	record  e0, e, INDIRECT_CALL
	record  e_ret, f, RETURN
	record  f, g, INDIRECT_JUMP
	record  g, h, OTHER_DIRECT
	record  h, i, OTHER_INDIRECT
	record  i, swapper, DIRECT_CALL
	record  swap, i1, SWAP
	record  i1, l, INDIRECT_CALL
	record  l_ret, j1, RETURN
	record  k, s_trap, EXCEPTION
	record  s_ret, k1, TRAP_RETURN
	record  k2, k3, TAKEN
	end
not_taken:
	record  n, n1, NOT_TAKEN
	record  n2, n3, NOT_TAKEN
	end
filtered:
	record  function_ret, o, RETURN
	record  e_ret, p, RETURN
	end
stack:
	record  q, outer, DIRECT_CALL
	record  outer_call, inner, DIRECT_CALL
	end
partial:
	record  r, 0, TRAP_RETURN
	record  0, s_trap, EXCEPTION
	record  s_ret, t, TRAP_RETURN
	end
full:
	.rept   32
	record  v, u, TAKEN
	.endr
	end
