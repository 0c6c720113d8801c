// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/api"
	"github.com/gardener/gardener/pkg/api/core/validation"
	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apiserver/features"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The validation of Gardener's API server consults its feature gates and panics if they are not registered.
var registerFeatureGates = sync.OnceFunc(features.RegisterFeatureGates)

// validateCore runs Gardener's own validation on an object of version v1beta1, as its API server would on creation. The
// errors come in a stable order, with a stable text, and the rule as their origin. The object is not changed.
func validateCore(object runtime.Object) field.ErrorList {
	registerFeatureGates()
	internal, err := api.Scheme.ConvertToVersion(defaulted(object), core.SchemeGroupVersion)
	if err != nil {
		return field.ErrorList{problem(RuleCore, field.ErrorTypeInternal, "", nil, fmt.Sprintf("converting the object: %v", err))}
	}
	var errs field.ErrorList
	switch o := internal.(type) {
	case *core.CloudProfile:
		errs = validation.ValidateCloudProfile(o)
	case *core.NamespacedCloudProfile:
		errs = validation.ValidateNamespacedCloudProfile(o)
	case *core.Shoot:
		gardenerutils.SyncCloudProfileFields(nil, o) // as the API server does before
		errs = validation.ValidateShoot(o)
	}
	return byCore(slices.DeleteFunc(errs, filledIn))
}

// byCore makes what Gardener says ready to be reported: with a stable text, with the rule as its origin, and once.
func byCore(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		err.Detail = stable(err.Detail)
		err.Origin = RuleCore
	}
	return slices.CompactFunc(errs, func(a, b *field.Error) bool { return a.Error() == b.Error() })
}

// defaulted returns a copy of an object with Gardener's defaults filled in, as everyone sees it who reads it from the API
// server.
func defaulted[T runtime.Object](object T) T {
	filled := object.DeepCopyObject()
	api.Scheme.Default(filled)
	return filled.(T)
}

// left matches what a manifest may leave to others: the namespace to the client that applies it, and fields of a Shoot to
// Gardener's admission, which fills them in before the validation sees it.
var left = regexp.MustCompile(`^(metadata\.namespace|spec\.kubernetes\.version|spec\.provider\.workers\[\d+\]\.machine\.image(\.version)?)$`)

func filledIn(err *field.Error) bool {
	return err.Type == field.ErrorTypeRequired && left.MatchString(err.Field)
}

// Gardener's validation ranges over maps, and so prints some lists in an order that changes from run to run.
var (
	supportedValues = regexp.MustCompile(`^supported values: (".*")$`)
	listAtEnd       = regexp.MustCompile(`\(([^()]*,[^()]*)\)$`)
)

// stable sorts the lists in a message of Gardener's whose order means nothing.
func stable(detail string) string {
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
