// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package rights

func init() { tried = func() []*subject { return subjects } }
