/*
 * QTest testcase for what RISC-V trace knows of the guest's operating system
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "qobject/qdict.h"
#include "riscv-trace-ram.h"

static char *get_string(QTestState *qts, const char *path, const char *name)
{
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'qom-get', 'arguments': {"
                           "  'path': %s, 'property': %s } }", path, name);
    char *value = g_strdup(qdict_get_str(rsp, "return"));

    qobject_unref(rsp);
    return value;
}

/* Every encoder gets it from the machine. */
static void test_guest_info(void)
{
    QTestState *qts = start(",trace=on,trace-sideband=sb,"
                            "trace-guest-info=linux:comm=0x20:pid=8:tgid=12",
                            "-smp 2 -chardev null,id=sb");

    for (unsigned i = 0; i < 2; i++) {
        g_autofree char *path = g_strdup_printf("/machine/trace-encoder%u", i);
        g_autofree char *info = get_string(qts, path, "guest-info");

        g_assert_cmpstr(info, ==, "linux:pid=8:tgid=12:comm=32");
    }
    qtest_quit(qts);

    qts = start(",trace=on,trace-sideband=sb,"
                "trace-guest-info=rtos:name=0x34:current=0x80001230",
                "-chardev null,id=sb");
    {
        g_autofree char *info = get_string(qts, "/machine/trace-encoder0",
                                           "guest-info");

        g_assert_cmpstr(info, ==, "rtos:current=0x80001230:name=52");
    }
    qtest_quit(qts);

    qts = start(",trace=on", "");
    {
        g_autofree char *info = get_string(qts, "/machine/trace-encoder0",
                                           "guest-info");

        g_assert_cmpstr(info, ==, "");
    }
    qtest_quit(qts);
}

/* An error says what to do. */
static void test_guest_info_errors(void)
{
    static const struct {
        const char *value, *says;
    } cases[] = {
        { "linux:pid=8:tgid=12", "trace-guest-info: comm=OFFSET is missing" },
        { "linux:pid=8:tgid=x:comm=1", "trace-guest-info: 'tgid=x': needs an "
          "offset in struct task_struct" },
        { "rtos:name=8", "trace-guest-info: current=ADDRESS is missing" },
        { "beos:pid=8", "trace-guest-info: 'beos' is no operating system" },
    };
    QTestState *qts = start(",trace=on", "");

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        QDict *rsp = qtest_qmp(qts, "{ 'execute': 'qom-set', 'arguments': {"
                               "  'path': '/machine',"
                               "  'property': 'trace-guest-info',"
                               "  'value': %s } }", cases[i].value);
        QDict *error = qdict_get_qdict(rsp, "error");

        g_assert_nonnull(error);
        g_assert_nonnull(strstr(qdict_get_str(error, "desc"), cases[i].says));
        qobject_unref(rsp);
    }
    qtest_quit(qts);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    qtest_add_func("/riscv-trace-guest/guest-info", test_guest_info);
    qtest_add_func("/riscv-trace-guest/guest-info-errors",
                   test_guest_info_errors);
    return g_test_run();
}
