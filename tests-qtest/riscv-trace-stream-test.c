/*
 * QTest testcase for the stream that the RISC-V trace components put out
 *
 * No hart runs in these tests, so a stream consists of what frames a trace.
 * Its facts are those of the packet encapsulation 1.0 and of E-Trace 2.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "riscv-trace-test.h"

#define TIMEOUT_US          (10 * G_USEC_PER_SEC)

/* Enabling and disabling are complete when the control word says so. */
static void poll_control(QTestState *qts, uint64_t base, uint32_t mask,
                         uint32_t value)
{
    gint64 end = g_get_monotonic_time() + TIMEOUT_US;

    while ((qtest_readl(qts, base) & mask) != value) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_usleep(1000);
    }
}

/*
 * The beginning of a session. The synchronisation sequence of an unframed
 * stream: 31 + T + S times null.idle (0x00), then null.alignment (0x80). T
 * (timestamp bytes) is 0, S (whole bytes of srcID) is @src_bytes. Then the
 * session's mark: version 1 and an id, a bit for each null packet, and a
 * null.alignment. Returns the length of both.
 */
static size_t assert_aligned(const uint8_t *bytes, size_t src_bytes)
{
    size_t n = 31 + src_bytes;

    for (size_t i = 0; i < n; i++) {
        g_assert_cmphex(bytes[i], ==, 0x00);
    }
    g_assert_cmphex(bytes[n++], ==, 0x80);
    for (size_t i = 0; i < SESSION_MARK; i++) {
        g_assert_cmphex(bytes[n + i] & 0x7f, ==, 0x00);
        g_assert_cmpint(i > 0 && i < 8 && bytes[n + i], ==, 0);
    }
    g_assert_cmphex(bytes[n], ==, 0x80);
    g_assert_cmphex(bytes[n + SESSION_MARK - 1], ==, 0x80);
    return n + SESSION_MARK;
}

/*
 * A support packet (format 3, subformat 3) of the source @src_id, of which
 * the stream has @src_bits: 0 to 4, in front of the payload and counted with
 * it, or 8. Returns its length.
 */
static size_t assert_support(const uint8_t *bytes, unsigned src_bits,
                             unsigned src_id)
{
    unsigned payload = bytes[1 + src_bits / 8] >> src_bits % 8;

    g_assert_cmpuint(bytes[0] & 0x1f, >, 0);
    /* flow 0, no timestamp */
    g_assert_cmphex(bytes[0] & 0xe0, ==, 0);
    g_assert_cmpuint(bytes[1] & ((1u << src_bits) - 1), ==, src_id);
    g_assert_cmphex(payload & 0xf, ==, 0xf);
    return 1 + src_bits / 8 + (bytes[0] & 0x1f);
}

/* Wait until @path has at least @len bytes; returns what it has. */
static char *read_file(const char *path, size_t len, size_t *size)
{
    gint64 end = g_get_monotonic_time() + TIMEOUT_US;
    char *contents;

    for (;;) {
        g_assert_true(g_file_get_contents(path, &contents, size, NULL));
        if (*size >= len) {
            return contents;
        }
        g_free(contents);
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_usleep(1000);
    }
}

/* Enable from the sink to the encoder, disable the other way round. */
static void test_enable(void)
{
    g_autofree char *path = tmp_name("enable");
    g_autofree char *args = g_strdup_printf("-chardev file,id=t,path=%s",
                                            path);
    g_autofree char *before = NULL;
    g_autofree char *after = NULL;
    QTestState *qts = start(",trace=on,trace-chardev=t", args);
    size_t size, len;

    /* A reader is there, so the stream is aligned, but nothing is traced. */
    before = read_file(path, 32 + SESSION_MARK, &size);
    g_assert_cmpuint(size, ==, assert_aligned((uint8_t *)before, 0));

    set_control(qts, PIB, ACTIVE);
    set_control(qts, PIB, ENABLE);
    set_control(qts, FUNNEL, ACTIVE);
    set_control(qts, FUNNEL, ENABLE);
    set_control(qts, ENCODER(0), ACTIVE);
    set_control(qts, ENCODER(0), ENABLE);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & EMPTY, ==, EMPTY);
    set_control(qts, ENCODER(0), TE_INST_TRACING);
    poll_control(qts, ENCODER(0), EMPTY, 0);

    clear_control(qts, ENCODER(0), TE_INST_TRACING);
    poll_control(qts, ENCODER(0), ENABLE | EMPTY, ENABLE | EMPTY);
    clear_control(qts, ENCODER(0), ENABLE);
    poll_control(qts, ENCODER(0), ENABLE | EMPTY, EMPTY);
    clear_control(qts, FUNNEL, ENABLE);
    poll_control(qts, FUNNEL, ENABLE | EMPTY, EMPTY);
    clear_control(qts, PIB, ENABLE);
    poll_control(qts, PIB, ENABLE | EMPTY, EMPTY);

    after = read_file(path, 34 + SESSION_MARK, &size);
    len = assert_aligned((uint8_t *)after, 0);
    assert_support((uint8_t *)after + len, 0, 0);
    qtest_quit(qts);
    g_unlink(path);
}

/* Each component on the way can hold up tracing. */
static void test_enable_all(void)
{
    static const uint64_t bases[] = { PIB, FUNNEL, ENCODER(0) };
    g_autofree char *path = tmp_name("enable-all");
    g_autofree char *args = g_strdup_printf("-chardev file,id=t,path=%s",
                                            path);
    QTestState *qts = start(",trace=on,trace-autostart=on,trace-chardev=t",
                            args);

    poll_control(qts, ENCODER(0), EMPTY, 0);
    for (unsigned i = 0; i < ARRAY_SIZE(bases); i++) {
        clear_control(qts, bases[i], ENABLE);
        poll_control(qts, ENCODER(0), EMPTY, EMPTY);
        set_control(qts, bases[i], ENABLE);
        poll_control(qts, ENCODER(0), EMPTY, 0);
    }
    qtest_quit(qts);
    g_unlink(path);
}

/* Without a reader nothing is traced. */
static void test_no_reader(void)
{
    g_autofree char *path = tmp_name("no-reader");
    g_autofree char *args =
        g_strdup_printf("-chardev socket,id=t,path=%s,server=on,wait=off",
                        path);
    QTestState *qts = start(",trace=on,trace-autostart=on,trace-chardev=t",
                            args);

    /* What enabling has started would be seen by now. */
    g_usleep(100 * 1000);
    g_assert_cmphex(qtest_readl(qts, ENCODER(0)) & EMPTY, ==, EMPTY);
    qtest_quit(qts);
    g_unlink(path);
}

static int connect_to(const char *path)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    struct timeval timeout = { .tv_sec = TIMEOUT_US / G_USEC_PER_SEC };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpuint(strlen(path), <, sizeof(addr.sun_path));
    strcpy(addr.sun_path, path);
    g_assert_cmpint(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), ==,
                    0);
    g_assert_cmpint(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout,
                               sizeof(timeout)), ==, 0);
    return fd;
}

static void read_exactly(int fd, uint8_t *buf, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = read(fd, buf + done, len - done);

        g_assert_cmpint(n, >, 0);
        done += n;
    }
}

/* Every reader gets a stream that begins with what it needs to decode it. */
static void test_reconnect(void)
{
    g_autofree char *path = tmp_name("reconnect");
    g_autofree char *args =
        g_strdup_printf("-smp 2 "
                        "-chardev socket,id=t,path=%s,server=on,wait=off",
                        path);
    QTestState *qts = start(",trace=on,trace-autostart=on,trace-chardev=t",
                            args);

    for (int i = 0; i < 3; i++) {
        int fd = connect_to(path);
        uint8_t bytes[32 + SESSION_MARK + 2 * (1 + 31)];
        unsigned first;
        size_t len;

        /* srcID of one bit, because there are two sources */
        read_exactly(fd, bytes, 32 + SESSION_MARK + 1);
        len = assert_aligned(bytes, 0);
        read_exactly(fd, bytes + len + 1, bytes[len] & 0x1f);
        first = bytes[len + 1] & 1;
        len += assert_support(bytes + len, 1, first);
        read_exactly(fd, bytes + len, 1);
        read_exactly(fd, bytes + len + 1, bytes[len] & 0x1f);
        assert_support(bytes + len, 1, !first);

        close(fd);
        poll_control(qts, ENCODER(0), EMPTY, EMPTY);
        poll_control(qts, ENCODER(1), EMPTY, EMPTY);
    }
    qtest_quit(qts);
    g_unlink(path);
}

/* A change of what is in the packets gives the reader a new start, too. */
static void test_inhibit_src(void)
{
    g_autofree char *path = tmp_name("inhibit-src");
    g_autofree char *args =
        g_strdup_printf("-global riscv-trace-encoder.src-bits=8 "
                        "-global riscv-trace-encoder.src-id=5 "
                        "-chardev file,id=t,path=%s", path);
    QTestState *qts = start(",trace=on,trace-autostart=on,trace-chardev=t",
                            args);
    g_autofree char *both = NULL;
    size_t size, len;
    g_autofree char *first = read_file(path, 33 + SESSION_MARK + 3,
                                         &size);

    len = assert_aligned((uint8_t *)first, 1);
    len += assert_support((uint8_t *)first + len, 8, 5);

    set_control(qts, ENCODER(0), TE_INHIBIT_SRC);
    both = read_file(path, len + 32 + SESSION_MARK + 2, &size);
    len += assert_aligned((uint8_t *)both + len, 0);
    assert_support((uint8_t *)both + len, 0, 0);
    qtest_quit(qts);
    g_unlink(path);
}

/* The sideband stream begins with a SESSION record, as its magic shows. */
static void test_sideband(void)
{
    g_autofree char *trace = tmp_name("trace");
    g_autofree char *sideband = tmp_name("sideband");
    g_autofree char *args =
        g_strdup_printf("-chardev file,id=t,path=%s "
                        "-chardev file,id=s,path=%s", trace, sideband);
    QTestState *qts = start(",trace=on,trace-chardev=t,trace-sideband=s",
                            args);
    size_t size;
    g_autofree char *contents = read_file(sideband, 40, &size);

    g_assert_cmpuint((uint8_t)contents[0] | (uint8_t)contents[1] << 8, ==, 1);
    g_assert_cmpint(memcmp(contents + 8, "RVTRSIDE", 8), ==, 0);
    qtest_quit(qts);
    g_unlink(trace);
    g_unlink(sideband);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    qtest_add_func("/riscv-trace-stream/enable", test_enable);
    qtest_add_func("/riscv-trace-stream/enable-all", test_enable_all);
    qtest_add_func("/riscv-trace-stream/no-reader", test_no_reader);
    qtest_add_func("/riscv-trace-stream/reconnect", test_reconnect);
    qtest_add_func("/riscv-trace-stream/inhibit-src", test_inhibit_src);
    qtest_add_func("/riscv-trace-stream/sideband", test_sideband);
    return g_test_run();
}
