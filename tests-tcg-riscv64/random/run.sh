#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random guests with fixed seeds (the file "seeds"). Speaks TAP.
exec python3 "$(dirname "$0")/guests.py" check "$@"
