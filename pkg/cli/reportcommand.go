// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/provider"
)

// What a page says to enter, and to save, for the same answer on the command line.

// inputsOf returns the last words of a command that asks a profile, by its name, as [page.Profile] has them.
func (g *garden) inputsOf(name string, in *inputs) []string {
	var words, files []string
	live := false
	add := func(file string, isLive bool) {
		switch {
		case isLive:
			live = true
			return
		case file == manifest.Stdin:
			file = "FILE"
		}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	if s := g.profiles.byName[name]; s != nil {
		add(s.manifest.File, s.live)
	} else if s := g.namespaced.byName[name]; s != nil {
		if parent := g.parentOf(s); parent != nil {
			add(parent.manifest.File, parent.live)
		}
		add(s.manifest.File, s.live)
	}
	if len(g.profileNames()) > 1 {
		words = append(words, "--profile", name)
	}
	if live {
		words = append(words, in.clusterWords()...)
	}
	return append(words, files...)
}

// clusterWords returns the flags that name a cluster, as they were given.
func (in *inputs) clusterWords() []string {
	var words []string
	for _, flag := range []struct{ name, value string }{
		{"kubeconfig", in.cluster.Kubeconfig}, {"context", in.cluster.Context}, {"namespace", in.cluster.Namespace},
	} {
		if in.given(flag.name) {
			words = append(words, "--"+flag.name, flag.value)
		}
	}
	if in.allNamespaces {
		words = append(words, "-A")
	}
	return words
}

// configAsking returns the manifest of a providerConfig that asks for a requirement: with the setting as it is worded, where
// that is a field and a value which ask for it, and otherwise with a comment that names the setting.
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

// fieldText returns YAML for the words of a setting, such as "gpus[].type: fast"; empty if they are not of this form.
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
