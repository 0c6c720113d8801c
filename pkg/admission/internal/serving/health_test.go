// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
)

func TestValidCertificate(t *testing.T) {
	c := &certificate{log: logr.Discard(), folder: t.TempDir(), reader: &trusting{}}
	if err := c.valid(time.Now(), time.Hour); err == nil {
		t.Error("there is no certificate, and no error")
	}
	issue(t, c.folder, 24*time.Hour, time.Hour)
	now := time.Now()
	if err := c.check(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		at, expired time.Duration
		want        string
	}{
		{0, 0, ""},
		{59 * time.Minute, 0, ""},
		{61 * time.Minute, 0, "the certificate has expired at "},
		{61 * time.Minute, maxExpired, ""},
		{time.Hour + maxExpired + time.Minute, maxExpired, "the certificate has expired at "},
		{-24 * time.Hour, 0, "the certificate is not valid before "},
	} {
		err := c.valid(now.Add(test.at), test.expired)
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("after %s: %v", test.at, err)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	var s *server
	t.Run("while it runs", func(t *testing.T) { s = startServer(t, echo, patient) })
	if err := s.listening(&http.Request{}); err == nil || !strings.HasPrefix(err.Error(), "the webhook server cannot be reached") {
		t.Errorf("it has stopped, and listens: %v", err)
	}
}
