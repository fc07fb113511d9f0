/*
 * Files of encoder parameters: what params-text.h writes, read again
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef ETRACE_PARAMS_FILE_H
#define ETRACE_PARAMS_FILE_H

#include <glib.h>
#include <stdbool.h>

/* Set the parameter @name to @value. Returns false and sets @errp. */
typedef bool ParamsSetFn(void *opaque, const char *name, const char *value,
                         GError **errp);

/*
 * Call @set with @opaque for each parameter in the file @path, by its name in
 * params_text_set(). The file is csv, toml, scf, dscf or json. What is about
 * the port between hart and encoder only is left out. Returns false and sets
 * @errp, which names file and line, if it is none of these, or @set does.
 */
bool params_file_read(const char *path, ParamsSetFn *set, void *opaque,
                      GError **errp);

#endif /* ETRACE_PARAMS_FILE_H */
