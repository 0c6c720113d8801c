// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// mostProfiles bounds the compiled profiles that are kept. Most gardens have a handful of CloudProfiles; the rest is for
// the NamespacedCloudProfiles that are in use.
const mostProfiles = 64

// compiled is a profile, as it is and compiled, with what is wrong with it.
type compiled[R any] struct {
	spec    *v1beta1.CloudProfileSpec
	profile *consistency.Profile[R]
	report  finding.Report
}

// profiles compiles profiles once for each version of an object. It is safe for concurrent use.
type profiles[R any] struct {
	provider provider.Provider[R]
	lock     sync.Mutex
	kept     *lru.Cache
}

// profileKey names an object of either kind.
type profileKey struct {
	kind string
	name types.NamespacedName
}

// compilation is one version of an object. Whoever needs it first compiles it; the others wait.
type compilation[R any] struct {
	uid             types.UID
	resourceVersion string
	compile         func() *compiled[R]
}

func newProfiles[R any](cloud provider.Provider[R]) *profiles[R] {
	return &profiles[R]{provider: cloud, kept: lru.New(mostProfiles)}
}

// get returns the spec, which is a part of an object as it is stored, compiled; nil if it is for another provider.
func (p *profiles[R]) get(kind string, object client.Object, spec *v1beta1.CloudProfileSpec) *compiled[R] {
	if spec.Type != p.provider.Type() {
		return nil
	}
	key := profileKey{kind, client.ObjectKeyFromObject(object)}
	p.lock.Lock()
	known, found := p.kept.Get(key)
	c, _ := known.(*compilation[R])
	if !found || c.uid != object.GetUID() || c.resourceVersion != object.GetResourceVersion() {
		c = &compilation[R]{object.GetUID(), object.GetResourceVersion(), sync.OnceValue(func() *compiled[R] { return p.compile(spec) })}
		p.kept.Add(key, c)
		profilesKept.Set(float64(p.kept.Len()))
	}
	p.lock.Unlock()
	return c.compile()
}

func (p *profiles[R]) compile(spec *v1beta1.CloudProfileSpec) *compiled[R] {
	start, result := time.Now(), resultClean
	profile, report := consistency.Compile(p.provider, spec, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		result = resultFaulty
	}
	compilationDuration.WithLabelValues(result).Observe(time.Since(start).Seconds())
	return &compiled[R]{spec, profile, report}
}
