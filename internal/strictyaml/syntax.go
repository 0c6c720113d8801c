// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictyaml

import (
	"cmp"
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
)

// This file parses YAML, and finds the places of errors in its syntax.

// Syntax is an error in the syntax of a YAML text.
type Syntax struct {
	// Offset is the position of the error, in bytes.
	Offset  int
	Message string
}

// Documents returns the contents of the documents in a text, up to the first error. The parser reports some errors by panicking. Lines and
// columns are those of an editor.
func Documents(text string) (contents []*yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("yaml: the document confuses the parser")
		}
	}()
	lines := LinesOf(text)
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return contents, nil
		} else if err != nil {
			return contents, err
		}
		lines.move(&document)
		contents = append(contents, document.Content[0])
	}
}

// Check returns the first error in the syntax of a text, or nil.
func Check(text string) *Syntax {
	wrong := Unreadable(text)
	if wrong == nil {
		if _, err := Documents(text); err != nil {
			wrong = Explain(text, err, true)
		}
	}
	return wrong
}

// Unreadable returns an error if a text has characters that YAML does not allow, or nil.
func Unreadable(text string) *Syntax {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return &Syntax{0, "the text is UTF-16, as PowerShell may write it; write it as UTF-8: Out-File -Encoding utf8, or iconv -f UTF-16 -t UTF-8"}
	}
	for i, r := range text {
		if ' ' <= r && r < 0x7f || r == '\n' { // most
			continue
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			return &Syntax{i, "the text is not valid UTF-8"}
		case r == 0:
			return &Syntax{i, "the text has a NUL byte; is it a binary file, or UTF-16?"}
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			return &Syntax{i, fmt.Sprintf("the control character %U is not allowed", r)}
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

// Explain returns the error that [Documents] has reported about a text. The parser often names the line of the enclosing mapping, or the
// end of the text. The right line is the first up to which the text alone fails with the same error; without search, which parses the text
// several times, it is the parser's. An undefined alias is not quoted, because it may be a secret without quotes.
func Explain(text string, err error, search bool) *Syntax {
	match := parserMessage.FindStringSubmatch(err.Error())
	begins, message := lineBegins(text), match[2]
	line, _ := strconv.Atoi(cmp.Or(match[1], "1")) // matched as digits
	line, _ = LinesOf(text).Editor(line, 1)
	wrong := &Syntax{begins[min(max(line, 1), len(begins))-1], ""}
	if search {
		wrong.Offset = failing(text, begins, err.Error())
	}
	if strings.HasPrefix(message, "unknown anchor") {
		message = "an alias (*name) refers to an anchor (&name) that is not defined above it"
	}
	if other := otherSpace(text, begins); other != nil {
		return other
	}
	if repair := repairs[message]; repair != "" {
		message += "; " + repair
	}
	wrong.Message = "not valid YAML: " + strings.Replace(message, "found a tab", "write spaces, not tabs: found a tab", 1)
	return wrong
}

// otherSpace returns an error about the first line that is indented by a character that looks like a space but is none in YAML, or nil.
func otherSpace(text string, begins []int) *Syntax {
	for _, begin := range begins {
		indent := text[begin : len(text)-len(strings.TrimLeftFunc(text[begin:], isBlank))]
		if i := strings.IndexFunc(indent, func(r rune) bool { return r >= utf8.RuneSelf && r != 0x85 }); i >= 0 {
			r, _ := utf8.DecodeRuneInString(indent[i:])
			return &Syntax{begin + i, fmt.Sprintf("not valid YAML: the line is indented by the character %U, which only looks like a space; write spaces", r)}
		}
	}
	return nil
}

// isBlank reports whether a character of a line looks like a space.
func isBlank(r rune) bool { return unicode.IsSpace(r) && r != '\n' && r != '\r' }

// failing returns the offset of the content of the first line up to which the text alone fails with the message. It uses binary search, so
// it parses about as often as the number of lines has binary digits.
func failing(text string, begins []int, message string) int {
	blank := 0 // leading lines that are empty, comments or "---"
	for blank < len(begins)-1 {
		content := strings.TrimSpace(text[begins[blank]:begins[blank+1]])
		if content != "" && content[0] != '#' && content != "---" {
			break
		}
		blank++
	}
	begins = begins[blank:]
	at := begins[sort.Search(len(begins)-1, func(i int) bool {
		_, err := Documents(text[:begins[i+1]])
		return err != nil && err.Error() == message
	})]
	return len(text) - len(strings.TrimLeft(text[at:], " "))
}

// lineBegins returns the offsets at which lines begin. There is at least one.
func lineBegins(text string) []int {
	begins := []int{0}
	for i := range len(text) - 1 {
		if text[i] == '\n' || text[i] == '\r' && text[i+1] != '\n' {
			begins = append(begins, i+1)
		}
	}
	return begins
}

// place returns the line and the column of an offset, counted from 1.
func place(text string, offset int) (line, column int) {
	begins := lineBegins(text)
	line = sort.SearchInts(begins, offset+1)
	return line, utf8.RuneCountInString(text[begins[line-1]:offset]) + 1
}
