/*
 * 6.3 "The elapsed cycle counter increments at the same rate as the mcycle
 * counter." For any rate: what mcycle counts around two records.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

struct sample {
    bool valid;
    uint64_t low;               /* least and most cycles that CC stands for */
    uint64_t high;
    uint64_t around;            /* by the cycle CSR */
};

/* "(2^12 + CCM) << CCE-1" */
static struct sample sample(unsigned instructions)
{
    struct run r = { .mode = U, .mctrctl = CTL_U };
    struct sample s;
    uint64_t data;
    unsigned ccm, cce;

    r.pc = (xlen_t)gen_begin();
    gen_word(insn_csrr(0xc00, 18));
    gen_transfer(DIR_JUMP);
    gen_nops(instructions);
    gen_transfer(DIR_JUMP);
    gen_word(insn_csrr(0xc00, 19));
    gen_end();
    ctr_clear();
    run(&r);
    s.around = r.x[19] - r.x[18];
    data = entry_read(0).data;
    s.valid = data & DATA_CCV;
    ccm = data >> 16 & 0xfff;
    cce = data >> 28 & 0xf;
    s.low = cce ? (uint64_t)(4096 + ccm) << (cce - 1) : ccm;
    s.high = s.low + (cce ? BIT(cce - 1) - 1 : 0);
    return s;
}

void test_main(void)
{
    struct sample one, two;

    one = sample(100);
#ifdef ICOUNT
    rule("6.3 CC counts at the rate of mcycle");
    for (unsigned n = 110; n < 8000; n += 391) {
        about("%u instructions", n);
        two = sample(n);
        check("CCV", one.valid && two.valid);
        check("CC grows as mcycle",
              two.around - one.around + one.low >= two.low &&
              two.around - one.around + one.high <= two.high + 1);
        check("CC is not more than mcycle saw", two.low <= two.around);
    }
#elif defined(HOST)
    rule("6.3 CC with a counter of host cycles: not more than mcycle counts");
    for (unsigned n = 110; n < 8000; n += 391) {
        about("%u instructions", n);
        two = sample(n);
        check("CCV", two.valid);
        check("CC in range", two.low <= two.around && two.low > 0);
    }
    (void)one;
#else
    rule("6.3 CC without -icount: CCV=0, or not more than mcycle counts");
    for (unsigned n = 110; n < 8000; n += 391) {
        about("%u instructions", n);
        two = sample(n);
        check("CCV=0 or CC in range",
              !two.valid || (two.low <= two.around && two.low > 0));
    }
    (void)one;
#endif
}
