// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package release does a release from a clean clone, up to the push. What hack/release.sh makes is used as users would, and is the same the
// second time. The repository that is pushed to is one in a temporary folder. It is a long test: make test-long.
//
//   - release_test.go: the script
//   - twice_test.go: the script in another clone
//   - users_test.go: what was made, in the hands of users
//   - modules_test.go: Go installs and requires what was tagged
package release
