// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package clouds_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/cli/clouds"
)

// ordered are the fields whose lists say something by their order: the vocabulary, and best values first. Versions of
// Kubernetes stand in no relation to images.
var ordered = []string{"machineCapabilities", "kubernetes"}

// shuffle changes the order of all lists in a value, but for those that are ordered.
func shuffle(value any, random *rand.Rand) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if !slices.Contains(ordered, name) {
				shuffle(value[name], random)
			}
		}
	case []any:
		random.Shuffle(len(value), func(i, j int) { value[i], value[j] = value[j], value[i] })
		for _, element := range value {
			shuffle(element, random)
		}
	}
}

// names returns the names of the elements of a list in the spec of a profile.
func names(spec map[string]any, list, key string) (found []string) {
	elements, _ := spec[list].([]any)
	for _, element := range elements {
		name, _ := element.(map[string]any)[key].(string)
		found = append(found, name)
	}
	return found
}

// questions are the flags of select for each image version, machine type and region of a profile.
func questions(spec map[string]any) (asked [][]string) {
	for _, image := range spec["machineImages"].([]any) {
		image := image.(map[string]any)
		for _, version := range names(image, "versions", "version") {
			for _, machineType := range names(spec, "machineTypes", "name") {
				for _, region := range names(spec, "regions", "name") {
					asked = append(asked, []string{
						fmt.Sprintf("--image=%s", image["name"]), "--version=" + version, "--machine-type=" + machineType, "--region=" + region,
					})
				}
			}
		}
	}
	slices.SortFunc(asked, slices.Compare[[]string])
	return asked
}

// places matches where something stands: a line and a column, or an index.
var places = regexp.MustCompile(`:[0-9]+:[0-9]+:|\[[0-9]+\]`)

// answers are what lint and select say about a profile, without places; the lines of each in the order of their text.
func answers(t *testing.T, profile map[string]any) []string {
	t.Helper()
	manifest, err := yaml.Marshal(profile)
	if err != nil {
		t.Fatal(err)
	}
	commands := [][]string{{"lint", "-"}}
	for _, question := range questions(profile["spec"].(map[string]any)) {
		commands = append(commands, append([]string{"select", "-"}, question...))
	}
	var all []string
	for _, command := range commands {
		var stdout, stderr bytes.Buffer
		status := cli.Run(append([]string{"capkit"}, command...), bytes.NewReader(manifest), &stdout, &stderr, clouds.All()...)
		answer, _, _ := strings.Cut(stdout.String(), "Would work:\n") // up to three machine types, say, in the order of the profile
		lines := strings.Split(places.ReplaceAllString(strings.TrimSpace(answer+stderr.String()), ""), "\n")
		slices.Sort(lines)
		all = append(all, fmt.Sprintf("%s: status %d\n%s", strings.Join(command, " "), status, strings.Join(lines, "\n")))
	}
	return all
}

// The order of lists says nothing, but for that of capabilities and their values: whoever permutes the others gets the same
// answers. This holds for each example of a CloudProfile in which no two flavors support the same; in the legacy ones of Azure
// the first of two does count.
func TestOrderSaysNothing(t *testing.T) {
	found, err := filepath.Glob("../../../example/*/cloudprofile*.yaml")
	own, _ := filepath.Glob("../../../example/cloudprofile*.yaml")
	if err != nil || len(found) == 0 || len(own) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range append(own, found...) {
		if strings.Contains(file, "/broken/") || strings.HasSuffix(file, "azure/cloudprofile-legacy.yaml") {
			continue
		}
		t.Run(strings.TrimPrefix(file, "../../../example/"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			read := func() (profile map[string]any) {
				if err := yaml.Unmarshal(text, &profile); err != nil {
					t.Fatal(err)
				}
				return profile
			}
			want := answers(t, read())
			if len(want) < 2 {
				t.Fatal("nothing was asked")
			}
			for seed := range uint64(3) {
				profile := read()
				shuffle(profile["spec"], rand.New(rand.NewPCG(seed, seed)))
				if diff := cmp.Diff(want, answers(t, profile)); diff != "" {
					t.Errorf("seed %d: %s", seed, diff)
				}
			}
		})
	}
}
