// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// Every suggestion to a pool with requests works, and its error names a true cause.
func TestRefusalsOfPoolsThatAskAreTrue(t *testing.T) {
	suggested, outcomes := 0, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		cloud, s := given.DrawProfile(t)
		p := given.Sound(t, cloud, s).ByOrder(given.DrawOrder(t))
		for range 20 {
			pool := given.DrawPool(t)
			r := given.Answer(t, p, pool)
			suggested += len(r.Suggestions)
			if r.Err == nil {
				outcomes[""]++
				continue
			}
			outcomes[r.Err.Origin]++
			checkRefusal(t, p, r)
		}
	})
	for _, rule := range []string{
		"", "worker-request-unmet", "no-image-fits", "worker-capability-not-registered", "unknown-machine-type",
	} {
		if outcomes[rule] == 0 {
			t.Errorf("%q never happens", rule)
		}
	}
	if suggested == 0 {
		t.Error("nothing is ever suggested")
	}
}

func checkRefusal(t *rapid.T, p *profile.Profile[string], r resolve.Resolution[string]) {
	request := r.Decision.Request
	request.Worker = capability.Set{}
	switch without := p.Catalog().Choose(request); r.Err.Origin {
	case "worker-request-unmet":
		if without < 0 {
			t.Fatalf("without any request there is no image either: %v", r.Err)
		}
		if want := culprit(p, r); !strings.HasPrefix(r.Err.Detail, "worker pool w: "+want+" asks for ") &&
			!strings.Contains(r.Err.Detail, ", as it says nothing else ("+want+"), and ") {
			t.Fatalf("%+v: %v, want it to be about %q", r.Requirements, r.Err, want)
		}
	case "no-image-fits":
		if without >= 0 {
			t.Fatalf("without any request there would be an image: %v", r.Err)
		}
	case "worker-capability-not-registered":
		_, asked, _ := strings.Cut(r.Err.Detail, "asks for ")
		if name, _, _ := strings.Cut(asked, " "); p.Vocabulary().IsRegistered(name) {
			t.Fatalf("%s is registered: %v", name, r.Err)
		}
	}
}

// culprit returns the setting that a refusal must be about: the first whose removal lets the others be met, or else the first. The pool's
// own requests precede implied ones.
func culprit(p *profile.Profile[string], r resolve.Resolution[string]) string {
	ordered := slices.SortedStableFunc(slices.Values(r.Requirements), func(a, b capability.Requirement) int {
		rank := map[bool]int{false: 0, true: 1}
		return rank[a.Implied] - rank[b.Implied]
	})
	for i := range ordered {
		request := r.Decision.Request
		request.Worker, _ = p.Vocabulary().Request(slices.Concat(ordered[:i], ordered[i+1:]))
		if p.Catalog().Choose(request) >= 0 {
			return ordered[i].Setting
		}
	}
	return ordered[0].Setting
}

// In a profile without worker capabilities, a pool without requests gets the same answer as if there were none.
func TestProfilesWithoutWorkerCapabilitiesAreAsBefore(t *testing.T) {
	chosen, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := given.DrawSpec(t)
		p, _ := profile.Compile(local.Provider{}, s, field.NewPath("spec"))
		for _, image := range s.MachineImages {
			for _, version := range image.Versions {
				for _, machine := range []string{"m0", "m1", "m2"} {
					pool := provider.Pool{MachineType: machine, Image: image.Name, Version: version.Version, Region: "local"}
					r := resolve.Explain(p.ByOrder(given.DrawOrder(t)), pool)
					if r.Reason == profile.ReasonUnknownMachineType {
						continue
					}
					request := r.Decision.Request
					request.Worker = capability.Set{}
					compareDecisions(t, p.Catalog().Decide(request), r.Decision)
					if r.Err == nil {
						chosen++
						pool.Worker.UpdateStrategy = v1beta1.AutoInPlaceUpdate
						if again := resolve.Pool(p, pool); again.Err == nil || again.Err.Origin != "worker-request-unmet" {
							t.Fatalf("in place, of which nobody says anything: %v", again.Err)
						}
					} else if refused++; r.Err.Origin == "worker-request-unmet" || r.Err.Origin == "worker-capability-not-registered" {
						t.Fatal(r.Err)
					}
				}
			}
		}
	})
	if chosen == 0 || refused == 0 {
		t.Errorf("chosen %d times, refused %d times", chosen, refused)
	}
}

func compareDecisions[R any](t *rapid.T, without, with imageselector.Decision[R]) {
	if with.Chosen != without.Chosen || with.Ambiguous != without.Ambiguous || with.Reason != without.Reason || !cmp.Equal(with.Comparisons, without.Comparisons) {
		t.Fatalf("%+v\n%+v", with, without)
	}
	for i := range with.Verdicts {
		a, b := with.Verdicts[i], without.Verdicts[i]
		if a.Reason != b.Reason || !cmp.Equal(a.Conflicts, b.Conflicts) ||
			!cmp.Equal(resolve.Rejections(&a, with.Request.Region), resolve.Rejections(&b, without.Request.Region)) {
			t.Fatalf("flavor %d: %+v, without a request %+v", i, a, b)
		}
	}
}
