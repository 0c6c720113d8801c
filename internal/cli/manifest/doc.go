// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads Kubernetes manifests from files, directories and standard input, and remembers where in the
// file every value was written.
//
// Start reading at Load. It finds the files (files.go, folder.go), cuts each into documents (package cut), and makes a tree
// of each (node.go) from YAML (yaml.go, convert.go) or JSON (json.go). What the document consists of (source.go), one object or the items of a
// List, becomes Objects: JSON, and a table of the places of its values. Object.Position (manifest.go) leads from a field path
// back to the line, by a tree of that JSON, which is made when somebody asks. Large files are read item by item (stream.go).
//
// What YAML means here is what kubectl makes of it: the JSON of a document is the JSON of sigs.k8s.io/yaml, except that
// keys keep their order. Whatever cannot be read is a Problem and stops nothing but its own document.
//
// Nothing here knows which kinds of objects exist, or what their fields mean; Lists are taken apart, that is all.
package manifest
