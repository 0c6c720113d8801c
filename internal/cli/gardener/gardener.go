// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gardener runs Gardener's own code on manifests: its defaults, its validation, and admission plugins of its
// API server. The version of that code is the one in cmd/go.mod; a [Server] of another version differs by what package gardenerrules knows.
//
// It is the only package of the command with Gardener's API server among its imports, which is most of the program. All
// functions take and return objects of version v1beta1, change none of them, and may be called concurrently.
//
// Start reading at [Server]; namespaced.go is about NamespacedCloudProfiles and their parents, admission.go about Shoots and their profiles.
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

// RuleCore is the origin of everything that Gardener's validation says.
const RuleCore = "gardener-core"

// The validation of Gardener's API server consults its feature gates and panics if they are not registered.
var registerFeatureGates = sync.OnceFunc(features.RegisterFeatureGates)

// Validate runs Gardener's own validation on a CloudProfile, NamespacedCloudProfile or Shoot, as its API server would
// on creation; about other objects it says nothing. What a manifest may leave to others to fill in may be missing, and what is
// no version of Kubernetes in a Shoot is for [ValidateShootIn]. The errors come in a stable order, with a stable text, each once,
// and have [RuleCore] as their origin.
func (s *Server) Validate(object runtime.Object) field.ErrorList {
	return s.run(func() field.ErrorList { return s.validate(object) })
}

// validate is [Server.Validate] with the feature gates as they are.
func (s *Server) validate(object runtime.Object) field.ErrorList {
	is, _, errs := converted(object, nil)
	return append(errs, s.asOf(object.(metav1.Object), validated(is, nil))...)
}

// ValidateUpdate runs Gardener's own validation on an update of a CloudProfile, as its API server would. What its admission
// says about those who use what the update takes away is not in it; package update has that. The metadata of old is ignored.
// The errors are as those of [Server.Validate].
func (s *Server) ValidateUpdate(updated, old *v1beta1.CloudProfile) field.ErrorList {
	return s.run(func() field.ErrorList {
		is, was, errs := converted(updated, old)
		return append(errs, s.asOf(updated, validated(is, was))...)
	})
}

// converted returns an object, and the one before an update unless that is nil, as Gardener's validation takes them: copies with
// its defaults. Both have the same metadata, because manifests may have been read at different times.
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

// validated returns what Gardener's validation says about the creation of an object or, unless was is nil, about its update.
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
	return byCore(slices.DeleteFunc(errs, filledIn))
}

// validatedShoot is validated for a Shoot, which is an update of its metadata if it exists. Before, it is made what the API server makes
// of it. One that exists has a version of Kubernetes, unless what it has could not be read.
func validatedShoot(shoot *core.Shoot) field.ErrorList {
	syncDNSProviderCredentials(shoot)
	if exists(shoot) && shoot.Spec.Kubernetes.Version != "" {
		shoot.ResourceVersion = "1"
		before := shoot.DeepCopy()
		gardenerutils.SyncCloudProfileFields(before, shoot)
		errs := validation.ValidateShootUpdate(shoot, before)
		if shoot.Status.LastOperation == nil { // then its status has not been read
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

// ofStatus matches what is said of an operation that the status of a Shoot does not let begin or end.
var ofStatus = regexp.MustCompile(`^cannot (start|complete) |\.status\.|encryption configuration change is currently being rolled out`)

// byStatus reports whether an error is about an operation that an annotation asks for, and about the status.
func byStatus(err *field.Error) bool {
	return err.Type == field.ErrorTypeForbidden && strings.HasPrefix(err.Field, "metadata.annotations[") && ofStatus.MatchString(err.Detail)
}

// syncDNSProviderCredentials writes the older field for the Secret of a DNS provider from the newer one, or the other way round.
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

// ValidateShoot runs on a Shoot what Gardener's API server runs when it is created with a profile or, if it has been, when its metadata
// are updated: the admission plugin ShootMutator, the validation, and the plugin ShootValidator. The plugins are run even if the
// validation has found something, so that all is said at once. What the plugins say has [RuleAdmission] as its origin, everything else
// is as [Server.Validate] has it. A profile that is nil is not known: then there is the validation alone.
//
// Quotas, names and domains that others have, and rights are not looked at.
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

// labelOf refuses a type of a CloudProfile of which Gardener cannot make a label, as its admission plugin ExtensionLabels does.
func labelOf(provider string) field.ErrorList {
	if provider == "" { // which has an error already
		return nil
	}
	var errs field.ErrorList
	for _, problem := range content.IsLabelKey(v1beta1constants.LabelExtensionProviderTypePrefix + provider) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "type"), provider, "Gardener makes a label of it: "+problem))
	}
	return errs
}

// withoutTaken leaves out errors about architectures that a Shoot does not name: they are those of its machine types, whose profile is wrong.
func withoutTaken(shoot *v1beta1.Shoot, errs field.ErrorList) field.ErrorList {
	workers := field.NewPath("spec", "provider", "workers")
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		for i, w := range shoot.Spec.Provider.Workers {
			if w.Machine.Architecture == nil && err.Field == workers.Index(i).Child("machine", "architecture").String() {
				return true
			}
		}
		return false
	})
}

// byCore makes what Gardener says ready to be reported: with a stable text, with the rule as its origin, and once. It leaves out
// what only makes it long: whole objects as Go has them, and regular expressions behind the words that say the same.
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

// shown returns what a message shows of a value: of an object its version or name, if it has one.
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

// gated matches the name of a feature gate where a message says that it is disabled.
var gated = regexp.MustCompile("(?:`(\\w+)` feature gate is disabled|disabled (\\w+) feature gate|[\"'](\\w+)[\"'] feature gate is disabled)")

// withGate adds to a message that refuses something because of a feature gate what to do about it.
func withGate(detail string) string {
	found := gated.FindStringSubmatch(detail)
	if found == nil {
		return detail
	}
	return fmt.Sprintf("%s; if your landscape has it enabled, use --feature-gates %s=true, or write it into gardener.featureGates of .capkit.yaml",
		strings.TrimSuffix(detail, "."), cmp.Or(found[1:]...))
}

// withNearest adds to a message that names all supported values which of them is meant, if the value that there is looks like one. The
// values of capabilities, and a profile's architectures, are for those who know what it registers.
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

// expression matches the end of a message of Kubernetes that has said already in words what the expression does.
var expression = regexp.MustCompile(`, regex used for validation is '[^']*'`)

// withoutLatest leaves out that the latest version of Kubernetes cannot be found, where the versions have errors of their own, or
// there are none.
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

// SetDefaults fills Gardener's defaults into an object, as everyone sees it who reads it from the API server.
func SetDefaults(object runtime.Object) { api.Scheme.Default(object) }

// Recognizes reports whether Gardener's API has a kind in an API version, as GROUP/VERSION.
func Recognizes(apiVersion, kind string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && api.Scheme.Recognizes(gv.WithKind(kind))
}

// optional matches what a manifest may leave to others: the namespace to the client that applies it, and fields of a
// Shoot to Gardener's admission, which fills them in before the validation sees it.
var optional = regexp.MustCompile(`^(metadata\.namespace|spec\.kubernetes\.version|spec\.provider\.workers\[\d+\]\.machine\.image(\.version)?)$`)

// filledIn reports whether an error is about a field that is missing in a manifest only.
func filledIn(err *field.Error) bool {
	return err.Type == field.ErrorTypeRequired && optional.MatchString(err.Field)
}

// Gardener's validation ranges over maps, and so prints some lists in an order that changes from run to run.
var (
	supportedValues = regexp.MustCompile(`^supported values: (".*")$`)
	listAtEnd       = regexp.MustCompile(`\(([^()]*,[^()]*)\)$`)
)

// SortLists sorts the lists in a message of Gardener's whose order means nothing.
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

// Version returns the version of Gardener whose code this package runs, like v1.150.0, as the program's build
// information has it. It is empty if that names no modules, as in tests.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return versionIn(info.Deps)
}

// versionIn returns the version of Gardener among the modules of a program; of one that is replaced it is the
// replacement's, or its path if that is a folder.
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
