// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/worlds"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// Asking returns a pool in europe on NAME@VERSION. wishes may contain the words of [Ask], regions asia and africa, and architecture amd64.
func Asking(machine, image, wishes string) provider.Pool {
	pool := provider.Pool{Name: "w", MachineType: machine, Region: "europe", Path: field.NewPath("spec", "provider", "workers").Index(2)}
	pool.Image, pool.Version, _ = strings.Cut(image, "@")
	Ask(&pool, wishes)
	for _, region := range []string{"asia", "africa"} {
		if strings.Contains(wishes, region) {
			pool.Region = region
		}
	}
	if strings.Contains(wishes, "amd64") {
		pool.Architecture = "amd64"
	}
	return pool
}

// Ask adds the requests in wishes to a pool: secure, inPlace, gpu and trusted, which is OpenStack's trusted launch.
func Ask(pool *provider.Pool, wishes string) {
	if strings.Contains(wishes, "secure") {
		pool.Worker.SecureBoot = true
	}
	if strings.Contains(wishes, "inPlace") {
		pool.Worker.UpdateStrategy = v1beta1.AutoInPlaceUpdate
	}
	if strings.Contains(wishes, "gpu") {
		pool.Worker.GPU = new("nvidia")
	}
	if strings.Contains(wishes, "trusted") {
		pool.Config = &runtime.RawExtension{Raw: []byte(worlds.Trusting)}
	}
}

// Answer resolves the image of a pool in both ways. It fails unless the answers agree and the suggestions work.
func Answer[R any](t Fatal, p *profile.Profile[R], pool provider.Pool) resolve.Resolution[R] {
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
		Rules.Check(t, finding.List{*r.Err})
	}
	for _, err := range r.Further {
		Rules.Check(t, finding.List{err})
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
