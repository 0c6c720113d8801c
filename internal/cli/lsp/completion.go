// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/lsp/protocol"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/versions"
)

// choice is a completion for a place.
type choice struct {
	name, detail string
	deprecated   bool
	// written is the inserted text, if it is not the name.
	written string
}

func (s *server) completion(ctx context.Context, p protocol.PlaceParams) (any, error) {
	a, err := s.at(ctx, p)
	if a == nil {
		return nil, err
	}
	items := []protocol.CompletionItem{}
	switch a.Role {
	case text.Comment:
		items = append(items, a.rules()...)
	case text.Key:
		for i, c := range a.keys() {
			items = append(items, a.item(i, c, protocol.KindProperty, a.blank()+a.scalar(c.name)+a.colon(), a.Start, a.until()))
		}
	case text.Value:
		if a.taken() {
			break
		}
		for i, c := range a.unlisted() {
			written := cmp.Or(c.written, a.scalar(c.name))
			if a.capability() != "" && !strings.HasSuffix(a.slot, "[]") { // a list is required
				written = "[" + written + "]"
			}
			items = append(items, a.item(i, c, protocol.KindEnum, a.blank()+written, a.Start, a.until()))
		}
	}
	return map[string]any{"isIncomplete": false, "items": items}, nil
}

// item returns a completion that replaces the text between two offsets.
func (a *asked) item(i int, c choice, kind int, written string, start, end int) protocol.CompletionItem {
	item := protocol.CompletionItem{
		Label: c.name, Kind: kind, Detail: c.detail, SortText: fmt.Sprintf("%05d", i),
		TextEdit: protocol.TextEdit{Range: a.known.Span(a.Outline, start, end), NewText: written},
	}
	if start < end && strings.IndexByte(`"'`, a.String()[start]) >= 0 { // typed before the name
		item.FilterText = a.String()[start:start+1] + c.name
	}
	if c.deprecated {
		item.Tags = []int{protocol.TagDeprecated}
	}
	return item
}

// colon returns the separator that a key at the place needs.
func (a *asked) colon() string {
	if a.Node != nil && a.Node.Colon {
		return ""
	}
	return ": "
}

// taken reports whether the place is beside a value that exists already.
func (a *asked) taken() bool {
	n := a.Node
	switch {
	case n == nil:
		return a.beside()
	case n.ValueStart < n.ValueEnd:
		return n.Bracket != 0 || a.offset < n.ValueStart || a.offset > n.ValueEnd
	case n.Item: // its members may begin in this line
		_, end := a.Line(a.offset)
		return len(n.Nodes) > 0 && n.Nodes[0].Start < end
	}
	return len(n.Nodes) > 0
}

// beside reports whether the place is in brackets, and no comma separates it from the entry before it or behind it.
func (a *asked) beside() bool {
	if a.Parent.Bracket == 0 || a.Node != nil {
		return false
	}
	_, end := a.Line(a.Start)
	if rest := strings.TrimLeft(a.String()[a.End:max(a.End, end)], " \t"); rest != "" && strings.IndexByte(",]}#", rest[0]) < 0 {
		return true
	}
	for _, n := range slices.Backward(a.Parent.Nodes) {
		if n.Start < a.Start {
			return !strings.Contains(a.String()[max(n.End, n.ValueEnd):a.Start], ",")
		}
	}
	return false
}

// until returns the end of the word at the place. In unclosed quotes, the word ends at the next delimiter.
func (a *asked) until() int {
	written, rest := a.String()[a.Start:a.End], a.String()[a.End:]
	closed := len(written) > 1 && written[0] == written[len(written)-1] && (rest == "" || strings.IndexByte(" \t\r\n,:]}", rest[0]) >= 0)
	if written == "" || written[0] != '"' && written[0] != '\'' || closed {
		return a.End
	}
	if i := strings.IndexAny(a.String()[a.offset:a.End], " \t,]}"); i >= 0 {
		return a.offset + i
	}
	return a.End
}

// blank returns the blank that is needed after a colon or a dash.
func (a *asked) blank() string {
	if a.Start > 0 && strings.IndexByte(":-", a.String()[a.Start-1]) >= 0 {
		return " "
	}
	return ""
}

// notText matches texts that YAML does not read as strings without quotes.
var notText = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|0[xo][0-9a-fA-F]+|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|` +
	`(?i:true|false|yes|no|on|off|null|y|n)|~|[^A-Za-z0-9_./].*|.*(?:: | #|[,\[\]{}]).*|.*:|)$`)

// scalar returns a string in YAML, or in JSON if the document is JSON.
func (a *asked) scalar(s string) string {
	if a.Document(a.offset).Bracket != 0 || notText.MatchString(s) {
		return strconv.Quote(s)
	}
	return s
}

// keys returns the keys that the mapping at the place does not contain yet.
func (a *asked) keys() (choices []choice) {
	if !capabilitiesSlot.MatchString(a.slot) || a.astray() || a.beside() {
		return nil
	}
	for _, c := range a.capabilities() {
		there := slices.ContainsFunc(a.Parent.Nodes, func(n *text.Node) bool { return n.Key == c.name && n != a.Node })
		if !there {
			choices = append(choices, c)
		}
	}
	return choices
}

// astray reports whether a key at the place would be in another column than the keys beside it, or followed by other text.
func (a *asked) astray() bool {
	start, end := a.Line(a.Start)
	if rest := strings.TrimLeft(a.String()[a.End:max(a.End, end)], " \t"); a.Parent.Bracket == 0 && a.Node == nil && rest != "" && rest[0] != '#' {
		return true
	}
	if len(a.Parent.Nodes) == 0 || a.Parent.Bracket != 0 || strings.TrimSpace(a.String()[start:a.Start]) != "" {
		return false
	}
	_, here := a.Place(a.Start)
	_, beside := a.Place(a.Parent.Nodes[0].Start)
	return here != beside
}

// vocabulary returns the capabilities that the profile registers.
func (a *asked) vocabulary() (all []v1beta1.CapabilityDefinition) {
	for _, d := range a.entries("machineCapabilities") {
		all = append(all, v1beta1.CapabilityDefinition{Name: d.node.Text("name"), Values: d.node.Texts("values")})
	}
	return all
}

// capabilities returns the capabilities of the profile and, in the provider config, also Gardener's own.
func (a *asked) capabilities() []choice {
	choices := choicesOf(a.vocabulary())
	if strings.HasPrefix(a.slot, "spec.providerConfig.") {
		for _, d := range capability.Reserved() {
			if !slices.ContainsFunc(choices, func(c choice) bool { return c.name == d.Name }) {
				choices = append(choices, choice{name: d.Name, detail: "Gardener's own: " + strings.Join(d.Values, ", ")})
			}
		}
	}
	return choices
}

func choicesOf(capabilities []v1beta1.CapabilityDefinition) (choices []choice) {
	for _, d := range capabilities {
		choices = append(choices, choice{name: d.Name, detail: strings.Join(d.Values, ", ")})
	}
	return choices
}

// valuesOf returns the values of the first of these capabilities with a name.
func valuesOf(capabilities []v1beta1.CapabilityDefinition, name string) (choices []choice) {
	i := slices.IndexFunc(capabilities, func(d v1beta1.CapabilityDefinition) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	values := capabilities[i].Values
	for k, value := range values {
		choices = append(choices, choice{name: value, detail: fmt.Sprintf("%s, preference %d of %d", name, k+1, len(values))})
	}
	return choices
}

// definitions returns the capabilities that are known without a profile: Gardener's own, and those of the profile's provider.
func (a *asked) definitions() []v1beta1.CapabilityDefinition {
	all := []v1beta1.CapabilityDefinition{{Name: capability.Architecture, Values: v1beta1constants.ValidArchitectures}}
	known := capability.Reserved()
	if provider := a.known.Given.Providers[a.object.Text("spec", "type")]; provider != nil {
		known = append(known, provider.Workers().Definitions()...)
	}
	for _, d := range known {
		all = append(all, v1beta1.CapabilityDefinition{Name: d.Name, Values: d.Values})
	}
	return all
}

// registrable returns the capabilities that a profile can register. Gardener's own are among them if core accepts them.
func registrable(a *asked) []choice {
	return choicesOf(slices.DeleteFunc(a.definitions(), func(d v1beta1.CapabilityDefinition) bool {
		return !a.known.Given.ReservedInCore && strings.HasPrefix(d.Name, capability.ReservedPrefix)
	}))
}

// profiles returns the profiles that the object at the place can name: for a Shoot, those of its provider type.
func profiles(a *asked) (all []choice) {
	given, wanted := a.known.Given, ""
	if kindOf(a.object) == "Shoot" {
		wanted = a.object.Text("spec", "provider", "type")
	}
	add := func(name, file string, of *input.Source[v1beta1.CloudProfile]) {
		if wanted == "" || of == nil || of.Object == nil || slices.Contains([]string{"", wanted}, of.Object.Spec.Type) {
			all = append(all, choice{name: name, detail: a.known.Short(file)})
		}
	}
	if kindOf(a.object) == "Shoot" && a.object.Text("spec", "cloudProfile", "kind") == "NamespacedCloudProfile" {
		namespace := a.object.Text("metadata", "namespace")
		for _, s := range given.Namespaced.All {
			if s.Manifest.Namespace != namespace {
				continue
			}
			var parent *input.Source[v1beta1.CloudProfile]
			if s.Object != nil {
				parent = given.ParentOf(s)
			}
			add(s.Manifest.Name, s.Manifest.File, parent)
		}
		return all
	}
	for _, s := range given.Profiles.All {
		add(s.Name, s.Manifest.File, s)
	}
	return all
}

func names(all ...string) func(*asked) []choice {
	return func(*asked) (choices []choice) {
		for _, name := range all {
			choices = append(choices, choice{name: name})
		}
		return choices
	}
}

// namesOf returns the names of entries as choices.
func namesOf(entries []target) (choices []choice) {
	for _, e := range entries {
		c := choice{name: e.node.Text("name"), detail: e.node.Text("architecture")} // of a machine type
		if e.node.Text("usable") == "false" {
			c.detail, c.deprecated = "not usable for new worker pools", true
		}
		if c.name != "" {
			choices = append(choices, c)
		}
	}
	return choices
}

// versionsOf returns the versions of entries as choices: supported ones first, and newest first within each classification.
func versionsOf(entries []target) (choices []choice) {
	order := []v1beta1.VersionClassification{
		v1beta1.ClassificationSupported, v1beta1.ClassificationPreview, v1beta1.ClassificationDeprecated, v1beta1.ClassificationExpired,
	}
	rank := func(v v1beta1.ExpirableVersion) int {
		if versions.Expired(v) {
			return len(order)
		}
		return max(0, slices.Index(order, versions.Classification(v)))
	}
	var all []v1beta1.ExpirableVersion
	for _, e := range entries {
		v := versionOf(e.node)
		switch i := slices.IndexFunc(all, func(known v1beta1.ExpirableVersion) bool { return known.Version == v.Version }); {
		case i < 0:
			all = append(all, v)
		case all[i].Classification == nil: //nolint:staticcheck // as people write it
			v.ExpirationDate = all[i].ExpirationDate //nolint:staticcheck // the first one extends the parent's
			all[i] = v
		}
	}
	slices.SortStableFunc(all, func(a, b v1beta1.ExpirableVersion) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), versions.NewestFirst(a.Version, b.Version))
	})
	for _, v := range all {
		c := choice{name: v.Version, detail: string(versions.Classification(v)), deprecated: rank(v) > 1}
		switch expiry := versions.ExpiryOf(v); {
		case versions.Expired(v):
			c.detail = "expired"
		case expiry != nil:
			c.detail = strings.TrimPrefix(c.detail+", expires on "+versions.Date(expiry.UTC()), ", ")
		}
		if c.name != "" {
			choices = append(choices, c)
		}
	}
	return choices
}

// bySlot maps slots to choices that are not entries of a profile.
var bySlot = map[string]func(*asked) []choice{
	"kind": names("CloudProfile", "NamespacedCloudProfile", "Shoot"),

	"spec.machineTypes[].architecture":                names(v1beta1constants.ValidArchitectures...),
	"spec.machineImages[].versions[].architectures[]": names(v1beta1constants.ValidArchitectures...),
	"spec.provider.workers[].machine.architecture":    names(v1beta1constants.ValidArchitectures...),
	"spec.parent.name":                                profiles,
	"spec.parent.kind":                                names("CloudProfile"),
	"spec.machineCapabilities[].name":                 registrable,

	"spec.cloudProfile.name": profiles,
	"spec.cloudProfileName":  profiles,
	"spec.cloudProfile.kind": names("CloudProfile", "NamespacedCloudProfile"),
	"spec.maintenance.autoUpdate.machineImageVersion": func(*asked) []choice {
		return []choice{{name: "true", written: "true"}, {name: "false", written: "false"}}
	},
}

// regionSlot matches places where a provider config names a region.
var regionSlot = regexp.MustCompile(`^spec\.providerConfig\..*(\bregion|\bregions\[\]|\bregions\[\]\.name)$`)

// keySlot matches the members that tell the entries of a list apart.
var keySlot = regexp.MustCompile(`(\bmachineImages\[\]\.name|\bversions\[\]\.version|^spec\.machineCapabilities\[\]\.name|` +
	`\bcapabilityFlavors\[\]\.regions\[\]\.name)$`)

// unlisted returns the choices for the place, each once, without those that the list at the place contains already.
func (a *asked) unlisted() []choice {
	list, own, key := a.Parent, a.Node, []string(nil)
	switch {
	case keySlot.MatchString(a.slot + ".name"): // a new entry
		key = []string{"name"}
	case keySlot.MatchString(a.slot):
		list, own, key = a.Node.Up(2), a.Node.Parent, []string{a.Node.Key}
	case !strings.HasSuffix(a.slot, "[]") || strings.HasSuffix(a.slot, "regions[]"):
		list = &text.Node{}
	}
	var there []string
	for _, n := range list.Nodes {
		if n != own {
			there = append(there, n.Text(key...))
		}
	}
	return slices.DeleteFunc(a.values(), func(c choice) bool {
		again := slices.Contains(there, c.name)
		there = append(there, c.name)
		return again
	})
}

// values returns the choices for the place. A name may be among them twice; the first one counts.
func (a *asked) values() []choice {
	if !ours(a.object) {
		return nil
	}
	if of := bySlot[a.slot]; of != nil {
		return of(a)
	}
	if name := a.capability(); name != "" {
		return valuesOf(append(a.vocabulary(), a.definitions()...), name)
	}
	if a.slot == "spec.machineCapabilities[].values[]" {
		return valuesOf(a.definitions(), a.Parent.Parent.Text("name"))
	}
	entries, key := a.named(a.slot)
	if key == "version" {
		return versionsOf(entries)
	}
	choices := namesOf(entries)
	if strings.HasSuffix(a.slot, "regions[]") { // entries are mappings with a name
		if a.Parent.Bracket != 0 || a.Node.Child("name") != nil {
			return nil
		}
		for i := range choices {
			choices[i].written = "name: " + a.scalar(choices[i].name)
		}
	}
	return choices
}

// ignoring matches a comment up to its rules.
var ignoring = regexp.MustCompile(`^#+\s*` + manifest.Mark + `\s*ignore[\s,]+`)

// nameBefore matches the part of a name before a place, and nameBehind the part behind it.
var (
	nameBefore = regexp.MustCompile(`[\w-]*$`)
	nameBehind = regexp.MustCompile(`^[\w-]*`)
)

// rules completes a silencing comment: its mark, or its rules.
func (a *asked) rules() (items []protocol.CompletionItem) {
	comment, written := a.String()[a.Start:a.End], a.String()[a.Start:a.offset]
	if !ignoring.MatchString(written) {
		beginning := strings.TrimLeft(strings.TrimLeft(written, "#"), " ")
		mark := manifest.Mark + "ignore "
		if !strings.HasPrefix(mark, beginning) {
			return nil
		}
		start := a.offset - len(beginning)
		return []protocol.CompletionItem{a.item(0, choice{name: manifest.Mark + "ignore", detail: "silence findings of a rule in this line, or in the next one"}, protocol.KindValue,
			mark, start, a.End)}
	}
	if strings.Contains(strings.TrimPrefix(written, ignoring.FindString(written)), ":") { // within the reason
		return nil
	}
	start := a.offset - len(nameBefore.FindString(written))
	end := a.offset + len(nameBehind.FindString(comment[a.offset-a.Start:]))
	here := a.found()
	rules := slices.DeleteFunc(slices.Clone(a.known.Rules), checks.Unsilenceable(a.known.Rules))
	slices.SortStableFunc(rules, func(x, y finding.Rule) int { return cmp.Compare(here[y.Name], here[x.Name]) })
	for i, r := range rules {
		after := ""
		if !strings.Contains(comment[end-a.Start:], ":") {
			after = ": "
		}
		items = append(items, a.item(i, choice{name: r.Name, detail: checks.FirstSentence(r.Means)}, protocol.KindEnum, r.Name+after, start, end))
	}
	return items
}

// found counts the findings of each rule in the document, except those about comments.
func (a *asked) found() map[string]int {
	counts := map[string]int{}
	for i := range a.known.All {
		if f := &a.known.All[i]; f.File == a.doc.Name && !strings.HasPrefix(f.Rule, "ignore-") {
			counts[f.Rule]++
		}
	}
	return counts
}
