/*
 * A straight run of more than a page
 *
 * row main 2
 * row main;work 5001
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "function.inc"

	.option norvc
fn main
	jal     work
	j       pass
end main
leaf work, 5001
