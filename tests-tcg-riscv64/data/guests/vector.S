/*
 * Data accesses: vector loads and stores, which are those of their elements
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "macros.inc"

#define VS_ON (1 << 9)
#define NOWHERE 0x88000000

/*
 * The instructions of every kind, for n elements of that size. The scalar ones
 * behind vse and vle look like elements.
 */
#define EACH(n, sew) \
	li a0, n; \
	vsetvli a1, a0, e##sew, m2, ta, ma; \
	vlm.v v0, (s2); \
	vle##sew.v v4, (s0); \
	vse##sew.v v4, (s1); \
	vle##sew.v v6, (s0), v0.t; \
	vse##sew.v v6, (s1), v0.t; \
	li a2, 24; \
	vlse##sew.v v8, (s0), a2; \
	li a2, -16; \
	addi a3, s1, 1024; \
	vsse##sew.v v8, (a3), a2; \
	vsse##sew.v v8, (a3), a2, v0.t; \
	vlse##sew.v v8, (s0), zero; \
	vle16.v v12, (s3); \
	vsetvli a1, a0, e##sew, m1, ta, ma; \
	vluxei16.v v8, (s0), v12; \
	vsoxei16.v v8, (s1), v12; \
	vsuxei16.v v8, (s1), v12, v0.t; \
	vlseg3e##sew.v v8, (s0); \
	vsseg3e##sew.v v8, (s1); \
	vsseg2e##sew.v v8, (s1), v0.t; \
	vlsseg2e##sew.v v8, (s0), a2; \
	vle##sew##ff.v v4, (s0); \
	vse##sew.v v4, (s1); \
	sb a0, 0(s1); \
	sh a0, 0(s1); \
	sw a0, 0(s1); \
	sd a0, 0(s1); \
	vle##sew.v v4, (s0); \
	lb a3, 0(s1); \
	lh a3, 0(s1); \
	lw a3, 0(s1); \
	ld a3, 0(s1)
#define SIZES(n) \
	EACH(n, 8); EACH(n, 16); EACH(n, 32); EACH(n, 64)

	.option arch, +v
	.text
	.globl  main
main:
	SET_MTVEC(rec_trap)
	li      t0, VS_ON
	csrs    mstatus, t0
	la      s0, values
	la      s1, room
	la      s2, mask
	la      s3, indices

	SIZES(1)
	SIZES(5)
	SIZES(16)
	SIZES(0)
	vl1re8.v v4, (s0)
	vl2re32.v v4, (s0)
	vl4re64.v v8, (s0)
	vs1r.v  v4, (s1)
	vs4r.v  v8, (s1)
	vsm.v   v0, (s1)

	/* across pages; traps behind some elements, and goes on with vstart */
	li      a0, 8
	vsetvli a1, a0, e32, m2, ta, ma
	la      a2, room + 4096 - 12
	vle32.v v4, (a2)
	vse32.v v4, (a2)
	la      a2, room + 4096 - 13
	vle32.v v4, (a2)
	li      a2, NOWHERE - 12
	EXPECT_TRAP(CAUSE_STORE_ACCESS, vse32.v v4, (a2))
	csrr    a3, vstart
	csrw    vstart, zero
	EXPECT_TRAP(CAUSE_LOAD_ACCESS, vlse32.v v4, (a2), a0)
	csrw    vstart, zero
	vle32ff.v v4, (a2)
	csrr    a3, vl
	vsetvli a1, a0, e32, m2, ta, ma
	li      a3, 3
	csrw    vstart, a3
	vle32.v v4, (s0)
	PASS

	.data
	.balign 8
mask:	.byte   0xa5, 0x3c, 0xff, 0x01, 0, 0, 0, 0
	.balign 8
indices:
	.set    x, 0
	.rept   64
	.half   x & 0x3f8
	.set    x, x * 5 + 72
	.endr
	.balign 8
values:
	.set    x, 1
	.rept   2048
	.byte   x & 0xff
	.set    x, x * 13 + 91
	.endr
	.balign 4096
room:	.space  8192
