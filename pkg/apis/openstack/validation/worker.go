// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

const (
	// OriginNodeTemplate is the rule about the resources of a node template.
	OriginNodeTemplate = "node-template"
	// OriginMachineLabelReserved is the rule that a user's labels are none by which machines are found.
	OriginMachineLabelReserved = "machine-label-reserved"
)

// longestText is how many characters OpenStack takes for a key or a value of a server's metadata, and for the name of a
// security group.
const longestText = 255

// WorkerConfig checks a WorkerConfig by itself: not its server group, since only the profile has the policies to choose
// from, nor the labels of the worker pool.
func WorkerConfig(config *v1alpha1.WorkerConfig, at *field.Path) Findings {
	var found Findings
	if t := config.NodeTemplate; t != nil {
		found.capacity(t.Capacity, at.Child("nodeTemplate", "capacity"))
		found.virtualCapacity(t.VirtualCapacity, at.Child("nodeTemplate", "virtualCapacity"))
	}
	found.machineLabels(config.MachineLabels, at.Child("machineLabels"))
	found.securityGroups(config.AdditionalSecurityGroups, at.Child("additionalSecurityGroups"))
	return found
}

// mostFindings is how many are enough for one config: nobody reads more, and a user may write a hundred thousand of them.
const mostFindings = 1000

// Full reports whether there are so many findings that the rest of a list need not be looked at.
func (f *Findings) Full() bool { return len(f.Errors)+len(f.Warnings) >= mostFindings }

// gpu is what the cluster autoscaler calls the GPUs of a node.
const gpu corev1.ResourceName = "gpu"

// resources are those without domain that a node can have, apart from pages of memory.
var resources = []string{
	string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(gpu),
	string(corev1.ResourceStorage), string(corev1.ResourceEphemeralStorage), string(corev1.ResourcePods),
}

// capacity checks the resources of a node: those that every node has, and others by names with a domain, of which there may
// be none.
func (f *Findings) capacity(list corev1.ResourceList, at *field.Path) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if f.Full() {
			return
		}
		quantity, path := list[name], at.Key(string(name))
		known := slices.Contains(resources, string(name)) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		if !known && (!strings.Contains(string(name), "/") || len(validation.IsQualifiedName(string(name))) > 0) {
			f.fail(OriginNodeTemplate, field.ErrorTypeNotSupported, path, string(name),
				"a node has no resource %s; %s, and names with a domain, as in example.com/licence", quote(string(name)), oneOf(string(name), resources))
		}
		f.quantity(name, quantity, path, known && name != gpu)
	}
}

// virtualCapacity checks resources that are only counted, in whole numbers.
func (f *Findings) virtualCapacity(list corev1.ResourceList, at *field.Path) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if f.Full() {
			return
		}
		quantity, path := list[name], at.Key(string(name))
		if problems := validation.IsQualifiedName(string(name)); len(problems) > 0 {
			f.fail(OriginNodeTemplate, field.ErrorTypeInvalid, path, string(name), "%s is no name for a resource: %s", quote(string(name)), strings.Join(problems, "; "))
		}
		if rounded := quantity.DeepCopy(); !rounded.RoundUp(0) {
			f.fail(OriginNodeTemplate, field.ErrorTypeInvalid, path, quantity.String(), "%s is %s, and must be a whole number", name, &quantity)
		}
		f.quantity(name, quantity, path, false)
	}
}

func (f *Findings) quantity(name corev1.ResourceName, quantity resource.Quantity, at *field.Path, positive bool) {
	switch {
	case quantity.Sign() < 0:
		f.fail(OriginNodeTemplate, field.ErrorTypeInvalid, at, quantity.String(), "%s is %s, and must not be negative", name, &quantity)
	case positive && quantity.Sign() == 0:
		f.fail(OriginNodeTemplate, field.ErrorTypeInvalid, at, quantity.String(), "%s is %s; write what a node has, or leave it to the machine type", name, &quantity)
	}
}

// machineLabels checks labels that become metadata of servers.
func (f *Findings) machineLabels(labels []v1alpha1.MachineLabel, at *field.Path) {
	names := twice{}
	for i, label := range labels {
		if f.Full() {
			return
		}
		path := at.Index(i)
		f.name(label.Name, path.Child("name"), "machine label")
		f.metadata(label.Name, path.Child("name"))
		f.metadata(label.Value, path.Child("value"))
		if prefix := reservedPrefix(label.Name); prefix != "" {
			f.fail(OriginMachineLabelReserved, field.ErrorTypeForbidden, path.Child("name"), label.Name,
				"machines are found by labels with %s, which Gardener sets itself; choose another name than %s%s", prefix, quote(label.Name), inOpenStack(label.Name))
		}
		if before := names.second(label.Name, path); before != nil {
			f.fail(OriginEntryDuplicate, field.ErrorTypeDuplicate, path.Child("name"), label.Name, "%s is machine label %s already; remove one of the two", before, quote(label.Name))
		}
	}
}

// metadata checks a key or a value of the metadata of a server.
func (f *Findings) metadata(text string, at *field.Path) {
	if utf8.RuneCountInString(text) > longestText {
		f.fail(OriginValueOutOfRange, field.ErrorTypeTooLong, at, field.OmitValueType{}, "%s has %d characters, and OpenStack takes up to %d", last(at), utf8.RuneCountInString(text), longestText)
	}
	if strings.ContainsAny(text, "[]{}\r\n") {
		f.fail(OriginValueFormat, field.ErrorTypeInvalid, at, text, "%s %s has brackets, braces or line breaks, which cannot be used there", last(at), quote(text))
	}
}

// reserved are beginnings of the metadata keys by which the machine controller finds the servers of a cluster, and deletes
// those that it does not know. It looks for them anywhere in a key.
var reserved = []string{"kubernetes.io-cluster-", "kubernetes.io-role-"}

// metadataKeys replaces in a label what a key of metadata cannot have.
var metadataKeys = regexp.MustCompile(`[^a-zA-Z0-9\-_:. ]`)

// metadataKey returns the key that a label has in OpenStack.
func metadataKey(name string) string { return metadataKeys.ReplaceAllLiteralString(name, "-") }

// inOpenStack says what becomes of a label's name if that is another one in OpenStack.
func inOpenStack(name string) string {
	if metadataKey(name) == name {
		return ""
	}
	return ", in which / and other characters become - in OpenStack"
}

func reservedPrefix(name string) string {
	key := metadataKey(name)
	for _, prefix := range reserved {
		if strings.Contains(key, prefix) {
			return prefix
		}
	}
	return ""
}

// securityGroups checks the names, or IDs, of security groups.
func (f *Findings) securityGroups(groups []string, at *field.Path) {
	names := twice{}
	for i, group := range groups {
		if f.Full() {
			return
		}
		path := at.Index(i)
		f.notEmpty(&group, path)
		if utf8.RuneCountInString(group) > longestText {
			f.fail(OriginValueOutOfRange, field.ErrorTypeTooLong, path, field.OmitValueType{}, "the name of a security group has %d characters, and OpenStack takes up to %d", utf8.RuneCountInString(group), longestText)
		}
		if before := names.second(group, path); before != nil {
			f.warn(OriginEntryRepeated, field.ErrorTypeDuplicate, path, group, "%s is security group %s already; remove one of the two", before, quote(group))
		}
	}
}

// twice finds names that are there twice, and tells it once for each, since there may be many.
type twice map[string]*field.Path

// second returns where a name was first; nil if it is new, empty, or was there twice already.
func (t twice) second(name string, at *field.Path) *field.Path {
	before, found := t[name]
	if found {
		t[name] = nil
	} else if name != "" {
		t[name] = at
	}
	return before
}
