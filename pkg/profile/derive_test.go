// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
)

// deriving derives references for some architectures, and records each request.
type deriving struct {
	given.Cloud
	architectures []string
	asked         *[]string
}

func (d deriving) DeriveReference(v provider.ImageVersion, supported v1beta1.Capabilities) (string, bool) {
	*d.asked = append(*d.asked, fmt.Sprint(v, " ", supported))
	architectures := supported[capability.Architecture]
	return "derived-" + strings.Join(architectures, "-"), slices.Equal(architectures, d.architectures[:min(1, len(d.architectures))]) ||
		len(architectures) == 1 && slices.Contains(d.architectures, architectures[0])
}

// placed is a deriving whose images are mapped elsewhere.
type placed struct{ deriving }

func (placed) Policies() policy.Policies {
	return policy.Policies{MappedIn: "the table of the cloud"}
}

func of(architecture string) v1beta1.Capabilities {
	return v1beta1.Capabilities{capability.Architecture: {architecture}}
}

// References of unmapped flavors are derived one by one, from everything the flavor supports. Only a reference that cannot be derived is
// missing.
func TestDerive(t *testing.T) {
	both := []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "network", Values: []string{"fast", "slow"}}}
	regional := given.Linux(of("amd64"))
	regional.Images[0].Versions[0].Flavors[0].Global = nil
	regional.Images[0].Versions[0].Flavors[0].Regional = []imageselector.Regional[string]{{Region: "r", Ref: "mapped", Path: field.NewPath("r")}}
	bare := given.Linux(of("amd64"))
	bare.Images[0].Versions[0].Flavors[0].Global = nil
	empty := given.Linux()
	const (
		missing    = "linux@1: no provider image for {architecture: [amd64]} (in full {architecture: [amd64], network: [fast, slow]}); add it "
		unexpected = "linux@1: spec.machineImages does not list a flavor {architecture: [arm64]} (in full {architecture: [arm64], network: [fast, slow]}), " +
			"only {architecture: [amd64], network: [fast, slow]}; add it to spec.machineImages[0].versions[0].capabilityFlavors, or remove it here"
		noImage = "linux@1: the version has no image: add capabilityFlavors, or a reference in the legacy format"
	)
	for name, c := range map[string]struct {
		images        given.Cloud
		architectures []string
		core          []v1beta1.Capabilities
		want          []string
		errors        []string
		elsewhere     []string
	}{
		"nothing is mapped": {
			core: []v1beta1.Capabilities{of("amd64"), of("arm64")}, architectures: []string{"amd64", "arm64"},
			want: []string{"{architecture: [amd64]} derived-amd64", "{architecture: [arm64]} derived-arm64"},
		},
		"a part is derived": {
			core: []v1beta1.Capabilities{of("amd64"), of("arm64")}, architectures: []string{"arm64"},
			want:      []string{"{architecture: [arm64]} derived-arm64"},
			errors:    []string{missing + "under spec.providerConfig.machineImages"},
			elsewhere: []string{missing + "to the table of the cloud"},
		},
		"nothing is derived": {
			core: []v1beta1.Capabilities{of("amd64")}, architectures: []string{"arm64"},
			errors:    []string{"linux: the provider config has no image of that name; add it, with its versions, under spec.providerConfig.machineImages"},
			elsewhere: []string{"linux: the table of the cloud has no image of that name; add it there, with its versions"},
		},
		"one is mapped": {
			images: given.Linux(of("amd64")), core: []v1beta1.Capabilities{of("amd64"), of("arm64")}, architectures: []string{"amd64", "arm64"},
			want: []string{"{architecture: [amd64]} 0", "{architecture: [arm64]} derived-arm64"},
		},
		"one is mapped in a region": {
			images: regional, core: []v1beta1.Capabilities{of("amd64")}, architectures: []string{"amd64"},
			want: []string{"{architecture: [amd64]} mapped in r, derived-amd64"},
		},
		"one has no reference": {
			images: bare, core: []v1beta1.Capabilities{of("amd64")}, architectures: []string{"amd64"}, want: []string{"{architecture: [amd64]} derived-amd64"},
		},
		"one has none, and none is derived": {
			images: bare, core: []v1beta1.Capabilities{of("amd64")}, want: []string{"{architecture: [amd64]} "},
			errors:    []string{"linux@1: the flavor has no reference to an image; add one, or remove the flavor"},
			elsewhere: []string{"linux@1: the flavor has no reference to an image; add one, or remove the flavor"},
		},
		"an entry without flavors": {
			images: empty, core: []v1beta1.Capabilities{of("amd64")}, architectures: []string{"amd64", "arm64"}, want: []string{"{architecture: [amd64]} derived-amd64"},
			errors: []string{noImage}, elsewhere: []string{noImage},
		},
		"one too many": {
			images: given.Linux(of("arm64")), core: []v1beta1.Capabilities{of("amd64")}, architectures: []string{"amd64"},
			want:      []string{"{architecture: [amd64]} derived-amd64"},
			errors:    []string{unexpected},
			elsewhere: []string{unexpected},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			cloud := deriving{c.images, c.architectures, &asked}
			for wants, cloud := range map[*[]string]provider.Provider[string]{&c.errors: cloud, &c.elsewhere: placed{cloud}} {
				p, report := profile.Compile(cloud, given.CoreSpec(both, c.core), field.NewPath("spec"))
				var errs, got []string
				for _, f := range report.Errors {
					errs = append(errs, f.Detail)
				}
				for _, f := range p.Catalog().Flavors("linux", "1") {
					line := p.Vocabulary().Format(f.Capabilities) + " "
					for _, r := range f.Regional {
						line += r.Ref + " in " + r.Region + ", "
					}
					if f.Global != nil {
						line += f.Global.Ref
						if derived := strings.HasPrefix(f.Global.Ref, "derived"); derived != f.Global.Derived || derived && f.Global.Path != f.Path {
							t.Errorf("%v at %s", f.Global, f.Global.Path)
						}
					}
					got = append(got, line)
				}
				if diff := cmp.Diff(*wants, errs) + cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
			}
			for _, question := range asked {
				if !strings.HasPrefix(question, "linux@1 map[architecture:[") || !strings.HasSuffix(question, "network:[fast slow]]") {
					t.Errorf("it is asked about %s", question)
				}
			}
		})
	}
}

// A version of core without architectures has all of them; in a profile without capabilities it has the default one.
func TestDeriveForVersionsThatSayNothing(t *testing.T) {
	for name, c := range map[string]struct {
		defs []v1beta1.CapabilityDefinition
		want string
	}{
		"in a profile with capabilities": {[]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"arm64"}}}, "linux@1 map[architecture:[arm64]]"},
		"in one without":                 {nil, "linux@1 map[architecture:[amd64]]"},
	} {
		var asked []string
		_, _ = profile.Compile(deriving{given.Cloud{}, []string{"amd64", "arm64"}, &asked}, given.CoreSpec(c.defs, nil), nil)
		if len(asked) == 0 || asked[0] != c.want {
			t.Errorf("%s it is asked %q", name, asked)
		}
	}
}
