#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Prints the folder in which etcd, kube-apiserver and kubectl are, and builds them before if they are not there:
#
#   1. $KUBEBUILDER_ASSETS, if it is set;
#   2. the cache, ${XDG_CACHE_HOME:-$HOME/.cache}/capkit/controlplane, in a folder for this platform, this version of Go and
#      the versions in hack/controlplane/go.mod;
#   3. a build from source, into that cache. From nothing it takes minutes; what happens is told on standard error.
#
# It may be interrupted, and run several times at once.

set -euo pipefail
module=$(cd "$(dirname "${BASH_SOURCE[0]}")/controlplane" && pwd)
binaries=(etcd kube-apiserver kubectl)
packages=(go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl)

say() { echo "controlplane: $*" >&2; }

if [[ -n ${KUBEBUILDER_ASSETS:-} ]]; then
  for binary in etcd kube-apiserver; do
    if [[ ! -x $KUBEBUILDER_ASSETS/$binary ]]; then
      say "KUBEBUILDER_ASSETS is $KUBEBUILDER_ASSETS, but there is no program $binary"
      exit 1
    fi
  done
  echo "$KUBEBUILDER_ASSETS"
  exit
fi

# A go.work around this module, or flags for another one, would choose other versions. The rest are the flags of the Makefile:
# what the two have in common is compiled once.
export GOWORK=off GOFLAGS="-trimpath -buildvcs=false -gcflags=all=-dwarf=false" CGO_ENABLED=0 GOGC=400
cd "$module"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/capkit/controlplane
key=$({ go version; cat go.mod go.sum "$module/../controlplane.sh"; } | git hash-object --stdin)
folder=$cache/${key:0:16}

if [[ -d $folder ]]; then
  touch "$folder"
  echo "$folder"
  exit
fi

mkdir -p "$cache"
if command -v flock >/dev/null; then
  exec 9>"$cache/lock"
  if ! flock --nonblock 9; then
    say "another build is running, waiting for it"
    flock 9
  fi
  if [[ -d $folder ]]; then
    echo "$folder"
    exit
  fi
  rm -rf "$cache"/build.* # of builds that were killed
fi

build=$(mktemp -d "$cache/build.XXXXXX")
cleanup() {
  local running
  running=$(jobs -p)
  # shellcheck disable=SC2086
  [[ -z $running ]] || kill $running 2>/dev/null || true
  rm -rf "$build"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The compiler ends with this script, also if the script is killed.
bound=()
if command -v setpriv >/dev/null; then
  bound=(setpriv --pdeathsig TERM --)
fi

# run NAME COMMAND... says every 15 seconds that the command is still running.
run() {
  local name=$1 start=$SECONDS
  shift
  say "$name"
  "${bound[@]}" "$@" >&2 9>&- &
  local pid=$! last=$SECONDS
  while kill -0 $pid 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - last >= 15)); then
      last=$SECONDS
      say "$name: $((SECONDS - start))s"
    fi
  done
  if ! wait $pid; then
    say "$name: FAILED after $((SECONDS - start))s"
    exit 1
  fi
  say "$name: done in $((SECONDS - start))s"
}

say "building into $folder; that is done once for each version, and takes minutes if nothing was built before"
run "downloading sources" go mod download
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${version#v}"
# Without its version kube-apiserver calls itself v0.0.0, and Gardener refuses to work with it.
v=k8s.io/component-base/version
ldflags="-s -w -X $v.gitVersion=$version -X $v.gitMajor=$major -X $v.gitMinor=$minor"
for i in "${!binaries[@]}"; do
  run "building ${binaries[i]}" go build -ldflags "$ldflags" -o "$build/${binaries[i]}" "${packages[i]}"
done

# Without flock somebody else may have been faster.
[[ -d $folder ]] || mv "$build" "$folder"
# Folders that nobody has used for a month, of older versions.
find "$cache" -mindepth 1 -maxdepth 1 -type d -mtime +30 -exec rm -rf {} +
echo "$folder"
