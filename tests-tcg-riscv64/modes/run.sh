#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs and guests in every mode of the encoder: what is decoded is what
# retired. modes.py says what arguments it takes. Speaks TAP.
exec python3 "$(dirname "$0")/modes.py" "$@"
