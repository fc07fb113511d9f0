/*
 * CTF: the stream of a hart, and what all streams are described by
 *
 * Every field is a whole number of bytes and aligned to one byte, so nothing is
 * padded. CTF_METADATA below says it in CTF's own language.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "views/ctf/ctf-stream.h"
#include "views/perf/view-file.h"
#include "views/questions/syscalls.h"
#include "views/report/table.h"

#define PACKET_MAGIC    0xc1fc1fc1
#define STREAM_ID       0
#define HEADER_BYTES    (4 + 4 + 4 * 8 + 4 + 8)
/* Bytes of events in a packet, about */
#define PACKET_BYTES    65536

struct CtfStream {
    ViewFolder *folder;
    FILE *f;
    unsigned hart;
    GByteArray *events;         /* of the packet that has not been written */
    uint64_t first, last;       /* times in it */
    bool used[CTF_NR_EVENTS];
};

CtfEvent ctf_syscall(unsigned number)
{
    return CTF_SYSCALL + 2 * MIN(number, CTF_SYSCALLS);
}

CtfStream *ctf_stream_new(ViewFolder *folder, unsigned hart)
{
    g_autofree char *name = g_strdup_printf("hart_%u", hart);
    FILE *f = view_folder_open(folder, name, "wb");
    CtfStream *s;

    if (!f) {
        return NULL;
    }
    s = g_new0(CtfStream, 1);
    s->folder = folder;
    s->f = f;
    s->hart = hart;
    s->events = g_byte_array_new();
    return s;
}

/* Write the packet, if there is anything in it. */
static void flush(CtfStream *s)
{
    g_autoptr(GByteArray) header = g_byte_array_new();
    uint64_t bits = (HEADER_BYTES + (uint64_t)s->events->len) * 8;

    if (!s->events->len) {
        return;
    }
    view_put32(header, PACKET_MAGIC);
    view_put32(header, STREAM_ID);
    view_put64(header, s->first);
    view_put64(header, s->last);
    view_put64(header, bits);
    view_put64(header, bits);
    view_put32(header, s->hart);
    view_put64(header, 0);      /* events that were discarded */
    assert(header->len == HEADER_BYTES);
    fwrite(header->data, 1, header->len, s->f);
    fwrite(s->events->data, 1, s->events->len, s->f);
    g_byte_array_set_size(s->events, 0);
}

void ctf_stream_event(CtfStream *s, CtfEvent event, uint64_t time)
{
    if (s->events->len >= PACKET_BYTES) {
        flush(s);
    }
    s->last = MAX(s->last, time);
    if (!s->events->len) {
        s->first = s->last;
    }
    s->used[event] = true;
    view_put16(s->events, event);
    view_put64(s->events, s->last);
}

void ctf_stream_number(CtfStream *s, uint64_t number, unsigned bytes)
{
    view_put(s->events, number, bytes);
}

void ctf_stream_text(CtfStream *s, const char *text, size_t len)
{
    g_autofree char *copy = g_strndup(text, len);
    g_autofree char *clean = table_clean(copy);

    view_put_string(s->events, clean, 1);
}

void ctf_stream_chars(CtfStream *s, const char *text, size_t size)
{
    g_autofree char *clean = table_clean(text);
    size_t len = strnlen(clean, size - 1);
    const char *end;

    /* Not within a character */
    g_utf8_validate(clean, len, &end);
    len = end - clean;
    g_byte_array_append(s->events, (const guint8 *)clean, len);
    for (; len < size; len++) {
        view_put8(s->events, 0);
    }
}

bool ctf_stream_has(const CtfStream *s, CtfEvent event)
{
    return s->used[event];
}

void ctf_stream_end(CtfStream *s)
{
    flush(s);
    view_folder_close(s->folder, s->f);
    g_byte_array_unref(s->events);
    g_free(s);
}

/*
 * Readers know what sched_switch and the others mean by the tracer's name and
 * version.
 */
#define CTF_METADATA                                                        \
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"   \
    "typealias integer { size = 16; align = 8; signed = false; } := u16;\n" \
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n" \
    "typealias integer { size = 32; align = 8; signed = true; } := s32;\n"  \
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n" \
    "typealias integer { size = 64; align = 8; signed = true; } := s64;\n"  \
    "typealias integer { size = 8; align = 8; signed = false; "             \
    "encoding = UTF8; } := utf8;\n\n"                                       \
    "trace {\n"                                                             \
    "    major = 1;\n"                                                      \
    "    minor = 8;\n"                                                      \
    "    byte_order = le;\n"                                                \
    "    packet.header := struct { u32 magic; u32 stream_id; };\n"          \
    "};\n\n"                                                                \
    "env {\n"                                                               \
    "    domain = \"kernel\";\n"                                            \
    "    sysname = \"Linux\";\n"                                            \
    "    tracer_name = \"lttng-modules\";\n"                                \
    "    tracer_major = 2;\n"                                               \
    "    tracer_minor = 9;\n"                                               \
    "    producer = \"rvtrace\";\n"                                         \
    "};\n\n"

#define CTF_CLOCK                                                           \
    "clock {\n"                                                             \
    "    name = \"monotonic\";\n"                                           \
    "    description = \"%s\";\n"                                           \
    "    freq = 1000000000;\n"                                              \
    "    offset = 0;\n"                                                     \
    "};\n\n"                                                                \
    "typealias integer { size = 64; align = 8; signed = false; "            \
    "map = clock.monotonic.value; } := time;\n\n"                           \
    "stream {\n"                                                            \
    "    id = 0;\n"                                                         \
    "    event.header := struct { u16 id; time timestamp; };\n"             \
    "    packet.context := struct {\n"                                      \
    "        time timestamp_begin; time timestamp_end;\n"                   \
    "        u64 content_size; u64 packet_size;\n"                          \
    "        u32 cpu_id; u64 events_discarded;\n"                           \
    "    };\n"                                                              \
    "};\n"

static void write_event(FILE *f, CtfEvent event, const char *name,
                        const char *number, const char *fields)
{
    fprintf(f, "\nevent {\n    name = \"%s%s\";\n    id = %u;\n"
            "    stream_id = 0;\n    fields := struct { %s};\n};\n", name,
            number, event, fields);
}

static void write_syscall(FILE *f, CtfEvent event)
{
    unsigned number = (event - CTF_SYSCALL) / 2;
    const char *known = number < CTF_SYSCALLS ? syscall_number_name(number)
                                              : "unknown";
    g_autofree char *name = known ? g_strdup(known) :
                                    g_strdup_printf("nr_%u", number);

    write_event(f, event, (event - CTF_SYSCALL) % 2 ? "syscall_exit_"
                                                    : "syscall_entry_",
                name, "");
}

void ctf_write_metadata(ViewFolder *folder, bool virtual_time,
                        bool (*has)(void *opaque, CtfEvent event),
                        void *opaque)
{
    static const struct {
        const char *name, *fields;
    } events[CTF_SYSCALL] = {
        [CTF_SCHED_SWITCH] = {
            "sched_switch",
            "utf8 _prev_comm[16]; s32 _prev_tid; s32 _prev_prio; "
            "s64 _prev_state; utf8 _next_comm[16]; s32 _next_tid; "
            "s32 _next_prio; "
        },
        [CTF_IRQ_ENTRY] = { "irq_handler_entry", "s32 _irq; string _name; " },
        [CTF_IRQ_EXIT] = { "irq_handler_exit", "s32 _irq; s32 _ret; " },
        [CTF_EXCEPTION_ENTRY] = {
            "riscv_exception_entry", "u32 _cause; string _name; "
        },
        [CTF_EXCEPTION_EXIT] = { "riscv_exception_exit", "u32 _cause; " },
        [CTF_NOTE] = { "note", "u32 _kind; string _text; " },
        [CTF_LOST] = { "trace_lost", "string _what; " },
        [CTF_RESET] = { "reset", "" },
    };
    FILE *f = view_folder_open(folder, "metadata", "w");

    if (!f) {
        return;
    }
    fputs("/* CTF 1.8 */\n\n" CTF_METADATA, f);
    fprintf(f, CTF_CLOCK, virtual_time ? "virtual time of the machine" :
            "instructions of each hart, 1 ns each");
    for (unsigned i = 0; i < CTF_NR_EVENTS; i++) {
        if (!has(opaque, i)) {
            continue;
        }
        if (i < CTF_SYSCALL) {
            write_event(f, i, events[i].name, "", events[i].fields);
        } else {
            write_syscall(f, i);
        }
    }
    view_folder_close(folder, f);
}
