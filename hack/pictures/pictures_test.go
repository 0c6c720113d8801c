// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All paths are relative to the repository's root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

// The stored pictures match the examples and the command, and are well-formed XML.
func TestUpToDate(t *testing.T) {
	for name, draw := range pictures {
		picture := draw()
		stored, err := os.ReadFile(file(name))
		if err != nil {
			t.Error(err)
		} else if diff := cmp.Diff(string(stored), picture.String()); diff != "" {
			t.Errorf("%s is not up to date, run make generate: %s", name, diff)
		}
		decoder := xml.NewDecoder(strings.NewReader(picture.String()))
		for err == nil {
			_, err = decoder.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
	files, err := filepath.Glob(file("*"))
	if err != nil || len(files) != len(pictures) {
		t.Errorf("%v, %v instead of %d pictures", files, err, len(pictures))
	}
}

// around reports whether a box contains another.
func (b box) around(o box) bool {
	return b.x <= o.x && b.y <= o.y && o.x+o.w <= b.x+b.w && o.y+o.h <= b.y+b.h
}

func (b box) overlaps(o box) bool {
	return b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h
}

// taken returns the approximate space of a text, in the widest font of the style sheet.
func taken(text box) box {
	size, ems := 14.0, 0.0
	for _, r := range text.text {
		switch {
		case strings.Contains(text.class, "mono"):
			size, ems = 13, ems+0.61
		case strings.ContainsRune("fijlt.,:;'|()[] ", r):
			ems += 0.36
		case strings.ContainsRune("mwMW", r):
			ems += 0.95
		case r >= 'A' && r <= 'Z':
			ems += 0.72
		default:
			ems += 0.6
		}
	}
	if strings.Contains(text.class, "title") {
		size = 16
	}
	return box{text: text.text, x: text.x, y: text.y - 0.8*size, w: ems * size, h: size}
}

// No text overlaps another, or leaves the picture or the rectangle in which it begins.
func TestTexts(t *testing.T) {
	for name, draw := range pictures {
		c := draw()
		page := box{x: 4, y: 4, w: c.w - 8, h: c.h - 8}
		for i := range c.texts {
			text := taken(c.texts[i])
			if !page.around(text) {
				t.Errorf("%s: %q is cut", name, text.text)
			}
			for _, other := range c.texts[:i] {
				if text.overlaps(taken(other)) {
					t.Errorf("%s: %q lies on %q", name, text.text, other.text)
				}
			}
			begin := box{x: text.x, y: text.y, w: 1, h: text.h}
			for _, rect := range c.rects {
				if rect.around(begin) && !rect.around(text) {
					t.Errorf("%s: %q leaves its rectangle", name, text.text)
				}
			}
		}
	}
}

// Each class of the pictures has a colour for light and for dark pages.
func TestStyle(t *testing.T) {
	light, dark, found := strings.Cut(style, "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("there is no dark style")
	}
	for _, class := range []string{
		".page", ".card", ".box", ".goodbox", ".badbox", ".accentbox", ".missing", ".line", ".goodline", ".badline",
		".arrow", ".badarrow", "text", "text.muted", "text.good", "text.bad", "text.accent",
	} {
		if !strings.Contains(light, "\n"+class+" {") || !strings.Contains(dark, "\n"+class+" {") {
			t.Errorf("%s is not in both styles", class)
		}
	}
}
