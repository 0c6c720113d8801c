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

// Describer is a provider with inventories of its cloud. Each of its references to images is a [Referrer].
type Describer interface {
	// DescribeInventories says how inventories of the cloud are to be understood. It is the same at every call.
	DescribeInventories() Description
}

// Description defines how to read inventories of a cloud. The zero Description is for a cloud with nothing but images, identified by
// their IDs as written.
type Description struct {
	// Active are the statuses of images that can be booted, besides active, in lower case. Nil: there are no others.
	Active []string
	// Properties is the table by which properties of images contradict flavors. Operators can replace it.
	Properties []Property
	// Key returns what an ID of an image is compared by, and its form. Of references in a form that a list of images does not have,
	// nothing is concluded from that list, unless it is empty and the form is not foreign. Nil: IDs are compared as written, and have
	// one form.
	Key func(id string) (key, form string)
	// Foreign is what forms begin with that inventories mostly do not list at all, so that an empty list says nothing of them. Mostly empty.
	Foreign string
	// OwnDisk reports whether machines of a type boot from the disk that the cloud's machine type has, unless their pool asks for
	// another one. Nil: no machine does.
	OwnDisk func(machineType *v1beta1.MachineType) bool
	// Uses returns what a CloudProfile refers to besides what all of them do: lists of the provider config, for example. The spec
	// stands at the path at. Nil: nothing.
	Uses func(spec *v1beta1.CloudProfileSpec, at *field.Path) []Use
}

// Referrer is a provider's reference to an image.
type Referrer interface {
	// InInventory says how an inventory has the image.
	InInventory() Ref
}

// Ref is how an inventory has an image: by its ID or, if that is empty, by its name.
type Ref struct {
	ID, Name string
	// Field is where the reference stands in the entry of its region: "id". One for all regions has a path of its own.
	Field string
}

// Use is something that a CloudProfile refers to by name.
type Use struct {
	// List of the inventory that has it: one of [ListVolumeTypes], [ListNetworks], [ListLoadBalancerProviders] and
	// [ListServerGroupPolicies]. Networks have to be external.
	List string
	// Name, or a pattern of names if Matches is set.
	Name string
	// Matches reports whether a name is meant. Nil: the one that is Name.
	Matches func(name string) bool
	// Regions in which it has to be.
	Regions []string
	// At is where it is written.
	At *field.Path
}

// KindProperties is the kind of a [PropertyTable].
const KindProperties = "ImageProperties"

// PropertyTable is a table of properties in a file, with which an operator replaces that of a provider.
type PropertyTable struct {
	// APIVersion is that of all formats of the package.
	APIVersion string `json:"apiVersion"`
	// Kind is [KindProperties].
	Kind string `json:"kind"`
	// Provider is the provider type: "openstack".
	Provider string `json:"provider"`
	// Properties are the rows.
	Properties []Property `json:"properties"`
}

// Property is a row of a table: what the value of a property says about a capability of the image. It says nothing about a flavor that does
// not declare the capability.
type Property struct {
	// Names of the property; a cloud may have several for one.
	Names []string `json:"names"`
	// Value that the row is for, in any case of letters. Empty: every value.
	Value string `json:"value,omitempty"`
	// Capability that it is about. Empty: each that is registered with the value of the property; a flavor that declares it may
	// declare this value alone.
	Capability string `json:"capability,omitempty"`
	// Only are the values that a flavor may declare. Nil: there is no such limit.
	Only []string `json:"only,omitempty"`
	// Some are values of which a flavor has to declare one. Nil: there is no such demand.
	Some []string `json:"some,omitempty"`
}

// check returns what is wrong with the values of a table.
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
