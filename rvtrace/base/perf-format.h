/*
 * Numbers of perf's file format that perf-data.c needs
 *
 * From Linux' include/uapi/linux/perf_event.h and
 * tools/perf/Documentation/perf.data-file-format.txt, so that hosts without
 * them can write such files.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_VIEWS_PERF_FORMAT_H
#define ETRACE_VIEWS_PERF_FORMAT_H

#define PERF_MAGIC                      "PERFILE2"
#define PERF_FILE_HEADER_SIZE           104
#define PERF_ATTR_SIZE_VER5             112

/* perf_event_attr */
#define PERF_TYPE_HARDWARE              0
#define PERF_COUNT_HW_INSTRUCTIONS      1
#define PERF_TYPE_SOFTWARE              1
#define PERF_COUNT_SW_CPU_CLOCK         0
#define PERF_SAMPLE_IP                  (1u << 0)
#define PERF_SAMPLE_TID                 (1u << 1)
#define PERF_SAMPLE_TIME                (1u << 2)
#define PERF_SAMPLE_CALLCHAIN           (1u << 5)
#define PERF_SAMPLE_CPU                 (1u << 7)
#define PERF_SAMPLE_PERIOD              (1u << 8)
#define PERF_SAMPLE_BRANCH_STACK        (1u << 11)
#define PERF_SAMPLE_IDENTIFIER          (1u << 16)
#define PERF_ATTR_MMAP                  (1u << 8)
#define PERF_ATTR_COMM                  (1u << 9)
#define PERF_ATTR_TASK                  (1u << 13)
#define PERF_ATTR_SAMPLE_ID_ALL         (1u << 18)
#define PERF_ATTR_MMAP2                 (1u << 23)
#define PERF_ATTR_COMM_EXEC             (1u << 24)
#define PERF_SAMPLE_BRANCH_ANY          (1u << 3)
/* calls, returns, indirect jumps and conditional branches, but not any */
#define PERF_SAMPLE_BRANCH_SOME         (0xfu << 4 | 1u << 10 | 1u << 12)
#define PERF_SAMPLE_BRANCH_TYPE_SAVE    (1u << 16)

/* Records */
#define PERF_RECORD_MMAP                1
#define PERF_RECORD_COMM                3
#define PERF_RECORD_EXIT                4
#define PERF_RECORD_FORK                7
#define PERF_RECORD_SAMPLE              9
#define PERF_RECORD_MMAP2               10
#define PERF_RECORD_HEADER_BUILD_ID     67
#define PERF_MISC_KERNEL                1
#define PERF_MISC_USER                  2
#define PERF_MISC_HYPERVISOR            3
#define PERF_MISC_COMM_EXEC             (1u << 13)
#define PERF_MISC_EXACT_IP              (1u << 14)      /* of samples */
#define PERF_MISC_MMAP_BUILD_ID         (1u << 14)      /* of MMAP2 */
#define PERF_MISC_BUILD_ID_SIZE         (1u << 15)

/* What the addresses of a call chain behind it are */
#define PERF_CONTEXT_HV                 ((uint64_t)-32)
#define PERF_CONTEXT_KERNEL             ((uint64_t)-128)
#define PERF_CONTEXT_USER               ((uint64_t)-512)

/* Entries of branch stacks: bits, and types of branches */
#define PERF_BRANCH_PREDICTED           2
#define PERF_BRANCH_CYCLES_SHIFT        4
#define PERF_BRANCH_TYPE_SHIFT          20
#define PERF_BRANCH_NEW_TYPE_SHIFT      26
#define PERF_BRANCH_PRIV_SHIFT          30
#define PERF_BR_UNKNOWN                 0
#define PERF_BR_COND                    1
#define PERF_BR_UNCOND                  2
#define PERF_BR_IND                     3
#define PERF_BR_CALL                    4
#define PERF_BR_IND_CALL                5
#define PERF_BR_RET                     6
#define PERF_BR_SYSCALL                 7
#define PERF_BR_ERET                    11
#define PERF_BR_IRQ                     12
#define PERF_BR_EXTEND_ABI              15
#define PERF_BR_NEW_FAULT_ALGN          0
#define PERF_BR_NEW_FAULT_DATA          1
#define PERF_BR_NEW_FAULT_INST          2
#define PERF_BR_PRIV_USER               1
#define PERF_BR_PRIV_KERNEL             2
#define PERF_BR_PRIV_HV                 3

/* Features */
#define PERF_HEADER_BUILD_ID            2
#define PERF_HEADER_ARCH                6
#define PERF_HEADER_NRCPUS              7
#define PERF_HEADER_CMDLINE             11
#define PERF_HEADER_EVENT_DESC          12
#define PERF_HEADER_BRANCH_STACK        15
#define PERF_HEADER_SAMPLE_TIME         21
#define PERF_HEADER_FEAT_BITS           256
#define PERF_NAME_ALIGN                 64
#define PERF_BUILD_ID_SIZE              20

#endif /* ETRACE_VIEWS_PERF_FORMAT_H */
