// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// implying returns a cloud with a legacy entry of linux@1 for each of these implied capabilities.
func implying(fields ...v1beta1.Capabilities) given.Cloud {
	cloud := given.Linux()
	image := &cloud.Images[0]
	image.Versions = nil
	for i, implied := range fields {
		path := image.Path.Child("versions").Index(i)
		image.Versions = append(image.Versions, imageselector.Version[string]{
			Version: "1", Legacy: true, Path: path, Flavors: []imageselector.Flavor[string]{{
				Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}, Implied: implied, Path: path,
				Global: &imageselector.Global[string]{Ref: fmt.Sprint(i), Path: path.Child("image")},
			}},
		})
	}
	return cloud
}

// Images that differ only in an implied capability are distinct if it is registered. Otherwise they are not an error.
func TestLegacyFieldsThatImply(t *testing.T) {
	fast, slow := v1beta1.Capabilities{"net": {"fast", "slow"}}, v1beta1.Capabilities{"net": {"slow"}}
	net := v1beta1.CapabilityDefinition{Name: "net", Values: []string{"fast", "slow"}}
	for name, tc := range map[string]struct {
		registered []v1beta1.CapabilityDefinition
		core       []v1beta1.Capabilities
		implied    []v1beta1.Capabilities
		machine    v1beta1.Capabilities
		want       string
		errs       []string
	}{
		"registered": {
			[]v1beta1.CapabilityDefinition{net}, []v1beta1.Capabilities{fast, slow}, []v1beta1.Capabilities{slow, fast},
			v1beta1.Capabilities{"net": {"fast"}}, "1", nil,
		},
		"only one value registered": {
			[]v1beta1.CapabilityDefinition{{Name: "net", Values: []string{"slow"}}}, []v1beta1.Capabilities{{}}, []v1beta1.Capabilities{fast}, nil, "0", nil,
		},
		"registered, and the same twice": {
			[]v1beta1.CapabilityDefinition{net}, []v1beta1.Capabilities{slow}, []v1beta1.Capabilities{slow, slow}, nil, "0", []string{"provider-flavor-duplicate"},
		},
		"not registered":                     {nil, []v1beta1.Capabilities{{}}, []v1beta1.Capabilities{slow, fast}, nil, "0", nil},
		"not registered, and the same twice": {nil, []v1beta1.Capabilities{{}}, []v1beta1.Capabilities{slow, slow}, nil, "0", []string{"provider-flavor-duplicate"}},
		"not what core says": {
			[]v1beta1.CapabilityDefinition{net}, []v1beta1.Capabilities{fast}, []v1beta1.Capabilities{slow}, nil, "",
			[]string{"provider-flavor-missing", "provider-flavor-unexpected"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			definitions := append([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}, tc.registered...)
			spec := given.CoreSpec(definitions, tc.core)
			spec.MachineTypes = []v1beta1.MachineType{{Name: "m", Capabilities: tc.machine}}
			p, report := profile.Compile(implying(tc.implied...), spec, field.NewPath("spec"))
			var rules []string
			for _, err := range report.Errors {
				rules = append(rules, err.Origin)
			}
			if diff := cmp.Diff(tc.errs, rules); diff != "" {
				t.Error(report.Errors, diff)
			}
			if r := resolve.Pool(p, provider.Pool{MachineType: "m", Image: "linux", Version: "1"}); r.Reference != tc.want {
				t.Errorf("%q, %v", r.Reference, r.Err)
			}
		})
	}
}
