// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// discreetLogger returns the logger for a request. It names the object and who wrote it, and never shows a part of a
// request: errors about requests that could not be decoded quote them, so that only the fact is logged.
func discreetLogger(base logr.Logger, req *admission.Request) logr.Logger {
	if req == nil {
		return base.WithSink(discreet{base.GetSink()})
	}
	return base.WithValues("resource", req.Resource.Resource, "subresource", req.SubResource, "operation", req.Operation,
		"object", klog.KRef(req.Namespace, req.Name), "user", req.UserInfo.Username, "requestID", req.UID)
}

// discreet is a sink that leaves out what errors say.
type discreet struct{ logr.LogSink }

// Error logs the message alone.
func (d discreet) Error(_ error, message string, keysAndValues ...any) {
	d.LogSink.Info(0, message, keysAndValues...)
}
