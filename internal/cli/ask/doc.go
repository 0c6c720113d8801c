// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package ask is the commands that answer questions about worker pools: select, explain, maintenance and capabilities.
package ask
