// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
)

// Describer is a provider whose cloud has inventories. All of its references to images must be [Referrer] values.
type Describer interface {
	// DescribeInventories says how to read inventories of the cloud. It returns the same at every call.
	DescribeInventories() Description
}

// Description defines how to read inventories of a cloud. The zero Description is for a cloud with nothing but images, identified by
// their IDs as written.
type Description struct {
	// Active are the statuses of bootable images besides "active", in lower case. Nil means that there are no others.
	Active []string
	// Properties defines which properties of images contradict flavors. Operators can replace it.
	Properties []Property
	// Key returns a comparable key of an image ID, and the ID's form. A missing reference is reported only if the list of images has IDs of
	// its form, or if the list is empty and the form is not foreign. If Key is nil, IDs are compared as written, and all have one form.
	Key func(id string) (key, form string)
	// Foreign is the prefix of forms that inventories usually do not list, so that an empty list proves nothing. It is usually empty.
	Foreign string
	// OwnDisk reports whether machines of a type boot from the disk of the cloud's machine type, unless their pool requests another disk.
	// Nil means that no machine does.
	OwnDisk func(machineType *v1beta1.MachineType) bool
	// Uses returns the references of a CloudProfile, whose spec is at the path at, besides those that every CloudProfile has, for example
	// in lists of the provider config. Nil means that there are none.
	Uses func(spec *v1beta1.CloudProfileSpec, at *field.Path) []Use
}

// Referrer is a provider's reference to an image.
type Referrer interface {
	// InInventory returns the key of the image in an inventory.
	InInventory() Ref
}

// Ref identifies an image in an inventory: by its ID or, if that is empty, by its name.
type Ref struct {
	ID, Name string
	// Field is the reference's field in the entry of its region: "id". A reference for all regions has its own path.
	Field string
}

// Use is something that a CloudProfile refers to by name.
type Use struct {
	// List is the list of the inventory with the name: [ListVolumeTypes], [ListNetworks], [ListLoadBalancerProviders] or
	// [ListServerGroupPolicies]. Networks have to be external.
	List string
	// Name is the name, or a pattern of names if Matches is set.
	Name string
	// Matches reports whether a name matches. Nil means that only Name does.
	Matches func(name string) bool
	// Regions are the regions that must have it.
	Regions []string
	// At is the path of the reference.
	At *field.Path
}

// KindProperties is the kind of a [PropertyTable].
const KindProperties = "ImageProperties"

// PropertyTable is a file with a table of properties. An operator can replace a provider's table by it.
type PropertyTable struct {
	// APIVersion is the constant [APIVersion].
	APIVersion string `json:"apiVersion"`
	// Kind is [KindProperties].
	Kind string `json:"kind"`
	// Provider is the provider type: "openstack".
	Provider string `json:"provider"`
	// Properties are the rows.
	Properties []Property `json:"properties"`
}

// Property is a row of a table: the consequence of a property's value for a capability of the image. It does not apply to flavors that do
// not declare the capability.
type Property struct {
	// Names are the names of the property, because a cloud may have several.
	Names []string `json:"names"`
	// Value is the value that the row applies to, in upper or lower case. Empty means every value.
	Value string `json:"value,omitempty"`
	// Capability is the affected capability. Empty means each capability that is registered with the value of the property. A flavor that
	// declares such a capability may declare only this value.
	Capability string `json:"capability,omitempty"`
	// Only are the values that a flavor may declare. Nil means no such limit.
	Only []string `json:"only,omitempty"`
	// Some are values of which a flavor has to declare at least one. Nil means no such requirement.
	Some []string `json:"some,omitempty"`
}

// check returns the errors in the values of a table.
func (t *PropertyTable) check() finding.List {
	c := &checker{}
	c.required(field.NewPath("provider"), t.Provider, "write the provider type, as in spec.type of a CloudProfile")
	for i, p := range t.Properties {
		at := field.NewPath("properties").Index(i)
		wrong := func(at *field.Path, format string, args ...any) {
			c.List = append(c.List, one(field.ErrorTypeInvalid, at, field.OmitValueType{}, fmt.Sprintf(format, args...))...)
		}
		if len(p.Names) == 0 || slices.Contains(p.Names, "") {
			c.required(at.Child("names"), "", "write the names of the property, as in names: [hypervisor_type]")
		}
		demands := len(p.Only)+len(p.Some) > 0
		switch {
		case p.Capability == "" && (demands || p.Value != ""):
			c.required(at.Child("capability"), "", "write the capability that the values are of, or leave out value, only and some")
		case p.Capability != "" && !demands:
			wrong(at, "write in only which values a flavor may declare, or in some those of which it has to declare one")
		case p.Capability != "" && p.Value == "":
			c.required(at.Child("value"), "", "write the value of the property that the row is for")
		}
	}
	return c.List
}
