#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# The second step of the GitHub Action in action.yml: it runs COMMAND of the capkit that the first one has installed. Its status is that
# of the command.

set -euo pipefail

[[ $COMMAND == none ]] && exit 0

format=$FORMAT output=$OUTPUT
case $COMMAND in lint | verify) format=${format:-github} ;; esac
[[ $format == sarif ]] && output=${output:-capkit.sarif}

# The values are data: nothing in them is looked at by the shell.
read -r -d '' -a args <<< "$ARGS" || true # read fails at the end
all=("$COMMAND")
[[ -z $format ]] || all+=("--output=$format")
[[ -z $FAIL_ON ]] || all+=("--fail-on=$FAIL_ON")
all+=(${args[@]+"${args[@]}"}) # to the bash of macOS, an empty list is an unknown variable
[[ -z $PATHS ]] || all+=(--)
while IFS= read -r path; do
  [[ -z $path ]] || all+=("$path")
done <<< "$PATHS"

file=$output # later steps run in other folders
[[ -z $file || $file == /* ]] || file=$PWD/$file
echo "file=$file" >> "$GITHUB_OUTPUT"
if [[ -n $output ]]; then
  exec capkit "${all[@]}" > "$output"
fi
exec capkit "${all[@]}"
