// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

const (
	// name is the name of the file in the recording.
	name = "shoot.yaml"
	// letters is the width of the terminal.
	letters = 112
)

// capkit runs a command on a file with this content, and returns its output.
func capkit(command, content string) string {
	folder := must(os.MkdirTemp("", "pictures"))
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, name)
	must(0, os.WriteFile(file, []byte(content), 0o600))
	var output bytes.Buffer
	cli.Run([]string{"capkit", command, file}, strings.NewReader(""), &output, &output, clouds.All()...)
	return strings.ReplaceAll(output.String(), file, name)
}

// recording draws a terminal session that copies a broken example, lints it, repairs it as the message says, and asks which image it boots.
// Commands and outputs appear one after the other, unless the reader prefers reduced motion, or prints the page.
func recording() *canvas {
	const broken, wrong, right = "example/broken/no-image-fits.yaml", "1877.5.0", "1877.6.0"
	text := string(must(os.ReadFile(broken)))
	at := strings.LastIndex(text, wrong)
	repaired := text[:at] + right + text[at+len(wrong):]
	c := &canvas{
		w: 2*24 + letters*0.61*13,
		title: "A terminal: capkit lint names an error in a copy of " + broken +
			", the version is changed as it says, and capkit select says what boots",
		rules: "@media screen and (prefers-reduced-motion: no-preference) {\n@keyframes appear { from { opacity: 0 } }\n",
	}
	for x := 16.0; x < 60; x += 18 {
		c.rects = append(c.rects, box{class: "card", x: x, y: 16, w: 12, h: 12})
	}
	c.path("line", "M0.5 38.5H%.6g", c.w-0.5)
	y, clock := 49.0, 0.0
	for i, step := range []struct {
		command, output string
		seconds         float64
	}{
		{fmt.Sprintf("cp %s %s", broken, name), "", 0},
		{"capkit lint " + name, capkit("lint", text), 5},
		{fmt.Sprintf("sed -i '%ds/%s/%s/' %s", 1+strings.Count(text[:at], "\n"), wrong, right, name), "", 0},
		{"capkit lint " + name, capkit("lint", repaired), 2},
		{"capkit select " + name, capkit("select", repaired), 4},
	} {
		const rule = ".%c%d { animation: appear 0.1s %.1fs backwards }\n"
		c.rules += fmt.Sprintf(rule, 's', i, clock) + fmt.Sprintf(rule, 'o', i, clock+1.2)
		y = c.cell("", 12, y, 0, lineHeight-gap, fmt.Sprintf("mono strong s%d|$ %s", i, step.command))
		for line := range strings.Lines(step.output) {
			for _, part := range wrap(strings.TrimRight(line, "\n")) {
				y = c.cell("", 12, y, 0, lineHeight-gap, fmt.Sprintf("mono o%d%s|%s", i, colour(line), part))
			}
		}
		y, clock = y+lineHeight, clock+1.2+step.seconds
	}
	c.rules += "}\n"
	c.h = y
	return c
}

// colour returns the class of a line of output.
func colour(line string) string {
	switch {
	case strings.Contains(line, ": error: "):
		return " bad"
	case strings.Contains(line, "no errors"), strings.Contains(line, " boots "):
		return " good"
	}
	return ""
}

// wrap breaks a line at the width of the terminal. Continuation lines are indented by two spaces.
func wrap(line string) (lines []string) {
	for len(line) > letters {
		at := strings.LastIndex(line[:letters], " ")
		lines, line = append(lines, line[:at]), "  "+line[at+1:]
	}
	return append(lines, line)
}
