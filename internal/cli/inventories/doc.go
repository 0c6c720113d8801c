// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package inventories reads the inventories that a command was given, and judges the profiles among its inputs by them: for verify, and for
// lint with --inventory. Start reading at [Flags].
package inventories
