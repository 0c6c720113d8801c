// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package machinedriver checks the providerSpec of machine classes like the machine controller for OpenStack,
// machine-controller-manager-provider-openstack. Tests check each class that they create, because the controller neither creates nor
// deletes machines of a class that it cannot read. [Check] uses its own table, with the differences between the controller's releases.
package machinedriver

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Release is a release of the machine controller.
type Release int

// The releases in order.
const (
	// V0241 is the release in provider-openstack up to v1.52. It refuses the machine classes of current controllers.
	V0241 Release = iota
	// V0271 is the release in provider-openstack v1.57.
	V0271
)

// Kinds of JSON values.
const (
	text    = "a text"
	number  = "a whole number that is not negative"
	texts   = "a list of texts"
	tags    = "an object of texts"
	flag    = "a boolean"
	objects = "a list of objects"
)

// field is a field that the machine controller knows. Its decoding is strict, so unknown fields are errors.
type field struct {
	kind     string
	required bool
	since    Release
}

var fields = map[string]field{
	"imageID":          {kind: text},
	"imageName":        {kind: text},
	"region":           {kind: text, required: true},
	"availabilityZone": {kind: text, required: true},
	"flavorName":       {kind: text, required: true},
	"keyName":          {kind: text, required: true},
	"securityGroups":   {kind: texts},
	"tags":             {kind: tags, required: true},
	"networkID":        {kind: text},
	"networks":         {kind: objects},
	"subnetID":         {kind: text},
	"subnetIDs":        {kind: texts, since: V0271},
	"podNetworkCidr":   {kind: text},
	"podNetworkCIDRs":  {kind: texts},
	"rootDiskSize":     {kind: number},
	"rootDiskType":     {kind: text},
	"useConfigDrive":   {kind: flag},
	"serverGroupID":    {kind: text},
}

// choices are sets of fields of which at least one is required. Exclusive ones allow only one.
var choices = []struct {
	of        []string
	exclusive bool
}{
	{of: []string{"imageID", "imageName"}},
	{of: []string{"networkID", "networks"}, exclusive: true},
	{of: []string{"podNetworkCidr", "podNetworkCIDRs"}},
}

// tagPrefixes are the required prefixes of tags, by which the servers of a shoot are found.
var tagPrefixes = []string{"kubernetes.io-cluster-", "kubernetes.io-role-"}

// Check returns all reasons why a release would refuse a providerSpec, or nil if it accepts it.
func Check(release Release, providerSpec []byte) error {
	var config struct {
		APIVersion string                     `json:"apiVersion"`
		Kind       string                     `json:"kind"`
		Spec       map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(providerSpec, &config); err != nil {
		return err
	}
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf("the providerSpec "+format, args...)) }
	checkFields(release, config.Spec, wrong)
	checkNeeds(config.Spec, wrong)
	if config.APIVersion != "openstack.machine.gardener.cloud/v1alpha1" || config.Kind != "MachineProviderConfig" {
		wrong("is %s of %s", config.Kind, config.APIVersion)
	}
	var top map[string]json.RawMessage
	_ = json.Unmarshal(providerSpec, &top) // it was decoded before
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if !slices.Contains([]string{"apiVersion", "kind", "spec"}, name) {
			wrong("has an unknown field %s", name)
		}
	}
	return errors.Join(errs...)
}

// checkFields reports fields that are unknown to a release, and values of a wrong kind.
func checkFields(release Release, spec map[string]json.RawMessage, wrong func(format string, args ...any)) {
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		switch f, known := fields[name]; {
		case !known || f.since > release:
			wrong("has an unknown field spec.%s", name)
		case !f.takes(spec[name]):
			wrong("has spec.%s: %s, which is not %s", name, spec[name], f.kind)
		}
	}
}

// checkNeeds reports missing fields and forbidden combinations.
func checkNeeds(spec map[string]json.RawMessage, wrong func(format string, args ...any)) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name].required && !says(spec[name]) {
			wrong("has no spec.%s", name)
		}
	}
	for _, choice := range choices {
		there := slices.DeleteFunc(slices.Clone(choice.of), func(name string) bool { return !says(spec[name]) })
		if len(there) == 0 || choice.exclusive && len(there) > 1 {
			wrong("has %d of spec.%s", len(there), strings.Join(choice.of, ", spec."))
		}
	}
	for _, prefix := range tagPrefixes {
		var named map[string]string
		if json.Unmarshal(spec["tags"], &named) != nil || !slices.ContainsFunc(slices.Collect(maps.Keys(named)), func(tag string) bool {
			return strings.HasPrefix(tag, prefix)
		}) {
			wrong("has no tag %s...", prefix)
		}
	}
}

// takes reports whether a value is of the field's kind. Null is of every kind.
func (f field) takes(value json.RawMessage) bool {
	var n uint32
	into := map[string]any{
		text: new(string), number: &n, texts: new([]string), tags: new(map[string]string), flag: new(bool), objects: new([]map[string]any),
	}
	return json.Unmarshal(value, into[f.kind]) == nil
}

// says reports whether a value is present and not empty.
func says(value json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", `""`, "[]", "{}"}, string(value))
}
