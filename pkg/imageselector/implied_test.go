// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector_test

import (
	"maps"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

func implying(f imageselector.Flavor[string], implied caps) imageselector.Flavor[string] {
	f.Implied = implied
	return f
}

func TestSupported(t *testing.T) {
	storage := vocabulary(t, defs{
		{Name: "architecture", Values: []string{"amd64"}}, {Name: "storage", Values: []string{"NVMe", "SCSI"}},
	})
	for name, tc := range map[string]struct {
		vocabulary              *capability.Vocabulary
		declared, implied, want caps
	}{
		"nothing":                        {storageAndNet(t), nil, nil, nil},
		"nothing implied":                {storageAndNet(t), caps{"net": {"basic"}}, nil, caps{"net": {"basic"}}},
		"nothing declared":               {storageAndNet(t), nil, caps{"net": {"basic"}}, caps{"net": {"basic"}}},
		"not registered":                 {storage, nil, caps{"net": {"basic"}}, nil},
		"declared ones win":              {storageAndNet(t), caps{"net": {"basic"}}, caps{"net": {"accelerated"}}, caps{"net": {"basic"}}},
		"an empty list is declared":      {storageAndNet(t), caps{"net": {}}, caps{"net": {"basic"}}, caps{"net": {}}},
		"reserved, and not registered":   {storage, nil, caps{"gardener-boot-type": {"secure"}}, nil},
		"values that are not registered": {storage, nil, caps{"storage": {"tape", "SCSI"}}, caps{"storage": {"SCSI"}}},
		"no value that is registered":    {storage, nil, caps{"storage": {"tape"}}, caps{"storage": {"tape"}}},
		"an empty list says nothing":     {storage, nil, caps{"storage": {}}, nil},
		"some of each": {
			storageAndNet(t), caps{"architecture": {"amd64"}}, caps{"net": {"basic"}, "storage": {"SCSI"}, "gpu": {"x"}},
			caps{"architecture": {"amd64"}, "net": {"basic"}, "storage": {"SCSI"}},
		},
		"some of each, with fewer registered": {
			storage, caps{"architecture": {"amd64"}}, caps{"net": {"basic"}, "storage": {"SCSI"}},
			caps{"architecture": {"amd64"}, "storage": {"SCSI"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := imageselector.Flavor[string]{Capabilities: maps.Clone(tc.declared), Implied: maps.Clone(tc.implied)}
			if diff := cmp.Diff(tc.want, f.Supported(tc.vocabulary)); diff != "" {
				t.Error(diff)
			}
			if !cmp.Equal(f.Capabilities, tc.declared) || !cmp.Equal(f.Implied, tc.implied) {
				t.Errorf("the flavor has changed: %+v", f)
			}
		})
	}
}

func TestSupportedDoesNotCopyIfThereIsNothingToAdd(t *testing.T) {
	v := storageAndNet(t)
	f := implying(global(caps{"net": {"basic"}}, "image"), caps{"gpu": {"x"}, "net": {"accelerated"}})
	if n := testing.AllocsPerRun(100, func() { f.Supported(v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Semantics S7, with Azure's legacy field acceleratedNetworking: if the capability is registered, an image built without it does not boot
// on a machine type that has only accelerated networking.
func TestImpliedCapabilitiesCountWhereTheyAreRegistered(t *testing.T) {
	slow := implying(global(caps{"architecture": {"amd64"}}, "slow"), caps{"net": {"basic"}})
	fast := implying(global(caps{"architecture": {"amd64"}}, "fast"), caps{"net": {"accelerated", "basic"}})

	v := storageAndNet(t)
	accelerated := machine(t, v, caps{"net": {"accelerated"}})
	if d := decide(t, linux(v, slow), accelerated, capability.GEP33); d.Chosen >= 0 || d.Verdicts[0].Conflicts[0].Capability != "net" {
		t.Errorf("%+v", d)
	}
	if d := decide(t, linux(v, slow, fast), accelerated, capability.GEP33); d.Reference != "fast" || d.Ambiguous {
		t.Errorf("%+v", d)
	}
	if got := linux(v, slow).Offers("linux", "1", "eu")[0].Values("net"); !cmp.Equal(got, []string{"basic"}) {
		t.Error(got)
	}

	plain := vocabulary(t, defs{{Name: "architecture", Values: []string{"amd64"}}})
	d := decide(t, linux(plain, slow, fast), plain.All(), capability.GEP33)
	if d.Reference != "slow" || !d.Ambiguous {
		t.Errorf("where it is not registered the two are the same, and the first one counts: %+v", d)
	}
}

var unregistered = v1beta1.CapabilityDefinition{Name: "unregistered", Values: []string{"x", "y"}}

// An implied capability has the same effect as a declared one. An empty list implies nothing.
func TestImpliedIsAsGoodAsDeclared(t *testing.T) {
	added := 0
	rapid.Check(t, func(t *rapid.T) {
		o := drawCase(t)
		declaring := make(flavors, len(o.flavors))
		for i := range o.flavors {
			o.flavors[i].Implied = drawCapabilities(t, append(o.defs[:len(o.defs):len(o.defs)], unregistered))
			declaring[i] = o.flavors[i]
			declaring[i].Implied, declaring[i].Capabilities = nil, caps{}
			for name, values := range o.flavors[i].Implied {
				if o.v.IsRegistered(name) && len(values) > 0 {
					declaring[i].Capabilities[name] = values
				}
			}
			maps.Copy(declaring[i].Capabilities, o.flavors[i].Capabilities)
			if len(declaring[i].Capabilities) > len(o.flavors[i].Capabilities) {
				added++
			}
		}
		implied, declared := o.decide(o.flavors...), o.decide(declaring...)
		if implied.Chosen != declared.Chosen || implied.Reference != declared.Reference ||
			implied.Ambiguous != declared.Ambiguous || !cmp.Equal(implied.Comparisons, declared.Comparisons) {
			t.Fatalf("%+v\n%+v", implied, declared)
		}
		for i := range implied.Verdicts {
			if implied.Verdicts[i].Set != declared.Verdicts[i].Set {
				t.Fatalf("flavor %d: %s and %s", i, implied.Verdicts[i].Set, declared.Verdicts[i].Set)
			}
		}
	})
	if added == 0 {
		t.Error("nothing is ever added")
	}
}
