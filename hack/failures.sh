#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Prints from the output of make test what failed, and why: hack/failures.sh FILE
#
# A test of package testing says so in indented lines behind "--- FAIL", a spec of ginkgo in a block that begins with
# "• [FAILED]" and ends with a line of dashes. Logs in it may be long, so each is cut off.

set -euo pipefail

awk '
  /^panic: |^fatal error: |^FAIL\t|\[build failed\]|\[setup failed\]/ { print; show = 0; next }
  /^ *--- FAIL/ { print; show = 1; spec = 0; lines = 0; next }
  /^• \[(FAILED|PANICKED|TIMEDOUT|INTERRUPTED)\]|^\[(FAILED|PANICKED)\] / { print; show = 1; spec = 1; lines = 0; next }
  spec && /^--------------------/ { show = 0; spec = 0 }
  show && !spec && /^[^ ]/ { show = 0 }
  show && lines++ < 60 { print }
' "$1"
