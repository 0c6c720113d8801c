#!/usr/bin/env bash
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Writes every generated file, from the root of the repository. It needs Go only; the generators are built from
# hack/tools/go.mod. Running it twice changes nothing the second time.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Tools have a module of their own, and are no part of the workspace.
tool() {
  GOWORK=off go tool -modfile="${tools:-hack/tools}/go.mod" "$@"
}

# A cloud whose extension's types are here has a folder of them, and a page: docs/clouds/TYPE.md.
apis=(./pkg/apis/*/v1alpha1)
header=hack/boilerplate.go.txt

echo "deepcopy-gen ${apis[*]}"
tool deepcopy-gen --go-header-file "$header" --output-file zz_generated.deepcopy.go "${apis[@]}"
# The types of the example of docs/authors are copied in the same way, in the module of the tests.
echo "deepcopy-gen ./test/authors/acme"
(cd test && tools=../hack/tools tool deepcopy-gen --go-header-file "../$header" --output-file zz_generated.deepcopy.go ./authors/acme)

echo "defaulter-gen ${apis[*]}"
tool defaulter-gen --go-header-file "$header" --output-file zz_generated.defaults.go "${apis[@]}"

# register-gen writes nothing where a file register.go exists.
echo "register-gen ${apis[*]}"
tool register-gen --go-header-file "$header" --output-file zz_generated.register.go "${apis[@]}"

for api in "${apis[@]}"; do
  cloud=${api#./pkg/apis/}
  cloud=${cloud%/v1alpha1}
  page=clouds/$cloud.md
  echo "docs/api/$cloud.md"
  # The heading of the page is how the cloud is called.
  title=$(sed -n '1s/^# //p' "docs/$page")
  tool crd-ref-docs --source-path="$api" --config=hack/api-reference/config.yaml \
    --template-value="cloud=$cloud" --template-value="title=$title" --template-value="page=$page" \
    --renderer=markdown --templates-dir=hack/api-reference/templates --output-path="docs/api/$cloud.md" --log-level=ERROR
done

# --- Further generators go below this line; those that import the packages above have to come after them. ---

echo "internal/cli/schema/definitions.json"
go run ./hack/schemas

echo "example/broken, docs/rules.md"
go run ./hack/rulesdoc

echo "docs/pictures"
go run ./hack/pictures

echo "example: extension.yaml, controller-registration.yaml"
go run ./hack/charts -generate
