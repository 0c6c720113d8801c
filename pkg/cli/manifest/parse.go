// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

// Parse reads the manifests in a text as [Load] does with a file of that name.
func Parse(name, text string) (objects []*Object, problems []Problem) {
	src := source{name: name}
	src.parse(text)
	return src.objects, src.problems
}
