// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"

	"github.com/capkit/capkit/internal/cli/lsp/protocol"
	"github.com/capkit/capkit/internal/cli/lsp/text"
)

func (s *server) definition(ctx context.Context, p protocol.PlaceParams) (any, error) {
	a, err := s.at(ctx, p)
	if a == nil || a.Node == nil {
		return nil, err
	}
	locations := []protocol.Location{}
	for _, target := range a.targets() {
		locations = append(locations, protocol.Location{URI: target.uri, Range: a.known.Span(target.Outline, target.node.Start, max(target.node.KeyEnd, target.node.ValueEnd))})
	}
	return locations, nil
}

// target is a node in the outline of a file.
type target struct {
	*placed
	node *text.Node
}

// targets returns the places to which the editor can go, best first.
func (a *asked) targets() (all []target) {
	add := func(in *placed, n *text.Node) {
		if in != nil && n != nil {
			all = append(all, target{in, n})
		}
	}
	addNamed := func(entries []target, key, name string) {
		for _, e := range entries {
			if e.node.Text(key) == name && name != "" {
				add(e.placed, e.node.Child(key))
			}
		}
	}
	slot := a.nodeSlot()
	switch {
	case a.Role == text.Key && capabilitiesSlot.MatchString(a.slot), a.capability() != "" && !imagesSlot.MatchString(slot):
		name := a.capability()
		if a.Role == text.Key {
			name = a.Node.Key
		}
		addNamed(a.entries("machineCapabilities"), "name", name)
	case imagesSlot.MatchString(slot) && !regionSlot.MatchString(slot):
		add(a.otherHalf())
	case slot == "spec.cloudProfile.name", slot == "spec.cloudProfileName", slot == "spec.parent.name":
		kind, name := a.profileName()
		if slot == "spec.parent.name" {
			kind, name = "CloudProfile", a.Node.Value
		}
		profile := a.place(kind, a.object.Text("metadata", "namespace"), name)
		add(profile.placed, profile.node.Child("metadata", "name"))
	default:
		entries, key := a.named(slot)
		addNamed(entries, key, a.Node.Value)
	}
	return all
}

// profileObjects returns the object with the profile at the place: the object itself or a Shoot's profile, followed by its parent.
func (a *asked) profileObjects() (all []target) {
	own := target{&placed{a.doc.URI, a.Outline}, a.object}
	if kind := kindOf(a.object); kind != "CloudProfile" && kind != "NamespacedCloudProfile" {
		kind, name := a.profileName()
		own = a.place(kind, a.object.Text("metadata", "namespace"), name)
	}
	all = append(all, own)
	if kindOf(own.node) == "NamespacedCloudProfile" {
		all = append(all, a.place("CloudProfile", "", own.node.Text("spec", "parent", "name")))
	}
	return slices.DeleteFunc(all, func(t target) bool { return t.node == nil })
}

// entry returns the member key of the first item that has this value for it, or nil.
func entry(list []*text.Node, key, value string) *text.Node {
	for _, item := range list {
		if child := item.Child(key); child != nil && child.Value == value && value != "" {
			return child
		}
	}
	return nil
}

// imagesSlot matches the contents of the two image lists of a profile.
var imagesSlot = regexp.MustCompile(`^spec\.(providerConfig\.)?machineImages`)

// otherHalf returns the counterpart of the place in the other half of the profile, provider config or core. If a NamespacedCloudProfile does
// not have it, it is that of the parent.
func (a *asked) otherHalf() (in *placed, n *text.Node) {
	own := target{&placed{a.doc.URI, a.Outline}, a.object}
	for _, object := range append([]target{own}, a.profileObjects()...) {
		found, whole := a.otherHalfOf(object.node)
		if whole || n == nil {
			in, n = object.placed, found
		}
		if whole {
			break
		}
	}
	return in, n
}

// otherHalfOf returns the counterpart of the place in the other half of an object. It is the same flavor, or else the version, or else the
// image, or nil. whole reports whether it is more than an image without the version at the place.
func (a *asked) otherHalfOf(object *text.Node) (n *text.Node, whole bool) {
	image, version, flavor := a.itemOf("machineImages"), a.itemOf("versions"), a.itemOf("capabilityFlavors")
	other := object.Child("spec", "providerConfig")
	if strings.HasPrefix(a.nodeSlot(), "spec.providerConfig.") {
		other = object.Child("spec")
	}
	if image == nil || other == nil {
		return nil, false
	}
	name := entry(other.Items("machineImages"), "name", image.Text("name"))
	if name == nil || version == nil {
		return name, name != nil
	}
	at := entry(name.Parent.Items("versions"), "version", version.Text("version"))
	if at == nil {
		return name, false
	}
	if flavor != nil {
		for _, f := range at.Parent.Items("capabilityFlavors") {
			if helper.AreCapabilitiesEqual(capabilitiesOf(f), capabilitiesOf(flavor)) {
				return f, true
			}
		}
	}
	return at, true
}
