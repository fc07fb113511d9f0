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
          { true, 0, 4, 8 } },
        { "linux:comm=0xfFfF:pid=0X10:tgid=65535",
          "linux:pid=16:tgid=65535:comm=65535",
          { true, 16, 0xffff, 0xffff } },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ETraceGuestInfo info = { true, 1, 2, 3 };
        g_autofree char *text = NULL;
        char *problem = NULL;

        g_assert_true(etrace_guest_info_parse(&info, cases[i].text, &problem));
        g_assert_null(problem);
        g_assert(info.present == cases[i].info.present);
        g_assert_cmpuint(info.pid, ==, cases[i].info.pid);
        g_assert_cmpuint(info.tgid, ==, cases[i].info.tgid);
        g_assert_cmpuint(info.comm, ==, cases[i].info.comm);
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
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ETraceGuestInfo info = { true, 1, 2, 3 };
        g_autofree char *problem = NULL;

        g_assert_false(etrace_guest_info_parse(&info, cases[i].text,
                                               &problem));
        g_assert_nonnull(problem);
        g_assert_nonnull(strstr(problem, cases[i].says));
        g_assert_nonnull(strstr(problem, "linux:pid=") ?:
                         strstr(problem, "leave one out"));
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
