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
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
)

// WorkerConfig checks a WorkerConfig by itself: not its server group, whose policies the profile has, nor pool labels.
func WorkerConfig(config *v1alpha1.WorkerConfig, at *field.Path) finding.Report {
	var f findings
	if t := config.NodeTemplate; t != nil {
		f.resources(t.Capacity, at.Child("nodeTemplate", "capacity"), (*findings).capacity)
		f.resources(t.VirtualCapacity, at.Child("nodeTemplate", "virtualCapacity"), (*findings).virtualCapacity)
	}
	f.machineLabels(config.MachineLabels, at.Child("machineLabels"))
	f.securityGroups(config.AdditionalSecurityGroups, at.Child("additionalSecurityGroups"))
	return f.Report
}

// gpu is what the cluster autoscaler calls the GPUs of a node.
const gpu = "gpu"

// nodeResources are those without domain that a node can have, apart from pages of memory.
var nodeResources = []string{
	string(corev1.ResourceCPU), string(corev1.ResourceMemory), gpu,
	string(corev1.ResourceStorage), string(corev1.ResourceEphemeralStorage), string(corev1.ResourcePods),
}

// resources checks each of a list of resources, in the order of their names. None can be negative.
func (f *findings) resources(
	list corev1.ResourceList, at *field.Path, check func(*findings, string, resource.Quantity, *field.Path),
) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if f.LeavesOut() {
			return
		}
		quantity, path := list[name], at.Key(string(name))
		check(f, string(name), quantity, path)
		if quantity.Sign() < 0 {
			f.Found(ruleNodeTemplate, field.ErrorTypeInvalid, path, quantity.String(),
				"%s is %s, and must not be negative", name, &quantity)
		}
	}
}

// capacity checks a resource of a node: one that every node has, or one by a name with a domain, which may be zero.
func (f *findings) capacity(name string, quantity resource.Quantity, at *field.Path) {
	switch known := slices.Contains(nodeResources, name) || strings.HasPrefix(name, corev1.ResourceHugePagesPrefix); {
	case !known && (!strings.Contains(name, "/") || len(validation.IsQualifiedName(name)) > 0):
		f.Found(ruleNodeTemplate, field.ErrorTypeNotSupported, at, name,
			"a node has no resource %s; %s, and names with a domain, as in example.com/licence",
			quote(name), oneOf(name, nodeResources))
	case known && name != gpu && quantity.Sign() == 0:
		f.Found(ruleNodeTemplate, field.ErrorTypeInvalid, at, quantity.String(),
			"%s is %s; write what a node has, or leave it to the machine type", name, &quantity)
	}
}

// virtualCapacity checks a resource that is only counted, in whole numbers.
func (f *findings) virtualCapacity(name string, quantity resource.Quantity, at *field.Path) {
	if problems := validation.IsQualifiedName(name); len(problems) > 0 {
		f.Found(ruleNodeTemplate, field.ErrorTypeInvalid, at, name,
			"%s is not a name of a resource: %s", quote(name), strings.Join(problems, "; "))
	}
	if rounded := quantity.DeepCopy(); !rounded.RoundUp(0) {
		f.Found(ruleNodeTemplate, field.ErrorTypeInvalid, at, quantity.String(),
			"%s is %s, and must be a whole number", name, &quantity)
	}
}

// machineLabels checks labels that become metadata of servers.
func (f *findings) machineLabels(labels []v1alpha1.MachineLabel, at *field.Path) {
	names := seen[string]{}
	for i, label := range labels {
		if f.LeavesOut() {
			return
		}
		name := at.Index(i).Child("name")
		f.name(label.Name, name, "machine label")
		f.metadata(label.Name, name)
		f.metadata(label.Value, at.Index(i).Child("value"))
		f.reserved(label.Name, name)
		f.twice(RuleEntryDuplicate, at.Index(i), name, "machine label", label.Name, names)
	}
}

// longestText is how many characters OpenStack takes for metadata of a server, and for the name of a security group.
const longestText = 255

// metadata checks a key or a value of the metadata of a server.
func (f *findings) metadata(text string, at *field.Path) {
	f.length(text, at, fieldpath.Last(at))
	if strings.ContainsAny(text, "[]{}\r\n") {
		f.Found(ruleValueFormat, field.ErrorTypeInvalid, at, text,
			"%s %s has brackets, braces or line breaks, which cannot be used there", fieldpath.Last(at), quote(text))
	}
}

// length demands that a text is not longer than OpenStack takes.
func (f *findings) length(text string, at *field.Path, what string) {
	if n := utf8.RuneCountInString(text); n > longestText {
		f.Found(ruleValueOutOfRange, field.ErrorTypeTooLong, at, field.OmitValueType{},
			"%s has %d characters, and OpenStack takes up to %d", what, n, longestText)
	}
}

// reserved are beginnings of the metadata keys by which the machine controller finds the servers of a cluster, and
// deletes those that it does not know. It looks for them anywhere in a key.
var reserved = []string{"kubernetes.io-cluster-", "kubernetes.io-role-"}

// metadataKeys replaces in a label what a key of metadata cannot have.
var metadataKeys = regexp.MustCompile(`[^a-zA-Z0-9\-_:. ]`)

// reserved demands that a label is not reserved, also not by the key that it has in OpenStack.
func (f *findings) reserved(name string, at *field.Path) {
	key := metadataKeys.ReplaceAllLiteralString(name, "-")
	i := slices.IndexFunc(reserved, func(prefix string) bool { return strings.Contains(key, prefix) })
	if i < 0 {
		return
	}
	becomes := ""
	if key != name {
		becomes = " becomes " + quote(key) + " in OpenStack, and"
	}
	f.Found(ruleMachineLabelReserved, field.ErrorTypeForbidden, at, name,
		"label %s%s contains %s, which Gardener uses to find its machines; choose another name", quote(name), becomes, reserved[i])
}

// securityGroups checks the names, or IDs, of security groups.
func (f *findings) securityGroups(groups []string, at *field.Path) {
	names := seen[string]{}
	for i, group := range groups {
		if f.LeavesOut() {
			return
		}
		f.notEmpty(&group, at.Index(i))
		f.length(group, at.Index(i), "the name of a security group")
		f.twice(ruleEntryRepeated, at.Index(i), at.Index(i), "security group", group, names)
	}
}

// twice reports, once for each name, one that stands at a path in an entry and is there a second time.
func (f *findings) twice(rule finding.Rule, entry, at *field.Path, what, name string, names seen[string]) {
	if name != "" && names.again(f, rule, name, entry, at, name, "is "+what+" "+quote(name)) {
		names[name] = nil
	}
}
