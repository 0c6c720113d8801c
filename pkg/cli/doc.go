// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package cli is the capkit command as a function: it makes offline, on manifests and on what a cluster has, the checks
// that admission makes. It reads manifests with their positions, asks Gardener's own validation and package check about them, and prints
// what they say with file and line. No check of images is written here: an extension author passes a Provider, wrapped
// by [For], and has the whole command.
//
// Start reading at [Run]. Each command has a file of its own: lint.go, select.go, explain.go, render.go,
// capabilities.go, migrate.go, reporting.go and version.go. What they share:
//
//   - run.go and command.go: the exit status, the root command, flags and errors of usage;
//   - checkflags.go, silence.go and settings.go: what lint finds and does not count: flags, comments, .capkit.yaml;
//   - fix.go and repairs.go: what lint --fix repairs;
//   - help.go: groups and topics of help, and what is said of a name that is misspelt. A command is in a group, has examples and, if it
//     answers something, a line in the topic exit-statuses;
//   - input.go: the flags by which files and a cluster become one garden;
//   - garden.go and profiles.go: the inputs as objects that see each other, and which profile a Shoot or a flag means;
//   - question.go: the question about worker pools that select and explain answer;
//   - provider.go, rules.go and rulecommands.go: the providers that the command knows, and the catalogue of all rules;
//   - package manifest reads files, edit changes them, cluster has the objects of a garden, report writes findings, page the HTML of the command report, gardener runs Gardener's own
//     code, and reserved that of a Gardener to come.
package cli
