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

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// storageClasses demands of each class what Kubernetes demands of it when it is created in a Shoot.
func (f *Findings) storageClasses(config *v1alpha1.CloudProfileConfig, _ regions, at *field.Path) {
	names := seen[string]{}
	var standard *field.Path
	for i := range config.StorageClasses {
		class, path := &config.StorageClasses[i], at.Index(i)
		f.name(class.Name, path.Child("name"), "storage class")
		if class.Name != "" {
			f.storageClassName(class.Name, path, names)
		}
		switch isDefault := class.Default != nil && *class.Default; {
		case isDefault && standard != nil:
			f.fail(OriginPurposeDuplicate, field.ErrorTypeDuplicate, path.Child("default"), true, "storage class %s would be the second default, after %s; there can be one only", class.Name, standard)
		case isDefault:
			standard = path
		}
		if f.notEmpty(class.Provisioner, path.Child("provisioner")) {
			f.key(*class.Provisioner, path.Child("provisioner"), strings.ToLower)
		}
		f.storageClassMaps(class, path)
		f.supported(class.ReclaimPolicy, path.Child("reclaimPolicy"), "Delete", "Retain")
		f.supported(class.VolumeBindingMode, path.Child("volumeBindingMode"), "Immediate", "WaitForFirstConsumer")
	}
}

func (f *Findings) storageClassName(name string, at *field.Path, names seen[string]) {
	if before, first := names.first(name, at); !first {
		f.fail(OriginEntryDuplicate, field.ErrorTypeDuplicate, at.Child("name"), name, "%s is a storage class named %s already; rename or remove one of the two", before, name)
	}
	if len(utilvalidation.IsDNS1123Subdomain(name)) > 0 {
		f.fail(OriginValueFormat, field.ErrorTypeInvalid, at.Child("name"), name,
			"storage class %s: Kubernetes allows lower case letters, digits, - and . only, with a letter or digit at the beginning and end, and 253 of them at most", quote(name))
	}
}

// storageClassMaps goes through the maps in the order of their keys.
func (f *Findings) storageClassMaps(class *v1alpha1.StorageClassDefinition, at *field.Path) {
	if _, found := class.Parameters[""]; found {
		f.fail(OriginValueFormat, field.ErrorTypeInvalid, at.Child("parameters").Key(""), "", "a parameter needs a name")
	}
	for _, key := range slices.Sorted(maps.Keys(class.Annotations)) {
		f.key(key, at.Child("annotations").Key(key), strings.ToLower)
	}
	for _, key := range slices.Sorted(maps.Keys(class.Labels)) {
		path := at.Child("labels").Key(key)
		f.key(key, path, strings.Clone)
		for _, problem := range content.IsLabelValue(class.Labels[key]) {
			f.fail(OriginValueFormat, field.ErrorTypeInvalid, path, class.Labels[key], "%s: %s", quote(class.Labels[key]), problem)
		}
	}
}

// key checks what Kubernetes calls a qualified name, after it was normalized: the key of a label, or, where upper and lower
// case are the same, the key of an annotation or the name of a driver.
func (f *Findings) key(key string, at *field.Path, normalized func(string) string) {
	for _, problem := range content.IsLabelKey(normalized(key)) {
		f.fail(OriginValueFormat, field.ErrorTypeInvalid, at, key, "%s: %s", quote(key), problem)
	}
}
