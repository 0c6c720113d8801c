#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Runs every fuzz target of the module, each for the given time (10s): hack/fuzz.sh 30s
#
# Go minimizes each input that reaches new code for up to a minute, during which it tries no other. The few runs that it
# is given here keep the targets running, thousands of times as often.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

time=${1:-10s}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# Go before 1.27 may fail at the very end of the time, though no input failed (https://go.dev/issue/75804). Such an end
# is the expected one: nothing but the deadline is reported, and no failing input was written.
ended_by_deadline() {
  grep -A1 '^--- FAIL: Fuzz' "$output" | grep -qx '    context deadline exceeded' &&
    ! grep -qE 'Failing input written to|panic:|fuzzing process hung' "$output"
}

run() {
  if go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 20x "./$1" 2>&1 | tee "$output"; then
    return 0
  fi
  ended_by_deadline || return 1
  echo "not a finding: the deadline came between two inputs, see hack/fuzz.sh"
}

# git grep fails if nothing matches.
packages=$({ git grep --untracked -l '^func Fuzz' -- '*_test.go' || true; } | xargs -r -n1 dirname | sort -u)
targets=0
for package in $packages; do
  list=$(go test -list '^Fuzz' "./$package")
  for target in $(grep '^Fuzz' <<<"$list"); do
    echo "--- $package $target for $time"
    run "$package" "$target"
    targets=$((targets + 1))
  done
done
if ((targets == 0)); then
  echo "no fuzz target found" >&2
  exit 1
fi
echo "$targets fuzz targets passed"
