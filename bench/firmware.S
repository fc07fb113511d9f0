/*
 * OpenSBI behind a few instructions that switch recording on
 *
 * Neither OpenSBI nor Linux ever writes mctrctl, so what is set here records
 * from the first instruction of OpenSBI to the last one of Linux, on every
 * hart. OpenSBI stays where it would be without us, its arguments in a0 to a2
 * stay as they are, and so does the place of the kernel behind it.
 *
 * OPENSBI: the file. MCTRCTL: undefined when the hart has no CTR. FILTERED:
 * filters are switched on, too.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
    .section .opensbi, "awx"
opensbi:
    .incbin OPENSBI

    .text
    .globl _start
_start:
#ifdef MCTRCTL
    li t0, 4                    /* depth 256 */
    csrw 0x15f, t0              /* sctrdepth */
    li t0, MCTRCTL
    csrw 0x34e, t0              /* mctrctl */
#endif
#ifdef FILTERED
    /* filter 0 matches U, S and M, and instruction trace asks for it */
    csrr t0, mhartid
    slli t0, t0, 12
    li t1, 0x3020000            /* the first encoder */
    add t0, t0, t1
    li t1, 1 << 0 | 1 << 1 | 1 << 3
    sw t1, 0x404(t0)            /* trTeFilter0MatchInst */
    li t1, 1 << 0 | 1 << 1
    sw t1, 0x400(t0)            /* trTeFilter0Control */
    li t1, 1 << 0
    sw t1, 0xc(t0)              /* trTeInstFilters */
1:  lw t2, 0xc(t0)
    bne t1, t2, 1b              /* rather stand still than look fast */
#endif
    la t0, opensbi
    jr t0
