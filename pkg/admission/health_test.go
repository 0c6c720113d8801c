// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
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
	issue(t, c.folder, time.Hour)
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
		{61 * time.Minute, mostExpired, ""},
		{time.Hour + mostExpired + time.Minute, mostExpired, "the certificate has expired at "},
		{-24 * time.Hour, 0, "the certificate is not valid before "},
	} {
		err := c.valid(now.Add(test.at), test.expired)
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("after %s: %v", test.at, err)
		}
	}
}

func TestUsableCertificate(t *testing.T) {
	reader := &trusting{}
	c := &certificate{log: logr.Discard(), folder: t.TempDir(), reader: reader}
	authority := issue(t, c.folder, time.Hour)
	now := time.Now()
	if err := c.check(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	another := issue(t, t.TempDir(), time.Hour)
	for _, test := range []struct {
		name   string
		reader trusting
		want   bool
	}{
		{"no webhooks yet", trusting{}, true},
		{"no authority yet", trusting{bundle: []byte{}}, true},
		{"an authority of long ago", trusting{bundle: another}, false},
		{"the API server is gone, and nothing new is known", trusting{err: errors.New("no API server")}, false},
		{"trusted", trusting{bundle: authority}, true},
		{"the API server is gone, and it was trusted", trusting{err: errors.New("no API server")}, true},
		{"another authority", trusting{bundle: another}, false},
		{"another authority for some of the webhooks", trusting{bundle: another, mutating: authority}, true},
		{"another authority again", trusting{bundle: another}, false},
	} {
		*reader = test.reader
		c.measure(t.Context())
		if err := c.usable(now); (err == nil) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	issue(t, c.folder, time.Hour)
	if err := c.check(t.Context(), now.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := c.usable(now); err != nil {
		t.Errorf("what was found out about another certificate: %v", err)
	}
	if err := c.usable(now.Add(2 * time.Hour)); err == nil {
		t.Error("it has expired, and is usable")
	}
}

func TestNobodyListens(t *testing.T) {
	var s *server
	t.Run("while it runs", func(t *testing.T) { s = startServer(t, echo, "VersionTLS13") })
	if err := s.listening(&http.Request{}); err == nil || !strings.HasPrefix(err.Error(), "the webhook server cannot be reached") {
		t.Errorf("it has stopped, and listens: %v", err)
	}
}
