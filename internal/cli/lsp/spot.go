// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/lsp/protocol"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/lsp/workspace"
)

// asked is a place in an open document that the editor asks about.
type asked struct {
	*server
	*text.Outline
	text.Spot
	doc    *workspace.Document
	offset int
	// known is what is known of its landscape.
	known *workspace.Result
	// object is the object that the place is in: a document, or an item of a List.
	object *text.Node
	// slot is the path of what stands there, or of the mapping for a key, below the object and with [] for each index.
	slot string
}

// at returns what the editor asks about; nil if the document is not open. The error is that of the context.
func (s *server) at(ctx context.Context, p protocol.PlaceParams) (*asked, error) {
	doc := s.work.Doc(p.TextDocument.URI)
	if doc == nil {
		return nil, nil
	}
	known, err := s.work.Known(ctx, doc, false)
	if err != nil || known == nil {
		return nil, err
	}
	o := doc.Outline()
	a := &asked{server: s, Outline: o, doc: doc, offset: o.Offset(p.Position, s.counting()), known: known}
	a.Spot = o.At(a.offset)
	for a.object = a.Parent; a.object.Parent != nil && a.object.Pattern() != "items[]"; {
		a.object = a.object.Parent
	}
	switch {
	case a.Role == text.Key:
		a.slot = a.Parent.Pattern()
	case a.Node != nil:
		a.slot = a.Node.Pattern()
	default:
		a.slot = a.Parent.Pattern() + "[]"
	}
	a.slot = strings.TrimPrefix(strings.TrimPrefix(a.slot, a.object.Pattern()), ".")
	if a.Role == text.Value && a.Node != nil && a.Node.Item && capabilitiesSlot.MatchString(a.slot) && !a.taken() { // a flavor that begins with a key
		a.Role, a.Parent, a.Node = text.Key, a.Node, nil
	}
	return a, nil
}

// The slots of capabilities: of machine types, and of flavors in core and in the provider config.
var (
	capabilitiesSlot = regexp.MustCompile(`^spec\.(machineTypes\[\]\.capabilities|machineImages\[\]\.versions\[\]\.capabilityFlavors\[\]|` +
		`providerConfig\.machineImages\[\]\.versions\[\]\.capabilityFlavors\[\]\.capabilities)$`)
	capabilitySlot = regexp.MustCompile(`^(spec\..*(?:\.capabilities|capabilityFlavors\[\]))\.([^.\[\]]+)(\[\])?$`)
)

// capability returns the capability whose value stands at the place; empty if it is none.
func (a *asked) capability() string {
	found := capabilitySlot.FindStringSubmatch(a.slot)
	if len(found) == 0 || !capabilitiesSlot.MatchString(found[1]) {
		return ""
	}
	return found[2]
}

// entries returns the entries of a list in the spec of the profile that the place is about, as they are written: those of the profile, and then
// those of its parent.
func (a *asked) entries(list ...string) (all []target) {
	for _, object := range a.profileObjects() {
		all = append(all, itemsOf(target{object.placed, object.node.Child("spec")}, list...)...)
	}
	return all
}

// itemsOf returns the items of a list below a node.
func itemsOf(in target, list ...string) (all []target) {
	for _, item := range in.node.Items(list...) {
		all = append(all, target{in.placed, item})
	}
	return all
}

// within returns the items of a list in those entries that have a name.
func within(entries []target, name, list string) (all []target) {
	for _, e := range entries {
		if e.node.Text("name") == name {
			all = append(all, itemsOf(e, list)...)
		}
	}
	return all
}

// named returns the entries of a profile of which the value at a slot names one, by the text of a key. In a list of a NamespacedCloudProfile it
// names one of its parent, and in that of a CloudProfile none: what is in the same list gets its name there.
func (a *asked) named(slot string) (entries []target, key string) {
	key = "name"
	switch {
	case slot == "spec.region", regionSlot.MatchString(slot):
		entries = a.entries("regions")
	case slot == "spec.provider.workers[].zones[]":
		entries = within(a.entries("regions"), a.object.Text("spec", "region"), "zones")
	case slot == "spec.provider.workers[].machine.type", slot == "spec.regions[].zones[].unavailableMachineTypes[]":
		entries = a.entries("machineTypes")
	case slot == "spec.provider.workers[].machine.image.name", strings.HasSuffix(slot, "machineImages[].name"):
		entries = a.entries("machineImages")
	case slot == "spec.provider.workers[].machine.image.version":
		entries, key = within(a.entries("machineImages"), a.Node.Parent.Text("name"), "versions"), "version"
	case versionSlot.MatchString(slot):
		entries, key = within(a.entries("machineImages"), a.Node.Up(3).Text("name"), "versions"), "version"
	case slot == "spec.kubernetes.version", slot == "spec.kubernetes.versions[].version", slot == "spec.provider.workers[].kubernetes.version":
		entries, key = a.entries("kubernetes", "versions"), "version"
	}
	return slices.DeleteFunc(entries, func(e target) bool { return e.node.Parent == a.Node.Up(2) }), key
}

// profileName returns the kind and the name of the profile that a Shoot names.
func (a *asked) profileName() (kind, name string) {
	spec := a.object.Child("spec")
	if spec == nil {
		return "", ""
	}
	shoot := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: a.object.Text("metadata", "namespace")}}
	if name := spec.Text("cloudProfile", "name"); name != "" {
		shoot.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: spec.Text("cloudProfile", "kind"), Name: name}
	}
	if name := spec.Text("cloudProfileName"); name != "" {
		shoot.Spec.CloudProfileName = &name
	}
	kind, name, _ = input.ProfileNameOf(shoot)
	return kind, name
}

// place returns the object of a kind and a name in the outline of its file, as the editor has it; nothing if there is none.
func (a *asked) place(kind, namespace, name string) target {
	o := a.known.Manifest(kind, namespace, name)
	if name == "" || o == nil {
		return target{}
	}
	p := a.outlineOf(o.File)
	if p == nil {
		return target{}
	}
	for _, object := range objectsIn(p.Outline) {
		if kindOf(object) == kind && object.Text("metadata", "name") == name && (kind == "CloudProfile" || object.Text("metadata", "namespace") == namespace) {
			return target{p, object}
		}
	}
	return target{}
}

// placed is the outline of a file.
type placed struct {
	uri string
	*text.Outline
}

// outlineOf returns the outline of a file: that of the document if it is open.
func (a *asked) outlineOf(name string) *placed {
	if name == a.doc.Name {
		return &placed{a.doc.URI, a.Outline}
	}
	if open := a.work.Named(name); open != nil {
		return &placed{open.URI, open.Outline()}
	}
	if o := a.known.Outline(name); o != nil {
		return &placed{workspace.URIOf(name, nil), o}
	}
	return nil
}

// objectsIn returns the objects of an outline: its documents, and the items of Lists.
func objectsIn(o *text.Outline) (objects []*text.Node) {
	for _, document := range o.Documents {
		if items := document.Items("items"); len(items) > 0 {
			objects = append(objects, items...)
			continue
		}
		objects = append(objects, document)
	}
	return objects
}

// versionOf returns a version with its classification and lifecycle, as far as they can be read.
func versionOf(n *text.Node) v1beta1.ExpirableVersion {
	v := v1beta1.ExpirableVersion{Version: n.Text("version")}
	if classification := v1beta1.VersionClassification(n.Text("classification")); classification != "" {
		v.Classification = &classification //nolint:staticcheck // as people write it
	}
	v.ExpirationDate = timeOf(n.Text("expirationDate")) //nolint:staticcheck // as people write it
	for _, stage := range n.Items("lifecycle") {
		v.Lifecycle = append(v.Lifecycle, v1beta1.LifecycleStage{
			Classification: v1beta1.VersionClassification(stage.Text("classification")), StartTime: timeOf(stage.Text("startTime")),
		})
	}
	return v
}

// timeOf reads a time; nil for what is none.
func timeOf(s string) *metav1.Time {
	var t metav1.Time
	if s == "" || t.UnmarshalQueryParameter(s) != nil || t.IsZero() {
		return nil
	}
	return &t
}

// ours reports whether an object is of Gardener's core, or may become one.
func ours(object *text.Node) bool {
	version := object.Text("apiVersion")
	return version == "" || strings.HasPrefix(version, v1beta1.GroupName+"/")
}

// kindOf returns the kind of object that a document of an outline is.
func kindOf(document *text.Node) string {
	if !ours(document) {
		return ""
	}
	return document.Text("kind")
}
