// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package example holds the manifests in this folder that programs quote.
package example

import "embed"

// Broken has the folder broken: for each rule that capkit lint can report a manifest that breaks it, broken/RULE.yaml.
//
//go:embed broken/*.yaml
var Broken embed.FS
