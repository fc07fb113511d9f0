# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs of random instructions, for each register to have been computed by
# all kinds of them

import random

LENGTH = 4000

HEAD = '''#include "macros.inc"
    .globl main
    .section .data
    .balign 4096
buffer:
    .space 4096
    .text
    .option norelax
main:
    .option arch, +zba, +zbb, +zbc, +zbs, +zbkb
'''

# d: a register, s and t: others, i: an immediate, h: a shift amount, m: memory;
# x, y and z: floating point registers, r: a rounding mode
BOTH = '''
add d,s,t; sub d,s,t; sll d,s,t; slt d,s,t; sltu d,s,t; xor d,s,t; srl d,s,t
sra d,s,t; or d,s,t; and d,s,t; addi d,s,i; slti d,s,i; sltiu d,s,i; xori d,s,i
ori d,s,i; andi d,s,i; slli d,s,h; srli d,s,h; srai d,s,h; lui d,u; auipc d,u
mul d,s,t; mulh d,s,t; mulhsu d,s,t; mulhu d,s,t; div d,s,t; divu d,s,t
rem d,s,t; remu d,s,t; sh1add d,s,t; sh2add d,s,t; sh3add d,s,t; andn d,s,t
orn d,s,t; xnor d,s,t; clz d,s; ctz d,s; cpop d,s; max d,s,t; maxu d,s,t
min d,s,t; minu d,s,t; sext.b d,s; sext.h d,s; zext.h d,s; rol d,s,t; ror d,s,t
rori d,s,h; orc.b d,s; rev8 d,s; clmul d,s,t; clmulh d,s,t; clmulr d,s,t
bclr d,s,t; bclri d,s,h; bext d,s,t; bexti d,s,h; binv d,s,t; binvi d,s,h
bset d,s,t; bseti d,s,h; pack d,s,t; packh d,s,t; brev8 d,s
lb d,m; lbu d,m; lh d,m; lhu d,m; lw d,m; sb d,m; sh d,m; sw d,m
amoadd.w d,s,(sp); amoswap.w d,s,(sp); amoxor.w d,s,(sp); amoor.w d,s,(sp)
amoand.w d,s,(sp); amomin.w d,s,(sp); amomax.w d,s,(sp); amominu.w d,s,(sp)
amomaxu.w d,s,(sp); lr.w d,(sp); sc.w d,s,(sp); csrr d,mscratch
csrrw d,mscratch,s; csrrs d,mscratch,s; csrrc d,mscratch,s; csrrwi d,mscratch,5
.insn r 0x33,5,7,d,s,t; .insn r 0x33,7,7,d,s,t
c.add d,s; c.mv d,s; c.li d,j; c.addi d,k; c.lui d,j; c.slli d,c
c.and p,q; c.or p,q; c.xor p,q; c.sub p,q; c.andi p,j; c.srli p,c; c.srai p,c
c.lwsp d,w(sp); c.swsp d,w(sp); c.addi4spn p,sp,w; fmv.w.x fa0,s; fmv.x.w d,fa0
flw fa1,0(sp); fmv.x.w d,fa1; fsgnjn.s fa2,fa1,fa0; fmv.x.w d,fa2
fmv.w.x x,s; fmv.x.w d,x; fmv.x.w d,x; flw x,m; fsw x,m; fld x,m; fsd x,m
fcvt.s.w x,s,r; fcvt.s.wu x,s,r; fcvt.d.w x,s; fcvt.d.wu x,s
fcvt.w.s d,x,r; fcvt.wu.s d,x,r; fcvt.w.d d,x,r; fcvt.wu.d d,x,r
fcvt.w.s d,x,rmm; fcvt.wu.d d,x,rmm; fcvt.s.d x,y,r; fcvt.d.s x,y
fadd.s x,y,z,r; fsub.s x,y,z,r; fmul.s x,y,z,r; fdiv.s x,y,z,r; fsqrt.s x,y,r
fadd.d x,y,z,r; fsub.d x,y,z,r; fmul.d x,y,z,r; fdiv.d x,y,z,r; fsqrt.d x,y,r
fmadd.s x,y,z,x,r; fmsub.s x,y,z,x,r; fnmadd.s x,y,z,x,r; fnmsub.s x,y,z,x,r
fmadd.d x,y,z,x,r; fmsub.d x,y,z,x,r; fnmadd.d x,y,z,x,r; fnmsub.d x,y,z,x,r
fmin.s x,y,z; fmax.s x,y,z; fmin.d x,y,z; fmax.d x,y,z; fsgnj.s x,y,z
fsgnjn.d x,y,z; fsgnjx.s x,y,z; fsgnjx.d x,y,z; fclass.s d,x; fclass.d d,x
feq.s d,x,y; flt.s d,x,y; fle.s d,x,y; feq.d d,x,y; flt.d d,x,y; fle.d d,x,y
fsrmi d,0; fsrmi d,1; fsrmi d,2; fsrmi d,3; frrm d; frcsr d
'''

ONLY_64 = '''
addw d,s,t; subw d,s,t; sllw d,s,t; srlw d,s,t; sraw d,s,t; addiw d,s,i
slliw d,s,g; srliw d,s,g; sraiw d,s,g; mulw d,s,t; divw d,s,t; divuw d,s,t
remw d,s,t; remuw d,s,t; add.uw d,s,t; sh1add.uw d,s,t; sh2add.uw d,s,t
sh3add.uw d,s,t; slli.uw d,s,h; clzw d,s; ctzw d,s; cpopw d,s; rolw d,s,t
rorw d,s,t; roriw d,s,g; packw d,s,t; ld d,m; lwu d,m; sd d,m
amoadd.d d,s,(sp); amoswap.d d,s,(sp); amomin.d d,s,(sp); amomaxu.d d,s,(sp)
lr.d d,(sp); sc.d d,s,(sp); c.addw p,q; c.subw p,q; c.addiw d,j
c.ldsp d,l(sp); c.sdsp d,l(sp); fld fa3,0(sp); fmv.x.d d,fa3; fmv.d.x fa3,s
fmv.d.x x,s; fmv.x.d d,x; fcvt.s.l x,s,r; fcvt.s.lu x,s,r; fcvt.d.l x,s,r
fcvt.d.lu x,s,r; fcvt.l.s d,x,r; fcvt.lu.s d,x,r; fcvt.l.d d,x,r
fcvt.lu.d d,x,r; fcvt.l.d d,x,rmm
'''

# QEMU 10.0 computes these wrong on RV32, so nothing is said of their results.
UNKNOWN_32 = ('clmulh', 'clmulr', 'pack')

# sp stays where it is; a7 is for what the guests' own code wants.
REGISTERS = ['ra', 'gp', 'tp', *(f't{i}' for i in range(7)),
             *(f's{i}' for i in range(12)), *(f'a{i}' for i in range(7))]
SHORT = ['s0', 's1', *(f'a{i}' for i in range(6))]


def value(rng, xlen):
    """One that computes something else than 0"""
    return rng.choice((rng.getrandbits(xlen), rng.getrandbits(8),
                       (1 << xlen) - 1, 1 << (xlen - 1), 0,
                       1 << rng.randrange(xlen)))


def instruction(rng, template, xlen):
    """The template with registers and numbers"""
    name, _, operands = template.strip().partition(' ')
    words = {
        'd': lambda: rng.choice(REGISTERS), 's': lambda: rng.choice(REGISTERS),
        't': lambda: rng.choice(REGISTERS), 'p': lambda: rng.choice(SHORT),
        'q': lambda: rng.choice(SHORT), 'i': lambda: rng.randrange(-2048, 2048),
        'h': lambda: rng.randrange(xlen), 'g': lambda: rng.randrange(32),
        'u': lambda: rng.randrange(1 << 20), 'c': lambda: rng.randrange(1, 32),
        'j': lambda: rng.randrange(1, 31), 'k': lambda: rng.randrange(1, 31),
        'w': lambda: 4 * rng.randrange(1, 60),
        'w(sp)': lambda: f'{4 * rng.randrange(64)}(sp)',
        **dict.fromkeys('xyz', lambda: f'fa{rng.randrange(8)}'),
        'r': lambda: rng.choice(('rne', 'rtz', 'rdn', 'rup', 'dyn')),
        'l(sp)': lambda: f'{8 * rng.randrange(64)}(sp)',
        'm': lambda: f'{8 * rng.randrange(-100, 100)}(sp)'}
    return f'    {name} ' + ','.join(str(words[o]()) if o in words else o
                                     for o in operands.split(','))


def has_unknown(seed, xlen):
    """Are there UNKNOWN_32 in the program?"""
    return xlen == 32 and seed % 2


def program(seed, xlen):
    """A guest"""
    rng = random.Random(seed)
    templates = [t for line in (BOTH + ONLY_64 * (xlen == 64)).split('\n')
                 for t in line.split(';') if t.strip()]
    if xlen == 32 and not has_unknown(seed, xlen):
        templates = [t for t in templates if t.split()[0] not in UNKNOWN_32]
    lines = ['    li t0, 0x6000', '    csrs mstatus, t0',
             '    la sp, buffer + 2048']
    for i in range(LENGTH):
        if i % 8 == 0:
            lines.append(f'    li {rng.choice(REGISTERS)}, '
                         f'{value(rng, xlen):#x}')
        lines.append(instruction(rng, rng.choice(templates), xlen))
    return HEAD + '\n'.join(lines) + '\n    j pass\n'
