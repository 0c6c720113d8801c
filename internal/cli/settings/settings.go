// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package settings reads .capkit.yaml, the file in which a repository or a landscape sets flags. Start reading at [Read].
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/internal/cli/gardener"
	manifests "github.com/capkit/capkit/internal/cli/manifest/folder"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/strictyaml"
	"github.com/capkit/capkit/pkg/gardenerrules/releases"
)

// File is the name of the file.
const File = ".capkit.yaml"

// otherFile is a frequent wrong name of the file.
const otherFile = ".capkit.yml"

// names are the names to look for in a folder. The wrong one is first, because it is an error beside the right one, too.
var names = []string{otherFile, File}

// instead has the corrections of keys that look like settings: of flags whose setting has another form. Add the settings that a release
// renames or removes.
var instead = map[string]string{
	"gardener-version": "write version below gardener",
	"gardenerVersion":  "write version below gardener",
	"feature-gates":    "write featureGates below gardener, each gate with true or false",
	"featureGates":     "write it below gardener, each gate with true or false",
	"no-webhook":       "write webhook: validating",
	"noWebhook":        "write webhook: validating",
	"provider-file":    "write providerFiles, which is a list",
	"providerFile":     "write providerFiles, which is a list",
}

// Webhooks are the values of the setting webhook.
var Webhooks = []string{"true", "validating", "false"}

// Settings are the settings of a file. The zero value stands for an empty file.
type Settings struct {
	// File is the path; empty if there is no file.
	File string
	// Inputs are the inputs, relative to the working directory, if no FILE and no cluster is given.
	Inputs []string
	// ProviderFiles are descriptions of providers, relative to the working directory.
	ProviderFiles []string
	// Disabled maps disabled rules to the reasons.
	Disabled map[string]string
	// Flags has the values of flags that are not given, by name. Not every command has all of them.
	Flags map[string]string
}

// Find returns the path of the settings in a folder. If it has none, or folder is "", it returns the path of the settings for the working
// directory: the file in it, or in the nearest folder above, up to the root of the repository if there is one. The path is empty if there
// are none. The file may be unreadable; then reading it returns the error.
func Find(folder string) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if folder != "" {
		if path, err := in(folder, folder); path != "" || err != nil {
			return path, err
		}
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		shown, _ := filepath.Rel(here, dir) // one is above the other
		if path, err := in(dir, shown); path != "" || err != nil {
			return path, err
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || filepath.Dir(dir) == dir {
			return "", nil
		}
	}
}

// in returns the path of the settings in a folder; empty if there are none. The path begins with shown, the folder's path in messages.
func in(folder, shown string) (string, error) {
	for _, name := range names {
		switch _, err := os.Lstat(filepath.Join(folder, name)); {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			continue
		case err != nil:
			return "", err
		}
		path := filepath.Join(shown, name)
		if err := Misnamed(path); err != nil {
			return "", err
		}
		return path, manifests.Ends(path)
	}
	return "", nil
}

// Beside returns the path of the file in a folder that holds its settings, or that looks as if it did: see [Misnamed]. The path is empty if
// there is none.
func Beside(folder string) string {
	for _, name := range names {
		path := filepath.Join(folder, name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}

// Misnamed returns an error if a file found by the command has a frequent wrong name, which makes it no settings.
func Misnamed(path string) error {
	if filepath.Base(path) != otherFile {
		return nil
	}
	return fmt.Errorf("%s is not read, because the settings have the name %s: rename it, or remove it", path, File)
}

// Read reads settings. cannotDisable returns the reason why a rule cannot be disabled, empty if it can; nil skips this check. The error
// lists everything that is wrong, with its position.
func Read(file string, cannotDisable func(rule string) string) (*Settings, error) {
	text, err := manifests.ReadFile(file)
	switch {
	case errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("%s is a directory, and settings are in a file: rename it, or name a file with --config", file)
	case err != nil:
		return nil, err
	}
	s := &Settings{File: file, Disabled: map[string]string{}, Flags: map[string]string{}}
	r := &reader{Reader: strictyaml.Reader{File: file, Instead: instead}, Settings: s, cannotDisable: cannotDisable}
	return s, r.Read(text, "write all settings into one", r.read)
}

// reader reads YAML nodes into settings.
type reader struct {
	strictyaml.Reader
	*Settings
	cannotDisable func(rule string) string
}

func (r *reader) read(n *yaml.Node) {
	r.optional(n, map[string]func(*yaml.Node){
		"inputs":         func(n *yaml.Node) { r.Inputs = r.paths(n, "files and directories", "a file or a directory") },
		"providerFiles":  func(n *yaml.Node) { r.ProviderFiles = r.paths(n, "files with descriptions of providers", "a file") },
		"disable":        r.disable,
		"failOn":         func(n *yaml.Node) { r.choice(n, "fail-on", report.Severities()) },
		"webhook":        func(n *yaml.Node) { r.choice(n, "webhook", Webhooks) },
		"gardener":       r.gardener,
		"domain":         func(n *yaml.Node) { r.Flags["domain"] = r.Text(n, "the name of the domain") },
		"reservedInCore": func(n *yaml.Node) { r.choice(n, "reserved-in-core", []string{"true", "false"}) },
	})
}

// optional reads a mapping that may be missing, like each of its keys.
func (r *reader) optional(n *yaml.Node, fields map[string]func(*yaml.Node)) {
	if strictyaml.Null(n) {
		return
	}
	keys := map[string]strictyaml.Key{}
	for name, read := range fields {
		keys[name] = strictyaml.Key{Read: read, Optional: true}
	}
	r.Mapping(n, keys)
}

// gardener reads the landscape's Gardener version and feature gates into the flags.
func (r *reader) gardener(n *yaml.Node) {
	r.optional(n, map[string]func(*yaml.Node){
		"version": func(n *yaml.Node) {
			version := r.Text(n, "the version of Gardener, like "+releases.Newest.String()+".0")
			if version == "" {
				return
			}
			if _, _, err := releases.Of(version); err != nil {
				r.Fault(n, "%v", err)
			}
			r.Flags["gardener-version"] = version
		},
		"featureGates": r.featureGates,
	})
}

// featureGates reads a mapping of feature gates into the flag.
func (r *reader) featureGates(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		r.Fault(n, "write a mapping of feature gates to true or false")
		return
	}
	var gates []string
	for pair := range slices.Chunk(n.Content, 2) {
		name, enabled := pair[0].Value, strings.ToLower(pair[1].Value) // as in True
		if slices.ContainsFunc(gates, func(gate string) bool { return strings.HasPrefix(gate, name+"=") }) {
			r.Fault(pair[0], "the feature gate %s is already given; remove one of the two", name)
		}
		if err := gardener.UnknownGate(name); err != nil {
			r.Fault(pair[0], "%v", err)
		} else if pair[1].Tag != "!!bool" {
			r.Fault(pair[1], "write true or false")
		}
		gates = append(gates, name+"="+enabled)
	}
	if len(gates) > 0 {
		r.Flags["feature-gates"] = strings.Join(gates, ",")
	}
}

// choice reads the value of a flag, which must be one of the choices.
func (r *reader) choice(n *yaml.Node, flag string, choices []string) {
	r.Flags[flag] = r.Choice(n, choices...)
}

// items calls a function for each item of a list.
func (r *reader) items(n *yaml.Node, what string, read func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.Fault(n, "write a list of %s", what)
		return
	}
	for _, item := range n.Content {
		read(item)
	}
}

// paths reads a list of paths relative to the settings.
func (r *reader) paths(n *yaml.Node, of, each string) (paths []string) {
	r.items(n, of, func(n *yaml.Node) {
		path := r.Text(n, each)
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(r.Reader.File), path)
		}
		if err := manifests.Ends(path); err != nil {
			r.Fault(n, "%s", err)
			return
		}
		paths = append(paths, path)
	})
	return paths
}

func (r *reader) disable(n *yaml.Node) {
	r.items(n, "entries with a rule and a reason", func(n *yaml.Node) {
		var rule, reason string
		r.Mapping(n, map[string]strictyaml.Key{
			"rule": {Read: func(n *yaml.Node) {
				rule = r.Text(n, "the name of a rule")
				if rule == "" || r.cannotDisable == nil {
					return
				}
				if message := r.cannotDisable(rule); message != "" {
					r.Fault(n, "%s", message)
				}
			}},
			"reason": {Read: func(n *yaml.Node) { reason = r.Text(n, "why the rule does not count") }},
		})
		r.Disabled[rule] = reason
	})
}
