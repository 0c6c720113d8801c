// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package cli is the capkit command as a function: the offline mouth of the checks that admission runs. It reads
// manifests with positions, asks Gardener's own validation and package consistency about them, and prints what they say
// with file and line.
//
// Start reading at [Run]; garden.go is what the command knows of the objects it was given, and profiles.go what becomes of
// the profiles among them in a garden. lint.go, question.go with select.go and explain.go, render.go and capabilities.go are
// the commands, core.go, namespaced.go and reserved.go ask Gardener, and each output format has a file of its own. No check of images is written here: an extension
// author passes a Provider, wrapped by [For], and has the whole command.
package cli
