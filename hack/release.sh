#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# A release up to the push, in a clean clone: hack/release.sh VERSION NEXT; make release calls it. It makes two commits, that of the
# release and the one after it, builds all that is published, and prints what is left to do. It tags and pushes nothing. With the same
# commit before it, SOURCE_DATE_EPOCH and committer, everything is the same each time, the commits too. docs/releasing.md says more.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=${1-} next=${2-}
registry=${REGISTRY:-registry.example.com/capkit}
if (($# != 2)); then
  echo "usage: make release RELEASE=1.2.3 NEXT=1.3.0-dev, or hack/release.sh 1.2.3 1.3.0-dev" >&2
  exit 1
fi
if [[ -n ${SOURCE_DATE_EPOCH-} ]]; then
  export GIT_AUTHOR_DATE="$SOURCE_DATE_EPOCH +0000" GIT_COMMITTER_DATE="$SOURCE_DATE_EPOCH +0000"
fi
export CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false -gcflags=all=-dwarf=false" # those of make
date=$(date -u ${SOURCE_DATE_EPOCH:+-d "@$SOURCE_DATE_EPOCH"} +%Y-%m-%d)

# Folders with what was built of another commit would be published.
rm -rf bin/dist bin/images bin/charts bin/release

echo "=== check, and write version $version"
go build -o bin/release-tool ./hack/release
start=$(git rev-parse HEAD)
bin/release-tool prepare -version "$version" -next "$next" -date "$date"
# Until the end, a failure brings back what was.
trap 'git reset --quiet --hard "$start"; echo "nothing is released: the work tree is at $start again" >&2' EXIT
go run ./hack/charts -generate
git commit --quiet --all -m "Release $version"
bin/release-tool sums -version "$version"
git commit --quiet --all --amend --no-edit
echo "commit $(git rev-parse HEAD)"

echo "=== build"
make --no-print-directory dist images charts REGISTRY="$registry"
bin/release-tool pack -version "$version" -registry "$registry"

echo "=== begin version $next"
bin/release-tool next -version "$next"
go run ./hack/charts -generate
git commit --quiet --all -m "Begin version $next"
echo "commit $(git rev-parse HEAD)"
trap - EXIT

echo "=== left to do, as in bin/release/publish.sh"
cat bin/release/publish.sh
