/*
 * OpenSBI behind a few instructions that switch recording on
 *
 * Neither OpenSBI nor Linux ever writes mctrctl, so what is set here records
 * from the first instruction of OpenSBI to the last one of Linux, on every
 * hart. OpenSBI stays where it would be without us, its arguments in a0 to a2
 * stay as they are, and so does the place of the kernel behind it.
 *
 * OPENSBI: the file. MCTRCTL: undefined when the hart has no CTR.
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
    la t0, opensbi
    jr t0
