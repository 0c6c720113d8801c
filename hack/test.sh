#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Runs go test, and at once again what has failed: hack/test.sh [FLAG...] PACKAGE...
#
# Packages begin with a dot; flags have their values behind an equals sign. A package that fails and then passes is named in a line that
# begins with FLAKY, and does not fail the run. One that fails twice does, and so does one that does not compile, which is not tried again.
#
# go test repeats the result of a package, as (cached), as long as nothing changes in its module. Many tests read documents, run scripts
# and build programs outside their module. So a result is repeated here only if no file of the repository has changed at all.

set -uo pipefail

flags=() packages=()
for arg in "$@"; do
  if [[ $arg == .* ]]; then packages+=("$arg"); else flags+=("$arg"); fi
done
first=$(mktemp) again=$(mktemp)
trap 'rm -f "$first" "$again"' EXIT

# What is to be skipped is part of what go test remembers a result by. No test has such a name. Suites compile their programs once for
# the same sources.
remember=-count=1
if root=$(git rev-parse --show-toplevel 2> /dev/null); then
  hash=$(cd "$root" && git ls-files -coz --exclude-standard | xargs -0 sha256sum 2>&1 | sha256sum)
  remember="-skip=^${hash%% *}\$"
  CAPKIT_SOURCES="${hash%% *} $(go version)"
  export CAPKIT_SOURCES
fi

go test "${flags[@]}" "$remember" "${packages[@]}" 2>&1 | tee "$first"
status=${PIPESTATUS[0]}
((status == 0)) && exit 0

# What ran says how long it took.
mapfile -t failed < <(awk -F'\t' '$1 == "FAIL" && $3 ~ /^[0-9.]+s$/ && !seen[$2]++ { print $2 }' "$first")
((${#failed[@]} == 0)) && exit "$status"
echo "=== again: ${failed[*]}"
go test "${flags[@]}" -count=1 "${failed[@]}" 2>&1 | tee "$again"
status=${PIPESTATUS[0]}
# In the same order, with the number of all in the last line.
flaky=$(awk -F'\t' '$1 ~ /^ok *$/ { print "FLAKY\t" $2 "\tfailed, and passed at once when run again" }' "$again")
if [[ -n $flaky ]]; then
  echo "$flaky"
  echo "$(wc -l <<< "$flaky") flaky"
fi
grep -qE '^FAIL.*\[(build|setup) failed\]$' "$first" && exit 1
exit "$status"
