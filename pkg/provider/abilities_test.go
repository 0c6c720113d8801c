// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// deriving is a cloud that derives references.
type deriving struct {
	given.Cloud
	derive func(provider.ImageVersion, v1beta1.Capabilities) (string, bool)
	shares bool
}

func (d deriving) DeriveReference(v provider.ImageVersion, supported v1beta1.Capabilities) (string, bool) {
	return d.derive(v, supported)
}

func (d deriving) SharesReferences() bool { return d.shares }

// ValidateReference refuses references that begin with "bad".
func (deriving) ValidateReference(ref string, at *field.Path) field.ErrorList {
	if strings.HasPrefix(ref, "bad") {
		return field.ErrorList{field.Invalid(at, ref, "it is bad")}
	}
	return nil
}

// misfit derives references of another type than it decodes.
type misfit struct{ given.Cloud }

func (misfit) DeriveReference(provider.ImageVersion, v1beta1.Capabilities) (int, bool) {
	return 1, true
}

// formless describes the form of references.
type formless struct {
	given.Cloud
	form string
}

func (f formless) ReferenceForm() string { return f.form }

// describing describes rules.
type describing struct {
	given.Cloud
	names []string
	// bare rules have nothing but a name.
	bare []string
}

func (d describing) Rules() []finding.Rule {
	var rules []finding.Rule
	for _, name := range d.names {
		rules = append(rules, finding.Denies(name, "Means.", "Repair."))
	}
	for _, name := range d.bare {
		rules = append(rules, finding.Rule{Name: name})
	}
	return rules
}

// extending is a cloud with further lists.
type extending struct {
	given.Cloud
	lists []provider.List
}

func (e extending) NamespacedLists() []provider.List { return e.lists }

// Faults of an ability, or of two together, are found at startup, and named by type and method.
func TestAbilitiesThatDoNotFit(t *testing.T) {
	named := func(v provider.ImageVersion, supported v1beta1.Capabilities) (string, bool) {
		return v.String() + supported["architecture"][0], true
	}
	calls := 0
	for name, c := range map[string]struct {
		cloud provider.Provider[string]
		want  []string
	}{
		"it derives":      {deriving{derive: named}, nil},
		"it derives none": {deriving{derive: func(provider.ImageVersion, v1beta1.Capabilities) (string, bool) { return "", false }}, nil},
		"it derives one":  {deriving{derive: func(v provider.ImageVersion, _ v1beta1.Capabilities) (string, bool) { return v.Image, true }, shares: true}, nil},
		"it has lists":    {extending{lists: []provider.List{{Field: "a", Key: "n", Lists: []provider.List{{Field: "machineImages", Key: "n"}}}}}, nil},
		"of another type": {misfit{}, []string{
			"provider_test.misfit.DeriveReference: it is not the method of provider.ReferenceDeriver for the references that Decode returns",
		}},
		"it is empty": {
			deriving{derive: func(provider.ImageVersion, v1beta1.Capabilities) (string, bool) { return "", true }},
			[]string{"provider_test.deriving.DeriveReference: it derives an empty reference for image@1.0.0"},
		},
		"it is refused": {
			deriving{derive: func(provider.ImageVersion, v1beta1.Capabilities) (string, bool) { return "bad", true }},
			[]string{`DeriveReference: it derives bad for image@1.0.0, which ValidateReference refuses: reference: Invalid value: "bad": it is bad`},
		},
		"it is not the same": {
			deriving{derive: func(provider.ImageVersion, v1beta1.Capabilities) (string, bool) {
				calls++
				return strings.Repeat("a", calls), true
			}}, []string{"DeriveReference: it derives a for image@1.0.0, and then aa"},
		},
		"it panics": {
			deriving{derive: func(_ provider.ImageVersion, supported v1beta1.Capabilities) (string, bool) {
				return supported["network"][0], true
			}},
			[]string{"DeriveReference: it panics when it is asked about image@1.0.0: runtime error"},
		},
		"it is shared": {
			deriving{derive: func(v provider.ImageVersion, _ v1beta1.Capabilities) (string, bool) { return v.Image, true }},
			[]string{"DeriveReference: it derives one reference for two architectures, image, and SharesReferences does not say that references stand for several"},
		},
		"it says nothing":   {formless{form: " "}, []string{"formless.ReferenceForm: it says nothing"}},
		"it says something": {formless{form: "one of a and b"}, nil},
		"rules":             {describing{names: []string{"given-a", "given-b"}}, nil},
		"rules without a name of their own": {describing{names: []string{"given-a", "", "given-b", "given-a"}}, []string{
			"describing.Rules: rule 1 has no name", "describing.Rules: given-a is described twice",
		}},
		"rules without a severity": {describing{bare: []string{"given-a"}}, []string{
			`describing.Rules: given-a has the severity ""; make it with finding.Denies or finding.Warns`,
		}},
		"lists that are not merged": {
			extending{lists: []provider.List{
				{Field: "machineImages", Key: "name"}, {Field: "a"}, {Field: "b", Key: "n"},
				{Field: "b", Key: "n", Lists: []provider.List{{Field: "n", Key: "c"}, {Key: "d"}}},
			}},
			[]string{
				`NamespacedLists: machineImages is merged already`,
				`NamespacedLists: a list needs the name of its field, and that of the key of its entries: "a" has the key ""`,
				`NamespacedLists: b is merged already`, `NamespacedLists: b[].n is merged already`, `its entries: b[]."" has the key "d"`,
			},
		},
	} {
		var lines []string
		if err := provider.Check(c.cloud); err != nil {
			lines = strings.Split(err.Error(), "\n")
		}
		if !slices.EqualFunc(lines, c.want, func(line, want string) bool {
			return strings.HasPrefix(line, "provider given: provider_test.") && strings.Contains(line, want)
		}) {
			t.Errorf("%s: %s", name, cmp.Diff(c.want, lines))
		}
	}
	if err := provider.Check(provider.Untyped(misfit{})); err == nil || !strings.Contains(err.Error(), "misfit.DeriveReference") {
		t.Errorf("without a type: %v", err)
	}
}

// Untyped keeps the ability to derive references.
func TestDeriveWithoutAType(t *testing.T) {
	cloud := provider.Untyped(deriving{derive: func(v provider.ImageVersion, _ v1beta1.Capabilities) (string, bool) {
		return v.Image, v.Version != "none"
	}, shares: true})
	deriver, derives := provider.As[provider.ReferenceDeriver[any]](cloud)
	if !derives {
		t.Fatal("it derives nothing")
	}
	for version, want := range map[string]any{"1": "linux", "none": "linux"} {
		ref, derived := deriver.DeriveReference(provider.ImageVersion{Image: "linux", Version: version}, nil)
		if ref != want || derived != (version == "1") {
			t.Errorf("%s: %v, %t", version, ref, derived)
		}
	}
	if err := provider.Check(cloud); err != nil {
		t.Error(err)
	}
	if _, derives := provider.As[provider.ReferenceDeriver[any]](provider.Untyped(given.Cloud{})); derives {
		t.Error("a cloud that derives nothing")
	}
}

// An untyped provider keeps every field that the typed one decodes.
func TestUntypedKeepsEverything(t *testing.T) {
	at, some := field.NewPath("x"), v1beta1.Capabilities{"a": {"b"}}
	regional := imageselector.Regional[string]{Region: "north", Ref: "a", Path: at, NamedAt: at}
	global := imageselector.Global[string]{Ref: "b", Fallback: true, Derived: true, Path: at}
	flavor := imageselector.Flavor[string]{
		Capabilities: some, Implied: some, Unclear: true, Regional: []imageselector.Regional[string]{regional}, Global: &global, Path: at,
	}
	version := imageselector.Version[string]{
		Version: "1", Legacy: true, Flavors: []imageselector.Flavor[string]{flavor}, Undeclared: some, Path: at,
	}
	image := imageselector.Image[string]{Name: "linux", Versions: []imageselector.Version[string]{version}, Path: at}
	for _, part := range []any{regional, global, flavor, version, image} {
		for i := range reflect.TypeOf(part).NumField() {
			if reflect.ValueOf(part).Field(i).IsZero() {
				t.Errorf("%T has no %s", part, reflect.TypeOf(part).Field(i).Name)
			}
		}
	}
	config, _ := provider.Untyped(given.Cloud{Images: []imageselector.Image[string]{image}}).Decode(nil, at)
	want, err := json.Marshal([]imageselector.Image[string]{image})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(config.Images); err != nil || string(got) != string(want) {
		t.Errorf("%v %s", err, cmp.Diff(string(want), string(got)))
	}
}
