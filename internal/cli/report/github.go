// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/capkit/capkit/pkg/words"
)

// What ends a value in a workflow command of GitHub is written as a percent encoding: in its text, and in a property, which
// a comma or a colon would end as well.
var (
	commandText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// workflowCommands writes the findings that count as the workflow commands by which GitHub Actions show them beside the
// lines of a change. Those without a place in a file belong to none.
func workflowCommands(out io.Writer, r *Report, _ *Options) error {
	var text bytes.Buffer
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.suppressed() {
			continue
		}
		properties := []string{"title=" + commandProperty.Replace(f.Rule)}
		if f.Line > 0 && !strings.HasPrefix(f.File, "<") { // as standard input is
			properties = append(properties, "file="+commandProperty.Replace(words.Printable(filepath.ToSlash(f.File))),
				fmt.Sprintf("line=%d", f.Line), fmt.Sprintf("col=%d", f.Column))
		}
		message := words.Printable(f.Message)
		if f.Field != "" {
			message += "\n" + words.Printable(strings.TrimSpace(f.Object.String())+": "+f.Field)
		}
		fmt.Fprintf(&text, "::%s %s::%s\n", f.Severity, strings.Join(properties, ","), commandText.Replace(message))
	}
	w := Writer{out: NewWriter(out).out, commands: true}
	_, err := text.WriteTo(&w)
	return err
}
