#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Builds and tests HEAD against the newest Gardener that the module proxy has, in a folder of its own, and prints what would have to be
# looked at: the copied rules whose source has changed, what does not compile, and tests that fail. NEXT=v1.x.y takes that version. Nothing
# in this work tree changes.
#
# It exits with 0 if there is nothing newer, or if the next version is fine, and with 1 otherwise.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

module=github.com/gardener/gardener
# The packages that are tested: those without a garden.
packages=(./... ./internal/cli/... ./pkg/{admission,cli,gardenerlib,openstack/machines,worker/kit}/... ./test/{garden/internal/overlay,gardener,maintenance,update})
# The modules of the workspace that require Gardener. The root requires the API types of the oldest one, and keeps them.
modules=(cmd internal/cli pkg/{admission,cli,gardenerlib,openstack/machines,worker/kit} hack test test/browser)
# The package whose tests compare the copied rules.
copied=pkg/gardenerlib
unset GOFLAGS
export CGO_ENABLED=0

current=$(cd cmd && GOWORK=off go list -m -f '{{.Version}}' $module) || exit 1

# has reports whether the proxy has a version. It ends the shell if the proxy does not say so, one way or the other.
has() {
  local answer
  answer=$(cd cmd && GOWORK=off GOFLAGS=-mod=mod go list -m "$module@$1" 2>&1 >/dev/null) && return
  if ! grep -qE '40[34] |410 |unknown revision|not found' <<<"$answer"; then
    printf '%s\n' "$answer" >&2
    exit 1
  fi
  return 1
}

# newest prints the newest release that the proxy has, and is not older than the current one. Not every proxy lists versions: then they
# are asked for one by one, the minor versions and the patches of the last one.
newest() {
  local listed minor patch=0
  listed=$(cd cmd && GOWORK=off go list -m -versions -f '{{range .Versions}}{{println .}}{{end}}' $module 2>/dev/null |
    grep -E '^v1\.[0-9]+\.[0-9]+$' | sort -V | tail -n 1)
  if [[ -n $listed ]]; then
    printf '%s\n' "$listed" "$current" | sort -V | tail -n 1
    return
  fi
  IFS=. read -r _ minor patch <<<"$current"
  while has "v1.$((minor + 1)).0"; do
    minor=$((minor + 1))
    patch=0
  done
  while has "v1.$minor.$((patch + 1))"; do
    patch=$((patch + 1))
  done
  echo "v1.$minor.$patch"
}

next=${NEXT:-}
[[ -n $next ]] || next=$(newest) || exit 1
if [[ $next == "$current" ]]; then
  echo "nothing newer than Gardener $current, which go.mod has"
  exit
fi
echo "Gardener $next instead of $current"

tree=$(mktemp -d)
log=$tree.log
cleanup() {
  git worktree remove --force "$tree" 2>/dev/null
  rm -rf "$tree" "$log" "$log.copies"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
git worktree add --quiet --detach "$tree" HEAD || exit 1
cd "$tree" || exit 1

results=()
failed=0

step() {
  local name=$1 start=$SECONDS result=ok
  shift
  echo "=== $name"
  "$@" || result=FAILED
  [[ $result == ok ]] || failed=$((failed + 1))
  results+=("$(printf '%-6s %4ds  %s' $result $((SECONDS - start)) "$name")")
}

# bump gives each module of the workspace that requires Gardener the next version. The root and hack/apiservers keep the old ones.
bump() {
  local folder failed=0
  for folder in "${modules[@]}"; do
    grep -q "$module " "$folder/go.mod" || continue
    (cd "$folder" && GOWORK=off GOFLAGS=-mod=mod go mod edit -require="$module@$next" -require="$module/pkg/apis@$next") || return 1
  done
  # Each module requires the others, and so all are edited before one is tidied.
  for folder in "${modules[@]}"; do
    (cd "$folder" && GOWORK=off go mod tidy) || failed=1
  done
  return $failed
}

copies() { go test -vet=off "./$copied/..." 2>&1 | tee "$log.copies"; }

tests() { go test -vet=off "${packages[@]}" 2>&1 | tee "$log"; }

# Each step runs even if one before it failed: the rules can be compared although something does not compile.
step "go.mod" bump
export GOFLAGS="-trimpath -buildvcs=false -gcflags=all=-dwarf=false"
step "rules" copies
step "build" go build -o "$tree/bin/" ./cmd/...
step "tests" tests

echo "=== result: Gardener $next instead of $current"
printf '%s\n' "${results[@]}"
if grep -q -- '--- FAIL: TestCopies ' "$log.copies"; then
  grep -E 'is not what .* was written after|has no .* any more' "$log.copies" | sed 's/^ *[a-z_]*\.go:[0-9]*: /changed: /; s/: read what has .*//'
elif grep -qE "^ok\s+\S+/$copied\s" "$log.copies"; then
  echo "no copied rule has changed"
else
  echo "the copied rules were not compared: see above"
fi
[[ ! -s $log ]] || grep -E '^(FAIL|---|panic:)' "$log" | sort -u
((failed == 0))
