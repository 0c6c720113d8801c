// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

var reviews = func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	utilruntime.Must(admissionv1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme)
}()

// unversioned is a review of any version; the server decodes into one of these.
type unversioned struct{ admissionv1.AdmissionReview }

// requestOf returns the request that the server reads from a body; nil if it cannot be read, or if the body is too large.
func requestOf(body []byte) *admissionv1.AdmissionRequest {
	const most = 7 << 20
	review := unversioned{}
	review.Request = &admissionv1.AdmissionRequest{}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	request := review.Request
	if _, _, err := reviews.UniversalDeserializer().Decode(body, nil, &review); err != nil || len(body) >= most {
		return nil
	}
	return request
}

// uidOf returns the UID that the answer to a body must have.
func uidOf(body []byte) types.UID {
	if request := requestOf(body); request != nil {
		return request.UID
	}
	return ""
}
