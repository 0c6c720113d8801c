// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/internal/testing/worlds"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// profileOfPools returns a profile with all kinds of entries: old, expired and single-region versions, and two images. It has machine
// types of both kinds, one of them unusable, and one without a fitting image.
func profileOfPools(t *testing.T) *profile.Profile[openstack.Image] {
	t.Helper()
	return given.Profile(t, "testdata/pools.yaml")
}

func TestResolvePool(t *testing.T) {
	p := profileOfPools(t)
	cases.Run(t, "testdata/resolve-pool.txtar", func(c *cases.Case) string {
		var pool provider.Pool
		c.Decode("pool.yaml", &pool)
		if pool.Name != "" {
			pool.Path = field.NewPath("spec", "provider", "workers").Index(2)
		}
		r := given.Answer(c.T(), p, pool)
		if r.Err != nil && len(r.Suggestions) == 0 && c.Name != "nothing asked" {
			c.T().Errorf("nothing is suggested: %v", r.Err)
		}
		switch image := r.Decision.Reference; {
		case r.Err != nil && image == openstack.Image{}:
			return cases.Fold(r.Err.Error.Error())
		case image.ID == "":
			return "name " + image.Name
		case image.Name == "":
			return "ID " + image.ID
		}
		return fmt.Sprintf("%+v, %v", r.Decision.Reference, r.Err)
	})
}

func TestCheckRegion(t *testing.T) {
	p, at := profileOfPools(t), field.NewPath("spec", "region")
	if err := resolve.Region(p, "asia", at); err != nil {
		t.Error(err)
	}
	want := `spec.region: Unsupported value: "mars": region mars is not in the profile, which has europe, asia`
	if err := resolve.Region(p, "mars", at); err == nil || err.Error.Error() != want {
		t.Error(err)
	}
}

// Each case is a profile, with the image or error of worker pools.
func TestChoices(t *testing.T) {
	cases.Run(t, "testdata/choices.txtar", func(c *cases.Case) string {
		var spec *v1beta1.CloudProfileSpec
		if c.Has("profile") {
			spec = given.File[v1beta1.CloudProfileSpec](c.T(), strings.TrimSpace(c.Text("profile")))
		} else {
			spec = given.SpecOf(c, "profile.yaml")
		}
		p, report := profile.Compile(given.ImagesOnly{}, spec, field.NewPath("spec"))
		lines := given.Brief(report.Errors)
		for line := range strings.Lines(c.Text("pools")) {
			words := strings.Fields(line)
			pool := given.Asking(words[0], words[1], strings.Join(words[2:], " "))
			by := p
			if slices.Contains(words, "gardener") {
				by = p.ByOrder(capability.Gardener)
			}
			r := given.Answer(c.T(), by, pool)
			got := fmt.Sprintf("%s%s", r.Reference.Name, r.Reference.ID)
			if r.Err != nil {
				got = fmt.Sprintf("%s (%s) %s", r.Err.Origin, r.Reason, r.Err.Detail)
			}
			lines = append(lines, strings.TrimSpace(line)+": "+got)
		}
		return cases.Fold(lines...)
	})
}

// All combinations of some machine types, image versions and regions.
func TestAnswers(t *testing.T) {
	p := profileOfPools(t)
	for _, machine := range []string{"virt", "bare", "arm", "either", "huge"} {
		for _, image := range []string{"gl@10.0.0", "gl@7.0.0", "gl@1.0.0", "ubuntu@24.4.0", "unmapped@1.0.0", "none@1.0.0"} {
			for _, region := range []string{"europe", "asia", "nowhere"} {
				pool := provider.Pool{MachineType: machine, Region: region}
				pool.Image, pool.Version, _ = strings.Cut(image, "@")
				given.Answer(t, p, pool)
			}
		}
	}
}

// FuzzResolvePool resolves pools with arbitrary bytes as providerConfig, update strategy and GPU.
func FuzzResolvePool(f *testing.F) {
	var legacy v1beta1.CloudProfileSpec
	legacy.MachineTypes = []v1beta1.MachineType{{Name: "any"}}
	legacy.MachineImages = []v1beta1.MachineImage{{Name: "gl", Versions: []v1beta1.MachineImageVersion{
		{ExpirableVersion: v1beta1.ExpirableVersion{Version: "10.0.0"}},
	}}}
	with, _ := profile.Compile(openstack.Provider{}, given.File[v1beta1.CloudProfileSpec](f, "testdata/worker-pools.yaml"), field.NewPath("spec"))
	without, _ := profile.Compile(openstack.Provider{}, &legacy, field.NewPath("spec"))
	const broken = `{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "WorkerConfig",
		"trustedLaunch": [true], "nodeTemplate": {"capacity": {"cpu": "x"}}}`
	for _, config := range []string{"", "null", "{", "[]", worlds.Trusting, broken} {
		f.Add([]byte(config), "AutoInPlaceUpdate", "nvidia", "gl@9.0.0")
		f.Add([]byte(config), "", "", "gl@10.0.0")
	}
	f.Fuzz(func(t *testing.T, config []byte, strategy, gpu, image string) {
		pool := provider.Pool{Name: "w", MachineType: "any", Region: "europe", Path: field.NewPath("w"), Config: &runtime.RawExtension{Raw: config}}
		pool.Image, pool.Version, _ = strings.Cut(image, "@")
		pool.Worker = capability.Worker{UpdateStrategy: v1beta1.MachineUpdateStrategy(strategy), GPU: &gpu}
		for _, p := range []*profile.Profile[openstack.Image]{with, without} {
			given.Answer(t, p, pool)
		}
	})
}
