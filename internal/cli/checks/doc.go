// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package checks finds what is wrong with the inputs of a command, by the rules of Gardener and of the engine, and says what of it
// counts: by flags, by comments in manifests, and by the settings in .capkit.yaml. Start reading at [Run].
package checks
