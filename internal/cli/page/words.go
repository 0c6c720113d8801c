// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/ask"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
)

// Commands and files on a page that give the same answer on the command line.

// inputsOf returns [html.Profile].Inputs for the profile with this name.
func inputsOf(g *input.Given, name string, in *input.Flags) []string {
	var words, files []string
	live := false
	add := func(file string, isLive bool) {
		live = live || isLive
		if file == manifest.Stdin {
			file = "FILE"
		}
		if !isLive && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	if s := g.Profiles.ByName[name]; s != nil {
		add(s.Manifest.File, s.Live)
	} else if s := g.Namespaced.ByName[name]; s != nil {
		if parent := g.ParentOf(s); parent != nil {
			add(parent.Manifest.File, parent.Live)
		}
		add(s.Manifest.File, s.Live)
	}
	if len(g.ProfileNames()) > 1 {
		words = append(words, "--profile", name)
	}
	return slices.Concat(words, in.Judging(live), files)
}

// configAsking returns the manifest of a providerConfig that makes a request. If the setting's text is not a field and a value that do
// so, the manifest has a comment that names the setting.
func configAsking(workers provider.Workers, q capability.Requirement) string {
	head := fmt.Sprintf("apiVersion: %s\nkind: %s\n", workers.Kind().GroupVersion(), workers.Kind().Kind)
	text := head + fieldText(q.Setting)
	if raw, err := yaml.YAMLToJSON([]byte(text)); err == nil {
		asked, report := workers.Requirements(provider.Pool{Config: &runtime.RawExtension{Raw: raw}})
		asks := func(other capability.Requirement) bool { return other.Setting == q.Setting && !other.Implied }
		if len(report.Errors) == 0 && slices.ContainsFunc(asked, asks) {
			return text
		}
	}
	return head + "# add " + q.Setting + "\n"
}

// rollingOf returns explain's text about the settings in a config whose change replaces machines.
func rollingOf(workers provider.Workers, config string) string {
	var text strings.Builder
	if raw, err := yaml.YAMLToJSON([]byte(config)); err == nil {
		ask.PrintRolling(&text, workers.Rolling(provider.Pool{Config: &runtime.RawExtension{Raw: raw}}))
	}
	return text.String()
}

// fieldText returns the YAML for a setting's text, such as "gpus[].type: fast", or "" if it does not have this form.
func fieldText(setting string) string {
	path, value, found := strings.Cut(setting, ": ")
	if !found {
		return ""
	}
	var inner any
	if yaml.Unmarshal([]byte(value), &inner) != nil {
		return ""
	}
	for _, name := range slices.Backward(strings.Split(path, ".")) {
		name, isList := strings.CutSuffix(name, "[]")
		if isList {
			inner = []any{inner}
		}
		inner = map[string]any{name: inner}
	}
	text, _ := yaml.Marshal(inner) // of what was read from YAML
	return string(text)
}
