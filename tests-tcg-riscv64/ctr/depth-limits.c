/*
 * 2.4 "It is implementation-specific which DEPTH value(s) are supported":
 * a hart with depths 32 to 128 (CPU properties ctr-min-depth, ctr-max-depth)
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

void test_main(void)
{
    rule("2.4 sctrdepth holds each supported DEPTH");
    for (unsigned i = 1; i <= 3; i++) {
        csr_write(CSR_SCTRDEPTH, i);
        check_eq("sctrdepth", csr_read(CSR_SCTRDEPTH), i);
    }

    rule("2.4 sctrdepth: an unsupported DEPTH reads as a supported one");
    for (unsigned from = 1; from <= 3; from++) {
        for (unsigned i = 0; i < 8; i++) {
            unsigned now;

            about("%u after %u", i, from);
            csr_write(CSR_SCTRDEPTH, from);
            csr_write(CSR_SCTRDEPTH, i);
            now = csr_read(CSR_SCTRDEPTH);
            check("supported", now >= 1 && now <= 3);
            depth = 16u << now;
            csr_write(CSR_SCTRSTATUS, 0xff);
            check_eq("WRPTR", csr_read(CSR_SCTRSTATUS), depth - 1);
        }
    }

    rule("2.4 the entries of the largest supported DEPTH, and no more");
    csr_write(CSR_SCTRDEPTH, 7);
    depth = 16u << csr_read(CSR_SCTRDEPTH);
    gen_begin();
    for (unsigned i = 0; i < 300; i++) {
        gen_transfer(i % 2 ? TAKEN : IND_CALL);
    }
    gen_end();
    ctr_clear();
    run_at(U, gen_code, CTL_U);
    check_buffer(gen_list, gen_count);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 300 % depth);
    for (unsigned i = depth; i < 256; i++) {
        check_eq("ctrsource", entry_read(i).source, 0);
    }
}
