// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"crypto/sha256"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/hack/program"
)

// plugin is the manifest with which krew installs the command as a kubectl plugin: krew.googlecontainertools.github.com/v1alpha2.
type plugin struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string           `json:"version"`
		Homepage         string           `json:"homepage"`
		ShortDescription string           `json:"shortDescription"` // at most 50 characters
		Description      string           `json:"description"`
		Platforms        []pluginPlatform `json:"platforms"`
	} `json:"spec"`
}

type pluginPlatform struct {
	Selector metav1.LabelSelector `json:"selector"`
	URI      string               `json:"uri"`
	SHA256   string               `json:"sha256"`
	Bin      string               `json:"bin"`
	Files    []pluginFile         `json:"files"`
}

type pluginFile struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// krew returns the manifest for the platforms' archives; content has these by name.
func (r Release) krew(platforms []v1.Platform, content map[string][]byte) ([]byte, error) {
	var p plugin
	p.APIVersion, p.Kind = "krew.googlecontainertools.github.com/v1alpha2", "Plugin"
	p.Metadata.Name = name
	p.Spec.Version = r.Tag()
	p.Spec.Homepage = program.Source
	p.Spec.ShortDescription = "Check machine images of Gardener CloudProfiles"
	p.Spec.Description = `Checks CloudProfiles, and the Shoots that use them, in files or a garden
cluster: what is wrong in which line, which image a worker pool boots, and
why. It says what a change of a profile does to its users, and moves
profiles to capabilities. A cluster is only read.
`
	for _, platform := range platforms {
		file := r.Name(platform) + ".tar.gz"
		p.Spec.Platforms = append(p.Spec.Platforms, pluginPlatform{
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{"os": platform.OS, "arch": platform.Architecture}},
			URI:      strings.Join([]string{strings.TrimSuffix(r.Base, "/"), r.Tag(), file}, "/"),
			SHA256:   fmt.Sprintf("%x", sha256.Sum256(content[file])),
			Bin:      name,
			Files:    []pluginFile{{r.Name(platform) + "/" + name, "."}, {r.Name(platform) + "/LICENSE", "."}},
		})
	}
	return yaml.Marshal(p)
}
