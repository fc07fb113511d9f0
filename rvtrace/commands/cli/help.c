/*
 * What --help of a command shows first: six options or so, and an example
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "commands/cli/option-set.h"

#define NAMES   "sysroot elf"
#define PART    "process from to"

static const CommandHelp helps[] = {
    { "run", "out debug view " NAMES " " PART,
      "  rvtrace run --sysroot DIR -- qemu-system-riscv64 -M virt -nographic "
      "...\n  rvtrace report" },
    { "summary", "format output " NAMES " " PART, "  rvtrace summary rvtrace.out" },
    { "report", "sort callers by-total rows format output " NAMES " " PART,
      "  rvtrace report --sort comm,dso,sym --rows 20\n"
      "  rvtrace report --callers memcpy --process sh" },
    { "annotate", "sym dso source rows output " NAMES " " PART,
      "  rvtrace annotate --sym memcpy --source" },
    { "html", "output title " NAMES " " PART,
      "  rvtrace html --from 1s --to 1.5s -o report.html" },
    { "flamegraph", "output title width layers weight " NAMES " " PART,
      "  rvtrace flamegraph --process sh -o sh.svg" },
    { "folded", "output layers weight " NAMES " " PART,
      "  rvtrace folded | flamegraph.pl > stacks.svg" },
    { "timeline", "output min-duration time window before " NAMES " " PART,
      "  rvtrace timeline --from 1s -o boot.pftrace\n"
      "  rvtrace timeline --window 10ms --before 'slower:vfs_read>1ms' -o "
      "late.pftrace" },
    { "privilege", "output every time format " NAMES " " PART,
      "  rvtrace privilege --every 100ms --process sh" },
    { "calls", "sym callers comm rows format output time " NAMES " " PART,
      "  rvtrace calls --sym vfs_read --comm sh\n"
      "  rvtrace calls --sym 'sys_*' --callers" },
    { "latency", "sym between comm worst format output time " NAMES " " PART,
      "  rvtrace latency --comm sh\n"
      "  rvtrace latency --between '[supervisor timer*..schedule'" },
    { "faults", "comm sym rows format output " NAMES " " PART,
      "  rvtrace faults --comm sh" },
    { "switches", "comm list rows format output time " NAMES " " PART,
      "  rvtrace switches\n"
      "  rvtrace switches --list --comm sh" },
    { "why-hung", "format output " NAMES " " PART,
      "  rvtrace why-hung" },
    { "speedscope", "output min-duration time " NAMES " " PART,
      "  rvtrace speedscope --process sh -o sh.json" },
    { "uftrace", "output min-duration time " NAMES " " PART,
      "  rvtrace uftrace --process sh -o uftrace.data\n"
      "  uftrace report -d uftrace.data" },
    { "ctf", "output time " NAMES " " PART,
      "  rvtrace ctf -o guest.ctf\n"
      "  babeltrace2 guest.ctf" },
    { "edges", "each exact-counts dso sym comm output " NAMES " " PART,
      "  rvtrace edges --each sym:test_one_input --dso fuzzed -o maps" },
    { "perf-data", "output period branches no-call-chains " NAMES " " PART,
      "  rvtrace perf-data -o perf.data\n  perf report -i perf.data" },
    { "script", "output period branches " NAMES " " PART,
      "  rvtrace script -o perf.script" },
    { "callgrind", "output source-prefix " NAMES " " PART,
      "  rvtrace callgrind -o callgrind.out\n  kcachegrind callgrind.out" },
    { "pprof", "output weight " NAMES " " PART,
      "  rvtrace pprof -o ran.pb.gz\n  go tool pprof -top ran.pb.gz" },
    { "coverage", "output format include exclude fail-under source-prefix "
      NAMES,
      "  rvtrace coverage --include '*/src/*' -o ran.info\n"
      "  genhtml --branch-coverage -o html ran.info" },
    { "pgo", "format object object-file output " NAMES " " PART,
      "  rvtrace pgo --format gcov --object sort -o sort.afdo" },
    { "diff", "sort rows percent-limit format",
      "  rvtrace diff rvtrace.out rvtrace.out.2\n"
      "  rvtrace diff --sort comm rvtrace.out rvtrace.out.2" },
    { "gdbserver", "listen goto qmp elf",
      "  rvtrace gdbserver &\n"
      "  gdb-multiarch -ex 'target remote :1234' -ex reverse-stepi vmlinux" },
    { "listen", "trace trace-out sideband sideband-out for bytes",
      "  rvtrace listen --trace unix:t.sock --trace-out trace \\\n"
      "      --sideband unix:s.sock --sideband-out sideband" },
    { "live", "trace trace-out sideband sideband-out sort interval sysroot elf",
      "  rvtrace live --trace unix:t.sock --trace-out trace \\\n"
      "      --sideband unix:s.sock --sideband-out sideband --sysroot DIR" },
    { "ctr-sample", "qmp for samples view keep cont " NAMES,
      "  rvtrace ctr-sample --qmp unix:qmp.sock --for 10s --cont "
      "--elf vmlinux" },
    { "decode", "emit output hart limit " NAMES " " PART,
      "  rvtrace decode --hart 0 --emit pc --limit 20\n"
      "  rvtrace decode --output report --output flamegraph=flame.svg" },
    { "stat", "format output hart strict", "  rvtrace stat --strict" },
    { "verify", "truth output hart", "  rvtrace verify --truth retired.txt" },
    { "index", "every list output",
      "  rvtrace index\n  rvtrace report --from=-50M" },
    { "merge", "output " NAMES,
      "  rvtrace report --shard 1/2 -o part.1\n"
      "  rvtrace report --shard 2/2 -o part.2\n"
      "  rvtrace merge part.1 part.2 --output report" },
    { "convert", "from to hart split output",
      "  rvtrace convert --to raw --hart 0 -o trace.raw" },
    { "params", "format hart param", "  rvtrace params --format json" },
    { "encode", "packets output param",
      "  rvtrace decode --emit packets > packets\n"
      "  rvtrace encode --packets packets -o trace" },
};

const CommandHelp *command_help(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(helps); i++) {
        if (g_str_equal(helps[i].name, name)) {
            return &helps[i];
        }
    }
    return NULL;
}
