/*
 * A client of QEMU's machine protocol, QMP
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_QMP_H
#define ETRACE_QMP_H

#include <json-glib/json-glib.h>
#include "collect/address.h"

typedef struct Qmp Qmp;

/*
 * Connect to a monitor, waiting for it for at most @timeout seconds (0: for
 * ever), and greet it. Returns NULL and sets @errp if there is none.
 */
Qmp *qmp_open(const Address *address, unsigned timeout, GError **errp);
void qmp_close(Qmp *qmp);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Qmp, qmp_close)

/*
 * Run @command with @arguments, as JSON text, or NULL. Returns what it
 * returns, for the caller to free with json_node_unref(); NULL with @errp set
 * to QEMU's own words if it fails. If QEMU is not there any more, that is
 * G_IO_ERROR_CLOSED.
 */
JsonNode *qmp_run(Qmp *qmp, const char *command, const char *arguments,
                  GError **errp);

/*
 * The string @name of the object @node, which has it; "" if @node is not an
 * object, or has no such string.
 */
const char *qmp_string(JsonNode *node, const char *name);

/* Has the guest shut down, by the events that came with the answers? */
bool qmp_shut_down(const Qmp *qmp);

#endif /* ETRACE_QMP_H */
