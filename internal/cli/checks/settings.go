// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// settingsFile is the name of the file with the settings of lint.
const settingsFile = ".capkit.yaml"

// otherSettingsFile is a name that people give that file instead.
const otherSettingsFile = ".capkit.yml"

// settings are what a file says in place of flags.
type settings struct {
	file string
	// inputs are what is read if no FILE and no cluster is given, relative to the working directory.
	inputs []string
	// disabled are the rules whose findings do not count, with the reasons.
	disabled map[string]report.Suppression
	// flags are the values of flags that are not given.
	flags map[string]string
}

// findSettings returns the path of the settings for the working directory: the file in it or in the nearest folder above, up to
// the root of the repository if there is one. It is empty if there is none. It may be no file
// that can be read: then reading it returns the error.
func findSettings() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		for _, name := range []string{otherSettingsFile, settingsFile} {
			path := filepath.Join(dir, name)
			switch _, err := os.Lstat(path); {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err != nil:
				return "", err
			}
			if relative, err := filepath.Rel(here, path); err == nil {
				path = relative
			}
			if name == otherSettingsFile {
				return "", fmt.Errorf("%s is not read, because the settings have the name %s: rename it, or remove it", path, settingsFile)
			}
			return path, nil
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || filepath.Dir(dir) == dir {
			return "", nil
		}
	}
}

// readSettings reads settings. The error names everything that is wrong, each with its place.
func readSettings(file string, rules []finding.Rule) (*settings, error) {
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("%s is a directory, and settings are in a file: rename it, or name a file with --config", file)
	case err != nil:
		return nil, err
	}
	s := &settings{file: file, disabled: map[string]report.Suppression{}, flags: map[string]string{}}
	r := &settingsReader{settings: s, rules: rules}
	var document yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	if err := decode(decoder, &document); err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	if len(document.Content) > 0 {
		r.mapping(document.Content[0], map[string]func(*yaml.Node){
			"inputs": r.inputs, "disable": r.disable,
			"failOn": func(n *yaml.Node) {
				if s.flags["fail-on"] = n.Value; !slices.Contains(severities, n.Value) {
					r.fault(n, "write %s", words.Or(severities))
				}
			},
			"domain": func(n *yaml.Node) { s.flags["domain"] = r.text(n, "the name of the domain") },
			"reservedInCore": func(n *yaml.Node) {
				if s.flags["reserved-in-core"] = n.Value; n.Tag != "!!bool" {
					r.fault(n, "write true or false")
				}
			},
		})
	}
	var more yaml.Node
	if len(r.faults) == 0 && decode(decoder, &more) == nil && len(more.Content) > 0 {
		r.fault(more.Content[0], "there is a second document: write all settings into one")
	}
	return s, errors.Join(r.faults...)
}

// decode reads the next document; nothing if there is none. The parser reports some errors by panicking.
func decode(decoder *yaml.Decoder, document *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New(" the text confuses the parser")
		}
	}()
	if err := decoder.Decode(document); err != nil && !errors.Is(err, io.EOF) {
		return errors.New(lineOf.ReplaceAllString(err.Error(), "$1 not valid YAML: "))
	}
	return nil
}

// lineOf matches how the parser begins a message.
var lineOf = regexp.MustCompile(`^yaml: (?:line (\d+:))? ?`)

// settingsReader reads nodes into settings.
type settingsReader struct {
	*settings
	rules  []finding.Rule
	faults []error
}

func (r *settingsReader) fault(n *yaml.Node, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s:%d:%d: %s", r.file, n.Line, n.Column, fmt.Sprintf(format, args...)))
}

// mapping reads the members of a mapping, of which each may be there once. It reports whether all of them are there, or it is none.
func (r *settingsReader) mapping(n *yaml.Node, fields map[string]func(*yaml.Node)) (complete bool) {
	known := slices.Sorted(maps.Keys(fields))
	if n.Kind != yaml.MappingNode {
		if n.Tag != "!!null" {
			r.fault(n, "write a mapping with the keys %s", strings.Join(known, ", "))
		}
		return true
	}
	seen := map[string]int{}
	for pair := range slices.Chunk(n.Content, 2) {
		key := pair[0].Value
		read, found := fields[key]
		switch meant := words.Closest(key, known); {
		case seen[key] > 0:
			r.fault(pair[0], "the key %q is already given in line %d; remove one of the two", key, seen[key])
		case found:
			read(pair[1])
		case meant != "":
			r.fault(pair[0], "unknown key %q%s", key, words.DidYouMean(meant))
		default:
			r.fault(pair[0], "unknown key %q; there are %s", key, strings.Join(known, ", "))
		}
		seen[key] = pair[0].Line
	}
	return !slices.ContainsFunc(known, func(key string) bool { return seen[key] == 0 })
}

// text reads a string; it is empty, which is an error, if there is none.
func (r *settingsReader) text(n *yaml.Node, what string) string {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && strings.TrimSpace(n.Value) != "" {
		return n.Value
	}
	r.fault(n, "write %s, as a string", what)
	return ""
}

// items calls a function for each item of a list.
func (r *settingsReader) items(n *yaml.Node, what string, read func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.fault(n, "write a list of %s", what)
		return
	}
	for _, item := range n.Content {
		read(item)
	}
}

func (r *settingsReader) inputs(n *yaml.Node) {
	r.items(n, "files and directories", func(n *yaml.Node) {
		path := r.text(n, "a file or a directory")
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(r.file), path)
		}
		r.settings.inputs = append(r.settings.inputs, path)
	})
}

func (r *settingsReader) disable(n *yaml.Node) {
	r.items(n, "entries with a rule and a reason", func(n *yaml.Node) {
		var rule, reason string
		complete := r.mapping(n, map[string]func(*yaml.Node){
			"rule": func(n *yaml.Node) {
				rule = r.text(n, "the name of a rule")
				if message := cannotDisable(rule, r.rules); rule != "" && message != "" {
					r.fault(n, "%s", message)
				}
			},
			"reason": func(n *yaml.Node) { reason = r.text(n, "why the rule does not count") },
		})
		if !complete {
			r.fault(n, "an entry needs a rule and a reason")
		} else if rule != "" {
			r.disabled[rule] = report.Suppression{Kind: report.External, Justification: reason}
		}
	})
}
