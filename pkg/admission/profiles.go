// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"reflect"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// maxProfiles bounds the compiled profiles that are kept. Most gardens have a handful of CloudProfiles; the rest is for
// the NamespacedCloudProfiles that are in use.
const maxProfiles = 64

// maxExpected bounds the profiles that requests have brought and that are not stored yet, as far as the informers know.
// They may be as large as requests are, and come from anybody who can reach the server.
const maxExpected = 4

// profiles compiles profiles once for each version of an object. It is safe for concurrent use.
type profiles struct {
	provider provider.Provider[any]
	// lock is for finding and adding together. Each of the caches has one of its own.
	lock sync.Mutex
	// kept has the compilation of each object, by its namespace, which only a NamespacedCloudProfile has, and its name.
	kept *lru.Cache
	// expected has what was compiled of CloudProfiles that were admitted, by name. It saves the compilation of the same
	// once more when it is stored, and is used for nothing else: a request may be anybody's.
	expected *lru.Cache
}

// compilation is one version of an object and its parent. Whoever needs it first compiles it; the others wait.
type compilation struct {
	versions [2]string
	compile  func() *profile.Profile[any]
}

// versionOf tells the versions of an object apart, and the objects that have had one name.
func versionOf(object client.Object) string {
	return string(object.GetUID()) + "/" + object.GetResourceVersion()
}

func newProfiles(cloud provider.Provider[any]) *profiles {
	return &profiles{provider: cloud, kept: lru.New(maxProfiles), expected: lru.New(maxExpected)}
}

// get returns a CloudProfile as it is stored, compiled; nil if it is for another provider. What a request says must not
// come here.
func (p *profiles) get(object *v1beta1.CloudProfile) *profile.Profile[any] {
	return p.keep(object, object, func() *profile.Profile[any] { return p.first(object) })
}

// getNamespaced is get for what a NamespacedCloudProfile and its parent result in, both being as they are stored.
func (p *profiles) getNamespaced(object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile) *profile.Profile[any] {
	return p.keep(object, parent, func() *profile.Profile[any] {
		above := p.get(parent)
		return p.observed(func() *profile.Profile[any] {
			compiled, _ := namespaced.Extend(above, object) // what cannot be rendered is left out, as in the status
			return compiled
		})
	})
}

// keep returns what compile does, which it calls unless it has that of these versions of an object, and of its parent
// or of itself; nil if the parent is for another provider.
func (p *profiles) keep(of client.Object, parent *v1beta1.CloudProfile, compile func() *profile.Profile[any]) *profile.Profile[any] {
	if parent.Spec.Type != p.provider.Type() {
		return nil
	}
	key, versions := client.ObjectKeyFromObject(of), [...]string{versionOf(of), versionOf(parent)}
	p.lock.Lock()
	known, _ := p.kept.Get(key)
	c, _ := known.(*compilation)
	if c == nil || c.versions != versions {
		c = &compilation{versions, sync.OnceValue(compile)}
		p.kept.Add(key, c)
		profilesKept.Set(float64(p.kept.Len()))
	}
	p.lock.Unlock()
	return c.compile()
}

// expect records what a CloudProfile of a name was compiled to, if it is admitted with this report.
func (p *profiles) expect(name string, compiled *profile.Profile[any], report finding.Report) {
	if len(report.Errors) == 0 {
		p.expected.Add(name, compiled)
	}
}

// first returns a CloudProfile that is stored, compiled. If that was done when it was admitted, it is not done again:
// the profile is a function of the spec alone, so what counts is that the two specs are the same in Go (to Kubernetes
// more is the same), and not who has sent the request.
func (p *profiles) first(object *v1beta1.CloudProfile) *profile.Profile[any] {
	known, _ := p.expected.Get(object.Name)
	c, _ := known.(*profile.Profile[any])
	if c != nil && reflect.DeepEqual(c.Spec(), &object.Spec) {
		p.expected.Remove(object.Name)
		return c
	}
	return p.compile(&object.Spec)
}

// compile compiles a spec that somebody has written.
func (p *profiles) compile(spec *v1beta1.CloudProfileSpec) *profile.Profile[any] {
	return p.observed(func() *profile.Profile[any] {
		compiled, _ := profile.Compile(p.provider, spec, field.NewPath("spec"))
		return compiled
	})
}

// observed compiles a profile, and measures how long that takes.
func (p *profiles) observed(compile func() *profile.Profile[any]) *profile.Profile[any] {
	start, duration := time.Now(), cleanCompilation
	compiled := compile()
	if len(compiled.Faults().Errors) > 0 {
		duration = faultyCompilation
	}
	duration.Observe(time.Since(start).Seconds())
	return compiled
}
