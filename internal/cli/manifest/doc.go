// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads Kubernetes manifests from files, directories and standard input, and records the position of every value in the
// file.
//
// Start reading at [Load]. It finds the files (files.go, folder.go) and cuts each into documents (package cut). YAML (yaml.go,
// convert.go) and JSON (json.go) become a tree (node.go). The objects in it, one or the items of a List (source.go), become Objects:
// JSON, and a table of the positions of its values. Object.Position (manifest.go) maps a field path to a line. It uses a tree of that
// JSON, which is created on demand. Large files are read item by item (stream.go).
//
// YAML means what it means to kubectl: the JSON of a document is that of sigs.k8s.io/yaml, except that keys keep their order. Anything
// unreadable is a Problem, and affects only its own document.
//
// This package knows no kinds of objects and no meanings of fields; it only takes Lists apart.
package manifest
