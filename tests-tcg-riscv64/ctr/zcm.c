/*
 * Table 10: the jumps of Zcmp and Zcmt
 *
 * binutils 2.40 does not know them, so they are numbers here.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

#define CM_JT(index)            (0xa002 | (index) << 2)
#define CM_POPRETZ(rlist)       (0xbc02 | (rlist) << 4)
#define CM_POPRET(rlist)        (0xbe02 | (rlist) << 4)

static xlen_t table[256] __attribute__((aligned(64)));
static xlen_t frame[64] __attribute__((aligned(16)));

static struct run go(xlen_t sp)
{
    struct run r = { .mode = U, .pc = (xlen_t)gen_code, .mctrctl = CTL_U };

    r.x[2] = sp;
    ctr_clear();
    run(&r);
    return r;
}

static void jump_tables(void)
{
    struct run r;

    csr_write(CSR_JVT, table);
    for (unsigned i = 0; i < 256; i++) {
        table[i] = (xlen_t)ecall_stub;
    }
    rule("6.2 Table 10: CM.JT is a direct jump, every index");
    for (unsigned i = 0; i < 32; i++) {
        about("index %u", i);
        gen_begin();
        gen_half(CM_JT(i));
        gen_end();
        r = go(0);
        check_eq("epc", r.epc, addr(ecall_stub));
        check_buffer((const struct transfer[]){
            { addr(gen_code), addr(ecall_stub), DIR_JUMP } }, 1);
    }

    rule("6.2 Table 10: CM.JALT is a direct call, every index");
    for (unsigned i = 32; i < 256; i++) {
        about("index %u", i);
        gen_begin();
        gen_half(CM_JT(i));
        gen_end();
        r = go(0);
        check_eq("epc", r.epc, addr(ecall_stub));
        check_eq("ra", r.x[1], addr(gen_code) + 2);
        check_buffer((const struct transfer[]){
            { addr(gen_code), addr(ecall_stub), DIR_CALL } }, 1);
    }

    rule("6 CM.JT and CM.JALT whose table cannot be read are not recorded");
    csr_write(CSR_JVT, 0x40);
    for (unsigned i = 1; i < 64; i += 40) {
        about("index %u", i);
        gen_begin();
        gen_half(CM_JT(i));
        gen_end();
        r = go(0);
        check_eq("cause", r.cause, CAUSE_FETCH_ACCESS);
        check_buffer(NULL, 0);
    }
}

static void returns(const char *name, unsigned opcode)
{
    struct run r;

    rule("6.2 Table 10: %s is a function return, every rlist", name);
    for (unsigned rlist = 4; rlist < 16; rlist++) {
        about("rlist %u", rlist);
        for (unsigned i = 0; i < 64; i++) {
            frame[i] = (xlen_t)ecall_stub;
        }
        gen_begin();
        gen_half(opcode | rlist << 4);
        gen_end();
        r = go((xlen_t)frame);
        check_eq("epc", r.epc, addr(ecall_stub));
        check_eq("ra", r.x[1], addr(ecall_stub));
        check_buffer((const struct transfer[]){
            { addr(gen_code), addr(ecall_stub), RETURN } }, 1);
    }

    rule("Zcmp: %s is ret, which clears bit 0 of the target", name);
    for (unsigned i = 0; i < 64; i++) {
        frame[i] = (xlen_t)ecall_stub + 1;
    }
    gen_begin();
    gen_half(opcode | 4 << 4);
    gen_end();
    r = go((xlen_t)frame);
    check_eq("epc", r.epc, addr(ecall_stub));
    check_eq("ra", r.x[1], addr(ecall_stub) + 1);
    check_buffer((const struct transfer[]){
        { addr(gen_code), addr(ecall_stub), RETURN } }, 1);

    rule("6 %s whose stack cannot be read is not recorded", name);
    gen_begin();
    gen_half(opcode | 4 << 4);
    gen_end();
    r = go(0x40);
    check_eq("cause", r.cause, CAUSE_LOAD_ACCESS);
    check_buffer(NULL, 0);
}

/* The filters and RASEMU take them for what they are. */
static void filters(void)
{
    struct run r = { .mode = U, .pc = (xlen_t)gen_code };

    csr_write(CSR_JVT, table);
    rule("6.2 DIRJMPINH inhibits CM.JT, DIRCALLINH CM.JALT, RETINH CM.POPRET");
    for (unsigned i = 0; i < 3; i++) {
        about("case %u", i);
        gen_begin();
        gen_half(i == 0 ? CM_JT(1) : i == 1 ? CM_JT(40) : CM_POPRET(4));
        gen_end();
        r.mctrctl = CTL_U | (i == 0 ? CTL_DIRJMPINH :
                             i == 1 ? CTL_DIRCALLINH : CTL_RETINH);
        r.x[2] = (xlen_t)frame;
        r.pc = (xlen_t)gen_code;
        ctr_clear();
        run(&r);
        check_buffer(NULL, 0);
        r.mctrctl = CTL_U |
                    ((CTL_DIRJMPINH | CTL_DIRCALLINH | CTL_RETINH) &
                     ~r.mctrctl);
        r.x[2] = (xlen_t)frame;
        r.pc = (xlen_t)gen_code;
        run(&r);
        check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 1);
    }

    rule("6.4 RASEMU: CM.JALT pushes, CM.POPRET pops, CM.JT is inhibited");
    r.mctrctl = CTL_U | CTL_RASEMU;
    for (unsigned i = 0; i < 3; i++) {
        about("case %u", i);
        gen_begin();
        gen_half(i == 0 ? CM_JT(1) : i == 1 ? CM_JT(40) : CM_POPRET(4));
        gen_end();
        r.x[2] = (xlen_t)frame;
        r.pc = (xlen_t)gen_code;
        ctr_clear();
        csr_write(CSR_SCTRSTATUS, 5);
        run(&r);
        check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS),
                 i == 0 ? 5 : i == 1 ? 6 : 4);
    }
}

void test_main(void)
{
    jump_tables();
    returns("CM.POPRET", CM_POPRET(0));
    returns("CM.POPRETZ", CM_POPRETZ(0));
    filters();
}
