// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

// The rules that a Problem can name. The names are stable.
const (
	// RuleSyntax is text that is neither YAML nor JSON, or has a part that JSON cannot express.
	RuleSyntax = "syntax"
	// RuleDuplicateKey is a key that its mapping already has. Each repetition is a Problem of its own.
	RuleDuplicateKey = "duplicate-key"
	// RuleTooLarge is input beyond a limit of size, depth or expansion.
	RuleTooLarge = "too-large"
	// RuleNotAnObject is a document that is not a mapping, or lacks a textual apiVersion or kind.
	RuleNotAnObject = "not-an-object"
)

// Stdin is the File of what was read from standard input.
const Stdin = "<stdin>"

// Identity tells an object from others, with the fields as written: "" where absent or not a string.
type Identity struct {
	APIVersion, Kind, Namespace, Name string
}

// Object is one manifest: a document, or an item of a List. APIVersion and Kind are never empty. It is not changed
// after Load and safe for concurrent use, as long as callers leave JSON alone: the positions refer to
// it, and the items of a List share it.
type Object struct {
	Identity
	// File is the path as given to Load, or joined to the given directory, or Stdin.
	File string
	// JSON is the object with its keys in the order written, and with aliases and merge keys resolved. Of a key given
	// more than once it has the last value.
	JSON []byte

	// document is what the object is written in, and index which of its values the object is.
	document *document
	index    int
}

// Problem is a place in the input that could not be read. Its message quotes keys at the most, never values.
type Problem struct {
	// Identity is that of the document, as far as it is known.
	Identity
	// File is as in Object.
	File string
	// Line and Column count from 1, a column being a character. A line ends as YAML 1.1 has it: with LF, CR, CRLF,
	// U+0085, U+2028 or U+2029.
	Line, Column int
	// Rule is one of the Rule constants.
	Rule    string
	Message string
}
