/*
 * Replay: registers and memory, of a trace with data
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_GDB_REPLAY_STATE_H
#define ETRACE_GDB_REPLAY_STATE_H

#include "gdb/replay.h"
#include "replay/cpu.h"
#include "replay/memory.h"

typedef struct ReplayStates ReplayStates;

/*
 * The registers and memory of @r, whose length and points must be known, and
 * which must live as long. Returns NULL if the trace has no data of that hart.
 */
ReplayStates *replay_states_new(Replay *r);
void replay_states_free(ReplayStates *s);

/*
 * @wait is told from here on how far the two functions below have come, and may
 * end them: then their answer is that nothing is known, and the same question
 * goes on later where they were. It must live as long as @s.
 */
void replay_states_set_wait(ReplayStates *s, const ReplayWait *wait);

/* Has @wait ended what was asked for? True once for each time. */
bool replay_states_take_stop(ReplayStates *s);

/*
 * The registers before instruction @i, less than the length. Valid until
 * others are asked for. NULL if they cannot be decoded, see replay_insn().
 * Takes half a second where the sideband has registers now and then, and else
 * up to as long as executing all that ran before @i.
 */
const Cpu *replay_registers(ReplayStates *s, uint64_t i);

/*
 * Read up to @len bytes of memory at @addr, as instruction @i sees it: what
 * this hart has loaded, stored or executed there. Returns how many are known,
 * from the first one on.
 */
size_t replay_memory(ReplayStates *s, uint64_t i, uint64_t addr, uint8_t *buf,
                     size_t len);

/*
 * Other harts are asked about memory, too (replay_shared_memory()). To be called
 * before anything is asked.
 */
void replay_states_share(ReplayStates *s);

/*
 * As replay_memory(), of hart @hart of @n, with what others have stored: @all
 * has each hart's, which are shared, or NULL. A byte is known if it is certain
 * which access was the last one, or which value it has whichever that was.
 * *@stored: one of them may have stored the first one that is not known, so that
 * it is not as a file has it.
 */
size_t replay_shared_memory(ReplayStates *const *all, unsigned n, unsigned hart,
                            uint64_t i, uint64_t addr, uint8_t *buf, size_t len,
                            bool *stored);

/*
 * The same of the threads of a program, of which replay_states_share() has not
 * been told: nothing is known that another thread accesses at any time.
 */
size_t replay_threads_memory(ReplayStates *const *all, unsigned n,
                             unsigned hart, uint64_t i, uint64_t addr,
                             uint8_t *buf, size_t len, bool *stored);

/* Memory that is watched */
typedef struct ReplayWatch {
    uint64_t addr, len;
    bool loads, stores;         /* an atomic is both */
} ReplayWatch;

/* The address space that addresses of programs are of, at instruction @i */
unsigned replay_watch_space(ReplayStates *s, uint64_t i);

/*
 * The next instruction, from @from on and before @end, that accesses what one
 * of the @n @watches says; or the last one before @from, from @end on, if
 * @back. Addresses of programs are those of @space. Sets *@at and *@which, the
 * number of the watch. Accesses of which it is not known whose they are are
 * passed over; *@strays says whether there may have been some of what is
 * watched, on the way to *@at.
 */
ReplayFound replay_find_access(ReplayStates *s, uint64_t from, uint64_t end,
                               bool back, const ReplayWatch *watches,
                               unsigned n, unsigned space, ReplayPollFn *poll,
                               void *opaque, uint64_t *at, unsigned *which,
                               bool *strays);

#endif /* ETRACE_GDB_REPLAY_STATE_H */
