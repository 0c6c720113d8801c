// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/strictjson"
)

// object is what a webhook is about: a pointer to T.
type object[T any] interface {
	*T
	client.Object
}

// handle returns the handler for objects of a kind that are created or updated. respond is given the object, and a
// function that returns the one that is stored, nil on creation, which is decoded only if it is asked for. Objects that
// are being deleted need not be right, and are admitted as they are.
//
// A request gets as much time as the API server gives it, unless that hangs up before.
func handle[T any, P object[T]](
	kind schema.GroupVersionKind,
	respond func(ctx context.Context, object P, old func() (P, error)) admission.Response,
) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, req admission.Request) admission.Response {
		switch req.Operation {
		case admissionv1.Create, admissionv1.Update:
		case admissionv1.Delete, admissionv1.Connect:
			return admission.Allowed("")
		default: // there may be no request at all
			return unusable("the request has no operation that is known")
		}
		ctx, cancel := context.WithTimeout(ctx, timeoutSeconds*time.Second)
		defer cancel()
		object, err := decode[T, P](kind, req.Object)
		if err != nil {
			return unusable("object: " + err.Error())
		}
		if object.GetDeletionTimestamp() != nil {
			return admission.Allowed("")
		}
		return respond(ctx, object, sync.OnceValues(func() (P, error) {
			if req.Operation == admissionv1.Create {
				return nil, nil
			}
			return decode[T, P](kind, req.OldObject)
		}))
	})
}

// undecodable says what is wrong with the objects of a request, and may quote them.
type undecodable struct{ reason string }

func (u undecodable) Error() string { return u.reason }

// decode decodes the object of a request. The API server has decoded and written it, so that nothing in it needs to be
// reported. The decoder of Kubernetes takes two to three times as long for a large CloudProfile. What is wrong with a
// Secret the error does not say, since it might quote it.
func decode[T any, P object[T]](kind schema.GroupVersionKind, raw runtime.RawExtension) (P, error) {
	into := P(new(T))
	if len(raw.Raw) == 0 {
		return nil, undecodable{"the request has none"}
	}
	err := strictjson.Unmarshal(raw.Raw, into,
		strictjson.Shared[v1beta1.MachineImageFlavor](), strictjson.Shared[v1beta1.Capabilities]())
	switch got := into.GetObjectKind().GroupVersionKind(); {
	case kind == kindSecret && (err != nil || got != kind):
		return nil, undecodable{"not a " + kind.Kind}
	case err != nil:
		return nil, undecodable{fmt.Sprintf("not a %s: %v", kind.Kind, err)}
	case got != kind:
		return nil, undecodable{fmt.Sprintf("it is a %s, not a %s", got, kind)}
	}
	return into, nil
}
