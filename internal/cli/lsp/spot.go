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

// asked is a place in an open document that a request is about.
type asked struct {
	*server
	*text.Outline
	text.Spot
	doc    *workspace.Document
	offset int
	// known is the last result for its landscape.
	known *workspace.Result
	// object is the object at the place: a document, or an item of a List.
	object *text.Node
	// slot is the path of the node at the place, or of the mapping for a key. It is relative to the object, with [] for each index.
	slot string
}

// at returns the place of a request, or nil if the document is not open. The error is that of the context.
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

// The slots of capabilities of machine types, and of flavors in core and in the provider config.
var (
	capabilitiesSlot = regexp.MustCompile(`^spec\.(machineTypes\[\]\.capabilities|machineImages\[\]\.versions\[\]\.capabilityFlavors\[\]|` +
		`providerConfig\.machineImages\[\]\.versions\[\]\.capabilityFlavors\[\]\.capabilities)$`)
	capabilitySlot = regexp.MustCompile(`^(spec\..*(?:\.capabilities|capabilityFlavors\[\]))\.([^.\[\]]+)(\[\])?$`)
)

// capability returns the capability whose value is at the place, or "".
func (a *asked) capability() string {
	found := capabilitySlot.FindStringSubmatch(a.slot)
	if len(found) == 0 || !capabilitiesSlot.MatchString(found[1]) {
		return ""
	}
	return found[2]
}

// entries returns the entries of a list in the spec of the profile at the place, as written, followed by those of the parent.
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

// within returns the items of a list in the entries with this name.
func within(entries []target, name, list string) (all []target) {
	for _, e := range entries {
		if e.node.Text("name") == name {
			all = append(all, itemsOf(e, list)...)
		}
	}
	return all
}

// named returns the entries of a profile that the value at a slot can refer to, and the key that it refers to them by. Entries of the
// value's own list are left out, because the value names a new entry there. In a NamespacedCloudProfile the parent's entries remain.
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

// profileName returns kind and name of a Shoot's profile.
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

// place returns the object of a kind and name in the outline of its file, as in the editor, or an empty target.
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

// outlineOf returns the outline of a file: that of the open document, or else that of the last check.
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

// versionOf returns a version with its readable classification and lifecycle.
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

// timeOf parses a time, or returns nil.
func timeOf(s string) *metav1.Time {
	var t metav1.Time
	if s == "" || t.UnmarshalQueryParameter(s) != nil || t.IsZero() {
		return nil
	}
	return &t
}

// ours reports whether an object belongs to Gardener's core, or has no apiVersion yet.
func ours(object *text.Node) bool {
	version := object.Text("apiVersion")
	return version == "" || strings.HasPrefix(version, v1beta1.GroupName+"/")
}

// kindOf returns the kind of an object of Gardener's core, and "" for others.
func kindOf(document *text.Node) string {
	if !ours(document) {
		return ""
	}
	return document.Text("kind")
}
