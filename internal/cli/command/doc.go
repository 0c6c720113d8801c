// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package command is one run of the command: its streams, its providers, its progress, and the flags and forms of output that
// commands share. It knows nothing of what they are about.
package command
