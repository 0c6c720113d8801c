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
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
)

func (s *source) parseYAML(c cut.Chunk) {
	if f := unreadable(c); f != nil {
		s.fault(f, Identity{})
		return
	}
	if s.parseItems(c) {
		return
	}
	nodes, err := decode(c.Text)
	for _, n := range nodes {
		conv := converter{source: s, chunk: c}
		value := conv.value(n, 1, wholeDocument)
		s.take(value, conv.faults, conv.aliased)
	}
	if err != nil {
		s.fault(s.syntaxFault(c, err), Identity{})
	}
}

// decode returns the contents of the documents in a text. The parser panics on errors. Panics that it does not recover become errors
// here, because no input may crash the command.
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

// unreadable returns the fault of a text with characters that YAML does not allow, or nil.
func unreadable(c cut.Chunk) *fault {
	if strings.HasPrefix(c.Text, "\xff\xfe") || strings.HasPrefix(c.Text, "\xfe\xff") {
		return &fault{at: c.Place, rule: RuleSyntax, message: "the text is UTF-16, as PowerShell may write it; write it as UTF-8: Out-File -Encoding utf8, or iconv -f UTF-16 -t UTF-8"}
	}
	for i, r := range c.Text {
		if ' ' <= r && r < 0x7f || r == '\n' { // most
			continue
		}
		message := ""
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(c.Text[i:], string(utf8.RuneError)):
			message = "the text is not valid UTF-8"
		case r == 0:
			message = "the text has a NUL byte; is it a binary file, or UTF-16?"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			message = fmt.Sprintf("the control character %U is not allowed", r)
		}
		if message != "" {
			at := c.Place
			at.Advance(c.Text[:i])
			return &fault{at: at, rule: RuleSyntax, message: message}
		}
	}
	return nil
}

var parserMessage = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// repairs adds advice to messages of the parser.
var repairs = map[string]string{
	"found character that cannot start any token": "YAML is indented by spaces, not by tabs, and what begins with @, ` or % needs quotes",
	"did not find expected ',' or ']'":            "close the [ with a ], or put commas between its items",
	"did not find expected ',' or '}'":            "close the { with a }, or put commas between its keys",
	"found incompatible YAML document":            "leave the line %YAML out, as Kubernetes reads YAML 1.1 alone",
}

// syntaxFault returns the fault for an error of the parser. The parser often names the line of the enclosing mapping. The right line is
// the first up to which the document alone fails with the same error. An undefined alias is not quoted, because it may be a secret
// without quotes.
func (s *source) syntaxFault(c cut.Chunk, err error) *fault {
	match := parserMessage.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(match[1])
	at, message := c.At(max(line, 1), 1), match[2]
	if s.searched -= len(c.Text); s.searched >= 0 {
		at = c.Place
		at.Advance(upTo(c.Text, err.Error()))
	}
	if strings.HasPrefix(message, "exceeded max depth") {
		return tooDeep(at)
	}
	if strings.HasPrefix(message, "unknown anchor") {
		message = "an alias (*name) refers to an anchor (&name) that is not defined above it"
	}
	if other := otherSpace(c); other != nil {
		return other
	}
	if repair := repairs[message]; repair != "" {
		message += "; " + repair
	}
	return &fault{at: at, rule: RuleSyntax, message: "not valid YAML: " + strings.Replace(message, "found a tab", "write spaces, not tabs: found a tab", 1)}
}

// otherSpace returns the fault of the first line that is indented by a character that looks like a space but is none in YAML, or nil.
func otherSpace(c cut.Chunk) *fault {
	pos := 0
	for line := range cut.Lines(c.Text) {
		indent := line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))]
		if i := strings.IndexFunc(indent, func(r rune) bool { return r >= utf8.RuneSelf && r != 0x85 }); i >= 0 {
			at := c.Place
			at.Advance(c.Text[:pos+i])
			r, _ := utf8.DecodeRuneInString(indent[i:])
			return &fault{at: at, rule: RuleSyntax, message: fmt.Sprintf("not valid YAML: the line is indented by the character %U, which only looks like a space; "+
				"write spaces", r)}

		}
		pos += len(line)
	}
	return nil
}

// upTo returns the text before the content of the first line up to which the text alone fails with the message. It uses binary search, so
// it parses about as often as the number of lines has binary digits.
func upTo(text, message string) string {
	// The beginnings of lines, and the number of leading lines that are empty, comments or "---".
	begins, blank, pos := []int{}, 0, 0
	for line := range cut.Lines(text) {
		content := strings.TrimSpace(line)
		if blank == len(begins) && (content == "" || content[0] == '#' || content == "---") {
			blank++
		}
		begins = append(begins, pos)
		pos += len(line)
	}
	begins = begins[blank%len(begins):]
	failing := begins[sort.Search(len(begins)-1, func(i int) bool {
		_, err := decode(text[:begins[i+1]])
		return err != nil && err.Error() == message
	})]
	return text[:len(text)-len(strings.TrimLeft(text[failing:], " "))]
}
