/*
 * What the random guests' runtime and generated code share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "../guests/macros.inc"

/* The hart's own page, which tp points to at any time in any mode */
#define SAVED_M     0
#define SAVED_S     32
#define SAVED_VS    64
#define FUEL        96      /* exceptions until the hart gives up */
#define CONTINUE    104     /* where a region is left to, in M-mode */
#define TIMECMP     112     /* addresses of the hart's own registers */
#define MSIP        120
#define HARTID      128
#define NEXT_MSIP   136     /* the next hart's */
#define ENCODER     144
#define NOISE       0x400   /* data that mean nothing, up to 0x800 */
/* Pages behind it: two for copies of the CTR, one for the stack */
#define DUMPS       0x1000
#define STACK       0x4000
#define HART_SHIFT  14

#define FUEL_START  3000

#define MSTATUS_SPELP (1 << 23)

/* Goes on behind the instruction whether it exists or not. Changes s11. */
#define TRY(...) la s11, 78f; __VA_ARGS__; 78:

/* What M-mode does when it is called by "la a7, service; ecall" ends so. */
#define SERVICE_DONE j skip_ecall

#define SERVICE(label) la a7, label; ecall
