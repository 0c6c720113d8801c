// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package input contains the objects among a command's inputs: files, and the cluster that flags name. [Given] decodes each of them once,
// finds the profile that a Shoot or a flag names, and derives the objects that the API server would store. Rules about objects are not
// here, but in package check.
package input
