// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package inventories reads the inventories of a command, and verifies the profiles among its inputs against them: for verify, and for lint
// with --inventory. Start reading at [Flags].
package inventories
