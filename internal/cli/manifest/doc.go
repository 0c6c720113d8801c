// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads Kubernetes manifests from files, directories and standard input, and remembers where in the
// file every value was written.
//
// Start reading at Load. It finds the files (files.go), splits each into documents (split.go), and writes each document
// as JSON, with a table of the places of its values (yaml.go and convert.go, or json.go; document.go). What
// the document consists of, one object or the items of a List, becomes Objects (objects.go). Object.Position
// (manifest.go) leads from a field path back to the line.
//
// What YAML means here is what kubectl makes of it: the JSON of a document is the JSON of sigs.k8s.io/yaml, except that
// keys keep their order. Whatever cannot be read is a Problem and stops nothing but its own document.
//
// Nothing here knows which kinds of objects exist, or what their fields mean; Lists are taken apart, that is all.
package manifest
