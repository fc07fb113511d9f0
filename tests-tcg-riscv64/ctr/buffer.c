/*
 * Chapter 6 and 4.1: the buffer, its wrapping and clearing; what retires
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ctr.h"

static const struct entry ones = { ~0ull, ~0ull, ~0ull };

static void set_depth(unsigned code)
{
    csr_write(CSR_SCTRDEPTH, code);
    depth = 16u << (csr_read(CSR_SCTRDEPTH) & 7);
}

static void generate(unsigned n)
{
    static const unsigned types[] = {
        TAKEN, IND_CALL, DIR_CALL, IND_JUMP, DIR_JUMP, SWAP, RETURN, IND_LINK,
        DIR_LINK
    };

    gen_begin();
    for (unsigned i = 0; i < n; i++) {
        gen_transfer(types[i % 9]);
    }
    gen_end();
}

/*
 * "older entries are pushed down the stack; the record previously in logical
 * entry 0 moves to logical entry 1 [...] If the CTR buffer is full, the oldest
 * recorded entry (previously at entry depth-1) is lost."
 */
static void wrapping(void)
{
    for (unsigned code = 0; code <= 4; code++) {
        set_depth(code);
        rule("6 depth %u: entries move down, the oldest is lost, WRPTR wraps",
             depth);
        for (unsigned i = 0; i < 5; i++) {
            const unsigned counts[] = {
                1, depth - 1, depth, depth + 1, 2 * depth + 5
            };
            unsigned n = counts[i];

            about("%u transfers", n);
            generate(n);
            ctr_clear();
            run_at(U, gen_code, CTL_U);
            check_buffer(gen_list, gen_count);
            check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), n % depth);
        }
        /* 2.5: "wraps to 0 on an increment when the value matches depth-1" */
        generate(1);
        ctr_clear();
        csr_write(CSR_SCTRSTATUS, depth - 1);
        run_at(U, gen_code, CTL_U);
        check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 0);
        check_buffer(gen_list, 1);
    }
    set_depth_max();
}

static void depth_changes(void)
{
    rule("2.4 recording goes on within the new depth after a change");
    for (unsigned from = 0; from <= 4; from++) {
        for (unsigned to = 0; to <= 4; to++) {
            about("from code %u to %u", from, to);
            set_depth(from);
            generate(300);
            ctr_clear();
            run_at(U, gen_code, CTL_U);
            set_depth(to);
            check("WRPTR is legal", csr_read(CSR_SCTRSTATUS) < depth);
            run_at(U, gen_code, CTL_U);
            check_buffer(gen_list, gen_count);
        }
    }
    set_depth_max();
}

/*
 * "Recorded transfers will set the ctrsource.V bit to 1, and will update all
 * implemented record fields."
 */
static void overwrites(void)
{
    rule("6 a record replaces every field of the entry");
    generate(9);
    ctr_clear();
    for (unsigned i = 0; i < depth; i++) {
        entry_write(i, ones);
    }
    run_at(U, gen_code, CTL_U);
    for (unsigned i = 0; i < 9; i++) {
        struct entry e = entry_read(i);

        about("entry %u", i);
        check_eq("ctrsource", e.source, gen_list[8 - i].source | 1);
        check_eq("ctrtarget", e.target, gen_list[8 - i].target);
        check_eq("TYPE", e.data & ~(DATA_CC | DATA_CCV), gen_list[8 - i].type);
    }
    ctr_clear();
}

/* A loop whose block runs many times records each time. */
static void loops(void)
{
    struct run r = { .mode = U, .mctrctl = CTL_U };
    struct transfer want[256];

    rule("6 every iteration of a loop is recorded");
    r.pc = (xlen_t)gen_begin();
    gen_word(insn_i(0x13, 0, 10, 10, -1));          /* addi a0, a0, -1 */
    gen_word(insn_branch(1, 10, 0, -4));            /* bnez a0, .-4 */
    gen_end();
    for (unsigned i = 0; i < 256; i++) {
        want[i] = (struct transfer){ addr(gen_code) + 4, addr(gen_code),
                                     TAKEN };
    }
    ctr_clear();
    r.x[10] = 100001;
    run(&r);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 100000 % depth);
    check_buffer(want, 256);
}

/*
 * A write to the control register changes what the next instruction does,
 * however the code was run before.
 */
static void at_once(void)
{
    static const struct {
        const char *name;
        uint64_t bits;          /* set, and then cleared again */
        unsigned type;
        bool recorded;          /* while they are set */
        uint64_t base;          /* what else is set */
    } list[] = {
        { "S", CTL_S, TAKEN, true, 0 },
        { "TKBRINH", CTL_TKBRINH, TAKEN, false, CTL_S },
        { "NTBREN", CTL_NTBREN, NOT_TAKEN, true, CTL_S },
        { "DIRJMPINH", CTL_DIRJMPINH, DIR_JUMP, false, CTL_S },
        { "RASEMU", CTL_RASEMU, IND_JUMP, false, CTL_S },
    };

    for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        rule("2.2 a change of sctrctl.%s takes effect with the next "
             "instruction", list[i].name);
        for (enum mode mode = S; mode < MODES; mode += 2) {
            struct run r = { .mode = mode };
            struct transfer want[2];
            unsigned n = 0;

            if (mode == VS && !have_h) {
                break;
            }
            gen_begin();
            gen_transfer(list[i].type);
            gen_word(insn_i(0x73, 2, 0, 10, CSR_SCTRCTL));      /* csrs */
            gen_transfer(list[i].type);
            gen_word(insn_i(0x73, 3, 0, 10, CSR_SCTRCTL));      /* csrc */
            gen_transfer(list[i].type);
            gen_end();
            for (unsigned j = 0; j < 3; j++) {
                if ((j == 1) == list[i].recorded) {
                    want[n++] = gen_list[j];
                }
            }
            for (unsigned again = 0; again < 3; again++) {
                about("%s, run %u", mode_name[mode], again);
                ctr_clear();
                r.mctrctl = mode == S ? list[i].base : 0;
                if (have_h) {
                    csr_write(CSR_VSCTRCTL, mode == S ? 0 : list[i].base);
                }
                r.pc = (xlen_t)gen_code;
                r.x[10] = list[i].bits;
                run(&r);
                check_buffer(want, n);
                /* the same code with nothing recorded in between */
                ctr_clear();
                if (have_h) {
                    csr_write(CSR_VSCTRCTL, 0);
                }
                r.mctrctl = 0;
                r.pc = (xlen_t)gen_code;
                r.x[10] = 0;
                run(&r);
                check_buffer(NULL, 0);
            }
        }
    }

    rule("2.4 a change of sctrdepth takes effect with the next instruction");
    gen_begin();
    for (unsigned i = 0; i < 20; i++) {
        gen_transfer(TAKEN);
    }
    gen_word(insn_i(0x73, 5, 0, 0, CSR_SCTRDEPTH));     /* csrwi 0 */
    for (unsigned i = 0; i < 20; i++) {
        gen_transfer(DIR_CALL);
    }
    gen_end();
    ctr_clear();
    run_at(S, gen_code, CTL_S);
    depth = 16;
    check_buffer(gen_list, gen_count);
    check("WRPTR < 16", csr_read(CSR_SCTRSTATUS) < 16);
    set_depth_max();
}

/* "The transfer completes/retires" */
static void retired(void)
{
    struct run r = { .mode = U, .mctrctl = CTL_U };

    rule("6 an instruction that traps instead of jumping is not recorded");
    generate(2);
    ctr_clear();
    about("ecall");
    run_at(U, ecall_stub, CTL_U);
    check_buffer(NULL, 0);
    about("illegal instruction");
    run_at(U, illegal_stub, CTL_U);
    check_buffer(NULL, 0);

    /* the jump retires; it is the fetch of its target that fails */
    rule("6 a jump to where nothing can be fetched is recorded");
    gen_begin();
    gen_word(insn_i(0x67, 0, 1, 10, 0));
    gen_end();
    r.pc = (xlen_t)gen_code;
    r.x[10] = 0x40;
    ctr_clear();
    run(&r);
    check_eq("cause", r.cause, CAUSE_FETCH_ACCESS);
    check_eq("epc", r.epc, 0x40);
    check_buffer((const struct transfer[]){
        { addr(gen_code), 0x40, IND_CALL } }, 1);
}

/* 4.1 "Zeroes all CTR Entry Registers, for all DEPTH values" */
static void clearing(void)
{
    static const enum mode modes[] = { M, S, VS };

    for (unsigned m = 0; m < (have_h ? 3 : 2); m++) {
        rule("4.1 SCTRCLR in %s zeroes all entries for all depths",
             mode_name[modes[m]]);
        for (unsigned code = 0; code <= 4; code++) {
            about("DEPTH %u", code);
            set_depth(4);
            for (unsigned i = 0; i < depth; i++) {
                entry_write(i, ones);
            }
            set_depth(code);
            run_insn(modes[m], SCTRCLR, 0);
            for (unsigned other = 0; other <= 4; other++) {
                set_depth(other);
                for (unsigned i = 0; i < depth; i++) {
                    struct entry e = entry_read(i);

                    check("zero", !e.source && !e.target && !e.data);
                }
            }
        }
    }
    set_depth_max();

    /* the two operations that 4.1 lists are all */
    rule("4.1 SCTRCLR leaves sctrstatus and the control registers alone");
    csr_write(CSR_SCTRSTATUS, STATUS_FROZEN | 7);
    csr_write(CSR_MCTRCTL, CTL_U | CTL_MTE | CTL_RASEMU);
    if (have_h) {
        csr_write(CSR_VSCTRCTL, CTL_S);
    }
    entry_write(0, ones);
    sctrclr();
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), STATUS_FROZEN | 7);
    check_eq("mctrctl", csr_read(CSR_MCTRCTL), CTL_U | CTL_MTE | CTL_RASEMU);
    check_eq("ctrsource", entry_read(0).source, 0);
    if (have_h) {
        check_eq("vsctrctl", csr_read(CSR_VSCTRCTL), CTL_S);
        csr_write(CSR_VSCTRCTL, 0);
    }
    ctr_clear();

    rule("4.1 recording goes on after SCTRCLR");
    gen_begin();
    gen_transfer(TAKEN);
    gen_transfer(TAKEN);
    gen_word(SCTRCLR);
    gen_transfer(DIR_CALL);
    gen_transfer(RETURN);
    gen_end();
    ctr_clear();
    run_at(S, gen_code, CTL_S);
    check_buffer(gen_list + 2, 2);
    check_eq("sctrstatus", csr_read(CSR_SCTRSTATUS), 4);
}

/*
 * "SCTRCLR raises an illegal-instruction exception in U-mode, and a
 * virtual-instruction exception in VU-mode"
 */
static void clear_traps(void)
{
    struct run r;

    rule("4.1 SCTRCLR in U is an illegal instruction, xtval is its opcode");
    entry_write(0, ones);
    r = run_insn(U, SCTRCLR, 0);
    check_eq("cause", r.cause, CAUSE_ILLEGAL);
    check_eq("mtval", r.tval, SCTRCLR);
    check("entries stay", entry_read(0).source == ~0ull);
    if (have_h) {
        rule("4.1 SCTRCLR in VU is a virtual instruction, xtval is its "
             "opcode");
        r = run_insn(VU, SCTRCLR, 0);
        check_eq("cause", r.cause, CAUSE_VIRTUAL);
        check_eq("mtval", r.tval, SCTRCLR);
        check("entries stay", entry_read(0).source == ~0ull);
    }
    ctr_clear();
    if (!have_stateen) {
        return;
    }
    rule("5 SCTRCLR denied by stateen: xtval is its opcode");
    about("S, mstateen0.CTR=0");
    set_stateen(~STATEEN_CTR, STATEEN_ALL);
    r = run_insn(S, SCTRCLR, 0);
    check_eq("cause", r.cause, CAUSE_ILLEGAL);
    check_eq("mtval", r.tval, SCTRCLR);
    if (have_h) {
        about("VS, hstateen0.CTR=0");
        set_stateen(STATEEN_ALL, ~STATEEN_CTR);
        r = run_insn(VS, SCTRCLR, 0);
        check_eq("cause", r.cause, CAUSE_VIRTUAL);
        check_eq("mtval", r.tval, SCTRCLR);
    }
    set_stateen(STATEEN_ALL, STATEEN_ALL);
}

void test_main(void)
{
    wrapping();
    depth_changes();
    overwrites();
    loops();
    at_once();
    retired();
    clearing();
    clear_traps();
}
