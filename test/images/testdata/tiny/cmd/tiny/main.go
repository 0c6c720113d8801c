// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command tiny is compiled in seconds, for every platform.
package main

import "os"

func main() { _, _ = os.Stdout.WriteString("tiny\n") }
