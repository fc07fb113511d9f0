#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every rule of Smctr and Ssctr. Speaks TAP.
exec "$(dirname "$(readlink -f "$0")")/ctr/run.sh"
