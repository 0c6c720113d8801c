// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/test/cases"
)

// profileOfPools has something of everything: versions that are old, expired, or in one region only; two images;
// machine types of both kinds, one that nobody may use, and one that nothing fits.
func profileOfPools(t *testing.T) *profile.Profile[openstack.Image] {
	t.Helper()
	p, _ := profile.Compile(imagesOnly{}, specFrom(t, "testdata/pools.yaml"), field.NewPath("spec"))
	return p
}

// specFrom reads the spec of a CloudProfile from a file.
func specFrom(t testing.TB, path string) *v1beta1.CloudProfileSpec {
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
		r := answerTo(c.T(), p, pool)
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

// A profile, and what worker pools boot: an image, or the error.
func TestChoices(t *testing.T) {
	cases.Run(t, "testdata/choices.txtar", func(c *cases.Case) string {
		var spec *v1beta1.CloudProfileSpec
		if c.Has("profile") {
			spec = specFrom(c.T(), strings.TrimSpace(c.Text("profile")))
		} else {
			spec = specOf(c, "profile.yaml")
		}
		p, report := profile.Compile(imagesOnly{}, spec, field.NewPath("spec"))
		lines := brief(report.Errors)
		for line := range strings.Lines(c.Text("pools")) {
			words := strings.Fields(line)
			pool := asking(words[0], words[1], strings.Join(words[2:], " "))
			r := answerTo(c.T(), p, pool)
			got := fmt.Sprintf("%s%s", r.Reference.Name, r.Reference.ID)
			if r.Err != nil {
				got = fmt.Sprintf("%s (%s) %s", r.Err.Origin, r.Reason, r.Err.Detail)
			}
			lines = append(lines, strings.TrimSpace(line)+": "+got)
		}
		return cases.Fold(lines...)
	})
}

// A few machine types, image versions and regions in all combinations.
func TestAnswers(t *testing.T) {
	p := profileOfPools(t)
	for _, machine := range []string{"virt", "bare", "arm", "either", "huge"} {
		for _, image := range []string{"gl@10.0.0", "gl@7.0.0", "gl@1.0.0", "ubuntu@24.4.0", "unmapped@1.0.0", "none@1.0.0"} {
			for _, region := range []string{"europe", "asia", "nowhere"} {
				pool := provider.Pool{MachineType: machine, Region: region}
				pool.Image, pool.Version, _ = strings.Cut(image, "@")
				answerTo(t, p, pool)
			}
		}
	}
}

// answerTo asks for the image of a pool, in both ways. The answers have to agree, and what is suggested has to work.
func answerTo[R any](t fatal, p *profile.Profile[R], pool provider.Pool) resolve.Resolution[R] {
	r, explained := resolve.Pool(p, pool), resolve.Explain(p, pool)
	same := reflect.DeepEqual(explained.Reference, r.Reference) && explained.Decision.Chosen == r.Decision.Chosen &&
		explained.Reason == r.Reason && explained.Message == r.Message &&
		fmt.Sprint(explained.Err, explained.Further) == fmt.Sprint(r.Err, r.Further)
	if !same || !reflect.DeepEqual(explained.Suggestions, r.Suggestions) {
		t.Fatalf("explained: %+v\nresolved: %+v", explained, r)
	}
	if (r.Err == nil) != (r.Decision.Chosen >= 0) || r.Err == nil && len(r.Suggestions) > 0 {
		t.Fatalf("flavor %d, suggestions %v, %v", r.Decision.Chosen, r.Suggestions, r.Err)
	}
	if r.Err != nil {
		checkFindings(t, finding.List{*r.Err})
	}
	for _, err := range r.Further {
		checkFindings(t, finding.List{err})
	}
	for _, s := range r.Suggestions {
		changed := pool
		switch s.Kind {
		case "version":
			changed.Version = s.Value
		case "image":
			changed.Image, changed.Version, _ = strings.Cut(s.Value, "@")
		case "machine-type":
			changed.MachineType = s.Value
		}
		if again := resolve.Pool(p, changed); again.Err != nil {
			t.Fatalf("%v\n%+v: %v", r.Err, s, again.Err)
		}
	}
	return explained
}
