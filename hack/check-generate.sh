#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Fails if generating changes a file. Files that were changed before it started do not matter: only what generating does to
# the work tree.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One line per file that git would commit, ignored files left out: its hash and its name, "missing" if it is deleted.
state() {
  git ls-files -z --cached --others --exclude-standard | sort -zu | while IFS= read -r -d '' file; do
    if [[ -f $file ]]; then
      printf '%s  %s\n' "$(git hash-object --no-filters -- "$file")" "$file"
    else
      printf 'missing  %s\n' "$file"
    fi
  done
}

before=$(state)
hack/generate.sh
after=$(state)
if [[ $before != "$after" ]]; then
  echo "make generate changed files; commit what it makes (- before, + after):" >&2
  diff <(echo "$before") <(echo "$after") | sed -n 's/^</-/p; s/^>/+/p' >&2 || true
  git --no-pager diff --stat >&2
  exit 1
fi
echo "generated files are up to date"
