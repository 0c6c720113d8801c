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

// Profile is a profile that gets images.
type Profile struct {
	// Raw is its manifest, as JSON.
	Raw json.RawMessage
	// Cloud is its provider.
	Cloud provider.Provider[any]
	// Spec is what the manifest says, of a NamespacedCloudProfile what a CloudProfile has as well.
	Spec v1beta1.CloudProfileSpec
	// Parent is the parent of a NamespacedCloudProfile as it is going to be; nil for a CloudProfile.
	Parent *v1beta1.CloudProfileSpec
	// Used says who uses an image version; nil: nobody uses any.
	Used func(image, version string) []string
}

// Options say how images get into profiles.
type Options struct {
	// Classification of new versions; empty for none.
	Classification string
	// Replace has references replaced that a profile has already.
	Replace bool
	// Keep is how many versions of each x.y stay as they are; 0: all.
	Keep int
	// Expire is the expirationDate of those that do not; empty: they get none.
	Expire string
	// Map takes the place of the one that the source has by default; nil: it does not.
	Map *source.Map
}

// What becomes of an image version in a profile.
const (
	ActionAdded     = "added"
	ActionUnchanged = "unchanged"
	ActionReplaced  = "replaced"
	ActionConflict  = "conflict"
)

// Version says what becomes of an image version of the release in a profile. Its JSON is an interface.
type Version struct {
	Image   string `json:"image"`
	Version string `json:"version"`
	// Flavors is how many the release has for the profile, and Regions in how many regions of the profile they are.
	Flavors int `json:"flavors"`
	Regions int `json:"regions"`
	// Action is one of the Action constants: added if anything is.
	Action string `json:"action"`
}

// Result is what becomes of a profile.
type Result struct {
	// Ops are what makes it of the manifest; none if it stays as it is.
	Ops []edit.Op
	// Versions are those of the release, by name, the newest first.
	Versions []Version
	// Errors and Warnings are at paths of the manifest. With any errors or faults, Ops are of no use.
	Errors, Warnings field.ErrorList
	// Faults are about the source.
	Faults []source.Fault
	// Notes say what was left out, and why.
	Notes []string
}

// target is a profile while it gets images.
type target struct {
	Profile
	// above is the parent of a NamespacedCloudProfile, or the spec of a CloudProfile.
	above      *v1beta1.CloudProfileSpec
	contents   *source.Contents
	options    Options
	isMapGiven bool
	// vocabularyOf are the capabilities of the profile, or of its parent, and vocabulary is made of them; legacy is set if there are none.
	vocabularyOf []v1beta1.CapabilityDefinition
	vocabulary   *capability.Vocabulary
	legacy       bool
	// keepsLegacy is set if the provider config knows the legacy format only, whatever the profile registers.
	keepsLegacy bool
	// firstText is set if the profile has names of the first text of GEP-0054.
	firstText bool
	regions   []string
	// apiVersion and kind of the provider config, and tree is the manifest.
	apiVersion, kind string
	tree             map[string]any
	existing         []imageselector.Image[any]

	errs, warnings field.ErrorList
	faults         []source.Fault
	notes          []string
	// skipped counts what is left out, each with the words for one and for several, in the order of words.
	skipped        map[[2]string]int
	skippedRegions map[string]bool
	// unregistered are the capabilities that are left out, because the profile does not register them.
	unregistered map[string]bool
	// nowhere are flavors without any reference in the regions of the profile.
	nowhere []*flavor
	edits   *edits
}

// Import returns what a profile becomes that gets the images of a source.
func Import(p Profile, contents *source.Contents, options Options) Result {
	t := newTarget(p, contents, options)
	t.existing, t.errs = transform.Images(p.Cloud, p.Spec.ProviderConfig)
	if len(t.errs) > 0 {
		return t.result(nil)
	}
	artifacts, names := t.artifacts()
	if len(names) == 0 {
		at := "spec.type"
		if p.Parent != nil {
			at = "spec.parent.name"
		}
		that := ""
		if len(contents.Matched) > 0 {
			that = " that meets all conditions of --match"
		}
		give := "the files of a release for that cloud"
		if contents.Map != nil && contents.Map.Source == source.Inventory && len(contents.Artifacts) > 0 { // all are of one cloud
			that, give = ", since it is an inventory of "+words.Quoted(contents.Artifacts[0].Provider), "one of that cloud"
		}
		t.fail(RuleProfile, field.ErrorTypeNotFound, at, "the source has no image for %s%s: give %s", t.cloudText(), that, give)
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
	t.edits.core(t, wanted)
	t.edits.config(t, wanted)
	for _, w := range wanted {
		all[w.index].Action = w.action()
	}
	t.keep(wanted)
	return t.result(all)
}

func newTarget(p Profile, contents *source.Contents, options Options) *target {
	t := &target{
		Profile: p, contents: contents, options: options, edits: &edits{},
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

func problem(rule string, kind field.ErrorType, at, format string, args ...any) *field.Error {
	return &field.Error{Type: kind, Field: at, Origin: rule, BadValue: field.OmitValueType{}, Detail: fmt.Sprintf(format, args...)}
}

func (t *target) skip(one, several string) { t.skipped[[2]string{one, several}]++ }

// cloudText names the cloud of the profile.
func (t *target) cloudText() string {
	if instance := t.instance(); instance != "" {
		return t.Cloud.Type() + " (" + instance + ")"
	}
	return t.Cloud.Type()
}

// instance returns the instance of Azure that the profile is for, as Garden Linux calls it; empty for other clouds.
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

// artifacts returns those for the cloud, by version, and the versions: by the name of the image, the newest first.
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

// version works out what a profile gets of a version; nothing if it is nil.
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
	return is, w
}

// why says why images were left out, behind a sentence.
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

// missing warns about regions of the profile without an image, and returns in how many there is one.
func (t *target) missing(w *wanted) (found int) {
	for i, region := range t.regions {
		var without []string
		some := false
		for _, f := range slices.Concat(w.flavors, t.nowhere) {
			if hasIn(&f.read, region) || f.same != nil && hasIn(f.same.flavor, region) {
				some = some || slices.Contains(w.flavors, f)
			} else if text := t.format(f.declares); !slices.Contains(without, text) {
				without = append(without, text)
			}
		}
		if some {
			found++
		}
		if len(without) > 0 {
			t.warnings = append(t.warnings, problem(RuleRegionMissing, field.ErrorTypeNotFound, fmt.Sprintf("spec.regions[%d]", i),
				"%s: the source has no image in region %s of %s", w.id, words.Quoted(region), strings.Join(without, ", ")))
		}
	}
	return found
}

func hasIn(f *imageselector.Flavor[any], region string) bool {
	return f.Global != nil || slices.ContainsFunc(f.Regional, func(r imageselector.Regional[any]) bool { return r.Region == region })
}

// undeclared is what flavors of a version support that do not declare it.
func (t *target) undeclared(id provider.ImageVersion) v1beta1.Capabilities {
	if v, found := entries.Find(&t.Spec, id); found {
		return profile.Undeclared(v.MachineImageVersion)
	}
	return nil
}

// result puts everything together.
func (t *target) result(versions []Version) Result {
	if n := len(t.skippedRegions); n > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%s of the source %s not in the profile, and skipped", words.Count(n, "region"), isOrAre(n)))
	}
	if len(t.unregistered) > 0 {
		t.notes = append(t.notes, "left out, because the profile does not register it: "+words.And(slices.Sorted(maps.Keys(t.unregistered))))
	}
	t.notes = append(t.notes, t.skippedTexts()...)
	return Result{Ops: t.edits.ops, Versions: versions, Errors: t.errs, Warnings: t.warnings, Faults: t.faults, Notes: t.notes}
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
