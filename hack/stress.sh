#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Runs the tests again and again on a machine that is kept busy, and prints which runs failed, and why:
#
#   hack/stress.sh N LOOPS [COMMAND...]
#
# It runs make test N times, or another command, beside LOOPS processes that do nothing but compute. Results of earlier runs
# are not used. The output of each run is in bin/stress/N.log. The exit status is 0 if all runs passed.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! [[ ${1:-} =~ ^[1-9][0-9]*$ && ${2:-} =~ ^[0-9]+$ ]]; then
  echo "usage: hack/stress.sh N LOOPS [COMMAND...]   for example: hack/stress.sh 10 4" >&2
  exit 2
fi
runs=$1 loops=$2
shift 2
command=("$@")
((${#command[@]})) || command=(make test)

busy=() running=
cleanup() {
  ((${#busy[@]} == 0)) || kill "${busy[@]}" 2>/dev/null || true
  [[ -z $running ]] || kill -- "-$running" 2>/dev/null || true
}
trap cleanup EXIT
trap 'exit 130' INT TERM
for ((i = 0; i < loops; i++)); do
  while :; do :; done &
  busy+=($!)
done

rm -rf bin/stress
mkdir -p bin/stress
failed=0
printf '%-4s %8s  %s\n' run seconds result
for ((run = 1; run <= runs; run++)); do
  go clean -testcache
  start=$SECONDS
  setsid "${command[@]}" >"bin/stress/$run.log" 2>&1 & # a process group of its own, which ends with this script
  running=$!
  status=0
  wait "$running" || status=$?
  running=
  grep -q '^FLAKY' "bin/stress/$run.log" && status=1 # which make test lets pass
  if ((status == 0)); then
    printf '%-4d %8d  passed\n' "$run" $((SECONDS - start))
  else
    failed=$((failed + 1))
    printf '%-4d %8d  FAILED, bin/stress/%d.log:\n' "$run" $((SECONDS - start)) "$run"
    reasons=$(hack/failures.sh "bin/stress/$run.log")
    sed 's/^/              /' <<<"${reasons:-$(tail -n 10 "bin/stress/$run.log")}"
  fi
done
echo "$((runs - failed)) of $runs runs passed, beside $loops busy loops on $(nproc) processors"
((failed == 0))
