/*
 * Text of instructions
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "code/disasm.h"
#include "code/disasm-tidy.h"
#ifdef CONFIG_QEMU_DISAS
#include "disas/dis-asm.h"
#include "target/riscv/cpu_cfg.h"
#endif

struct Disasm {
    unsigned xlen;
#ifdef CONFIG_QEMU_DISAS
    struct RISCVCPUConfig cfg;
#endif
};

Disasm *disasm_new(const InsnIsa *isa)
{
    Disasm *disasm = g_new0(Disasm, 1);

    disasm->xlen = isa->xlen;
#ifdef CONFIG_QEMU_DISAS
    disasm->cfg.ext_zcmp = isa->zcmp;
    disasm->cfg.ext_zcmt = isa->zcmt;
    /* Encodings that mean nothing else */
    disasm->cfg.ext_zimop = true;
    disasm->cfg.ext_zcmop = true;
    disasm->cfg.ext_zicfiss = true;
    disasm->cfg.ext_zicfilp = true;
#endif
    return disasm;
}

void disasm_free(Disasm *disasm)
{
    g_free(disasm);
}

/* An instruction of 2 or 4 bytes */
static uint32_t word(const uint8_t *bytes, unsigned size)
{
    return bytes[0] | bytes[1] << 8 |
           (size == 4 ? bytes[2] << 16 | (uint32_t)bytes[3] << 24 : 0);
}

#ifdef CONFIG_QEMU_DISAS
bool disasm_available(void)
{
    return true;
}

static int append(FILE *stream, const char *fmt, ...) G_GNUC_PRINTF(2, 3);

static int append(FILE *stream, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    g_string_append_vprintf((GString *)stream, fmt, args);
    va_end(args);
    return 0;
}

static int read_bytes(bfd_vma addr, bfd_byte *to, int len,
                      struct disassemble_info *info)
{
    memcpy(to, info->buffer + (addr - info->buffer_vma), len);
    return 0;
}

static char *known(Disasm *disasm, uint64_t pc, const uint8_t *bytes,
                   unsigned len)
{
    g_autoptr(GString) text = g_string_new(NULL);
    struct disassemble_info info = {
        .fprintf_func = append,
        .stream = (FILE *)text,
        .read_memory_func = read_bytes,
        .buffer = (bfd_byte *)bytes,
        .buffer_vma = pc,
        .buffer_length = len,
        .target_info = &disasm->cfg,
    };

    if (disasm->xlen == 32) {
        print_insn_riscv32(pc, &info);
    } else {
        print_insn_riscv64(pc, &info);
    }
    return disasm_tidy(text->str, word(bytes, len), disasm->xlen);
}
#else
bool disasm_available(void)
{
    return false;
}

static char *known(Disasm *disasm, uint64_t pc, const uint8_t *bytes,
                   unsigned len)
{
    return NULL;
}
#endif

char *disasm_text(Disasm *disasm, uint64_t pc, const uint8_t *bytes,
                  size_t len)
{
    unsigned size = len >= 2 ? insn_length(bytes[0] | bytes[1] << 8) : 2;
    GString *text;
    char *name;

    if (len < size) {
        text = g_string_new(len ? ".byte " : "");
        for (size_t i = 0; i < len; i++) {
            g_string_append_printf(text, "%s0x%02x", i ? ", " : "", bytes[i]);
        }
        return g_string_free(text, FALSE);
    }
    /* Longer instructions are reserved: QEMU's would read beyond the end. */
    if ((bytes[0] & 0x1f) != 0x1f) {
        name = known(disasm, pc, bytes, size);
        if (name) {
            return name;
        }
    }
    return g_strdup_printf(size == 2 ? ".2byte 0x%04x" : ".insn 4, 0x%08x",
                           word(bytes, size));
}
