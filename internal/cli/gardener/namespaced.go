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

	"github.com/capkit/capkit/pkg/namespaced"
)

// ValidateNamespaced runs what Gardener's API server runs on a NamespacedCloudProfile on creation or, unless old is nil, on an update
// of old, whose metadata is ignored: the validation of the object, its own admission with a look at the parent, and the validation of
// what the two result in. As there, each is only run if the one before found nothing, and the last one only for a parent that is right
// itself. Of what admission and the last one say, errors for which ignore is true are left out; nil ignores none. Paths are those of
// the object. The errors are as those of [Server.Validate].
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
		if old.Status.CloudProfileSpec.Type == "" { // of a manifest, which may have no status
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
	if (result || len(errs) > 0) && len(s.validate(parent)) == 0 {
		errs = append(errs, beside(errs, validateResult(object, namespaced.Merge(object, SyncArchitectures(parent))))...)
	}
	if ignore != nil {
		errs = slices.DeleteFunc(errs, ignore)
	}
	return byCore(kept(errs))
}

// beside leaves out errors about lists of a spec of which others have errors already.
func beside(said, errs field.ErrorList) field.ErrorList {
	list := func(err *field.Error) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(err.Field, "spec."), "[")
		return name
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return slices.ContainsFunc(said, func(other *field.Error) bool { return list(other) == list(err) })
	})
}

// withoutDropped leaves out errors about images that a NamespacedCloudProfile loses when it is created, because they say nothing. It is the
// rule of dropInactiveMachineImageVersions (pkg/apiserver/registry/core/namespacedcloudprofile).
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

// admit returns the admission plugin of Gardener's API server for NamespacedCloudProfiles, which looks up parents in an
// informer: what it says about the creation of an object or, unless old is nil, about an update of old. It may change both.
var admit = sync.OnceValue(func() func(object, old runtime.Object, parent *v1beta1.CloudProfile) error {
	plugin, _ := validator.New() // which has no error to return
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

// aboutResult begins the text of an error that validateResult gives piece by piece.
const aboutResult = "error while validating merged NamespacedCloudProfile"

// admitted returns what admit says, as errors with fields: what the object must not change in its parent. If there is none, the other result
// is whether what both result in is refused, of which nothing is said yet.
func admitted(object, old runtime.Object, parent *v1beta1.CloudProfile) (errs field.ErrorList, result bool) {
	err := admit()(object, old, parent)
	var several utilerrors.Aggregate
	switch {
	case err == nil:
		return nil, false
	case strings.HasPrefix(err.Error(), aboutResult):
		return nil, true
	case !errors.As(err, &several): // of the Kubernetes versions the plugin says no more than this
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

// besideLifecycle ends what Gardener says about a version with both a lifecycle and the fields that it replaces. In the result of a
// NamespacedCloudProfile and a parent that are right, the one is the parent's, and the other the NamespacedCloudProfile's.
const besideLifecycle = "in combination with `lifecycle`"

// renderedItem matches the path of a list item that a NamespacedCloudProfile can define, below the spec.
var renderedItem = regexp.MustCompile(`^(machineImages|machineTypes|volumeTypes|kubernetes\.versions)\[(\d+)\](\.versions\[(\d+)\])?`)

// inManifest turns the path of something in a rendered spec into its path in the manifest: at the item of the same
// name, or at the list if there is none.
func inManifest(path string, object *v1beta1.NamespacedCloudProfile, rendered *v1beta1.CloudProfileSpec) string {
	m := renderedItem.FindStringSubmatch(path)
	if m == nil {
		return "spec." + path
	}
	i, _ := strconv.Atoi(m[2]) // which the expression has made sure of
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

// SyncArchitectures returns a copy of a CloudProfile in which the deprecated fields for architectures agree with the
// capabilities, as the API server has it that writes the one from the other.
func SyncArchitectures(object *v1beta1.CloudProfile) *v1beta1.CloudProfile {
	object = object.DeepCopy()
	var spec core.CloudProfileSpec
	if api.Scheme.Convert(&object.Spec, &spec, nil) != nil {
		return object
	}
	gardenerutils.SyncArchitectureCapabilityFields(spec, core.CloudProfileSpec{})
	_ = api.Scheme.Convert(&spec, &object.Spec, nil) // as it went one way, it goes the other
	return object
}
