// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providertest_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/provider/providertest"
	"github.com/capkit/capkit/pkg/providerconfig"
)

var kind = local.ConfigKind

const config = `{"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "machineImages": [
	{"name": "a", "versions": [{"version": "1.0.0", "image": "node:1"}, {"version": "2.0.0", "capabilityFlavors": [
		{"image": "node:2", "capabilities": {"architecture": ["amd64"]}}, {"image": "node:3", "capabilities": {"architecture": ["arm64"]}}]}]}]}`

type version = imageselector.Version[local.Image]

// changed is a provider that changes a version before encoding it, or the result.
type changed struct {
	local.Provider
	before func(v version, format provider.Format) version
	after  func(entries []any, err error) ([]any, error)
}

func (c changed) Encode(v version, format provider.Format) ([]any, error) {
	if c.before != nil {
		v = c.before(v, format)
	}
	entries, err := c.Provider.Encode(v, format)
	if c.after != nil {
		return c.after(entries, err)
	}
	return entries, err
}

func clone(v version) version {
	v.Flavors = slices.Clone(v.Flavors)
	for i := range v.Flavors {
		v.Flavors[i].Capabilities = maps.Clone(v.Flavors[i].Capabilities)
	}
	return v
}

// Each case breaks one law.
func TestLawsFindFaults(t *testing.T) {
	var calls atomic.Int32
	for want, cloud := range map[string]changed{
		"": {},
		"2.0.0 as capabilityFlavors: it was written as": {before: func(v version, _ provider.Format) version { // loses capabilities
			v = clone(v)
			for i := range v.Flavors {
				delete(v.Flavors[i].Capabilities, "architecture")
			}
			return v
		}},
		"Inverse": {before: func(v version, _ provider.Format) version { // another order
			v = clone(v)
			slices.Reverse(v.Flavors)
			return v
		}},
		"it is version \"3.0.0\", not": {before: func(v version, _ provider.Format) version {
			v.Version = "3.0.0"
			return v
		}},
		"it is in another format than legacy": {
			before: func(v version, _ provider.Format) version { return v },
			after: func(entries []any, err error) ([]any, error) {
				for i := range entries {
					entry := entries[i].(local.MachineImageVersion)
					if entry.Image != "" {
						entry.CapabilityFlavors, entry.Image = []local.MachineImageFlavor{{Image: entry.Image}}, ""
					}
					entries[i] = entry
				}
				return entries, err
			},
		},
		"1.0.0 as legacy: no words": {after: func([]any, error) ([]any, error) { return nil, errors.New("no words") }},
		"and then no words": {after: func(entries []any, err error) ([]any, error) {
			if calls.Add(1)%2 == 0 {
				return nil, errors.New("no words")
			}
			return entries, err
		}},
		"Encode returns no entry": {after: func([]any, error) ([]any, error) { return nil, nil }},
		"has changed the version": {before: func(v version, _ provider.Format) version {
			for i := range v.Flavors {
				v.Flavors[i].Global.Ref.Image += "x"
			}
			return v
		}},
		"an entry that is not JSON": {after: func([]any, error) ([]any, error) { return []any{func() {}}, nil }},
		"unknown field":             {after: func([]any, error) ([]any, error) { return []any{map[string]any{"a": 1}}, nil }},
		"flavor 1 is lost": {before: func(v version, format provider.Format) version {
			if !v.Legacy && format == provider.FormatLegacy {
				v = clone(v)
				v.Flavors = v.Flavors[:1]
			}
			return v
		}},
		"has come from nowhere": {before: func(v version, format provider.Format) version {
			if v.Legacy && format == provider.FormatFlavors {
				v.Flavors = append(slices.Clone(v.Flavors), imageselector.Flavor[local.Image]{
					Global: &imageselector.Global[local.Image]{Ref: local.Image{Image: "another"}},
				})
			}
			return v
		}},
	} {
		err := providertest.Check(cloud, []byte(config))
		switch {
		case want == "":
			if err != nil {
				t.Error(err)
			}
		case want == "Inverse":
			if err == nil || !strings.Contains(err.Error(), "read again") {
				t.Errorf("the order: %v", err)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%q is not found: %v", want, err)
		}
	}
}

// fickle is a provider that decodes a config in two ways.
type fickle struct {
	local.Provider
	calls *atomic.Int32
}

func (f fickle) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[local.Image], finding.Report) {
	read, report := f.Provider.Decode(raw, at)
	if f.calls.Add(1)%2 == 0 {
		slices.Reverse(read.Images[0].Versions)
	}
	return read, report
}

func TestDecodeTwice(t *testing.T) {
	if err := providertest.Check(fickle{calls: &atomic.Int32{}}, []byte(config)); err == nil || !strings.Contains(err.Error(), "in two ways") {
		t.Error(err)
	}
}

// misplacing is a provider that returns wrong paths.
type misplacing struct {
	local.Provider
	change func(image *imageselector.Image[local.Image])
}

func (m misplacing) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[local.Image], finding.Report) {
	read, report := m.Provider.Decode(raw, at)
	if at.String() == "config" { // other paths are for encoded versions
		m.change(&read.Images[0])
	}
	return read, report
}

// Errors and line numbers depend on the paths.
func TestLawsFindWrongPaths(t *testing.T) {
	for want, change := range map[string]func(image *imageselector.Image[local.Image]){
		"image a at the path name,": func(image *imageselector.Image[local.Image]) { image.Path = nil },
		"a@1.0.0 at the path config.machineImages[0].versions[1].version,": func(image *imageselector.Image[local.Image]) {
			image.Versions[0].Path = image.Versions[1].Path
		},
		"flavor 1 of a@2.0.0 at the path config.machineImages[0].versions[1].flavors[1],": func(image *imageselector.Image[local.Image]) {
			image.Versions[1].Flavors[1].Path = image.Versions[1].Path.Child("flavors").Index(1)
		},
		"the global reference of flavor 0 of a@1.0.0 at the path config.machineImages[1].image,": func(image *imageselector.Image[local.Image]) {
			image.Versions[0].Flavors[0].Global.Path = field.NewPath("config", "machineImages").Index(1).Child("image")
		},
		"flavor 0 of a@1.0.0 for region north at the path config.machineImages[0].name,": func(image *imageselector.Image[local.Image]) {
			image.Versions[0].Flavors[0].Regional = []imageselector.Regional[local.Image]{{Region: "north", Path: image.Path}}
		},
	} {
		err := providertest.Check(misplacing{change: change}, []byte(config))
		if err == nil || !strings.Contains(err.Error(), "the provider's Decode returns "+want) {
			t.Errorf("%q is not found: %v", want, err)
		}
	}
}

// strict refuses every reference, adds an error or a warning when it decodes, and describes one rule.
type strict struct {
	local.Provider
	errors, warnings string
	// reference is the rule of the errors about references, and below returns their path.
	reference string
	below     func(at *field.Path) *field.Path
}

func (s strict) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[local.Image], finding.Report) {
	read, report := s.Provider.Decode(raw, at)
	for list, rule := range map[*finding.List]string{&report.Errors: s.errors, &report.Warnings: s.warnings} {
		if rule != "" {
			*list = append(*list, finding.New(rule, field.ErrorTypeInvalid, at, "", "no"))
		}
	}
	return read, report
}

func (s strict) ValidateReference(_ local.Image, at *field.Path) field.ErrorList {
	if s.below != nil {
		return field.ErrorList{field.Invalid(s.below(at), "", "no").WithOrigin(s.reference)}
	}
	return field.ErrorList{field.Invalid(at, "", "no").WithOrigin("local-described")}
}

func (strict) Rules() []finding.Rule {
	return []finding.Rule{finding.Denies("local-described", "Means.", "Repair.")}
}

func TestLawsFindRulesThatAreNotAsDescribed(t *testing.T) {
	for want, cloud := range map[string]strict{
		"": {
			errors: "local-described", warnings: "of-the-engine", reference: "local-described",
			below: func(at *field.Path) *field.Path { return at.Child("id") },
		},
		`the rule of the error at config, local-other, is described as ""`:            {errors: "local-other"},
		`the rule of the warning at config, local-described, is described as "error"`: {warnings: "local-described"},
		`the error at config.machineImages[0].versions[0].image has no rule: set its Origin`: {
			below: func(at *field.Path) *field.Path { return at },
		},
		`ValidateReference reports at id, which is not at or below config.machineImages[0].versions[0].image`: {
			reference: "local-described", below: func(*field.Path) *field.Path { return field.NewPath("id") },
		},
	} {
		err := providertest.Check(cloud, []byte(config))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// nameless is a provider that describes no rules, and whose errors have none.
type nameless struct{ local.Provider }

func (n nameless) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[local.Image], finding.Report) {
	read, report := n.Provider.Decode(raw, at)
	report.Errors = append(report.Errors, finding.Of(field.ErrorList{field.Invalid(at, "", "no")})...)
	return read, report
}

func TestLawsFindErrorsWithoutARule(t *testing.T) {
	if err := providertest.Check(nameless{}, []byte(config)); err == nil || err.Error() != "the error at config has no rule: set its Origin" {
		t.Error(err)
	}
}

// blank is a provider whose findings and errors are blank.
type blank struct{ local.Provider }

func (b blank) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[local.Image], finding.Report) {
	read, report := b.Provider.Decode(raw, at)
	report.Warnings = append(report.Warnings, finding.Finding{})
	return read, report
}

func (blank) ValidateReference(local.Image, *field.Path) field.ErrorList { return field.ErrorList{nil} }

func TestLawsFindBlankFindings(t *testing.T) {
	err := providertest.Check(blank{}, []byte(config))
	for _, want := range []string{
		"the provider's Decode returns warning 0 without a field.Error: make it with finding.New\n",
		"ValidateReference returns nil among its errors at config.machineImages[0].versions[0].image",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// elsewhere is a provider whose images are mapped outside the config.
type elsewhere struct{ misplacing }

func (elsewhere) Policies() policy.Policies { return policy.Policies{MappedIn: "a table"} }

func TestLawsAskForNoPathsOfImagesMappedElsewhere(t *testing.T) {
	nowhere := misplacing{change: func(image *imageselector.Image[local.Image]) { image.Path = nil }}
	if err := providertest.Check(elsewhere{nowhere}, []byte(config)); err != nil {
		t.Error(err)
	}
}

// forgetful is a provider whose references do not survive JSON.
type forgetful struct{ local.Provider }

type forgotten struct {
	Image string `json:"-"`
}

func (f forgetful) Decode(raw *runtime.RawExtension, at *field.Path) (config provider.Config[forgotten], report finding.Report) {
	read, report := f.Provider.Decode(raw, at)
	for _, image := range read.Images {
		same := imageselector.Image[forgotten]{Name: image.Name, Path: image.Path}
		for _, v := range image.Versions {
			flavor := imageselector.Flavor[forgotten]{
				Path: v.Path, Global: &imageselector.Global[forgotten]{Ref: forgotten{v.Flavors[0].Global.Ref.Image}, Path: v.Path},
			}
			same.Versions = append(same.Versions, imageselector.Version[forgotten]{
				Version: v.Version, Path: v.Path, Flavors: []imageselector.Flavor[forgotten]{flavor},
			})
		}
		config.Images = append(config.Images, same)
	}
	return config, report
}

func (forgetful) Encode(imageselector.Version[forgotten], provider.Format) ([]any, error) {
	return nil, errors.New("no words")
}
func (forgetful) ValidateReference(forgotten, *field.Path) field.ErrorList { return nil }

func TestLawsFindReferencesThatAreForgotten(t *testing.T) {
	err := providertest.Check(forgetful{}, []byte(config))
	if err == nil || !strings.Contains(err.Error(), "a reference that is not read as it is written, {}: ") {
		t.Error(err)
	}
}

// An untyped provider obeys the same laws as the typed one. Its empty reference is nil.
func TestLawsOfAnUntypedProvider(t *testing.T) {
	for _, config := range []string{config, strings.Replace(config, "node:2", "", 1)} {
		if err := providertest.Check(provider.Untyped(local.Provider{}), []byte(config)); err != nil {
			t.Error(err)
		}
	}
}

func TestConfigsWithErrorsCountForNothing(t *testing.T) {
	refusing := changed{after: func([]any, error) ([]any, error) { return nil, errors.New("no words") }}
	if err := providertest.Check(refusing, []byte(strings.Replace(config, `"name"`, `"nam"`, 1))); err != nil {
		t.Error(err)
	}
}

func TestConfigs(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"a.yaml":    "kind: CloudProfile\nspec: {providerConfig: " + strings.ReplaceAll(config, "\t", " ") + "}\n---\n" + strings.ReplaceAll(config, "\t", " "),
		"b/c.json":  `{"items": [` + config + `, {"kind": "CloudProfileConfig"}]}`,
		"d.txtar":   "-- a case/profile.yaml --\n" + strings.ReplaceAll(config, "\t", " ") + "\n",
		"e.txt":     config,
		"f.yaml":    "{",
		"g/h.other": config,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := providertest.Configs(t, kind, folder)
	var from []string
	for _, config := range found {
		from = append(from, strings.TrimPrefix(config.From, folder+string(filepath.Separator)))
	}
	if want := []string{"a.yaml, config 1", "a.yaml, config 2", "b/c.json", "d.txtar: a case/profile.yaml"}; !slices.Equal(from, want) {
		t.Errorf("they are from %q", from)
	}
	providertest.Laws(t, local.Provider{}, found...)
}

// limited decodes an image for one region, whose name comes from elsewhere.
type limited struct{ changed }

// Decode adds a regional reference to the first flavor.
func (l limited) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[local.Image], finding.Report) {
	read, report := l.Provider.Decode(raw, at)
	if at.String() == "config" {
		f := &read.Images[0].Versions[0].Flavors[0]
		f.Regional = []imageselector.Regional[local.Image]{{
			Region: "a", Ref: local.Image{Image: "other"}, Path: f.Path, NamedAt: read.Images[0].Path.Child("name"), // its value is a as well
		}}
	}
	return read, report
}

// Encode must refuse the versions that it is expected to refuse, and no others.
func TestLawsFindLimits(t *testing.T) {
	refuse := func(why string) func([]any, error) ([]any, error) {
		return func([]any, error) ([]any, error) { return nil, errors.New(why) }
	}
	for want, cloud := range map[string]limited{
		"": {},
		"1.0.0 as legacy: the provider's Encode does not refuse it, although a region is named elsewhere: it was written as": {
			changed{after: func([]any, error) ([]any, error) {
				return []any{local.MachineImageVersion{Version: "1"}}, nil
			}},
		},
		"1.0.0 as capabilityFlavors: the provider's Encode refuses it without a reason": {changed{after: refuse(" ")}},
		"2.0.0 as capabilityFlavors: no words":                                          {changed{after: refuse("no words")}},
	} {
		err := providertest.Check(cloud, []byte(config))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// deriving derives references.
type deriving struct {
	local.Provider
	calls *atomic.Int32
	bad   bool
}

func (d deriving) DeriveReference(v provider.ImageVersion, _ v1beta1.Capabilities) (local.Image, bool) {
	switch {
	case d.bad:
		return local.Image{}, true
	case d.calls != nil && d.calls.Add(1)%2 == 0:
		return local.Image{Image: v.Image}, true
	}
	return local.Image{Image: v.String()}, true
}

func TestLawsFindWhatIsDerived(t *testing.T) {
	for want, cloud := range map[string]deriving{
		"": {},
		"a@1.0.0: the provider's DeriveReference derives what its ValidateReference refuses":         {bad: true},
		"a@2.0.0: the provider's DeriveReference comes to two results for map[architecture:[amd64]]": {calls: &atomic.Int32{}},
	} {
		err := providertest.Check(cloud, []byte(config))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
	providertest.Laws(t, deriving{}, providertest.Config{
		JSON: []byte(`{"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig"}`),
	})
}

// nested has a map of regions, in which images are listed by architecture.
type nested struct{}

type nestedVersion struct {
	Version string                       `json:"version"`
	Regions map[string]map[string]string `json:"regions,omitempty"`
}

func (nested) Type() string              { return "nested" }
func (nested) Workers() provider.Workers { return provider.Workers{} }
func (nested) ValidateReference(ref string, at *field.Path) field.ErrorList {
	if ref == "" {
		return field.ErrorList{providerconfig.ReferenceMissing(at, "the image")}
	}
	return nil
}

func (nested) Decode(raw *runtime.RawExtension, at *field.Path) (config provider.Config[string], report finding.Report) {
	var written struct {
		metav1.TypeMeta `json:",inline"`

		MachineImages []struct {
			Name     string          `json:"name"`
			Versions []nestedVersion `json:"versions"`
		} `json:"machineImages"`
	}
	report.Errors = providerconfig.Decode(raw, kind, &written, at)
	for i, image := range written.MachineImages {
		read := imageselector.Image[string]{Name: image.Name, Path: at.Child("machineImages").Index(i)}
		for k, v := range image.Versions {
			entry := imageselector.Version[string]{Version: v.Version, Legacy: true, Path: read.Path.Child("versions").Index(k)}
			for _, architecture := range []string{"amd64", "arm64"} {
				flavor := imageselector.Flavor[string]{Capabilities: v1beta1.Capabilities{"architecture": {architecture}}}
				for _, region := range slices.Sorted(maps.Keys(v.Regions)) {
					if id, has := v.Regions[region][architecture]; has {
						named := entry.Path.Child("regions", region)
						flavor.Regional = append(flavor.Regional, imageselector.Regional[string]{
							Region: region, Ref: id, Path: named.Child(architecture), NamedAt: named,
						})
					}
				}
				if len(flavor.Regional) > 0 {
					flavor.Path = flavor.Regional[0].Path
					entry.Flavors = append(entry.Flavors, flavor)
				}
			}
			read.Versions = append(read.Versions, entry)
		}
		config.Images = append(config.Images, read)
	}
	return config, report
}

func (nested) Encode(v imageselector.Version[string], format provider.Format) ([]any, error) {
	if format == provider.FormatFlavors {
		return nil, errors.New("there is only the legacy format")
	}
	written := nestedVersion{Version: v.Version, Regions: map[string]map[string]string{}}
	for _, flavor := range v.Flavors {
		for _, r := range flavor.Regional {
			if written.Regions[r.Region] == nil {
				written.Regions[r.Region] = map[string]string{}
			}
			written.Regions[r.Region][flavor.Capabilities["architecture"][0]] = r.Ref
		}
	}
	return []any{written}, nil
}

// A reference may be at any place in the entry of its version, and so may the name of its region.
func TestLawsOfReferencesInsideOfRegions(t *testing.T) {
	const config = `{"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "machineImages": [
		{"name": "a", "versions": [{"version": "1.0.0", "regions": {"north": {"amd64": "1", "arm64": "2"}, "south": {"arm64": ""}}}]}]}`
	if err := providertest.Check(nested{}, []byte(config)); err != nil {
		t.Error(err)
	}
}
