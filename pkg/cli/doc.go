// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package cli is the capkit command as a function. It runs the checks of the admission webhooks on manifests and on objects of a cluster.
// It contains no image checks of its own: an extension author passes a provider, wrapped by [For], and has the whole command.
//
// Start reading at [Run]. This package has the root command, its help and the exit statuses. Each family of commands has its own package in
// internal/cli. One imports another only to show its answers: page and lsp import ask, page imports maintain, and importer imports plan.
//
//   - lint, lsp, and repair, which both use; verify;
//   - plan, and changes, which words the facts of package update for plan, and for the proofs of migrate and import;
//   - ask: select, explain and capabilities; maintain: maintenance; page: report;
//   - importer: import; migrate, and transform, which converts a single profile;
//   - render, inventory, schema; rules: rules and explain-rule.
//
// They share these packages:
//
//   - checks: the findings about the inputs, their rules, and which of them apply by flags, comments and .capkit.yaml;
//   - input: the objects given to a command, from files and a cluster, in the form that the API server would store;
//   - command: one run with its streams, providers and flags, and the output of answers;
//   - manifest reads files with positions, edit changes them, and files writes them; cluster reads the objects of a garden; report prints
//     findings; gardener runs Gardener's own code, and reserved that of a later Gardener.
package cli
