// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// editorFrames are Neovim screens that test/editor has recorded.
//
//go:embed editor.json
var editorFrames []byte

// editor draws Neovim with the language server, one screen after the other. If the reader prefers reduced motion, or prints the page, all
// screens appear one below the other.
func editor() *canvas {
	var frames []struct {
		Title string
		Lines []string
	}
	must(0, json.Unmarshal(editorFrames, &frames))
	const seconds = 4
	c := &canvas{w: 2*24 + letters*0.61*13, title: "Neovim with capkit lsp: a misspelt field is found, repaired, and a machine type explained"}
	y := 8.0
	for i, frame := range frames {
		c.rules += fmt.Sprintf("@media screen and (prefers-reduced-motion: no-preference) { .f%d { animation: show%d %ds step-end infinite } }\n",
			i, i, seconds*len(frames))
		from, to := 100*i/len(frames), 100*(i+1)/len(frames)
		c.rules += fmt.Sprintf("@keyframes show%d { 0%% { opacity: 0.35 } %d%% { opacity: 1 } %d%% { opacity: 0.35 } }\n", i, from, to)
		y = c.cell("", 12, y, 0, lineHeight, fmt.Sprintf("strong f%d|%s", i, frame.Title))
		top := y
		for _, line := range frame.Lines {
			class := ""
			if strings.Contains(line, "■") {
				class = " bad"
			}
			c.cell("", 12, y, 0, 0, fmt.Sprintf("mono f%d%s|%s", i, class, line))
			y += lineHeight
		}
		y += 2 * gap
		c.rects = append(c.rects, box{class: "card", x: 16, y: top, w: c.w - 32, h: y - top})
		y += gap
	}
	c.h = y
	return c
}
