// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/strictjson"
)

// Config is a pointer to a provider's own object: any struct that embeds metav1.TypeMeta.
type Config interface {
	GetObjectKind() schema.ObjectKind
}

// DecodeConfig decodes a provider's own object, which stands at the path at, into into. It accepts nothing but the one
// kind, and no unknown fields, and it reports everything that it refuses at the place where it stands: a config that is
// missing or null (Required), another apiVersion or kind (NotSupported), unknown fields, values of a wrong type. Without
// errors into holds the whole object; otherwise it holds what could be read.
func DecodeConfig(raw *runtime.RawExtension, kind schema.GroupVersionKind, into Config, at *field.Path) field.ErrorList {
	if raw == nil || len(raw.Raw) == 0 || string(raw.Raw) == "null" {
		return field.ErrorList{finding(RuleConfigMissing, field.ErrorTypeRequired, at, nil, fmt.Sprintf(
			"add an object with apiVersion: %s, kind: %s", kind.GroupVersion(), kind.Kind))}
	}
	errs := strictjson.Decode(raw.Raw, into, at, strictjson.Shared[v1beta1.Capabilities]())
	if wrong := checkKind(into.GetObjectKind().GroupVersionKind(), kind, at); len(wrong) > 0 && !onType(errs, at) {
		return wrong // the fields of another kind are not worth reporting
	}
	return errs
}

// onType tells whether apiVersion or kind could not even be read, so that they are reported already.
func onType(errs field.ErrorList, at *field.Path) bool {
	for _, err := range errs {
		if err.Field == at.String() || err.Field == at.Child("apiVersion").String() || err.Field == at.Child("kind").String() {
			return true
		}
	}
	return false
}

func checkKind(got, want schema.GroupVersionKind, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	expect := func(name, got, want string) {
		switch got {
		case want:
		case "":
			errs = append(errs, finding(RuleConfigKind, field.ErrorTypeRequired, at.Child(name), nil,
				fmt.Sprintf("write %s: %s", name, want)))
		default:
			errs = append(errs, finding(RuleConfigKind, field.ErrorTypeNotSupported, at.Child(name), got,
				fmt.Sprintf("this extension reads %s: %s only", name, want)))
		}
	}
	expect("apiVersion", got.GroupVersion().String(), want.GroupVersion().String())
	expect("kind", got.Kind, want.Kind)
	return errs
}
