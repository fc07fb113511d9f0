/*
 * What is known of a guest's operating system, as text: guest-info.h
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "etrace-test.h"
#include "hw/trace/etrace/guest-info.h"

static void test_good(void)
{
    static const struct {
        const char *text, *same;
        ETraceGuestInfo info;
    } cases[] = {
        { "", "", { } },
        { "linux:pid=0:tgid=4:comm=8", "linux:pid=0:tgid=4:comm=8",
          { ETRACE_GUEST_LINUX, .tgid = 4, .comm = 8 } },
        { "linux:comm=0xfFfF:pid=0X10:tgid=65535",
          "linux:pid=16:tgid=65535:comm=65535",
          { ETRACE_GUEST_LINUX, .pid = 16, .tgid = 0xffff, .comm = 0xffff } },
        { "rtos:current=0", "rtos:current=0x0",
          { ETRACE_GUEST_RTOS, .current = 0, .stride = 0,
            .name = ETRACE_GUEST_ABSENT, .name_pointer = ETRACE_GUEST_ABSENT,
            .id = ETRACE_GUEST_ABSENT, .priv = 3 } },
        { "rtos:name=52:current=0x80001230",
          "rtos:current=0x80001230:name=52",
          { ETRACE_GUEST_RTOS, .current = 0x80001230, .name = 52,
            .name_pointer = ETRACE_GUEST_ABSENT, .id = ETRACE_GUEST_ABSENT,
            .priv = 3 } },
        { "rtos:priv=1:id=0:name-pointer=0x28:stride=8:"
          "current=0xffffffff80200010",
          "rtos:current=0xffffffff80200010:stride=8:name-pointer=40:id=0:"
          "priv=1",
          { ETRACE_GUEST_RTOS, .current = 0xffffffff80200010, .stride = 8,
            .name = ETRACE_GUEST_ABSENT, .name_pointer = 40, .id = 0,
            .priv = 1 } },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ETraceGuestInfo info = { ETRACE_GUEST_LINUX, .comm = 3 };
        g_autofree char *text = NULL;
        char *problem = NULL;

        g_assert_true(etrace_guest_info_parse(&info, cases[i].text, &problem));
        g_assert_null(problem);
        g_assert_cmpint(info.system, ==, cases[i].info.system);
        g_assert_cmpuint(info.pid, ==, cases[i].info.pid);
        g_assert_cmpuint(info.tgid, ==, cases[i].info.tgid);
        g_assert_cmpuint(info.comm, ==, cases[i].info.comm);
        g_assert_cmpuint(info.current, ==, cases[i].info.current);
        g_assert_cmpuint(info.stride, ==, cases[i].info.stride);
        g_assert_cmpuint(info.name, ==, cases[i].info.name);
        g_assert_cmpuint(info.name_pointer, ==, cases[i].info.name_pointer);
        g_assert_cmpuint(info.id, ==, cases[i].info.id);
        g_assert_cmpuint(info.priv, ==, cases[i].info.priv);
        text = etrace_guest_info_text(&info);
        g_assert_cmpstr(text, ==, cases[i].same);
    }
}

/* A problem says what is wrong and what to write, and changes nothing. */
static void test_bad(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "bsd:pid=0:tgid=4:comm=8", "'bsd' is no operating system" },
        { ":", "'' is no operating system" },
        { "linux", "pid=OFFSET is missing" },
        { "linux:", "'' is none of pid=OFFSET" },
        { "linux:pid=1:tgid=2", "comm=OFFSET is missing" },
        { "linux:pid=1:comm=2", "tgid=OFFSET is missing" },
        { "linux:pid=1:pid=2:tgid=3:comm=4", "pid is there twice" },
        { "linux:pid=1:tgid=2:comm=3:name=4", "'name=4' is none of" },
        { "linux:pid=1:tgid=2:comm=3:", "'' is none of" },
        { "linux:pids=1:tgid=2:comm=3", "'pids=1' is none of" },
        { "linux:pid:tgid=2:comm=3", "'pid' is none of" },
        { "linux:pid=:tgid=2:comm=3", "'pid=': needs an offset" },
        { "linux:pid=0x:tgid=2:comm=3", "'pid=0x': needs an offset" },
        { "linux:pid=-1:tgid=2:comm=3", "'pid=-1': needs an offset" },
        { "linux:pid=1x:tgid=2:comm=3", "'pid=1x': needs an offset" },
        { "linux:pid=65536:tgid=2:comm=3", "0 to 65535 bytes" },
        { "linux:pid=99999999999999999999:tgid=2:comm=3", "needs an offset" },
        { "rtos", "current=ADDRESS is missing" },
        { "rtos:name=4", "current=ADDRESS is missing" },
        { "rtos:current=x", "'current=x': needs an address" },
        { "rtos:current=0x10000000000000000", "needs an address" },
        { "rtos:current=1:pid=4", "'pid=4' is none of current=ADDRESS, "
          "stride=OFFSET, name=OFFSET, name-pointer=OFFSET, id=OFFSET and "
          "priv=LEVEL" },
        { "rtos:current=1:priv=2", "'priv=2': needs 1 (S mode) or 3" },
        { "rtos:current=1:priv=0", "'priv=0': needs 1 (S mode) or 3" },
        { "rtos:current=1:priv=4", "'priv=4': needs 1 (S mode) or 3" },
        { "rtos:current=1:name=65536", "0 to 65535 bytes" },
        { "rtos:current=1:name=4:name=4", "name is there twice" },
        { "rtos:current=1:name=4:name-pointer=8", "one name: leave name or" },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ETraceGuestInfo info = { ETRACE_GUEST_LINUX, .comm = 3 };
        g_autofree char *problem = NULL;

        g_assert_false(etrace_guest_info_parse(&info, cases[i].text,
                                               &problem));
        g_assert_nonnull(problem);
        g_assert_nonnull(strstr(problem, cases[i].says));
        g_assert_nonnull(strstr(problem, "linux:pid=") ?:
                         strstr(problem, "rtos:current=") ?:
                         strstr(problem, "leave "));
        g_assert_cmpuint(info.comm, ==, 3);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/etrace/guest-info/good", test_good);
    g_test_add_func("/etrace/guest-info/bad", test_bad);
    return g_test_run();
}
