// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

func (s *source) parseYAML(c chunk) {
	if f := unreadable(c); f != nil {
		s.fault(f, Identity{})
		return
	}
	nodes, err := decode(c.text)
	for _, n := range nodes {
		conv := converter{source: s, chunk: c}
		document := conv.value(n, 1)
		s.take(document, conv.faults, conv.aliased)
	}
	if err != nil {
		s.fault(s.syntaxFault(c, err), Identity{})
	}
}

// decode returns the contents of the documents in a text. The parser reports errors by panicking; one that it does not catch
// itself becomes an error here, because no input may bring the command down.
func decode(text string) (contents []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("yaml: the document confuses the parser")
		}
	}()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return contents, nil
		} else if err != nil {
			return contents, err
		}
		contents = append(contents, document.Content[0])
	}
}

// unreadable returns the fault of text with bytes that YAML does not allow.
func unreadable(c chunk) *fault {
	if strings.HasPrefix(c.text, "\xff\xfe") || strings.HasPrefix(c.text, "\xfe\xff") {
		return &fault{c.place, RuleSyntax, "the text is UTF-16, as PowerShell may write it; write it as UTF-8: Out-File -Encoding utf8, or iconv -f UTF-16 -t UTF-8"}
	}
	for i, r := range c.text {
		message := ""
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(c.text[i:], string(utf8.RuneError)):
			message = "the text is not valid UTF-8"
		case r == 0:
			message = "the text has a NUL byte; is it a binary file, or UTF-16?"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			message = fmt.Sprintf("the control character %U is not allowed", r)
		}
		if message != "" {
			at := c.place
			at.advance(c.text[:i])
			return &fault{at, RuleSyntax, message}
		}
	}
	return nil
}

var parserMessage = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// repairs says what to do about what the parser finds.
var repairs = map[string]string{
	"found character that cannot start any token": "YAML is indented by spaces, not by tabs, and what begins with @, ` or % needs quotes",
	"did not find expected ',' or ']'":            "close the [ with a ], or put commas between its items",
	"did not find expected ',' or '}'":            "close the { with a }, or put commas between its keys",
}

// syntaxFault returns the fault for an error of the parser. The line that the parser names is often that of the
// enclosing mapping; the one looked for is the first up to which the document alone gives the same error. An undefined alias
// is not quoted: it may be a secret that should have been in quotes.
func (s *source) syntaxFault(c chunk, err error) *fault {
	line, message := 1, "the parser gives no reason"
	if match := parserMessage.FindStringSubmatch(err.Error()); match != nil {
		line, _ = strconv.Atoi(match[1])
		message = match[2]
	}
	if s.searched -= len(c.text); s.searched >= 0 {
		line = search(c.text, err.Error())
	}
	at := c.textAt(line)
	if strings.HasPrefix(message, "exceeded max depth") {
		return tooDeep(at)
	}
	if strings.HasPrefix(message, "unknown anchor") {
		message = "an alias (*name) refers to an anchor (&name) that is not defined above it"
	}
	if repair := repairs[message]; repair != "" {
		message += "; " + repair
	}
	return &fault{at, RuleSyntax, "not valid YAML: " + message}
}

// textAt returns where the text of a line begins. Lines of the chunk count from 1; there may be fewer.
func (c chunk) textAt(wanted int) place {
	text := ""
	reached, next := 0, 1
	for _, text = range lines(c.text) {
		reached, next = next, next+int(breaks(text))
		if reached >= wanted {
			break
		}
	}
	return c.at(max(reached, 1), 1+len(text)-len(strings.TrimLeft(text, " ")))
}

// search returns the number of the first line up to which text alone fails with the message. It halves the text, hence
// it parses about as often as the number of lines has binary digits.
func search(text, message string) int {
	begins, first := []int{}, 0 // of the lines; the first one that is more than a comment or "---" and may be wrong
	for pos, line := range lines(text) {
		line = strings.TrimSpace(line)
		if first == len(begins) && (line == "" || line[0] == '#' || line == "---") {
			first++
		}
		begins = append(begins, pos)
	}
	if first == len(begins) {
		first = 0
	}
	failing := first + sort.Search(len(begins)-1-first, func(i int) bool {
		_, err := decode(text[:begins[first+i+1]])
		return err != nil && err.Error() == message
	})
	return 1 + int(breaks(text[:begins[failing]]))
}
