// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"reflect"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/provider"
)

// maxProfiles bounds the compiled profiles that are kept. Most gardens have a handful of CloudProfiles; the rest is for
// the NamespacedCloudProfiles that are in use.
const maxProfiles = 64

// maxExpected bounds the profiles that requests have brought and that are not stored yet, as far as the informers know.
// They may be as large as requests are, and come from anybody who can reach the server.
const maxExpected = 4

// compiled is a profile, as it is and compiled.
type compiled[R any] struct {
	spec    *v1beta1.CloudProfileSpec
	profile *consistency.Profile[R]
}

// profiles compiles profiles once for each version of an object. It is safe for concurrent use.
type profiles[R any] struct {
	provider provider.Provider[R]
	// lock is for finding and adding together. Each of the caches has one of its own.
	lock sync.Mutex
	// kept has the compilation of each object, by its kind, namespace and name.
	kept *lru.Cache
	// expected has what was compiled of CloudProfiles that were admitted, by name. It saves the compilation of the same
	// once more when it is stored, and counts for nothing else: a request may be anybody's.
	expected *lru.Cache
}

// compilation is one version of an object. Whoever needs it first compiles it; the others wait.
type compilation[R any] struct {
	uid             types.UID
	resourceVersion string
	compile         func() *compiled[R]
}

func newProfiles[R any](cloud provider.Provider[R]) *profiles[R] {
	return &profiles[R]{provider: cloud, kept: lru.New(maxProfiles), expected: lru.New(maxExpected)}
}

// get returns the spec, which is a part of an object as it is stored, compiled; nil if it is for another provider. What
// a request says must not come here.
func (p *profiles[R]) get(kind string, object client.Object, spec *v1beta1.CloudProfileSpec) *compiled[R] {
	if spec.Type != p.provider.Type() {
		return nil
	}
	key := [...]string{kind, object.GetNamespace(), object.GetName()}
	p.lock.Lock()
	known, found := p.kept.Get(key)
	c, _ := known.(*compilation[R])
	if !found || c.uid != object.GetUID() || c.resourceVersion != object.GetResourceVersion() {
		compile := sync.OnceValue(func() *compiled[R] { return p.first(kind, object.GetName(), spec) })
		c = &compilation[R]{object.GetUID(), object.GetResourceVersion(), compile}
		p.kept.Add(key, c)
		profilesKept.Set(float64(p.kept.Len()))
	}
	p.lock.Unlock()
	return c.compile()
}

// expect takes down what a CloudProfile that is admitted was compiled to. Neither of the two is changed any more.
func (p *profiles[R]) expect(object *v1beta1.CloudProfile, profile *consistency.Profile[R]) {
	p.expected.Add(object.Name, &compiled[R]{&object.Spec, profile})
}

// first returns a spec that is stored, compiled. If that was done when it was admitted, it is not done again: the
// profile is a function of the spec alone, so what counts is that the two specs are the same in Go (to Kubernetes more
// is the same), and not who has sent the request.
func (p *profiles[R]) first(kind, name string, spec *v1beta1.CloudProfileSpec) *compiled[R] {
	if kind == kindCloudProfile {
		known, _ := p.expected.Get(name)
		c, _ := known.(*compiled[R])
		if c != nil && sameConfig(c.spec.ProviderConfig, spec.ProviderConfig) && reflect.DeepEqual(c.spec, spec) {
			p.expected.Remove(name)
			return c
		}
	}
	return p.compile(spec)
}

func (p *profiles[R]) compile(spec *v1beta1.CloudProfileSpec) *compiled[R] {
	start, duration := time.Now(), cleanCompilation
	profile, report := consistency.Compile(p.provider, spec, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		duration = faultyCompilation
	}
	duration.Observe(time.Since(start).Seconds())
	return &compiled[R]{spec, profile}
}
