// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/test/cases"
)

// profileOfPools has something of everything: versions that are old, expired, or in one region only; two images;
// machine types of both kinds, one that nobody may use, and one that nothing fits.
func profileOfPools(t *testing.T) *consistency.Profile[openstack.Image] {
	t.Helper()
	p, _ := consistency.Compile(imagesOnly{}, specFrom(t, "testdata/pools.yaml"), field.NewPath("spec"))
	return p
}

// specFrom reads the spec of a CloudProfile from a file.
func specFrom(t *testing.T, path string) *v1beta1.CloudProfileSpec {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(content))
}

func TestResolvePool(t *testing.T) {
	p := profileOfPools(t)
	cases.Run(t, "testdata/resolve-pool.txtar", func(c *cases.Case) string {
		var pool provider.Pool
		c.Decode("pool.yaml", &pool)
		if pool.Name != "" {
			pool.Path = field.NewPath("spec", "provider", "workers").Index(2)
		}
		r := p.ResolvePool(pool)
		agreesWith(c.T(), p.ExplainPool(pool), r)
		if (r.Err == nil) != (r.Decision.Chosen >= 0) || (r.Err == nil) != (len(r.Suggestions) == 0) && c.Name != "nothing asked" {
			c.T().Errorf("chosen %d, suggestions %v, error %v", r.Decision.Chosen, r.Suggestions, r.Err)
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

// Everything that a refusal suggests does work.
func TestSuggestionsWork(t *testing.T) {
	p := profileOfPools(t)
	for _, machine := range []string{"virt", "bare", "arm", "either", "huge"} {
		for _, image := range []string{"gl@10.0.0", "gl@7.0.0", "gl@1.0.0", "ubuntu@24.4.0", "unmapped@1.0.0", "none@1.0.0"} {
			for _, region := range []string{"europe", "asia", "nowhere"} {
				pool := provider.Pool{MachineType: machine, Region: region}
				pool.Image, pool.Version = cutImage(image)
				for _, s := range p.ResolvePool(pool).Suggestions {
					changed := pool
					switch s.Kind {
					case "version":
						changed.Version = s.Value
					case "image":
						changed.Image, changed.Version = cutImage(s.Value)
					case "machine-type":
						changed.MachineType = s.Value
					}
					if r := p.ResolvePool(changed); r.Err != nil {
						t.Errorf("%+v, for %+v: %v", s, pool, r.Err)
					}
				}
			}
		}
	}
}

func cutImage(image string) (name, version string) {
	for i := range image {
		if image[i] == '@' {
			return image[:i], image[i+1:]
		}
	}
	return image, ""
}

// What a pool leaves to Gardener is no reason to deny it; everything else is.
func TestOpenPools(t *testing.T) {
	p := profileOfPools(t)
	for _, tc := range []struct {
		pool provider.Pool
		open bool
	}{
		{provider.Pool{MachineType: "virt", Region: "europe"}, true},
		{provider.Pool{MachineType: "virt", Region: "europe", Image: "gl"}, true},
		{provider.Pool{MachineType: "virt", Region: "europe", Image: "gl", Version: "10"}, true},
		{provider.Pool{MachineType: "virt", Region: "europe", Image: "gl", Version: "10.0"}, true},
		{provider.Pool{MachineType: "virt", Region: "europe", Image: "gl", Version: "1"}, false},
		{provider.Pool{MachineType: "virt", Region: "europe", Image: "gl", Version: "latest"}, false},
		{provider.Pool{MachineType: "virt", Region: "europe", Image: "gl", Version: "10.0.1"}, false},
		{provider.Pool{MachineType: "virt", Region: "europe", Image: "none"}, false},
		{provider.Pool{MachineType: "huge", Region: "europe"}, false},
		{provider.Pool{MachineType: "arm", Architecture: "amd64", Region: "europe"}, false},
		{provider.Pool{MachineType: "bare", Region: "europe", Image: "gl", Version: "10.0.0"}, false},
	} {
		if r := p.ResolvePool(tc.pool); r.Err == nil || r.Open != tc.open {
			t.Errorf("%+v: open %t, %v", tc.pool, r.Open, r.Err)
		}
	}
}

// A version that the profile has is not left to Gardener, whatever longer ones there are.
func TestAVersionThatIsThereIsNotOpen(t *testing.T) {
	s := profileNamed(t, "part-of-a-version")
	s.MachineTypes = []v1beta1.MachineType{{Name: "m", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualized"}}}}
	p, _ := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	r := p.ResolvePool(provider.Pool{MachineType: "m", Image: "gl", Version: "1.0", Region: "europe"})
	if r.Open || r.Err == nil || r.Err.Origin != "no-image-fits" {
		t.Errorf("open %t, %v", r.Open, r.Err)
	}
}

func TestCheckRegion(t *testing.T) {
	p, at := profileOfPools(t), field.NewPath("spec", "region")
	if err := p.CheckRegion("asia", at); err != nil {
		t.Error(err)
	}
	want := `spec.region: Unsupported value: "mars": region mars is not in the profile, which has europe, asia`
	if err := p.CheckRegion("mars", at); err == nil || err.Error.Error() != want {
		t.Error(err)
	}
}

func TestOrderOfAPool(t *testing.T) {
	s := profileNamed(t, "orders-that-differ")
	p, _ := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	for order, want := range map[capability.Order]string{capability.GEP33: "b", capability.Gardener: "a"} {
		r := p.ResolvePool(provider.Pool{MachineType: "m", Image: "gl", Version: "1", Region: "europe", Order: order})
		if r.Decision.Reference.Name != want {
			t.Errorf("%s: got %s, want %s", order, r.Decision.Reference.Name, want)
		}
	}
}

// agreesWith checks that a pool gets the same answer whether or not it is explained.
func agreesWith[R any](t interface{ Errorf(string, ...any) }, explained, r consistency.Resolution[R]) {
	same := reflect.DeepEqual(explained.Reference, r.Reference) && explained.Decision.Chosen == r.Decision.Chosen && explained.Reason == r.Reason &&
		explained.Open == r.Open && explained.Message == r.Message && fmt.Sprint(explained.Err, explained.Further) == fmt.Sprint(r.Err, r.Further)
	if !same || !reflect.DeepEqual(explained.Suggestions, r.Suggestions) {
		t.Errorf("explained: %+v\nresolved: %+v", explained, r)
	}
}
