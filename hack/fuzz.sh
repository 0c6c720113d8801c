#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Runs every fuzz target of the module, each for the given time (10s): hack/fuzz.sh 30s
#
# The time is that of fuzzing. Compiling comes before it, and so does a run of every input that is known: the clock starts when
# the target says that it fuzzes, and it is interrupted at the end of its time.
#
# go test -fuzz would compile every dependency once more, to follow which of its code an input reaches. Here only the packages
# of this module and the decoders are followed, so the rest is that of any other test.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

time=${1:-10s}
if ! [[ $time =~ ^([1-9][0-9]*)(s|m|h)$ ]]; then
  echo "usage: hack/fuzz.sh [TIME]   for example 30s, 5m or 1h" >&2
  exit 2
fi
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
corpus=$(go env GOCACHE)/fuzz
module=$(GOWORK=off go list -m)

flags=()
for followed in "$module/..." github.com/go-json-experiment/json/... sigs.k8s.io/json/... go.yaml.in/yaml/...; do
  flags+=("-gcflags=$followed=-d=libfuzzer")
done

# Go before 1.27 may fail at the very end, though no input failed (https://go.dev/issue/75804). Such an end is the expected one:
# nothing but the interruption is reported, and no failing input was written.
ended_by_interruption() {
  grep -A1 '^--- FAIL: Fuzz' "$1" | grep -qxE '    context (deadline exceeded|canceled)' &&
    ! grep -qE 'Failing input written to|panic:|fuzzing process hung' "$1"
}

# fuzz PROGRAM PACKAGE TARGET runs one target in the folder of its package. Go minimizes each input that reaches new code for up
# to a minute, during which it tries no other. The few runs that it is given here keep the targets running.
fuzz() {
  local output=$programs/output pipe=$programs/pipe line status=0
  : >"$output"
  rm -f "$pipe"
  mkfifo "$pipe"
  (cd "$2" && exec "$1" -test.run '^$' -test.fuzz "^$3\$" -test.fuzzminimizetime 20x -test.fuzzcachedir "$corpus/$module/$2") >"$pipe" 2>&1 &
  local pid=$!
  while IFS= read -r line; do
    echo "$line" | tee -a "$output"
    # A target without seeds has nothing to gather, and says that it has begun by its first count.
    if [[ $line == *'now fuzzing with'* || $line == *'elapsed: 0s, execs:'* ]]; then
      { sleep "$time" && kill -INT "$pid"; } 2>/dev/null &
    fi
  done <"$pipe"
  wait "$pid" || status=$?
  ((status == 0)) && return 0
  ended_by_interruption "$output" || return 1
  echo "not a finding: the interruption came between two inputs, see hack/fuzz.sh"
}

# git grep fails if nothing matches.
packages=$({ git grep --untracked -l '^func Fuzz' -- '*_test.go' || true; } | xargs -r -n1 dirname | sort -u)
targets=0
for package in $packages; do
  program=$programs/${package//\//-}.test
  go test -c -vet=off "${flags[@]}" -o "$program" "./$package"
  list=$(cd "$package" && "$program" -test.list '^Fuzz')
  for target in $(grep '^Fuzz' <<<"$list"); do
    echo "--- $package $target for $time"
    fuzz "$program" "$package" "$target"
    targets=$((targets + 1))
  done
done
if ((targets == 0)); then
  echo "no fuzz target found" >&2
  exit 1
fi
echo "$targets fuzz targets passed"
