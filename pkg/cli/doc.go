// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package cli is the capkit command as a function: it makes offline, on manifests and on what a cluster has, the checks
// that admission makes. No check of images is written here: an extension author passes a Provider, wrapped by [For], and has the
// whole command.
//
// Start reading at [Run]. This package is the root command, its help and the exit statuses. The rest is in internal/cli, a room for
// each family of commands. One imports another only to show what that answers: page and lsp import ask, page maintain, importer plan.
//
//   - lint, lsp, and repair, which both use; verify;
//   - plan, and changes, which is what plan prints, and migrate and import prove;
//   - ask: select, explain and capabilities; maintain: maintenance; page: report;
//   - importer: import; migrate, and transform, which is what it does to one profile;
//   - render, inventory, schema; rules: rules and explain-rule.
//
// They stand on rooms that all of them share:
//
//   - checks: what is found in the inputs, by which rules, and what of it counts: flags, comments, .capkit.yaml;
//   - input: the objects that a command was given, in files and by a cluster, and in the form that the API server would store;
//   - command: one run, with its streams, providers and flags, and how answers are printed;
//   - manifest reads files with their positions, edit changes them and files writes them, cluster has the objects of a garden, report
//     prints findings, gardener runs Gardener's own code, and reserved that of a Gardener to come.
package cli
