// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import "encoding/json"

// cursor reads a JSON document from front to back. The document must be valid: nothing is checked again, which is why
// no method returns an error.
type cursor struct {
	data []byte
	pos  int
}

// peek returns the first byte of the next token without consuming it.
func (c *cursor) peek() byte {
	for c.pos < len(c.data) {
		switch b := c.data[c.pos]; b {
		case ' ', '\t', '\n', '\r', ',', ':':
			c.pos++
		default:
			return b
		}
	}
	return 0
}

// enter consumes the bracket that opens an object or list.
func (c *cursor) enter() {
	c.peek()
	c.pos++
}

// leave consumes the bracket that closes the object or list and reports whether it was next.
func (c *cursor) leave() bool {
	if b := c.peek(); b != '}' && b != ']' && b != 0 {
		return false
	}
	c.pos++
	return true
}

// key consumes the key of a member and returns it unescaped. Its value is next.
func (c *cursor) key() string {
	return unquote(c.skip())
}

// skip consumes the next value and returns its text, which shares memory with the document.
func (c *cursor) skip() []byte {
	c.peek()
	start, depth := c.pos, 0
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case '{', '[':
			depth++
			c.pos++
		case '}', ']':
			depth--
			c.pos++
		case '"':
			c.skipString()
		case ' ', '\t', '\n', '\r', ',', ':':
			c.pos++
			continue
		default:
			c.skipWord()
		}
		if depth <= 0 {
			break
		}
	}
	return c.data[start:c.pos]
}

func (c *cursor) skipString() {
	for c.pos++; c.pos < len(c.data); c.pos++ {
		switch c.data[c.pos] {
		case '\\':
			c.pos++
		case '"':
			c.pos++
			return
		}
	}
}

// skipWord consumes a number, true, false or null.
func (c *cursor) skipWord() {
	for ; c.pos < len(c.data); c.pos++ {
		switch c.data[c.pos] {
		case ' ', '\t', '\n', '\r', ',', ':', '}', ']':
			return
		}
	}
}

// unquote returns the text of a JSON string.
func unquote(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}
