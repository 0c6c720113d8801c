#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# The first step of the GitHub Action in action.yml: it installs the release VERSION from RELEASES, if its checksum is SHA256 or, without
# that, what the release says.

set -euo pipefail

# An annotation is one line.
fail() {
  echo "::error title=capkit::$*"
  exit 1
}

case $RUNNER_OS-$RUNNER_ARCH in
  Linux-X64) platform=linux_amd64 ;;
  Linux-ARM64) platform=linux_arm64 ;;
  macOS-X64) platform=darwin_amd64 ;;
  macOS-ARM64) platform=darwin_arm64 ;;
  *) fail "there is no archive for $RUNNER_OS on $RUNNER_ARCH: run the job on Linux or macOS, on X64 or ARM64" ;;
esac

version=${VERSION#v}
if [[ -z $version ]]; then
  version=$(<"$GITHUB_ACTION_PATH/VERSION")
  if [[ $version == *-dev ]]; then
    fail "this commit is not a release, but on the way to $version: use capkit/capkit@vX.Y.Z, or set the input version"
  fi
elif ! [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
  fail "version \"${VERSION//$'\n'/ }\" is no version: write it like 0.1.0"
fi

archive=capkit_${version}_$platform.tar.gz
folder=$RUNNER_TEMP/capkit-$version
url=${RELEASES%/}/v$version
mkdir -p "$folder"
download() {
  curl --fail --silent --show-error --location --retry 3 --output "$folder/$1" "$url/$1" ||
    fail "there is no $url/$1: is $version a release? ${RELEASES%/download} has them"
}

download "$archive"
want=$SHA256
if [[ -z $want ]]; then
  download SHA256SUMS
  want=$(awk -v name="$archive" '$2 == name { print $1 }' "$folder/SHA256SUMS")
  [[ -n $want ]] || fail "$url/SHA256SUMS says nothing about $archive"
fi
if command -v sha256sum > /dev/null; then
  got=$(sha256sum "$folder/$archive")
else
  got=$(shasum -a 256 "$folder/$archive") # macOS
fi
got=${got%% *}
[[ $got == "$want" ]] || fail "$url/$archive has the SHA-256 $got, and not $want: nothing of it is run"

tar -xzf "$folder/$archive" -C "$folder" --strip-components=1
rm "$folder/$archive"
echo "$folder" >> "$GITHUB_PATH"
echo "version=$version" >> "$GITHUB_OUTPUT"
"$folder/capkit" version
