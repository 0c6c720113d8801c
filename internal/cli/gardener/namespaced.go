// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/api"
	"github.com/gardener/gardener/pkg/api/core/validation"
	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/client/core/informers/externalversions"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/gardener/gardener/plugin/pkg/namespacedcloudprofile/validator"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/namespaced"
)

// ValidateNamespaced runs the checks of Gardener's API server on the creation of a NamespacedCloudProfile or, unless old is nil, on an
// update of old, whose metadata is ignored. If the validation of the object finds no errors, the admission follows, which compares it with
// the parent and validates the merged profile. Errors of the merged profile are reported for lists without other errors. If the parent is
// invalid, they are reported in what the object adds, unless the parent's vocabulary is wrong. ignore drops errors of the admission; nil drops none. Paths are those of the object. The errors have the form of
// [Server.Validate].
func (s *Server) ValidateNamespaced(
	object, old *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, ignore func(*field.Error) bool,
) field.ErrorList {
	return s.run(func() field.ErrorList { return s.asOf(object, s.validateNamespaced(object, old, parent, ignore)) })
}

func (s *Server) validateNamespaced(
	object, old *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, ignore func(*field.Error) bool,
) field.ErrorList {
	var before runtime.Object
	if old != nil {
		if old.Status.CloudProfileSpec.Type == "" { // a manifest may have no status
			old = old.DeepCopy()
			old.Status.CloudProfileSpec = *namespaced.Merge(old, SyncArchitectures(parent))
		}
		before = old
	}
	is, was, errs := converted(object, before)
	kept := func(errs field.ErrorList) field.ErrorList {
		if old != nil {
			return errs
		}
		return withoutDropped(object, errs)
	}
	if errs = append(errs, kept(validated(is, was))...); len(errs) > 0 {
		return errs
	}
	said, result := admitted(is, was, parent)
	errs = append(s.parentTypes(object, parent), said...)
	if result || len(errs) > 0 {
		ofResult := validateResult(object, namespaced.Merge(object, SyncArchitectures(parent)))
		if ofParent := s.validate(parent); len(ofParent) > 0 {
			ofResult = inAdded(ofResult, ofParent, object)
		}
		errs = append(errs, beside(errs, ofResult)...)
	}
	if ignore != nil {
		errs = slices.DeleteFunc(errs, ignore)
	}
	told := ""
	for _, err := range errs {
		if cause := notExtended(err, object); cause != told {
			err.Detail += cause
			told = cause
		}
	}
	return byCore(kept(errs))
}

// beside removes errors about lists of the spec that have errors in said.
func beside(said, errs field.ErrorList) field.ErrorList {
	list := func(err *field.Error) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(err.Field, "spec."), "[")
		return name
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return slices.ContainsFunc(said, func(other *field.Error) bool { return list(other) == list(err) })
	})
}

// withoutDropped removes errors about images without content, which Gardener drops when it creates a NamespacedCloudProfile. It is the rule
// of dropInactiveMachineImageVersions (pkg/apiserver/registry/core/namespacedcloudprofile).
func withoutDropped(object *v1beta1.NamespacedCloudProfile, errs field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		for i := range object.Spec.MachineImages {
			image := &object.Spec.MachineImages[i]
			if len(image.Versions) == 0 && ptr.Deref(image.UpdateStrategy, "") == "" &&
				strings.HasPrefix(err.Field, field.NewPath("spec", "machineImages").Index(i).String()) {
				return true
			}
		}
		return false
	})
}

// admit returns a function that runs the admission plugin of Gardener's API server for NamespacedCloudProfiles. It checks the creation of
// an object or, unless old is nil, an update of old, and may modify both. The plugin looks up the parent in an informer.
var admit = sync.OnceValue(func() func(object, old runtime.Object, parent *v1beta1.CloudProfile) error {
	plugin, _ := validator.New() // never returns an error
	informers := externalversions.NewSharedInformerFactory(nil, 0)
	plugin.SetCoreInformerFactory(informers)
	plugin.AssignReadyFunc(func() bool { return true })
	parents := informers.Core().V1beta1().CloudProfiles().Informer().GetIndexer()
	return func(object, old runtime.Object, parent *v1beta1.CloudProfile) error {
		operation, options := admission.Create, runtime.Object(&metav1.CreateOptions{})
		if old != nil {
			operation, options = admission.Update, &metav1.UpdateOptions{}
		}
		return errors.Join(parents.Add(parent), plugin.Validate(context.Background(), admission.NewAttributesRecord(
			object, old, v1beta1.SchemeGroupVersion.WithKind("NamespacedCloudProfile"), metaOf(object).Namespace, metaOf(object).Name,
			v1beta1.SchemeGroupVersion.WithResource("namespacedcloudprofiles"), "", operation,
			options, false, nil), nil), parents.Delete(parent))
	}
})

// aboutResult is the beginning of an error that validateResult replaces with separate ones.
const aboutResult = "error while validating merged NamespacedCloudProfile"

// admitted returns the errors of the admission about the object and its parent, with fields. If there are none, result reports whether the
// admission refuses the merged profile; [validateResult] has these errors.
func admitted(object, old runtime.Object, parent *v1beta1.CloudProfile) (errs field.ErrorList, result bool) {
	err := admit()(object, old, parent)
	var several utilerrors.Aggregate
	switch {
	case err == nil:
		return nil, false
	case strings.HasPrefix(err.Error(), aboutResult):
		return nil, true
	case !errors.As(err, &several): // an error about Kubernetes versions has no field
		return field.ErrorList{field.Invalid(field.NewPath("spec", "kubernetes", "versions"), field.OmitValueType{}, err.Error())}, false
	}
	for _, err := range several.Errors() {
		var at *field.Error
		if !errors.As(err, &at) {
			at = field.Invalid(field.NewPath("spec"), field.OmitValueType{}, err.Error())
		}
		errs = append(errs, at)
	}
	return errs, false
}

func validateResult(object *v1beta1.NamespacedCloudProfile, rendered *v1beta1.CloudProfileSpec) field.ErrorList {
	var spec core.CloudProfileSpec
	if err := api.Scheme.Convert(rendered, &spec, nil); err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
	}
	errs := validation.ValidateNamespacedCloudProfileStatus(&spec, nil)
	for _, err := range errs {
		err.Field = inManifest(err.Field, object, rendered)
		if strings.HasSuffix(err.Detail, besideLifecycle) && strings.HasSuffix(err.Field, "]") {
			err.Detail += fmt.Sprintf("; the parent, CloudProfile %s, gives this version a lifecycle, and Gardener takes nothing but an expirationDate "+
				"over from here, which cannot stand beside it: remove the version here, and change the lifecycle in the parent", object.Spec.Parent.Name)
		}
	}
	return errs
}

// besideLifecycle is the end of Gardener's error about a version with both a lifecycle and the fields that it replaces. In the merged
// profile of valid objects, the lifecycle is the parent's, and the fields are the NamespacedCloudProfile's.
const besideLifecycle = "in combination with `lifecycle`"

// notExtended continues an error about a missing part of an image version that has only an expirationDate, as one that extends a version of
// the parent. A version that the parent has would have its parts. For other errors it returns "".
func notExtended(err *field.Error, object *v1beta1.NamespacedCloudProfile) string {
	image, v := versionAt(err.Field, object)
	if err.Type != field.ErrorTypeRequired || v == nil || !gardenerrules.Extends(v) {
		return ""
	}
	return fmt.Sprintf("; the parent, CloudProfile %s, has no %s@%s that this could extend: correct the version, remove it, or complete it",
		object.Spec.Parent.Name, image.Name, v.Version)
}

// versionAt returns the image version in which a path of an object is, and its image; nil if it is in none.
func versionAt(path string, object *v1beta1.NamespacedCloudProfile) (*v1beta1.MachineImage, *v1beta1.MachineImageVersion) {
	m := renderedItem.FindStringSubmatch(strings.TrimPrefix(path, "spec."))
	if len(m) == 0 || m[1] != "machineImages" || m[3] == "" {
		return nil, nil
	}
	i, _ := strconv.Atoi(m[2]) // digits, because of the expression
	k, _ := strconv.Atoi(m[4])
	if i >= len(object.Spec.MachineImages) || k >= len(object.Spec.MachineImages[i].Versions) {
		return nil, nil
	}
	return &object.Spec.MachineImages[i], &object.Spec.MachineImages[i].Versions[k]
}

// inAdded returns the errors in machine types, volume types and image versions that an object adds to an invalid parent. There are none if
// the parent's vocabulary is wrong, because that may be their cause.
func inAdded(errs, ofParent field.ErrorList, object *v1beta1.NamespacedCloudProfile) field.ErrorList {
	if slices.ContainsFunc(ofParent, func(err *field.Error) bool { return strings.HasPrefix(err.Field, "spec.machineCapabilities") }) {
		return nil
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		_, v := versionAt(err.Field, object)
		return (v == nil || gardenerrules.Extends(v)) && !addedType.MatchString(err.Field)
	})
}

// addedType matches the path of what is in a machine type or volume type.
var addedType = regexp.MustCompile(`^spec\.(machineTypes|volumeTypes)\[`)

// renderedItem matches the path, below the spec, of a list item that a NamespacedCloudProfile can define.
var renderedItem = regexp.MustCompile(`^(machineImages|machineTypes|volumeTypes|kubernetes\.versions)\[(\d+)\](\.versions\[(\d+)\])?`)

// inManifest converts a path in the merged spec to the path in the manifest: of the item with the same name, or of the list if there is
// none.
func inManifest(path string, object *v1beta1.NamespacedCloudProfile, rendered *v1beta1.CloudProfileSpec) string {
	m := renderedItem.FindStringSubmatch(path)
	if m == nil {
		return "spec." + path
	}
	i, _ := strconv.Atoi(m[2]) // digits, because of the expression
	own, at := &object.Spec, -1
	switch m[1] {
	case "machineImages":
		at = slices.IndexFunc(own.MachineImages, func(o v1beta1.MachineImage) bool { return o.Name == rendered.MachineImages[i].Name })
	case "machineTypes":
		at = slices.IndexFunc(own.MachineTypes, func(o v1beta1.MachineType) bool { return o.Name == rendered.MachineTypes[i].Name })
	case "kubernetes.versions":
		if own.Kubernetes != nil {
			version := rendered.Kubernetes.Versions[i].Version
			at = slices.IndexFunc(own.Kubernetes.Versions, func(o v1beta1.ExpirableVersion) bool { return o.Version == version })
		}
	case "volumeTypes":
		at = slices.IndexFunc(own.VolumeTypes, func(o v1beta1.VolumeType) bool { return o.Name == rendered.VolumeTypes[i].Name })
	}
	if at < 0 {
		return "spec." + m[1]
	}
	item, rest := fmt.Sprintf("spec.%s[%d]", m[1], at), path[len(m[0]):]
	if m[3] == "" {
		return item + rest
	}
	k, _ := strconv.Atoi(m[4])
	version := rendered.MachineImages[i].Versions[k].Version
	if k = slices.IndexFunc(own.MachineImages[at].Versions, func(o v1beta1.MachineImageVersion) bool { return o.Version == version }); k < 0 {
		return item + ".versions"
	}
	return fmt.Sprintf("%s.versions[%d]%s", item, k, rest)
}

// SyncArchitectures returns a copy of a CloudProfile whose deprecated architecture fields agree with the capabilities, as the API server
// synchronizes them.
func SyncArchitectures(object *v1beta1.CloudProfile) *v1beta1.CloudProfile {
	object = object.DeepCopy()
	var spec core.CloudProfileSpec
	if api.Scheme.Convert(&object.Spec, &spec, nil) != nil {
		return object
	}
	gardenerutils.SyncArchitectureCapabilityFields(spec, core.CloudProfileSpec{})
	_ = api.Scheme.Convert(&spec, &object.Spec, nil) // the reverse of a successful conversion
	return object
}
