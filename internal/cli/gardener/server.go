// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/features"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/gardenerrules/releases"
	"github.com/capkit/capkit/pkg/words"
)

// Server has the properties of a Gardener API server on which rules depend. The zero value is the compiled-in version with the default
// feature gates. It is safe for concurrent use, but must not be modified meanwhile.
type Server struct {
	// Release is the minor version.
	Release releases.Release
	// gates are the feature gates that differ from the defaults of the compiled-in version.
	gates map[string]bool
}

// NewServer returns the API server of a release. Feature gates that are not named have the release's defaults. The error lists unknown
// names.
func NewServer(release releases.Release, gates map[string]bool) (Server, error) {
	known := release.FeatureGates()
	var errs []error
	for _, gate := range slices.Sorted(maps.Keys(gates)) {
		errs = append(errs, UnknownGate(gate))
	}
	if err := errors.Join(errs...); err != nil {
		return Server{}, err
	}
	maps.Copy(known, gates)
	byDefault := releases.Newest.FeatureGates()
	maps.DeleteFunc(known, func(gate string, enabled bool) bool { return byDefault[gate] == enabled })
	return Server{Release: release, gates: known}, nil
}

// UnknownGate returns an error unless name is a feature gate of gardener-apiserver on which a rule depends.
func UnknownGate(name string) error {
	names := slices.Sorted(maps.Keys(releases.Newest.FeatureGates()))
	if slices.Contains(names, name) {
		return nil
	}
	if meant := words.Closest(name, names); meant != "" {
		return fmt.Errorf("unknown feature gate %s%s", words.Quoted(name), words.DidYouMean(meant))
	}
	return fmt.Errorf("unknown feature gate %s: gardener-apiserver has %s", words.Quoted(name), strings.Join(names, ", "))
}

// Enabled reports whether a feature gate is on. [UnknownGate] must know it.
func (s *Server) Enabled(gate string) bool {
	if enabled, differs := s.gates[gate]; differs {
		return enabled
	}
	return releases.Newest.FeatureGates()[gate]
}

// With returns the server with a feature gate on. [UnknownGate] must know it.
func (s *Server) With(gate string) Server {
	gates := s.Release.FeatureGates()
	for name := range gates {
		gates[name] = name == gate || s.Enabled(name)
	}
	with, _ := NewServer(s.Release, gates) // cannot fail: all are known
	return with
}

// gatesLock is held while the feature gates of the process are those of a [Server]. The validation and the plugins read them.
var gatesLock sync.Mutex

// run calls a function with the server's feature gates.
func (s *Server) run(f func() field.ErrorList) field.ErrorList {
	registerFeatureGates()
	gatesLock.Lock()
	defer gatesLock.Unlock()
	gate := features.DefaultFeatureGate
	before := map[string]bool{}
	for name, enabled := range s.gates {
		if is := gate.Enabled(featuregate.Feature(name)); is != enabled {
			before[name] = is
		}
	}
	if len(before) > 0 {
		defer func() { _ = gate.SetFromMap(before) }() // cannot fail: they are known, and none is locked
		_ = gate.SetFromMap(s.gates)
	}
	return f()
}

// asOf converts the newest release's errors about an object to those of the server's release.
func (s *Server) asOf(object metav1.Object, errs field.ErrorList) field.ErrorList {
	unknown := s.tooNew(object)
	errs = slices.DeleteFunc(errs, func(err *field.Error) bool {
		at := strings.Replace(err.Field, ".machineControllerManagerSettings.", ".machineControllerManager.", 1) // as the validation calls it
		switch {
		case slices.ContainsFunc(unknown, func(u *field.Error) bool { return at == u.Field || strings.HasPrefix(at, u.Field+".") }):
			return true
		case err.Type == field.ErrorTypeForbidden && strings.HasSuffix(err.Detail, "prefix is reserved for Gardener-core capabilities"):
			return !s.Release.Has(releases.ChangeReservedPrefix)
		case err.Origin == RuleAdmission && strings.HasPrefix(err.Field, "spec.networking"):
			shoot, is := object.(*v1beta1.Shoot)
			return is && shoot.Spec.SeedName == nil && !s.Release.Has(releases.ChangeNetworksAtCreate)
		}
		return false
	})
	return append(unknown, errs...)
}

// tooNew returns errors about fields of an object that the release lacks.
func (s *Server) tooNew(object metav1.Object) (errs field.ErrorList) {
	kind := "CloudProfile"
	switch object.(type) {
	case *v1beta1.Shoot:
		kind = "Shoot"
	case *v1beta1.NamespacedCloudProfile: // has the same fields in all releases
		return nil
	}
	missing := s.Release.Fields()
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		path, of := strings.CutPrefix(name, kind+" ")
		if !of {
			continue
		}
		for _, at := range present(reflect.ValueOf(object), strings.Split(path, "."), "") {
			errs = append(errs, &field.Error{Type: field.ErrorTypeForbidden, Field: at, Origin: RuleCore,
				Detail: fmt.Sprintf("Gardener %s does not have this field, which came with %s", s.Release, missing[name])})
		}
	}
	return errs
}

// present returns the paths, with indices, at which a value has a field. An empty list is present, although JSON omits it.
func present(value reflect.Value, path []string, at string) (found []string) {
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	switch {
	case value.Kind() == reflect.Pointer, value.Kind() == reflect.Slice && value.IsNil():
		return nil
	case len(path) == 0:
		return []string{at}
	case value.Kind() == reflect.Slice:
		for i := range value.Len() {
			found = append(found, present(value.Index(i), path, fmt.Sprintf("%s[%d]", at, i))...)
		}
		return found
	}
	for i := range value.NumField() {
		if name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ","); name == path[0] {
			return present(value.Field(i), path[1:], strings.TrimPrefix(at+"."+name, "."))
		}
	}
	return nil
}

// parentTypes refuses machine types of a NamespacedCloudProfile that its parent also has, as old releases do.
func (s *Server) parentTypes(object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile) (errs field.ErrorList) {
	if s.Release.Has(releases.ChangeParentTypes) {
		return nil
	}
	for i, t := range object.Spec.MachineTypes {
		if slices.ContainsFunc(parent.Spec.MachineTypes, func(p v1beta1.MachineType) bool { return p.Name == t.Name }) {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "machineTypes").Index(i),
				fmt.Sprintf("the parent has machine type %s already, and Gardener %s does not let it be listed again", t.Name, s.Release)).WithOrigin(RuleCore))
		}
	}
	return errs
}

// WithArchitecture returns a Shoot whose worker pools without architecture have this Gardener's default. Since v1.149 there is none,
// because Gardener uses the machine type's architecture. The Shoot is not modified; it is returned itself if there is nothing to set.
func (s *Server) WithArchitecture(shoot *v1beta1.Shoot) *v1beta1.Shoot {
	without := func(w v1beta1.Worker) bool { return w.Machine.Architecture == nil }
	if s.Release.Has(releases.ChangeArchitecture) || !slices.ContainsFunc(shoot.Spec.Provider.Workers, without) {
		return shoot
	}
	shoot = shoot.DeepCopy()
	for i := range shoot.Spec.Provider.Workers {
		if w := &shoot.Spec.Provider.Workers[i]; without(*w) {
			w.Machine.Architecture = ptr.To(v1beta1constants.ArchitectureAMD64)
		}
	}
	return shoot
}

// RuleKubernetesUnsupported is the origin of warnings about Kubernetes versions that the landscape's Gardener does not run.
const RuleKubernetesUnsupported = "kubernetes-unsupported"

// Unsupported warns about a profile's Kubernetes versions that this Gardener does not run: its API server accepts them, but its gardenlet
// refuses them. Expired versions are left to [Expired].
func (s *Server) Unsupported(settings v1beta1.KubernetesSettings) (warnings field.ErrorList) {
	for i, v := range settings.Versions {
		if !s.Release.RunsKubernetes(v.Version) && !v1beta1helper.VersionIsExpired(v) {
			warnings = append(warnings, &field.Error{
				Type: field.ErrorTypeNotSupported, Field: field.NewPath("spec", "kubernetes", "versions").Index(i).Child("version").String(),
				BadValue: v.Version, Origin: RuleKubernetesUnsupported,
				Detail: fmt.Sprintf("Kubernetes version %s: Gardener %s runs %s, and does not reconcile Shoots with any other",
					v.Version, s.Release, s.KubernetesRange()),
			})
		}
	}
	return warnings
}

// KubernetesRange returns the range of Kubernetes minor versions that this Gardener runs, like "1.32 to 1.36".
func (s *Server) KubernetesRange() string {
	all := s.Release.Kubernetes()
	return all[0] + " to " + all[len(all)-1]
}
