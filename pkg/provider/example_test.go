// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
)

// exampleWorkerConfig is the providerConfig of a worker pool.
type exampleWorkerConfig struct {
	metav1.TypeMeta `json:",inline"`

	Nested bool `json:"nested,omitempty"`
}

// One setting requests a capability that the provider defines.
func ExampleWorkersOf() {
	workers := provider.WorkersOf(provider.WorkerConfig[exampleWorkerConfig]{
		Kind: schema.GroupVersionKind{Group: "local.provider.extensions.gardener.cloud", Version: "v1alpha1", Kind: "WorkerConfig"},
		Capabilities: []capability.Definition{
			{Name: "local-nested", Values: []string{"enabled", "disabled"}, Undeclared: "disabled"},
		},
		Requests: []provider.Request[exampleWorkerConfig]{{
			Setting: "nested: true", Field: "nested", Capability: "local-nested", Values: []string{"enabled"},
			Asks: func(_ *provider.Pool, config *exampleWorkerConfig) bool { return config.Nested },
		}},
		RollingUpdate: []provider.Trigger[exampleWorkerConfig]{
			{Field: "nested", Value: func(config *exampleWorkerConfig) string { return strconv.FormatBool(config.Nested) }},
		},
	})
	raw := &runtime.RawExtension{Raw: []byte(`{"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "WorkerConfig", "nested": true}`)}
	pool := provider.Pool{Config: raw, Path: field.NewPath("spec", "provider", "workers").Index(0)}
	requirements, report := workers.Requirements(pool)
	for _, r := range requirements {
		fmt.Println(r.Setting, "asks for", r.Capability, r.Values, "at", r.Because)
	}
	fmt.Println(len(report.Errors), "errors")
	for _, r := range workers.Rolling(pool) {
		fmt.Printf("%s: %s replaces machines when it changes\n", r.Field, r.Value)
	}
	// Output:
	// nested: true asks for local-nested [enabled] at spec.provider.workers[0].providerConfig.nested
	// 0 errors
	// nested: true replaces machines when it changes
}

// nesting is the local provider with a worker capability that lacks the prefix, and a request for an undefined value.
type nesting struct{ local.Provider }

func (nesting) Workers() provider.Workers {
	kind := schema.GroupVersionKind{Group: "local.provider.extensions.gardener.cloud", Version: "v1alpha1", Kind: "WorkerConfig"}
	return provider.WorkersOf(provider.WorkerConfig[exampleWorkerConfig]{
		Kind: kind, Capabilities: []capability.Definition{{Name: "nested", Values: []string{"enabled"}}},
		Requests: []provider.Request[exampleWorkerConfig]{{
			Setting: "nested: true", Field: "nested", Capability: "nested", Values: []string{"on"},
			Asks: func(*provider.Pool, *exampleWorkerConfig) bool { return false },
		}},
	})
}

// An extension calls Check when it starts.
func ExampleCheck() {
	fmt.Println(provider.Check(local.Provider{}))
	fmt.Println(provider.Check(nesting{}))
	// Output:
	// <nil>
	// provider local: worker capability "nested" must begin with "local-", the prefix of this provider
	// provider local: "nested: true" asks for [on] of worker capability "nested", which has the values [enabled]
}
