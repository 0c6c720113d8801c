// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/finding"
)

// maxName is what names of objects and of users are cut at in the log. No API server has longer ones of objects.
const maxName = 253

// logger returns the logger for a request to the webhook. It names the object and who wrote it, printable, and never
// shows a part of the object: errors about requests that could not be decoded quote them, so that only the fact is logged.
func (e *entry) logger(base logr.Logger, req *admission.Request) logr.Logger {
	base = base.WithValues("webhook", e.name)
	if req == nil {
		return base.WithSink(discreet{base.GetSink()})
	}
	return base.WithValues("resource", shown(req.Resource.Resource, maxName), "subresource", shown(req.SubResource, maxName),
		"operation", operationOf(*req), "object", klog.KRef(shown(req.Namespace, maxName), shown(req.Name, maxName)),
		"user", shown(req.UserInfo.Username, maxName), "requestID", shown(string(req.UID), maxName))
}

// discreet is a sink that leaves out what errors say.
type discreet struct{ logr.LogSink }

// Error logs the message alone.
func (d discreet) Error(_ error, message string, keysAndValues ...any) {
	d.LogSink.Info(0, message, keysAndValues...)
}

// logRefusal says that an object is refused, by which rules, and how many errors there are. What they say may quote the
// object, and is left to the answer.
func logRefusal(ctx context.Context, report finding.Report) {
	if len(report.Errors) == 0 {
		return
	}
	rules := sets.New[string]()
	for _, err := range report.Errors {
		rules.Insert(err.Origin)
	}
	logf.FromContext(ctx).Info("Refused", "errors", len(report.Errors), "rules", sets.List(rules))
}
