// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// Untyped returns the provider with references of type any, so that providers of several clouds fit in one list. It behaves like the given
// provider; [As] finds its other abilities. Its references have the type R, or are nil for the zero R. Encode and ValidateReference return
// an error for a reference of another type. A Provider[any] is returned unchanged.
func Untyped[R any](cloud Provider[R]) Provider[any] {
	if untyped, is := any(cloud).(Provider[any]); is {
		return untyped
	}
	if deriver, derives := As[ReferenceDeriver[R]](cloud); derives {
		return untypedDeriver[R]{untyped[R]{cloud}, deriver}
	}
	return untyped[R]{cloud}
}

// As returns an optional ability of a provider or of its validator: an interface of this package, such as [ListExtender]. It reports
// whether they have it. As looks into the provider of [Untyped], and into any other value with a method Unwrap that returns a provider.
func As[T any](of any) (T, bool) {
	if able, is := of.(T); is {
		return able, true
	}
	if wrapper, wraps := of.(interface{ Unwrap() any }); wraps {
		return As[T](wrapper.Unwrap())
	}
	var none T
	return none, false
}

type untyped[R any] struct{ cloud Provider[R] }

// untypedDeriver is an untyped provider that is a [ReferenceDeriver] as well.
type untypedDeriver[R any] struct {
	untyped[R]
	deriver ReferenceDeriver[R]
}

// DeriveReference implements [ReferenceDeriver].
func (u untypedDeriver[R]) DeriveReference(version ImageVersion, supported v1beta1.Capabilities) (ref any, derived bool) {
	typed, derived := u.deriver.DeriveReference(version, supported)
	return anyOf(typed), derived
}

// Unwrap returns the typed provider.
func (u untyped[R]) Unwrap() any { return u.cloud }

// Type implements [Provider].
func (u untyped[R]) Type() string { return u.cloud.Type() }

// Workers implements [Provider].
func (u untyped[R]) Workers() Workers { return u.cloud.Workers() }

// Decode implements [Provider].
func (u untyped[R]) Decode(raw *runtime.RawExtension, at *field.Path) (Config[any], finding.Report) {
	config, report := u.cloud.Decode(raw, at)
	images := make([]imageselector.Image[any], 0, len(config.Images))
	for _, image := range config.Images {
		versions := make([]imageselector.Version[any], len(image.Versions))
		for i := range image.Versions {
			versions[i], _ = convertVersion(&image.Versions[i], func(ref R) (any, error) { return anyOf(ref), nil })
		}
		images = append(images, imageselector.Image[any]{Name: image.Name, Versions: versions, Path: image.Path})
	}
	return Config[any]{Images: images, Validator: config.Validator}, report
}

// Encode implements [Provider].
func (u untyped[R]) Encode(version imageselector.Version[any], format Format) ([]any, error) {
	typed, err := convertVersion(&version, reference[R])
	if err != nil {
		return nil, err
	}
	return u.cloud.Encode(typed, format)
}

// ValidateReference implements [Provider].
func (u untyped[R]) ValidateReference(ref any, at *field.Path) field.ErrorList {
	typed, err := reference[R](ref)
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}
	return u.cloud.ValidateReference(typed, at)
}

// anyOf returns a reference as any; nil for the zero R.
func anyOf[R any](ref R) any {
	boxed := any(ref)
	if boxed == nil || reflect.ValueOf(boxed).IsZero() {
		return nil
	}
	return boxed
}

// reference converts a reference to R; the zero R for nil.
func reference[R any](ref any) (R, error) {
	typed, is := ref.(R)
	if !is && ref != nil {
		return typed, fmt.Errorf("a reference is a %T, and not a %T", typed, ref)
	}
	return typed, nil
}

// convertVersion returns a version with converted references, which shares everything else.
func convertVersion[A, B any](version *imageselector.Version[A], convert func(A) (B, error)) (imageselector.Version[B], error) {
	converted := imageselector.Version[B]{
		Version: version.Version, Legacy: version.Legacy, Undeclared: version.Undeclared, Path: version.Path,
		Flavors: slices.Grow([]imageselector.Flavor[B](nil), len(version.Flavors)),
	}
	for i := range version.Flavors {
		f := &version.Flavors[i]
		flavor := imageselector.Flavor[B]{
			Capabilities: f.Capabilities, Implied: f.Implied, Unclear: f.Unclear, Path: f.Path,
			Regional: slices.Grow([]imageselector.Regional[B](nil), len(f.Regional)),
		}
		for _, r := range f.Regional {
			ref, err := convert(r.Ref)
			if err != nil {
				return converted, err
			}
			flavor.Regional = append(flavor.Regional, imageselector.Regional[B]{Region: r.Region, Ref: ref, Path: r.Path, NamedAt: r.NamedAt})
		}
		if f.Global != nil {
			ref, err := convert(f.Global.Ref)
			if err != nil {
				return converted, err
			}
			flavor.Global = &imageselector.Global[B]{Ref: ref, Fallback: f.Global.Fallback, Derived: f.Global.Derived, Path: f.Global.Path}
		}
		converted.Flavors = append(converted.Flavors, flavor)
	}
	return converted, nil
}
