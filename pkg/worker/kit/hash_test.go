// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"fmt"
	"strings"
	"testing"

	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/worker/kit"
)

// workerConfig is the providerConfig of the synthetic cloud's pools.
type workerConfig struct {
	metav1.TypeMeta `json:",inline"`

	Group      string `json:"group,omitempty"`
	SecureBoot bool   `json:"secureBoot,omitempty"`
	Comment    string `json:"comment,omitempty"`
}

var workers = provider.WorkersOf(provider.WorkerConfig[workerConfig]{
	Kind: statusKind.GroupVersion().WithKind("WorkerConfig"),
	RollingUpdate: []provider.Trigger[workerConfig]{
		{Field: "group", Value: func(config *workerConfig) string { return config.Group }},
		{Field: "secureBoot", Value: func(config *workerConfig) string {
			if !config.SecureBoot {
				return ""
			}
			return "true"
		}},
	},
})

// rolling returns the values that replace machines, for a pool with these fields in its providerConfig.
func rolling(fields string) []provider.Rolling {
	raw := `{"apiVersion": "made.up/v1", "kind": "WorkerConfig"` + fields + `}`
	return workers.Rolling(provider.Pool{Config: &runtime.RawExtension{Raw: []byte(raw)}, Path: field.NewPath("pool")})
}

// hashOf returns the suffix of the machine class names, for a pool with these fields.
func hashOf(t *testing.T, fields string) string {
	t.Helper()
	data, err := kit.HashData(rolling(fields), nil)
	check(t, err)
	hash, err := extensionsworker.WorkerPoolHash(extensionsv1alpha1.WorkerPool{NodeAgentSecretName: ptr.To("agent")}, nil, data, nil)
	check(t, err)
	return hash
}

// A setting that the provider lists replaces machines when it is switched on or off. A setting that is not listed, or not in the pool,
// does not.
func TestASettingReplacesMachines(t *testing.T) {
	before, err := extensionsworker.WorkerPoolHash(extensionsv1alpha1.WorkerPool{NodeAgentSecretName: ptr.To("agent")}, nil, nil, nil)
	check(t, err)
	hashes := map[string]string{}
	for _, fields := range []string{``, `, "secureBoot": true`, `, "group": "true"`, `, "group": "a"`, `, "group": "a", "secureBoot": true`} {
		hash := hashOf(t, fields)
		if other, taken := hashes[hash]; taken {
			t.Errorf("%q has the hash of %q", fields, other)
		}
		hashes[hash] = fields
	}
	for _, fields := range []string{``, `, "secureBoot": false`, `, "comment": "x"`} {
		if got := hashOf(t, fields); got != before {
			t.Errorf("%q has hash %s instead of %s", fields, got, before)
		}
	}
}

func TestHashData(t *testing.T) {
	for name, tc := range map[string]struct {
		fields string
		own    map[string][]string
		want   []string
	}{
		"nothing":   {``, nil, nil},
		"as listed": {`, "secureBoot": true, "group": "a"`, nil, []string{"providerConfig.group=a", "providerConfig.secureBoot=true"}},
		"one's own": {
			`, "secureBoot": true, "group": "a"`, map[string][]string{"group": {"id-1", "id-2"}},
			[]string{"id-1", "id-2", "providerConfig.secureBoot=true"},
		},
		"nothing of one's own": {`, "group": "a"`, map[string][]string{"group": nil}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			own := fmt.Sprint(tc.own)
			got, err := kit.HashData(rolling(tc.fields), tc.own)
			check(t, err)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if fmt.Sprint(tc.own) != own {
				t.Errorf("%v has been changed", tc.own)
			}
		})
	}
	_, err := kit.HashData(rolling(``), map[string][]string{"group": nil, "zebra": {"a"}, "other": nil})
	if err == nil || !strings.Contains(err.Error(), "does not list other, zebra in RollingUpdate") {
		t.Errorf("%v", err)
	}
	if data, err := kit.HashData(provider.Workers{}.Rolling(provider.Pool{}), nil); err != nil || data != nil {
		t.Errorf("without a providerConfig: %v, %v", data, err)
	}
}
