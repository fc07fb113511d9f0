#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random programs against a model of CTR. Speaks TAP.
exec "$(dirname "$(readlink -f "$0")")/ctr-random/run.sh"
