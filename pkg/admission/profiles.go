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

// maxProfiles bounds the compiled profiles that are kept. Most gardens have a handful of CloudProfiles, which leaves room for the
// NamespacedCloudProfiles in use.
const maxProfiles = 64

// maxExpected bounds the compiled profiles from requests that the informers have not seen stored yet. They may be as large as requests
// are, and come from anyone who can reach the server.
const maxExpected = 4

// profiles compiles each version of a profile once. It is safe for concurrent use.
type profiles struct {
	provider provider.Provider[any]
	// lock makes finding and adding a compilation atomic. Each cache has its own lock as well.
	lock sync.Mutex
	// kept maps the namespace and name of an object to its compilation. Only NamespacedCloudProfiles have a namespace.
	kept *lru.Cache
	// expected maps names to compilations of admitted CloudProfiles. It avoids compiling the same spec again once it is stored, and is
	// used for nothing else, because a request may come from anyone.
	expected *lru.Cache
}

// compilation is the result for one version of an object and its parent. The first caller compiles it, and others wait.
type compilation struct {
	versions [2]string
	compile  func() *profile.Profile[any]
}

// versionOf identifies a version of an object. It differs between objects that had the same name one after the other.
func versionOf(object client.Object) string {
	return string(object.GetUID()) + "/" + object.GetResourceVersion()
}

func newProfiles(cloud provider.Provider[any]) *profiles {
	return &profiles{provider: cloud, kept: lru.New(maxProfiles), expected: lru.New(maxExpected)}
}

// get returns the compilation of a stored CloudProfile, or nil if it is for another provider. Objects from requests must not be passed to
// it.
func (p *profiles) get(object *v1beta1.CloudProfile) *profile.Profile[any] {
	return p.keep(object, object, func() *profile.Profile[any] { return p.first(object) })
}

// getNamespaced returns the compilation of a stored NamespacedCloudProfile on its stored parent, or nil if that is for another provider.
func (p *profiles) getNamespaced(object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile) *profile.Profile[any] {
	return p.keep(object, parent, func() *profile.Profile[any] {
		above := p.get(parent)
		return p.observed(func() *profile.Profile[any] {
			compiled, _ := namespaced.Extend(above, object) // entries that cannot be rendered are left out, as in the status
			return compiled
		})
	})
}

// keep returns the memoized result of compile for these versions of an object and its parent, which is the object itself for a
// CloudProfile. It returns nil if the parent is for another provider.
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

// expect records the compilation of a CloudProfile, if the report admits it.
func (p *profiles) expect(name string, compiled *profile.Profile[any], report finding.Report) {
	if len(report.Errors) == 0 {
		p.expected.Add(name, compiled)
	}
}

// first compiles a stored CloudProfile, or returns the compilation from its admission. A profile is a function of its spec alone, so
// equal specs suffice, whoever sent the request. They are compared as in Go, which is stricter than in Kubernetes.
func (p *profiles) first(object *v1beta1.CloudProfile) *profile.Profile[any] {
	known, _ := p.expected.Get(object.Name)
	c, _ := known.(*profile.Profile[any])
	if c != nil && reflect.DeepEqual(c.Spec(), &object.Spec) {
		p.expected.Remove(object.Name)
		return c
	}
	return p.compile(&object.Spec)
}

// compile compiles a spec from a request or from the API server.
func (p *profiles) compile(spec *v1beta1.CloudProfileSpec) *profile.Profile[any] {
	return p.observed(func() *profile.Profile[any] {
		compiled, _ := profile.Compile(p.provider, spec, field.NewPath("spec"))
		return compiled
	})
}

// observed compiles a profile and measures the duration.
func (p *profiles) observed(compile func() *profile.Profile[any]) *profile.Profile[any] {
	start, duration := time.Now(), cleanCompilation
	compiled := compile()
	if len(compiled.Faults().Errors) > 0 {
		duration = faultyCompilation
	}
	duration.Observe(time.Since(start).Seconds())
	return compiled
}
