// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/release/source"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// Profile is a profile that receives images.
type Profile struct {
	// Raw is its manifest as JSON.
	Raw json.RawMessage
	// Cloud is its provider.
	Cloud provider.Provider[any]
	// Spec is the manifest's spec; of a NamespacedCloudProfile, the parts that a CloudProfile has as well.
	Spec v1beta1.CloudProfileSpec
	// Parent is the parent of a NamespacedCloudProfile after the import; nil for a CloudProfile.
	Parent *v1beta1.CloudProfileSpec
	// Used names the users of an image version; nil means that no version is in use.
	Used func(image, version string) []string
}

// Options control how images are imported into profiles.
type Options struct {
	// Classification of new versions; empty for none.
	Classification string
	// Replace replaces the references of existing versions that differ.
	Replace bool
	// Keep is the number of versions of each x.y that stay as they are; 0 keeps all.
	Keep int
	// Expire is the expiration date of the other versions; empty for none.
	Expire string
	// Map replaces the source's default map; nil keeps the default.
	Map *source.Map
}

// The actions on an image version in a profile.
const (
	ActionAdded     = "added"
	ActionUnchanged = "unchanged"
	ActionReplaced  = "replaced"
	ActionConflict  = "conflict"
)

// Version is the outcome for an image version of the release in a profile. Its JSON is an interface.
type Version struct {
	Image   string `json:"image"`
	Version string `json:"version"`
	// Flavors is the number of flavors for the profile, and Regions the number of the profile's regions with one of them.
	Flavors int `json:"flavors"`
	Regions int `json:"regions"`
	// Action is one of the Action constants. It is conflict or replaced before it is added.
	Action string `json:"action"`
}

// Result is the change of a profile.
type Result struct {
	// Ops are the operations on the manifest; none if nothing changes.
	Ops []edit.Op
	// Versions are the release's versions, by name, the newest first.
	Versions []Version
	// Errors and Warnings have paths in the manifest. With any errors or faults, Ops must not be used.
	Errors, Warnings field.ErrorList
	// Faults are about the source.
	Faults []source.Fault
	// Notes say what was left out, and why.
	Notes []string
}

// target is a profile during the import.
type target struct {
	Profile
	edits
	// above is the parent's spec for a NamespacedCloudProfile, otherwise the profile's own.
	above      *v1beta1.CloudProfileSpec
	contents   *source.Contents
	options    Options
	isMapGiven bool
	// vocabularyOf are the capabilities of above, and vocabulary is compiled from them. legacy is set if there are none.
	vocabularyOf []v1beta1.CapabilityDefinition
	vocabulary   *capability.Vocabulary
	legacy       bool
	// keepsLegacy is set if the provider config has only the legacy format, even with registered capabilities.
	keepsLegacy bool
	// firstText is set if the profile uses names of the first text of GEP-0054.
	firstText bool
	regions   []string
	// apiVersion and kind are the provider config's.
	apiVersion, kind string
	existing         []imageselector.Image[any]

	errs, warnings field.ErrorList
	faults         []source.Fault
	notes          []string
	// skipped counts the skipped artifacts by reason; the key holds the singular and the plural text.
	skipped        map[[2]string]int
	skippedRegions map[string]bool
	// unregistered are the capabilities left out because the profile does not register them.
	unregistered map[string]bool
	// nowhere are the flavors without a reference in the profile's regions.
	nowhere []*flavor
}

// Import computes the change of a profile that receives the images of a source.
func Import(p Profile, contents *source.Contents, options Options) Result {
	t := newTarget(p, contents, options)
	t.existing, t.errs = transform.Images(p.Cloud, p.Spec.ProviderConfig)
	if len(t.errs) > 0 {
		return t.result(nil)
	}
	artifacts, names := t.artifacts()
	if len(names) == 0 {
		that := ""
		if len(contents.Matched) > 0 {
			that = " that meets all conditions of --match"
		}
		give := "the files of a release for that cloud"
		if contents.Map != nil && contents.Map.Source == source.Inventory && len(contents.Artifacts) > 0 { // all are of one cloud
			that, give = ", since it is an inventory of "+words.Quoted(contents.Artifacts[0].Provider), "one of that cloud"
		}
		t.fail(RuleProfile, field.ErrorTypeNotFound, t.orParent("spec.type"), "the source has no image for %s%s: give %s", t.cloudText(), that, give)
		return t.result(nil)
	}
	var all []Version
	var wanted []*wanted
	for i, id := range names {
		version, w := t.version(id, artifacts[id])
		if all = append(all, version); w != nil {
			w.index = i
			wanted = append(wanted, w)
		}
	}
	t.changeCore(wanted)
	t.changeConfig(wanted)
	for _, w := range wanted {
		all[w.index].Action = w.action()
	}
	t.keep(wanted)
	return t.result(all)
}

func newTarget(p Profile, contents *source.Contents, options Options) *target {
	t := &target{
		Profile: p, contents: contents, options: options,
		skipped: map[[2]string]int{}, skippedRegions: map[string]bool{}, unregistered: map[string]bool{},
	}
	if options.Map != nil {
		given := *contents
		given.Map, t.isMapGiven = options.Map, true
		t.contents = &given
	}
	t.above = cmp.Or(p.Parent, &p.Spec)
	t.vocabularyOf = t.above.MachineCapabilities
	t.legacy = len(t.vocabularyOf) == 0
	keeper, _ := provider.As[providerconfig.LegacyKeeper](p.Cloud)
	t.keepsLegacy = keeper != nil && keeper.KeepsLegacy()
	t.vocabulary, _ = capability.Compile(t.vocabularyOf, nil, p.Cloud.Workers().Definitions()...)
	for _, r := range t.above.Regions {
		t.regions = append(t.regions, r.Name)
	}
	t.tree = edit.Members(edit.Decoded(p.Raw))
	written := p.Raw
	if p.Parent != nil {
		parent, _ := json.Marshal(p.Parent)
		written = slices.Concat(written, parent)
	}
	for _, d := range capability.FirstText() {
		t.firstText = t.firstText || bytes.Contains(written, []byte(`"`+d.Name+`"`))
	}
	for _, d := range capability.Reserved() {
		if texts.OfSecond(d.Name) && bytes.Contains(written, []byte(`"`+d.Name+`"`)) {
			t.firstText = false
		}
	}
	config := edit.Members(edit.Members(t.tree["spec"])["providerConfig"])
	if len(config) == 0 && p.Parent != nil && providerconfig.HasContent(p.Parent.ProviderConfig) {
		config = edit.Members(edit.Decoded(p.Parent.ProviderConfig.Raw))
	}
	t.apiVersion, _ = config["apiVersion"].(string)
	t.kind, _ = config["kind"].(string)
	t.apiVersion = cmp.Or(t.apiVersion, p.Cloud.Type()+".provider.extensions.gardener.cloud/v1alpha1")
	t.kind = cmp.Or(t.kind, "CloudProfileConfig")
	return t
}

func (t *target) fail(rule string, kind field.ErrorType, at, format string, args ...any) {
	t.errs = append(t.errs, problem(rule, kind, at, format, args...))
}

// orParent returns the path of what a NamespacedCloudProfile inherits: its reference to the parent. Of a CloudProfile, it is the path itself.
func (t *target) orParent(path string) string {
	if t.Parent != nil {
		return "spec.parent.name"
	}
	return path
}

func problem(rule string, kind field.ErrorType, at, format string, args ...any) *field.Error {
	return &field.Error{Type: kind, Field: at, Origin: rule, BadValue: field.OmitValueType{}, Detail: fmt.Sprintf(format, args...)}
}

func (t *target) skip(one, several string) { t.skipped[[2]string{one, several}]++ }

// cloudText names the profile's cloud.
func (t *target) cloudText() string {
	if instance := t.instance(); instance != "" {
		return t.Cloud.Type() + " (" + instance + ")"
	}
	return t.Cloud.Type()
}

// instance returns the profile's Azure instance under Garden Linux's name for it; empty for other clouds.
func (t *target) instance() string {
	if t.Cloud.Type() != "azure" {
		return ""
	}
	if t.above.ProviderConfig != nil {
		name, _ := edit.Members(edit.Members(edit.Decoded(t.above.ProviderConfig.Raw))["cloudConfiguration"])["name"].(string)
		if instance, found := strings.CutPrefix(name, "Azure"); found {
			return strings.ToLower(instance)
		}
	}
	for _, region := range t.regions {
		switch {
		case strings.HasPrefix(region, "china"):
			return "china"
		case strings.HasPrefix(region, "usgov"), strings.HasPrefix(region, "usdod"):
			return "government"
		}
	}
	return "public"
}

// artifacts returns the cloud's artifacts by version, and the versions by image name, the newest first.
func (t *target) artifacts() (map[provider.ImageVersion][]source.Artifact, []provider.ImageVersion) {
	of := map[provider.ImageVersion][]source.Artifact{}
	instance := t.instance()
	for _, a := range t.contents.Artifacts {
		if a.Provider != "" && a.Provider != t.Cloud.Type() || a.Instance != "" && a.Instance != instance {
			continue
		}
		id := provider.ImageVersion{Image: a.Image, Version: a.Version}
		of[id] = append(of[id], a)
	}
	return of, slices.SortedFunc(maps.Keys(of), func(a, b provider.ImageVersion) int {
		return cmp.Or(cmp.Compare(a.Image, b.Image), source.NewestFirst(a.Version, b.Version), cmp.Compare(b.Version, a.Version))
	})
}

// version computes the change for one version. The second result is nil if the profile gets nothing.
func (t *target) version(id provider.ImageVersion, artifacts []source.Artifact) (Version, *wanted) {
	is := Version{Image: id.Image, Version: id.Version, Action: ActionUnchanged}
	if transform.Inherits(t.Parent, id) {
		t.notes = append(t.notes, fmt.Sprintf("%s: its parent has the version, which it inherits", id))
		return is, nil
	}
	errs := len(t.errs) + len(t.faults)
	t.nowhere = nil
	w := &wanted{id: id, flavors: t.flavorsOf(artifacts)}
	if is.Flavors = len(w.flavors); len(t.errs)+len(t.faults) > errs {
		is.Action = ActionConflict
		return is, nil
	}
	if len(w.flavors) == 0 {
		t.fail(RuleProfile, field.ErrorTypeNotFound, "spec.machineImages", "none of the images of %s is for this profile%s", id, t.why())
		return is, nil
	}
	w.compare(t)
	is.Regions = t.missing(w)
	t.noteSilent(w)
	return is, w
}

// noteSilent notes the profile's own capabilities that new flavors do not declare. They support all values then, which is often not true.
func (t *target) noteSilent(w *wanted) {
	if t.keepsLegacy {
		return
	}
	means := "the list"
	if t.contents.Map != nil {
		means = "a map, by --map,"
	}
	for _, c := range t.vocabularyOf {
		silent := func(f *flavor) bool { return f.same == nil && f.declares[c.Name] == nil }
		asked := func(d capability.Definition) bool { return d.Name == c.Name } // with a meaning of its own if not declared
		if len(c.Values) > 1 && slices.ContainsFunc(w.flavors, silent) && !slices.ContainsFunc(t.vocabulary.WorkerCapabilities(), asked) {
			t.notes = append(t.notes, fmt.Sprintf("%s: the source does not say %s, so that new flavors support all its values: %s; %s can say it",
				w.id, words.Quoted(c.Name), words.Few(c.Values), means))
		}
	}
}

// why returns the reasons why images were left out, as the end of a sentence.
func (t *target) why() string {
	var reasons []string
	if len(t.nowhere) > 0 {
		reasons = append(reasons, "there is none in any of its regions")
	}
	reasons = append(reasons, t.skippedTexts()...)
	if len(reasons) == 0 {
		return ""
	}
	return ": " + strings.Join(reasons, "; ")
}

func (t *target) skippedTexts() (all []string) {
	for _, what := range slices.SortedFunc(maps.Keys(t.skipped), func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) }) {
		if n := t.skipped[what]; n == 1 {
			all = append(all, what[0]+" is skipped")
		} else {
			all = append(all, fmt.Sprintf("%d %s are skipped", n, what[1]))
		}
	}
	return all
}

// missing warns about the profile's regions without an image, and returns the number of regions with one.
func (t *target) missing(w *wanted) (found int) {
	for i, region := range t.regions {
		var without []string
		some := false
		for _, f := range slices.Concat(w.flavors, t.nowhere) {
			if hasIn(&f.read, region) || f.same != nil && hasIn(f.same.flavor, region) {
				some = some || slices.Contains(w.flavors, f)
			} else if text := t.vocabulary.Format(f.declares); !slices.Contains(without, text) {
				without = append(without, text)
			}
		}
		if some {
			found++
		}
		if len(without) > 0 {
			t.warnings = append(t.warnings, problem(RuleRegionMissing, field.ErrorTypeNotFound, t.orParent(fmt.Sprintf("spec.regions[%d]", i)),
				"region %s: the source has no image of %s for %s", words.Quoted(region), w.id, strings.Join(without, ", ")))
		}
	}
	return found
}

func hasIn(f *imageselector.Flavor[any], region string) bool {
	return f.Global != nil || lastIn(f, region) != nil
}

// undeclared returns the values that a version's flavors support without declaring them.
func (t *target) undeclared(id provider.ImageVersion) v1beta1.Capabilities {
	if v, found := entries.Find(&t.Spec, id); found {
		return profile.Undeclared(v.MachineImageVersion)
	}
	return nil
}

// result assembles the result.
func (t *target) result(versions []Version) Result {
	if n := len(t.skippedRegions); n > 0 {
		are := "are"
		if n == 1 {
			are = "is"
		}
		t.notes = append(t.notes, fmt.Sprintf("%s of the source %s not in the profile, and skipped", words.Count(n, "region"), are))
	}
	if len(t.unregistered) > 0 {
		t.notes = append(t.notes, "left out, because the profile does not register it: "+words.And(slices.Sorted(maps.Keys(t.unregistered))))
	}
	t.notes = append(t.notes, t.skippedTexts()...)
	return Result{Ops: t.ops, Versions: versions, Errors: t.errs, Warnings: t.warnings, Faults: t.faults, Notes: t.notes}
}
