#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Runs every fuzz target of the module, each for the given time (10s): hack/fuzz.sh 30s

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

time=${1:-10s}
# git grep fails if nothing matches.
packages=$({ git grep --untracked -l '^func Fuzz' -- '*_test.go' || true; } | xargs -r -n1 dirname | sort -u)
targets=0
for package in $packages; do
  list=$(go test -list '^Fuzz' "./$package")
  for target in $(grep '^Fuzz' <<<"$list"); do
    echo "--- $package $target for $time"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$package"
    targets=$((targets + 1))
  done
done
if ((targets == 0)); then
  echo "no fuzz target found" >&2
  exit 1
fi
echo "$targets fuzz targets passed"
