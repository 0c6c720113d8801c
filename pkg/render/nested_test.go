// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/render"
)

// regional is a cloud that lists images by region.
type regional struct{ given.Cloud }

func (regional) NamespacedLists() []provider.List {
	images := provider.List{Field: "images", Key: "name", Lists: []provider.List{{Field: "versions", Key: "version"}}}
	return []provider.List{{Field: "regions", Key: "name", Lists: []provider.List{images}}}
}

// The parent's entries are kept in nested lists, and rendering is idempotent.
func TestListsWithinLists(t *testing.T) {
	const (
		own = `{"regions":[{"name":"a","images":[{"name":"x","versions":[{"version":"2","r":"own"},{"version":"1","r":"own"}]},{"name":"y","versions":[]}]},` +
			`{"name":"b","images":[{"name":"x"}]},{"name":"c"}]}`
		base = `{"regions":[{"name":"b","zone":1},{"name":"a","zone":2,"images":[{"name":"x","z":3,"versions":[{"version":"1","r":"base"},{"version":"3"}]}]}]}`
		want = `{"regions":[{"name":"b","zone":1,"images":[{"name":"x"}]},{"name":"a","zone":2,"images":[{"name":"x","z":3,"versions":[{"version":"1","r":"own"},` +
			`{"version":"3"},{"version":"2","r":"own"}]},{"name":"y","versions":[]}]},{"name":"c"}]}`
	)
	object := &v1beta1.NamespacedCloudProfile{}
	object.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(own)}
	config := &runtime.RawExtension{Raw: []byte(base)}
	_, config, err := rendered(t, regional{}, nil, object, config)
	if err != nil || !sameJSON(config.Raw, []byte(want)) {
		t.Fatalf("%s, %v", config.Raw, err)
	}
	for wrong, says := range map[string]string{
		`{"regions":[{"name":"a","images":[{"versions":[]}]}]}`:                         "spec.providerConfig: regions[0].images: [0]: no name",
		`{"regions":[{"name":"a","images":[{"name":"x","versions":[{"version":1}]}]}]}`: "spec.providerConfig: regions[0].images[0].versions: [0]: no version",
		`{"regions":[{"name":"a","images":{}}]}`:                                        "spec.providerConfig: regions[0].images: not a list",
		`{"regions":[1]}`:                                                               "spec.providerConfig: regions: [0]: not an object",
	} {
		object.Spec.ProviderConfig.Raw = []byte(wrong)
		if _, err := render.Config(regional{}, nil, object, config); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
