/*
 * QTest testcase for rvtrace-port: what a guest writes to it, as notes in the
 * sideband of a RISC-V trace
 *
 * The facts are those of docs/system/riscv/etrace-sideband.rst, and of VIRTIO
 * 1.0, 5.3 "Console Device".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <glib/gstdio.h>
#include "libqos/virtio-mmio.h"
#include "qobject/qdict.h"
#include "riscv-trace-test.h"
#include "standard-headers/linux/virtio_console.h"
#include "standard-headers/linux/virtio_ids.h"

#define TIMEOUT_US      (10 * G_USEC_PER_SEC)
#define VIRTIO_MMIO_0   0x10001000
#define PAGE            4096
/* Memory for the queues and what is in them */
#define MEM_BEGIN       0x80000000ull
#define MEM_END         0x81000000ull

#define PORT_ID         1
/* Queues: of port 0 two, of the control port two, of port 1 two */
#define CONTROL_TX      3
#define PORT_RX         4
#define PORT_TX         5
#define NUM_QUEUES      6

#define NUM_ANSWERS     16
#define ANSWER_SIZE     16

/* Of sideband records */
#define SB_FENCE        4
#define SB_NOTE         17
#define SB_HEADER       8

#define TRACED          ",trace=on,trace-autostart=on,trace-chardev=t," \
                        "trace-sideband=s"

typedef struct Port {
    QTestState *qts;
    char *trace, *sideband;     /* files */
    QGuestAllocator alloc;
    QVirtioMMIODevice dev;
    QVirtQueue *queues[NUM_QUEUES];
    uint64_t answers[NUM_ANSWERS];  /* addresses, by descriptor */
} Port;

static void open_or_close(Port *p, bool open);

static void port_start(Port *p, const char *machine)
{
    g_autofree char *args = NULL;

    p->trace = tmp_name("port-trace");
    p->sideband = tmp_name("port-sideband");
    args = g_strdup_printf("-m 128M -chardev file,id=t,path=%s "
                           "-chardev file,id=s,path=%s "
                           "-device virtio-serial-device,"
                           "bus=virtio-mmio-bus.0 -device rvtrace-port",
                           p->trace, p->sideband);
    p->qts = start(machine, args);
    alloc_init(&p->alloc, 0, MEM_BEGIN, MEM_END, PAGE);
    qvirtio_mmio_init_device(&p->dev, p->qts, VIRTIO_MMIO_0, PAGE);
    g_assert_cmpuint(p->dev.vdev.device_type, ==, VIRTIO_ID_CONSOLE);
    qvirtio_start_device(&p->dev.vdev);
    qvirtio_set_features(&p->dev.vdev, 1u << VIRTIO_CONSOLE_F_MULTIPORT);
    for (unsigned i = 0; i < NUM_QUEUES; i++) {
        p->queues[i] = qvirtqueue_setup(&p->dev.vdev, &p->alloc, i);
    }
    qvirtio_set_driver_ok(&p->dev.vdev);
    for (unsigned i = 0; i < NUM_ANSWERS; i++) {
        uint64_t at = guest_alloc(&p->alloc, ANSWER_SIZE);
        uint32_t index = qvirtqueue_add(p->qts, p->queues[PORT_RX], at,
                                        ANSWER_SIZE, true, false);

        p->answers[index] = at;
        qvirtqueue_kick(p->qts, &p->dev.vdev, p->queues[PORT_RX], index);
    }
    open_or_close(p, true);
}

static void port_end(Port *p)
{
    for (unsigned i = 0; i < NUM_QUEUES; i++) {
        qvirtqueue_cleanup(p->dev.vdev.bus, p->queues[i], &p->alloc);
    }
    alloc_destroy(&p->alloc);
    qtest_quit(p->qts);
    g_unlink(p->trace);
    g_unlink(p->sideband);
    g_free(p->trace);
    g_free(p->sideband);
}

/* Waits until a buffer of the queue has been used. Returns its descriptor. */
static uint32_t wait_used(Port *p, unsigned queue, uint32_t *len)
{
    gint64 end = g_get_monotonic_time() + TIMEOUT_US;
    uint32_t index;

    while (!qvirtqueue_get_buf(p->qts, p->queues[queue], &index, len)) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_usleep(1000);
    }
    return index;
}

static void put_buffer(Port *p, unsigned queue, const void *data,
                       size_t len)
{
    uint64_t at = guest_alloc(&p->alloc, len);
    uint32_t index;

    qtest_memwrite(p->qts, at, data, len);
    index = qvirtqueue_add(p->qts, p->queues[queue], at, len, false, false);
    qvirtqueue_kick(p->qts, &p->dev.vdev, p->queues[queue], index);
    g_assert_cmpuint(wait_used(p, queue, NULL), ==, index);
}

/* Returns when all of it has been read, and so all notes before the last. */
static void say(Port *p, const char *text)
{
    put_buffer(p, PORT_TX, text, strlen(text));
}

static void open_or_close(Port *p, bool open)
{
    struct virtio_console_control message = {
        .id = cpu_to_le32(PORT_ID),
        .event = cpu_to_le16(VIRTIO_CONSOLE_PORT_OPEN),
        .value = cpu_to_le16(open),
    };

    put_buffer(p, CONTROL_TX, &message, sizeof(message));
}

/* The guest gets "ok\n" @times, in as many buffers. */
static void assert_answers(Port *p, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        char answer[ANSWER_SIZE];
        uint32_t len;
        uint32_t index = wait_used(p, PORT_RX, &len);

        g_assert_cmpuint(len, ==, 3);
        qtest_memread(p->qts, p->answers[index], answer, len);
        g_assert_cmpmem(answer, len, "ok\n", 3);
    }
}

static void assert_no_answer(Port *p)
{
    /* What is on its way would have come by now. */
    g_usleep(100 * 1000);
    g_assert_false(qvirtqueue_get_buf(p->qts, p->queues[PORT_RX], NULL, NULL));
}

/*
 * The notes in the sideband so far, "HART KIND TEXT\n" each, hart -1 being all
 * of them. Those of one hart stand behind a FENCE of the same hart.
 */
static char *read_notes(const Port *p)
{
    GString *notes = g_string_new(NULL);
    g_autofree char *data = NULL;
    unsigned before = 0, before_hart = 0;
    gsize size;

    g_assert_true(g_file_get_contents(p->sideband, &data, &size, NULL));
    for (gsize pos = 0; pos + SB_HEADER <= size;) {
        const char *record = data + pos;
        unsigned type = lduw_le_p(record), hart = lduw_le_p(record + 2);
        uint32_t len = ldl_le_p(record + 4);

        pos += SB_HEADER + len;
        if (type == SB_NOTE && pos <= size) {
            unsigned kind = ldq_le_p(record + SB_HEADER);

            g_string_append_printf(notes, "%d %u %.*s\n", (int16_t)hart, kind,
                                   (int)len - 8, record + SB_HEADER + 8);
            g_assert(hart == 0xffff ||
                     (before == SB_FENCE && before_hart == hart));
        }
        before = type;
        before_hart = hart;
    }
    return g_string_free(notes, FALSE);
}

/* Waits until the last one is there. */
static void assert_notes(Port *p, const char *want)
{
    gint64 end = g_get_monotonic_time() + TIMEOUT_US;

    for (;;) {
        g_autofree char *notes = read_notes(p);

        if (strlen(notes) >= strlen(want) ||
            g_get_monotonic_time() > end) {
            g_assert_cmpstr(notes, ==, want);
            return;
        }
        g_usleep(1000);
    }
}

/* Words make kinds; only notes that have a place are answered. */
static void test_kinds(void)
{
    Port p;

    port_start(&p, TRACED);
    say(&p, "begin a name\n");
    assert_answers(&p, 1);
    say(&p, "end a name\n");
    assert_answers(&p, 1);
    say(&p, "mark here\n");
    assert_answers(&p, 1);
    say(&p, "text maps 1\n");
    say(&p, "anything else\n");
    say(&p, "mark\n");
    assert_no_answer(&p);
    assert_notes(&p, "0 1 a name\n" "0 2 a name\n" "0 3 here\n"
                 "-1 4 maps 1\n" "-1 4 anything else\n"
                 "-1 4 mark\n");
    port_end(&p);
}

/* Each hart has the note at its own place, and the guest one answer. */
static void test_harts(void)
{
    g_autofree char *notes = NULL;
    Port p;

    port_start(&p, TRACED " -smp 2");
    say(&p, "mark x\n");
    assert_answers(&p, 1);
    say(&p, "text y\n");
    assert_no_answer(&p);
    /* In the order that they have come to it */
    do {
        g_free(notes);
        notes = read_notes(&p);
    } while (!strstr(notes, "-1 4 y\n"));
    g_assert(g_str_equal(notes, "0 3 x\n" "1 3 x\n" "-1 4 y\n") ||
             g_str_equal(notes, "1 3 x\n" "0 3 x\n" "-1 4 y\n"));
    port_end(&p);
}

/* Lines are lines, whatever buffers they come in. */
static void test_lines(void)
{
    Port p;

    port_start(&p, TRACED);
    say(&p, "ma");
    say(&p, "rk in thr");
    say(&p, "ee\nmark b\nbegin c\ntext d\nend");
    assert_answers(&p, 3);
    say(&p, " c\n");
    assert_answers(&p, 1);
    assert_notes(&p, "0 3 in three\n" "0 3 b\n" "0 1 c\n" "-1 4 d\n"
                 "0 2 c\n");
    port_end(&p);
}

/* Of a line, 1024 bytes count. */
static void test_long_line(void)
{
    g_autoptr(GString) line = g_string_new("mark ");
    g_autoptr(GString) want = g_string_new("0 3 ");
    Port p;

    port_start(&p, TRACED);
    for (unsigned i = 0; i < 3000; i++) {
        g_string_append_c(line, 'a' + i % 26);
        if (i < 1024 - strlen("mark ")) {
            g_string_append_c(want, 'a' + i % 26);
        }
    }
    g_string_append(line, "\nmark next\n");
    g_string_append(want, "\n0 3 next\n");
    say(&p, line->str);
    assert_answers(&p, 2);
    assert_notes(&p, want->str);
    port_end(&p);
}

/* Who opens the port begins with a line; an unfinished one is none. */
static void test_reopened(void)
{
    Port p;

    port_start(&p, TRACED);
    say(&p, "mark unfinished");
    open_or_close(&p, false);
    open_or_close(&p, true);
    say(&p, "mark new\n");
    assert_answers(&p, 1);
    assert_notes(&p, "0 3 new\n");
    port_end(&p);
}

/* Without a trace a guest that waits for its answer gets it, too. */
static void test_untraced(void)
{
    Port p;

    port_start(&p, "");
    say(&p, "begin a\n" "end a\n");
    assert_answers(&p, 2);
    port_end(&p);
}

/* Port 0 is the console's. */
static void test_port_0(void)
{
    QTestState *qts = start("", "-device virtio-serial-device,id=serial,"
                            "bus=virtio-mmio-bus.0");
    QDict *answer = qtest_qmp(qts, "{ 'execute': 'device_add', 'arguments': "
                              "{ 'driver': 'rvtrace-port', 'id': 'port', "
                              "'bus': 'serial.0', 'nr': 0 } }");

    g_assert_nonnull(strstr(qdict_get_str(qdict_get_qdict(answer, "error"),
                                          "desc"), "another nr"));
    qobject_unref(answer);
    qtest_quit(qts);
}

/* Ports come and go while the machine runs. */
static void test_hotplug(void)
{
    QTestState *qts = start(TRACED, "-chardev null,id=t -chardev null,id=s "
                            "-device virtio-serial-device,id=serial,"
                            "bus=virtio-mmio-bus.0");

    for (unsigned i = 0; i < 3; i++) {
        qtest_qmp_device_add(qts, "rvtrace-port", "port",
                             "{ 'bus': 'serial.0' }");
        qtest_qmp_device_del(qts, "port");
    }
    qtest_quit(qts);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("riscv-trace-port/kinds", test_kinds);
    qtest_add_func("riscv-trace-port/harts", test_harts);
    qtest_add_func("riscv-trace-port/lines", test_lines);
    qtest_add_func("riscv-trace-port/long-line", test_long_line);
    qtest_add_func("riscv-trace-port/reopened", test_reopened);
    qtest_add_func("riscv-trace-port/untraced", test_untraced);
    qtest_add_func("riscv-trace-port/port-0", test_port_0);
    qtest_add_func("riscv-trace-port/hotplug", test_hotplug);
    return g_test_run();
}
