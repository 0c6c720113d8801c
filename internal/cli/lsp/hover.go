// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/ask"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/lsp/protocol"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/words"
)

func (s *server) hover(ctx context.Context, p protocol.PlaceParams) (any, error) {
	a, err := s.at(ctx, p)
	if a == nil {
		return nil, err
	}
	said, start, end := a.says()
	if said == "" {
		return nil, nil
	}
	return protocol.Hover{Contents: protocol.Markup{Kind: "markdown", Value: said}, Range: a.known.Span(a.Outline, start, end)}, nil
}

// says returns a text about the place in Markdown, and the range that it is about. The text is "" if there is none.
func (a *asked) says() (said string, start, end int) {
	if a.Role == text.Comment {
		return a.ruleText()
	}
	if a.Node == nil || a.misspelt() {
		return "", 0, 0
	}
	start, end = min(a.Start, a.offset), a.End // the place may be at the dash
	switch slot := a.nodeSlot(); {
	case a.Role == text.Key && capabilitiesSlot.MatchString(a.slot):
		said = a.capabilityText(a.Node.Key)
	case a.capability() != "":
		said = a.capabilityText(a.capability())
	case slot == "spec.machineCapabilities[].name":
		said = a.capabilityText(a.Node.Value)
	case strings.HasPrefix(slot, "spec.provider.workers[]"):
		said = a.poolText()
	case slot == "spec.machineTypes[].name":
		said = a.typeText(a.Node.Value)
	case versionSlot.MatchString(slot):
		said = a.versionText(a.Node.Up(3).Text("name"), a.Node.Value)
	case flavorSlot.MatchString(slot):
		said = a.flavorText()
	}
	return said, start, end
}

// misspelt reports whether the key of the node at the place, or of one around it, is unknown according to the last check. What is below it
// means nothing.
func (a *asked) misspelt() bool {
	for n := a.Node; n != nil; n = n.Parent {
		line := a.known.Span(a.Outline, n.Start, n.End).Start.Line + 1
		if n.Key != "" && slices.ContainsFunc(a.known.All, func(f report.Finding) bool {
			return f.Rule == "unknown-field" && f.File == a.doc.Name && f.Line == line && strings.HasSuffix(f.Field, n.Key)
		}) {
			return true
		}
	}
	return false
}

// itemOf returns the item of a list that contains the place, or nil.
func (a *asked) itemOf(list string) *text.Node {
	n := a.Node
	for n != nil && (!n.Item || n.Parent.Key != list) {
		n = n.Parent
	}
	return n
}

// nodeSlot returns the slot of the node at the place, whether that is at its key or at its value.
func (a *asked) nodeSlot() string {
	return strings.TrimPrefix(strings.TrimPrefix(a.Node.Pattern(), a.object.Pattern()), ".")
}

var (
	versionSlot = regexp.MustCompile(`^spec\.(providerConfig\.)?machineImages\[\]\.versions\[\]\.version$`)
	flavorSlot  = regexp.MustCompile(`^spec\.(providerConfig\.)?machineImages\[\]\.versions\[\]\.capabilityFlavors\b`)
)

// block formats a preformatted text in Markdown.
func block(s string) string {
	return "```text\n" + strings.ReplaceAll(strings.TrimSpace(s), "```", "'''") + "\n```"
}

// markup escapes names that Markdown would read as HTML, emphasis, code, a link, an image or deleted text.
var markup = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "<", `\<`, "&", `\&`, "](", `]\(`, "~~", `\~~`)

// plain formats a text as a single line in Markdown.
func plain(s string) string { return markup.Replace(words.Printable(s)) }

// ruleText describes the rules of a comment: the one at the place, or all.
func (a *asked) ruleText() (said string, start, end int) {
	comment := a.String()[a.Start:a.End]
	mark := ignoring.FindString(comment)
	if mark == "" {
		return "", 0, 0
	}
	names, _, _ := strings.Cut(comment[len(mark):], ":")
	var all []string
	for _, at := range ruleName.FindAllStringIndex(names, -1) {
		i := slices.IndexFunc(a.known.Rules, func(r finding.Rule) bool { return r.Name == names[at[0]:at[1]] })
		if i < 0 {
			continue
		}
		rule := &a.known.Rules[i]
		meaning := fmt.Sprintf("**%s** (%s)\n\n%s\n\n%s", rule.Name, rule.Severities(), rule.Means, rule.Repair)
		from := a.Start + len(mark) + at[0]
		to := a.Start + len(mark) + at[1]
		if from <= a.offset && a.offset <= to {
			return meaning, from, to
		}
		all = append(all, meaning)
	}
	return strings.Join(all, "\n\n---\n\n"), a.Start, a.End
}

var ruleName = regexp.MustCompile(`[\w-]+`)

// capabilityText describes a capability: its values in the profile, and the effect of omitting one of Gardener's own.
func (a *asked) capabilityText(name string) string {
	var lines []string
	registered := false
	for i, d := range a.vocabulary() {
		registered = registered || d.Name == texts.Canonical(name)
		if d.Name == name {
			lines = append(lines, fmt.Sprintf("Capability **%s** of this profile, number %d in importance. Its values, the preferred ones first: %s.",
				report.Code(name), i+1, codes(d.Values)))
		}
	}
	reserved := capability.Reserved()
	canonical := name
	if texts.OfFirst(name) {
		canonical = texts.Canonical(name)
		lines = append(lines, fmt.Sprintf("The name is that of the first text of GEP-0054; the second has %s.", report.Code(canonical)))
	}
	if i := slices.IndexFunc(reserved, func(d capability.Definition) bool { return d.Name == canonical }); i >= 0 {
		d := reserved[i]
		line := fmt.Sprintf("%s is one of Gardener's own capabilities. Its values, the preferred ones first: %s.", report.Code(d.Name), codes(d.Values))
		switch {
		case d.MachineTypesOnly:
			line += " It is asked of the machine type alone."
		case registered && texts.OfSecond(d.Name):
			line += " An image that does not declare it has all values that the profile registers."
		case d.Undeclared != "":
			line += fmt.Sprintf(" An image that does not declare it has %s.", report.Code(d.Undeclared))
		default:
			line += " An image that does not declare it fits no worker pool that asks for it."
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return fmt.Sprintf("Capability %s is not among the `machineCapabilities` of this profile.", report.Code(name))
	}
	return strings.Join(lines, "\n\n")
}

func codes(all []string) string {
	quoted := make([]string, 0, len(all))
	for _, s := range all {
		quoted = append(quoted, report.Code(s))
	}
	return words.And(quoted)
}

// compiled returns the compiled profile of the object at the place, as of the last check, or nil. The caller must hold the result's
// mutex.
func (a *asked) compiled() input.AnyProfile {
	g := a.known.Given
	switch kindOf(a.object) {
	case "CloudProfile":
		if s := sourceOf(a, &g.Profiles, ""); s != nil && s.Object != nil {
			p, _ := g.Compile(s, "")
			return p
		}
	case "NamespacedCloudProfile":
		if s := sourceOf(a, &g.Namespaced, a.object.Text("metadata", "namespace")+"/"); s != nil && s.Object != nil {
			p, _ := g.CompileNamespaced(s, "")
			return p
		}
	}
	return nil
}

// sourceOf returns the object at the place as of the last check, or nil if it was not checked. namespace ends with a slash, or is empty.
// An object without a name is identified by the position of its generateName.
func sourceOf[T any](a *asked, all *input.Objects[T], namespace string) *input.Source[T] {
	start := a.object.Child("metadata", "generateName")
	if name := a.object.Text("metadata", "name"); name != "" || start == nil {
		return all.ByName[namespace+name]
	}
	line := a.known.Span(a.Outline, start.Start, start.End).Start.Line + 1
	i := slices.IndexFunc(all.All, func(s *input.Source[T]) bool {
		at, _ := s.Manifest.Position("metadata.generateName")
		return s.Manifest.File == a.doc.Name && at == line
	})
	if i < 0 {
		return nil
	}
	return all.All[i]
}

// poolText returns the text of explain for the worker pool at the place.
func (a *asked) poolText() string {
	switch slot := a.nodeSlot(); {
	case slot == "spec.provider.workers[].name", slot == "spec.provider.workers[].machine", strings.HasPrefix(slot, "spec.provider.workers[].machine."):
	default:
		return ""
	}
	worker := a.itemOf("workers")
	a.known.Mutex.Lock()
	defer a.known.Mutex.Unlock()
	g := *a.known.Given
	s := sourceOf(a, &g.Shoots, a.object.Text("metadata", "namespace")+"/")
	if s == nil || s.Object == nil {
		return ""
	}
	p, fault := g.ProfileForPools(s.Object)
	if fault != nil {
		return plain(a.known.Short(input.Message(fault)))
	}
	answers := ask.OfShoot(&g, p, s)
	if i := slices.Index(worker.Parent.Items(), worker); i < len(answers) {
		return block(answers[i].Text())
	}
	return ""
}

// mostListed bounds each list in a hover.
const mostListed = 12

// outcome is the result for an image, a version or a machine type: where it boots, or why it does not.
type outcome struct {
	what   string
	where  []string // regions; empty if it boots nowhere
	whyNot func() string
}

// tell formats outcomes. on follows the word boots: "" or " on". It omits the regions of outcomes that boot everywhere.
func tell(title, on string, all []outcome, regions int) string {
	var boots, not []string
	for _, o := range all {
		switch {
		case len(o.where) == 0 && len(not) < mostListed:
			not = append(not, "- "+report.Code(o.what)+": "+plain(o.whyNot()))
		case len(o.where) == 0:
			not = append(not, "") // only counted
		case len(o.where) < regions:
			boots = append(boots, "- "+report.Code(o.what)+" in "+plain(words.Few(o.where)))
		default:
			boots = append(boots, "- "+report.Code(o.what))
		}
	}
	return title + part("\n\nBoots"+on+":", boots) + part("\n\nDoes not boot"+on+":", not)
}

func part(title string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	if more := len(lines) - mostListed; more > 0 {
		lines = append(lines[:mostListed:mostListed], "- and "+strconv.Itoa(more)+" more")
	}
	return title + "\n" + strings.Join(lines, "\n")
}

// anyFlavor represents all flavors of a combination.
const anyFlavor = -1

// outcomeOf returns the outcome of a combination, with any of its flavors or with a certain one.
func outcomeOf(m *resolve.Matrix[any], of resolve.Combination, what string, flavor int) outcome {
	o := outcome{what: what, whyNot: func() string { return m.Explain(of, 0).Message }}
	for _, region := range m.Regions() {
		of.Region = region
		if chosen := m.Choose(of, 0); chosen >= 0 && (flavor == anyFlavor || chosen == flavor) {
			o.where = append(o.where, region)
		}
	}
	return o
}

// typeText lists the image versions that boot on a machine type.
func (a *asked) typeText(name string) string {
	return a.outcomes("Machine type **"+report.Code(name)+"**", "", func(m *resolve.Matrix[any], add adder) bool {
		if !slices.Contains(m.MachineTypes(), name) {
			return false
		}
		for _, v := range m.Versions() {
			add(resolve.Combination{Image: v.Image, Version: v.Version, MachineType: name}, v.Image+"@"+v.Version, anyFlavor)
		}
		return true
	})
}

// versionText lists the machine types on which an image version boots.
func (a *asked) versionText(image, version string) string {
	return a.outcomes("Image **"+report.Code(image+"@"+version)+"**", " on", func(m *resolve.Matrix[any], add adder) bool {
		for _, name := range m.MachineTypes() {
			add(resolve.Combination{Image: image, Version: version, MachineType: name}, name, anyFlavor)
		}
		return slices.Contains(m.Versions(), resolve.Combination{Image: image, Version: version})
	})
}

// adder adds a combination and one of its flavors under a name.
type adder func(of resolve.Combination, what string, flavor int)

// outcomes formats the outcomes of the combinations that list adds. It returns "" if the profile is unreadable, or if list returns false.
// Then the profile lacks the subject, because that is newer than the last check, or another file has a profile of the same name.
func (a *asked) outcomes(title, on string, list func(m *resolve.Matrix[any], add adder) bool) string {
	a.known.Mutex.Lock()
	defer a.known.Mutex.Unlock()
	p := a.compiled()
	if p == nil {
		return ""
	}
	m := resolve.NewMatrix(p)
	var all []outcome
	known := list(m, func(of resolve.Combination, what string, flavor int) {
		if o := outcomeOf(m, of, what, flavor); flavor == anyFlavor || len(o.where) > 0 {
			all = append(all, o)
		}
	})
	if !known {
		return ""
	}
	title += ", for a worker pool that asks for nothing else"
	if input.IsCoreOnly(p) {
		title += ". Its provider is unknown, so this is by core alone"
	}
	if len(all) == 0 {
		return title + "\n\nNo machine type boots it: none fits it, or another flavor is preferred."
	}
	return tell(title, on, all, len(m.Regions()))
}

// flavorText lists the machine types that boot the flavor at the place.
func (a *asked) flavorText() string {
	flavor := a.itemOf("capabilityFlavors")
	if flavor == nil {
		return ""
	}
	version := flavor.Up(2)
	image, name := version.Up(2).Text("name"), version.Text("version")
	declared := capabilitiesOf(flavor)
	return a.outcomes("Flavor of **"+report.Code(image+"@"+name)+"**", " on", func(m *resolve.Matrix[any], add adder) (known bool) {
		for _, machineType := range m.MachineTypes() {
			of := resolve.Combination{Image: image, Version: name, MachineType: machineType}
			for i, f := range m.Flavors(of) {
				if helper.AreCapabilitiesEqual(f.Capabilities, declared) {
					known = true
					add(of, machineType, i)
				}
			}
		}
		return known
	})
}

// capabilitiesOf returns the capabilities that a flavor declares, in core or in a provider config.
func capabilitiesOf(flavor *text.Node) v1beta1.Capabilities {
	config := flavor.Parent.Up(5)
	if own := flavor.Child("capabilities"); own != nil || config != nil && config.Key == "providerConfig" {
		flavor = own
	}
	declared := v1beta1.Capabilities{}
	if flavor == nil {
		return declared
	}
	for _, n := range flavor.Nodes {
		if n.Key != "" {
			declared[n.Key] = flavor.Texts(n.Key)
		}
	}
	return declared
}
