// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// storageClasses demands of each class what Kubernetes demands of it when it is created in a Shoot.
func (c *cloudProfile) storageClasses(at *field.Path) {
	names := seen[string]{}
	var standard *field.Path
	for i := range c.config.StorageClasses {
		class, path := &c.config.StorageClasses[i], at.Index(i)
		c.storageClassName(class.Name, path, names)
		switch isDefault := ptr.Deref(class.Default, false); {
		case isDefault && standard != nil:
			c.Found(rulePurposeDuplicate, field.ErrorTypeDuplicate, path.Child("default"), true,
				"storage class %s would be the second default, after %s; there can be one only", class.Name, standard)
		case isDefault:
			standard = path
		}
		if c.notEmpty(class.Provisioner, path.Child("provisioner")) {
			c.key(*class.Provisioner, path.Child("provisioner"), strings.ToLower)
		}
		c.storageClassMaps(class, path)
		c.supported(class.ReclaimPolicy, path.Child("reclaimPolicy"), "Delete", "Retain")
		c.supported(class.VolumeBindingMode, path.Child("volumeBindingMode"), "Immediate", "WaitForFirstConsumer")
	}
}

func (c *cloudProfile) storageClassName(name string, at *field.Path, names seen[string]) {
	c.name(name, at.Child("name"), "storage class")
	if name == "" {
		return
	}
	if before := names.before(name, at); before != nil {
		c.Found(RuleEntryDuplicate, field.ErrorTypeDuplicate, at.Child("name"), name,
			"%s is a storage class named %s already; rename or remove one of the two", before, name)
	}
	if len(utilvalidation.IsDNS1123Subdomain(name)) > 0 {
		c.Found(ruleValueFormat, field.ErrorTypeInvalid, at.Child("name"), name,
			"storage class %s: Kubernetes allows lower case letters, digits, - and . only, with a letter or digit "+
				"at the beginning and end, and 253 of them at most", quote(name))
	}
}

// storageClassMaps goes through the maps in the order of their keys.
func (c *cloudProfile) storageClassMaps(class *v1alpha1.StorageClassDefinition, at *field.Path) {
	if _, found := class.Parameters[""]; found {
		c.Found(ruleValueFormat, field.ErrorTypeInvalid, at.Child("parameters").Key(""), "", "a parameter needs a name")
	}
	for _, key := range slices.Sorted(maps.Keys(class.Annotations)) {
		c.key(key, at.Child("annotations").Key(key), strings.ToLower)
	}
	for _, key := range slices.Sorted(maps.Keys(class.Labels)) {
		path, value := at.Child("labels").Key(key), class.Labels[key]
		c.key(key, path, strings.Clone)
		for _, problem := range content.IsLabelValue(value) {
			c.Found(ruleValueFormat, field.ErrorTypeInvalid, path, value, "%s: %s", quote(value), problem)
		}
	}
}

// key checks what Kubernetes calls a qualified name, after it was normalized: the key of a label, or, where upper and
// lower case are the same, the key of an annotation or the name of a driver.
func (c *cloudProfile) key(key string, at *field.Path, normalized func(string) string) {
	for _, problem := range content.IsLabelKey(normalized(key)) {
		c.Found(ruleValueFormat, field.ErrorTypeInvalid, at, key, "%s: %s", quote(key), problem)
	}
}
