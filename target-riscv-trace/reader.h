/*
 * RISC-V trace: who reads the sideband
 *
 * A reader gets the bytes that were translated, from which physical page, and
 * which virtual page a hart fetches them through. What is new goes into its
 * stream; what replaces something stands behind a fence in the hart's trace.
 * See hw/trace/etrace/sideband.h for the records.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef TARGET_RISCV_TRACE_READER_H
#define TARGET_RISCV_TRACE_READER_H

#include "hw/trace/etrace/sideband.h"
#include "hart.h"

typedef struct RISCVTraceReader RISCVTraceReader;

/*
 * Takes one whole record. May be called from any vCPU thread, one at a time.
 * Returns false if it was lost: the session is over then.
 */
typedef bool RISCVTraceRecordFn(void *opaque, const uint8_t *record,
                                size_t len);

/* A reader that knows nothing, and is in no session. */
RISCVTraceReader *riscv_trace_reader_new(RISCVTraceRecordFn *put,
                                         void *opaque);
/* No hart is traced for it any more. BQL held. */
void riscv_trace_reader_free(RISCVTraceReader *reader);

/*
 * A session begins: what @reader got before is forgotten, and it gets the
 * records SESSION and PARAMS. @harts are those of its trace, NULL where there
 * is none, with @params, @nharts of both; @trace_offset: bytes of the trace
 * stream since its channel was opened. With @deaf, nobody reads a sideband: the
 * harts are traced, and put nothing. BQL held, VM stopped; call
 * riscv_trace_hart_enable() for each hart then.
 */
void riscv_trace_reader_begin(RISCVTraceReader *reader, CPUState *const *harts,
                              const ETraceParams *params, unsigned nharts,
                              uint64_t trace_offset, bool deaf);

/*
 * @cs is hart @index of the present session from here on, with PARAMS. @left:
 * how many packets an earlier hart of that number has put, and the last change
 * that it had its place of; zeros if there was none. From its own thread.
 */
void riscv_trace_reader_add(RISCVTraceReader *reader, CPUState *cs,
                            unsigned index, const ETraceParams *params,
                            const ETraceSbPlace *left);

/*
 * A window of @cs has ended behind so many of its packets, and the next one is
 * going to begin with the next instruction. From its own thread.
 */
void riscv_trace_reader_fence(CPUState *cs, uint64_t packets);

/*
 * @cs has run something that is not traced, and is going to run what is; there
 * are so many of its packets by now. If that was behind a fence, the reader is
 * told. From its own thread.
 */
void riscv_trace_reader_resume(CPUState *cs, uint64_t packets);

/* Nobody reads any more. BQL held. */
void riscv_trace_reader_end(RISCVTraceReader *reader);

/* Number of the present session, 0: there was none yet. Any thread. */
uint32_t riscv_trace_reader_session(const RISCVTraceReader *reader);

/*
 * Put a record of the caller's own between those of the harts. Not from the
 * middle of one of theirs.
 */
void riscv_trace_reader_put(RISCVTraceReader *reader, const uint8_t *record,
                            size_t len);

/*
 * Take a note of @len bytes of @text. TEXT is put for all harts at once; others
 * each hart that is traced puts where it is then. When all of them have,
 * @done(@opaque) is called in the main loop. BQL held.
 */
void riscv_trace_note(ETraceSbNoteKind kind, const char *text, size_t len,
                      void (*done)(void *opaque), void *opaque);

/*
 * Does a hart stand because a reader does not keep up? Who takes notes of
 * its own accord waits then, too.
 */
bool riscv_trace_is_stalled(void);

#endif /* TARGET_RISCV_TRACE_READER_H */
