// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/garden/samples"
)

// demoFolder has the demo manifests that are derived from the examples of a cloud.
const demoFolder = "bin/demo"

// stepsOf returns the demo of a cloud, based on its examples: the steps before the component is installed, and those after. It writes the
// manifests that are not examples into a folder.
func stepsOf(s *samples.Samples) (before, after []step, err error) {
	folder := path.Join(demoFolder, s.Component.Type)
	old, bare, ahead := s.Ahead("old"), s.Bare(), s.Ahead("ahead")
	for name, object := range map[string]*unstructured.Unstructured{
		"cloudprofile-old": old, "cloudprofile-bare": bare, "cloudprofile-ahead": ahead, "shoot-newer": s.Stranded(old.GetName()),
	} {
		if err := write(filepath.Join(folder, name+".yaml"), object); err != nil {
			return nil, nil, err
		}
	}
	made := func(name string) string { return path.Join(folder, name+".yaml") }
	example := func(name string) string { return path.Join(s.Folder, name+".yaml") }
	flavors := `jsonpath={range .spec.machineImages[*].versions[*]}{.version}{": "}{.capabilityFlavors}{"\n"}{end}`
	images := `jsonpath={range .status.cloudProfileSpec.providerConfig.machineImages[*]}{.name}{": "}{.versions[*].version}{"\n"}{end}`

	before = []step{
		{title: "Nobody checks yet: a CloudProfile is stored whose provider config lacks an image version that core lists.",
			kubectl: apply(made("cloudprofile-old")), says: []string{"created"}},
	}
	after = []step{
		{title: "The example CloudProfile: core and provider config agree one to one. It is admitted.",
			kubectl: apply(example("cloudprofile")), says: []string{"created"}},
		{title: "The same without core flavors. It is admitted, since they follow from the provider config.",
			kubectl: apply(made("cloudprofile-bare")), says: []string{"created"}},
		{title: "Admission has filled in the flavors that core needs.",
			kubectl: []string{"get", "cloudprofile", bare.GetName(), "-o", flavors}, says: []string{`[{"`, "architecture"}},
		{title: "A CloudProfile whose provider config lacks an image version. Refused, with the place and the repair.",
			kubectl: apply(made("cloudprofile-ahead")), refused: true,
			says: []string{samples.Newer + ": the provider config has no entry for this version", "add one under"}},
		{title: "The one that was stored with that error can still be changed otherwise. The error has become a warning.",
			kubectl: []string{"patch", "cloudprofile", old.GetName(), "--type=json", "-p",
				`[{"op":"add","path":"/spec/kubernetes/versions/-","value":{"version":"1.33.3"}}]`},
			says: []string{"Warning: ", "older than this update", "patched"}},
		{title: "A NamespacedCloudProfile adds to it, for one project.",
			kubectl: apply(example("namespacedcloudprofile")), says: []string{"created"}},
		{title: "Gardener renders it into a CloudProfile, and admission merges the images of the provider config.",
			kubectl: []string{"get", "namespacedcloudprofile", s.Namespaced.GetName(), "-n", s.Namespaced.GetNamespace(), "-o", images},
			says:    s.Versions(), eventually: true},
		{title: "A Shoot whose worker pools all have an image. It is admitted.",
			kubectl: apply(example("shoot")), says: []string{"created"}, eventually: true},
		{title: "A Shoot whose first worker pool wants the version that the provider config lacks. Refused, with what would work.",
			kubectl: apply(made("shoot-newer")), refused: true, says: []string{"worker pool ", "would work: version "}},
		{title: "Which image boots each of the worker pools? The command line tells, without a garden.",
			capkit: []string{"select", example("shoot"), example("cloudprofile")}, says: []string{" boots "}},
	}
	return before, after, nil
}

// write writes a manifest, and creates the folders above it.
func write(file string, object *unstructured.Unstructured) error {
	content, err := yaml.Marshal(object.Object)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}
