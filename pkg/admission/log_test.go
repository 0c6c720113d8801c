// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"go.uber.org/zap/zapcore"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/words"
)

// TestFailuresAreLogged sends objects that cannot be judged.
func TestFailuresAreLogged(t *testing.T) {
	e := newEndpoints(t)
	profile := example[map[string]any](t, "cloudprofile.yaml")
	response, logged := e.ask(t, "validate-cloudprofile", profile, map[string]any{"kind": secret, "spec": secret})
	if response.Allowed || !strings.Contains(logged, `"Not judged"`) || !strings.Contains(logged, "the request could not be decoded") ||
		strings.Contains(logged, secret) {
		t.Errorf("a stored object that cannot be decoded: %s", logged)
	}
	e = newEndpointsWith(t, unreachable{what: &v1beta1.CloudProfile{}}, 0)
	response, logged = e.ask(t, "validate-shoot", example[map[string]any](t, "shoot.yaml"), nil)
	if response.Allowed || !strings.Contains(logged, `"Not judged"`) || !strings.Contains(logged, "no answer") {
		t.Errorf("a profile that cannot be read: %s", logged)
	}
	if lines := strings.Count(logged, "\n"); lines != 1 {
		t.Errorf("%d lines at level info", lines)
	}
}

// TestTheLogIsPrintable has a client choose the names in a request.
func TestTheLogIsPrintable(t *testing.T) {
	const hostile = "a\x1b[31m\n\u009b\u202e"
	for _, format := range []zap.Opts{zap.JSONEncoder(), zap.ConsoleEncoder()} {
		var log strings.Builder
		logger := zap.New(zap.WriteTo(&log), zap.Level(zapcore.DebugLevel), format)
		req := &admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Name: hostile, Namespace: hostile, UID: hostile, Operation: hostile, SubResource: hostile,
			UserInfo: authenticationv1.UserInfo{Username: hostile}, Resource: metav1.GroupVersionResource{Resource: hostile},
		}}
		ctx := logf.IntoContext(t.Context(), (&entry{name: "validate-shoot"}).logger(logger, req))
		failed(ctx, errors.New(hostile))
		for line := range strings.Lines(log.String()) {
			if line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", " "); words.Printable(line) != line {
				t.Errorf("the log is %q", line)
			}
		}
		if lines := strings.Count(log.String(), "[31m"); lines < 7 {
			t.Errorf("the words are in the log %d times: %s", lines, log.String())
		}
	}
}
