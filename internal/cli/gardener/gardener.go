// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gardener runs Gardener's own code on manifests: its defaults, its validation, and admission plugins of its API server. cmd/go.mod
// has the version of that code. A [Server] of another version differs by the rules of package gardenerrules.
//
// It is the command's only package that imports Gardener's API server, which is most of the program. All functions use v1beta1 objects, and
// are safe for concurrent use. Only [SetDefaults] modifies its argument.
//
// Start reading at [Server]. namespaced.go checks NamespacedCloudProfiles with their parents, admission.go checks Shoots with their
// profiles.
package gardener

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/api"
	"github.com/gardener/gardener/pkg/api/core/validation"
	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/apiserver/features"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	versionutils "github.com/gardener/gardener/pkg/utils/version"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/words"
)

// RuleCore is the origin of all errors of Gardener's validation.
const RuleCore = "gardener-core"

// The validation of Gardener's API server reads its feature gates, and panics if they are not registered.
var registerFeatureGates = sync.OnceFunc(features.RegisterFeatureGates)

// Validate runs Gardener's own validation on a CloudProfile, NamespacedCloudProfile or Shoot, as its API server would on creation. An
// existing Shoot gets an update of its metadata. For Gardener's other kinds, there are no errors. Fields that clients or Gardener's
// admission fill in may be missing, and malformed Kubernetes versions of a Shoot are left to [ValidateShootIn]. The errors have a stable
// order and text, no duplicates, and the origin [RuleCore].
func (s *Server) Validate(object runtime.Object) field.ErrorList {
	return s.run(func() field.ErrorList { return s.validate(object) })
}

// validate is [Server.Validate] with the current feature gates.
func (s *Server) validate(object runtime.Object) field.ErrorList {
	is, _, errs := converted(object, nil)
	return append(errs, s.asOf(object.(metav1.Object), validated(is, nil))...)
}

// ValidateUpdate runs Gardener's own validation on an update of a CloudProfile, as its API server would. It ignores the metadata of old. It
// does not run the admission, which protects parts in use: see package update. The errors have the form of [Server.Validate].
func (s *Server) ValidateUpdate(updated, old *v1beta1.CloudProfile) field.ErrorList {
	return s.run(func() field.ErrorList {
		is, was, errs := converted(updated, old)
		return append(errs, s.asOf(updated, validated(is, was))...)
	})
}

// converted returns an object, and the old one unless that is nil, as copies in the form that Gardener's validation expects, with defaults.
// Both get the same metadata, because manifests may have been read at different times.
func converted(object, old runtime.Object) (is, was runtime.Object, errs field.ErrorList) {
	convert := func(o runtime.Object) runtime.Object {
		o = o.DeepCopyObject()
		SetDefaults(o)
		if shoot, isShoot := o.(*v1beta1.Shoot); isShoot {
			withoutUnreadable(shoot)
		}
		internal, err := api.Scheme.ConvertToVersion(o, core.SchemeGroupVersion)
		if err != nil {
			errs = append(errs, &field.Error{
				Type: field.ErrorTypeInternal, Detail: fmt.Sprintf("converting the object: %v", err), Origin: RuleCore,
			})
		}
		return internal
	}
	is = convert(object)
	if old != nil {
		was = convert(old)
	}
	if len(errs) > 0 {
		return nil, nil, errs[:1]
	}
	if old != nil {
		now, before := metaOf(is), metaOf(was)
		now.ResourceVersion = "1"
		now.DeepCopyInto(before)
	}
	return is, was, nil
}

func metaOf(object runtime.Object) *metav1.ObjectMeta {
	return object.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// validated returns the errors of Gardener's validation on creation or, unless was is nil, on an update.
func validated(is, was runtime.Object) (errs field.ErrorList) {
	switch o := is.(type) {
	case *core.CloudProfile:
		if was != nil {
			errs = validation.ValidateCloudProfileUpdate(o, was.(*core.CloudProfile))
		} else {
			errs = append(validation.ValidateCloudProfile(o), labelOf(o.Spec.Type)...)
		}
	case *core.NamespacedCloudProfile:
		if was != nil {
			errs = validation.ValidateNamespacedCloudProfileUpdate(o, was.(*core.NamespacedCloudProfile))
		} else {
			errs = validation.ValidateNamespacedCloudProfile(o)
		}
	case *core.Shoot:
		errs = validatedShoot(o)
	}
	return byCore(slices.DeleteFunc(errs, func(err *field.Error) bool {
		return optional.MatchString(err.Field) && (err.Type == field.ErrorTypeRequired || strings.HasSuffix(err.Detail, "because it is unset"))
	}))
}

// validatedShoot validates the creation of a Shoot, or an update of the metadata of an existing one. First it synchronizes fields as the
// API server does. An existing Shoot without a Kubernetes version had an unreadable one.
func validatedShoot(shoot *core.Shoot) field.ErrorList {
	syncDNSProviderCredentials(shoot)
	if exists(shoot) && shoot.Spec.Kubernetes.Version != "" {
		shoot.ResourceVersion = "1"
		before := shoot.DeepCopy()
		gardenerutils.SyncCloudProfileFields(before, shoot)
		errs := validation.ValidateShootUpdate(shoot, before)
		if shoot.Status.LastOperation == nil { // its status has not been read
			errs = slices.DeleteFunc(errs, byStatus)
		}
		return errs
	}
	if !exists(shoot) {
		shoot.Status = core.ShootStatus{}
	}
	gardenerutils.SyncCloudProfileFields(nil, shoot)
	errs := validation.ValidateShoot(shoot)
	if !exists(shoot) {
		errs = append(errs, validation.ValidateForceDeletion(shoot, nil)...)
		errs = append(errs, validation.ValidateFinalizersOnCreation(shoot.Finalizers, field.NewPath("metadata", "finalizers"))...)
		errs = append(errs, validation.ValidateInPlaceUpdateStrategyOnCreation(shoot)...)
	}
	return errs
}

// ofStatus matches errors about operations that the status of a Shoot does not let begin or end.
var ofStatus = regexp.MustCompile(`^cannot (start|complete) |\.status\.|encryption configuration change is currently being rolled out`)

// byStatus reports whether an error is about an operation, requested by an annotation, that depends on the status.
func byStatus(err *field.Error) bool {
	return err.Type == field.ErrorTypeForbidden && strings.HasPrefix(err.Field, "metadata.annotations[") && ofStatus.MatchString(err.Detail)
}

// syncDNSProviderCredentials copies a DNS provider's Secret from the older field to the newer one, or vice versa.
//
// It is the rule of SyncDNSProviderCredentials (pkg/apiserver/registry/core/shoot), which only programs with a storage can link.
func syncDNSProviderCredentials(shoot *core.Shoot) {
	if shoot.Spec.DNS == nil || versionutils.ConstraintK8sGreaterEqual135.CheckVersion(shoot.Spec.Kubernetes.Version) {
		return
	}
	providers := shoot.Spec.DNS.Providers //nolint:staticcheck // as people write it
	for i := range providers {
		name, reference := &providers[i].SecretName, &providers[i].CredentialsRef //nolint:staticcheck // as people write it
		switch is := *reference; {
		case *name != nil && is == nil:
			*reference = &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: **name}
		case *name == nil && is != nil && is.APIVersion == "v1" && is.Kind == "Secret":
			*name = &is.Name
		}
	}
}

// ValidateShoot runs the checks of Gardener's API server on the creation of a Shoot with a profile or, if it exists, on an update of its
// metadata: the admission plugin ShootMutator, the validation, and the plugin ShootValidator. To report everything at once, it runs the
// plugins even if the validation finds errors. Errors of the plugins have the origin [RuleAdmission], the others have the form of
// [Server.Validate]. If profile is nil, ValidateShoot runs the validation alone.
//
// It does not check quotas, permissions, or conflicts with the names and domains of other Shoots.
func (s *Server) ValidateShoot(shoot *v1beta1.Shoot, profile *v1beta1.CloudProfileSpec, beside Beside) field.ErrorList {
	return s.run(func() field.ErrorList {
		is, _, errs := converted(s.WithArchitecture(shoot), nil)
		if len(errs) > 0 || profile == nil {
			return append(errs, s.asOf(shoot, validated(is, nil))...)
		}
		said, judged := shootPlugins().admit(is.(*core.Shoot), profile, beside, func() field.ErrorList { return validated(is, nil) })
		return s.asOf(shoot, append(withoutTaken(shoot, judged), said...))
	})
}

// labelOf refuses a CloudProfile's type if Gardener cannot make a label of it, like the admission plugin ExtensionLabels.
func labelOf(provider string) field.ErrorList {
	if provider == "" { // has an error already
		return nil
	}
	var errs field.ErrorList
	for _, problem := range content.IsLabelKey(v1beta1constants.LabelExtensionProviderTypePrefix + provider) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "type"), provider, "Gardener makes a label of it: "+problem))
	}
	return errs
}

// withoutTaken removes errors about architectures that the Shoot does not set. They come from its machine types, so the profile is wrong.
func withoutTaken(shoot *v1beta1.Shoot, errs field.ErrorList) field.ErrorList {
	taken := sets.New[string]()
	workers := field.NewPath("spec", "provider", "workers")
	for i, w := range shoot.Spec.Provider.Workers {
		if w.Machine.Architecture == nil {
			taken.Insert(workers.Index(i).Child("machine", "architecture").String())
		}
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool { return taken.Has(err.Field) })
}

// byCore prepares Gardener's errors for a report, in place: it sets a stable text and the origin, and removes duplicates. It shortens whole
// objects, and drops regular expressions that the message also explains in words.
func byCore(errs field.ErrorList) field.ErrorList {
	errs = withoutLatest(errs)
	for _, err := range errs {
		err.Detail = withNearest(err, withGate(expression.ReplaceAllString(SortLists(err.Detail), "")))
		err.Origin = RuleCore
		err.BadValue = shown(err.BadValue)
	}
	said := sets.New[string]()
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		text := err.Error()
		repeated := said.Has(text)
		said.Insert(text)
		return repeated
	})
}

// shown returns the value for a message: of a struct its version or name, if it has one.
func shown(value any) any {
	object := reflect.Indirect(reflect.ValueOf(value))
	if object.Kind() != reflect.Struct {
		return value
	}
	for _, name := range []string{"Version", "Name"} {
		if f := object.FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
			return f.String()
		}
	}
	return field.OmitValueType{}
}

// gated matches the name of a feature gate in a message that it is disabled.
var gated = regexp.MustCompile("(?:`(\\w+)` feature gate is disabled|disabled (\\w+) feature gate|[\"'](\\w+)[\"'] feature gate is disabled)")

// withGate appends the remedy to a message about a disabled feature gate.
func withGate(detail string) string {
	found := gated.FindStringSubmatch(detail)
	if found == nil {
		return detail
	}
	return fmt.Sprintf("%s; if your landscape has it enabled, use --feature-gates %s=true, or write it into gardener.featureGates of .capkit.yaml",
		strings.TrimSuffix(detail, "."), cmp.Or(found[1:]...))
}

// withNearest appends a suggestion to a message that lists the supported values, if the given value resembles one. Values of capabilities
// and a profile's architectures are left to callers, which know the registered ones.
func withNearest(err *field.Error, detail string) string {
	list := supportedValues.FindStringSubmatch(detail)
	if err.Type != field.ErrorTypeNotSupported || list == nil || strings.Contains(strings.ToLower(err.Field), "capabilit") ||
		strings.HasPrefix(err.Field, "spec.machine") && strings.Contains(err.Field, "].architecture") {
		return detail
	}
	var known []string
	for value := range strings.SplitSeq(list[1], ", ") {
		known = append(known, strings.Trim(value, `"`))
	}
	if meant := words.Closest(fmt.Sprint(reflect.Indirect(reflect.ValueOf(err.BadValue))), known); meant != "" {
		return detail + words.DidYouMean(meant)
	}
	return detail
}

// expression matches a regular expression at the end of a Kubernetes message that also explains it in words.
var expression = regexp.MustCompile(`, regex used for validation is '[^']*'`)

// withoutLatest removes the error that there is no latest Kubernetes version, if the versions have errors of their own or are missing.
func withoutLatest(errs field.ErrorList) field.ErrorList {
	if !slices.ContainsFunc(errs, func(err *field.Error) bool {
		return strings.HasPrefix(err.Field, "spec.kubernetes.versions[") || err.Type == field.ErrorTypeRequired && err.Field == "spec.kubernetes.versions"
	}) {
		return errs
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return err.Field == "spec.kubernetes.versions" && strings.HasPrefix(err.Detail, "failed to determine the latest kubernetes version")
	})
}

// SetDefaults sets Gardener's defaults in an object, as clients read it from the API server.
func SetDefaults(object runtime.Object) { api.Scheme.Default(object) }

// Recognizes reports whether Gardener's API has a kind in an API version, as GROUP/VERSION.
func Recognizes(apiVersion, kind string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && api.Scheme.Recognizes(gv.WithKind(kind))
}

// optional matches the fields that may be missing in a manifest: clients set the namespace, and Gardener's admission sets fields of a Shoot
// before the validation sees them.
var optional = regexp.MustCompile(`^(metadata\.namespace|spec\.kubernetes\.version|spec\.provider\.workers\[\d+\]\.machine\.image(\.version)?)$`)

// Gardener's validation ranges over maps, so some lists in its messages have a random order.
var (
	supportedValues = regexp.MustCompile(`^supported values: (".*")$`)
	listAtEnd       = regexp.MustCompile(`\(([^()]*,[^()]*)\)$`)
)

// SortLists sorts the lists in a Gardener message whose order has no meaning.
func SortLists(detail string) string {
	if m := supportedValues.FindStringSubmatch(detail); m != nil {
		return "supported values: " + sortList(m[1], ", ")
	}
	return listAtEnd.ReplaceAllStringFunc(detail, func(list string) string {
		return "(" + sortList(list[1:len(list)-1], ",") + ")"
	})
}

func sortList(list, separator string) string {
	items := strings.Split(list, separator)
	slices.Sort(items)
	return strings.Join(items, separator)
}

// Version returns the version of the Gardener code in this program, like v1.150.0, from the build information. It is empty if that has no
// modules, as in tests.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return versionIn(info.Deps)
}

// versionIn returns Gardener's version among a program's modules. For a replaced module, it is the replacement's version, or its path if
// that is a folder.
func versionIn(modules []*debug.Module) string {
	for _, m := range modules {
		if m.Path != "github.com/gardener/gardener" {
			continue
		}
		if m.Replace != nil {
			return cmp.Or(m.Replace.Version, m.Replace.Path)
		}
		return m.Version
	}
	return ""
}
