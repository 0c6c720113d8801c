// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/capkit/capkit/pkg/words"
)

// why returns the reason of an error in words that follow a service's name. It contains no secrets.
func (s *Session) why(err error) string { return words.Printable(s.hidden(s.reason(err))) }

// hidden replaces the secrets in a text. It only finds them unchanged, so call it before shortening the text or changing its spaces.
func (s *Session) hidden(text string) string {
	for _, secret := range slices.Concat(s.cloud.secrets, []string{s.client.Token()}) {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}

func (s *Session) reason(err error) string {
	var slow slowError
	var dns *net.DNSError
	var op *net.OpError
	var reauthentication *gophercloud.ErrUnableToReauthenticate
	var address *url.Error
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &reauthentication):
		return "no longer accepts the token, and there is no new one: Keystone " + s.reason(reauthentication.ErrReauth)
	case statusOf(err) != 0:
		return s.answered(err)
	case errors.As(err, &slow):
		return slow.Error()
	case errors.As(err, &record) || errors.Is(err, http.ErrSchemeMismatch):
		return "does not speak TLS, and its URL begins with https"
	case untrusted(err):
		return fmt.Sprintf("has a certificate that is not trusted: %v; name the one that it is signed by as cacert", root(err))
	case errors.Is(err, context.Canceled):
		return "was not waited for"
	case errors.As(err, &dns):
		return fmt.Sprintf("cannot be reached: %s has no address", dns.Name)
	case errors.As(err, &op):
		return fmt.Sprintf("cannot be reached: %v", op)
	case errors.As(err, &address):
		return fmt.Sprintf("cannot be reached: %v", address.Err)
	}
	return err.Error()
}

// inner returns the original error of a request that was repeated with a new token. gophercloud wraps it in an error without Unwrap.
func inner(err error) error {
	var again *gophercloud.ErrErrorAfterReauthentication
	if errors.As(err, &again) {
		return again.ErrOriginal
	}
	return err
}

// root returns the innermost error.
func root(err error) error {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}

// statuses explains HTTP statuses in words.
var statuses = map[int]string{
	http.StatusUnauthorized:    ", so it does not accept who asks",
	http.StatusForbidden:       ", so the role may not read it",
	http.StatusNotFound:        ", so there is no such API",
	http.StatusTooManyRequests: ", so it is asked too often",
}

// answered returns the status of a service's answer, and the service's own message.
func (s *Session) answered(err error) string {
	var response gophercloud.ErrUnexpectedResponseCode
	errors.As(err, &response)
	text := fmt.Sprintf("answers %d%s", response.Actual, statuses[response.Actual])
	if wait := response.ResponseHeader.Get("Retry-After"); wait != "" && response.Actual == http.StatusTooManyRequests {
		text += "; it asks to wait " + wait + " s"
	}
	if said := strings.Join(strings.Fields(s.hidden(message(response.Body))), " "); said != "" {
		const most = 200
		if short := []rune(said); len(short) > most {
			said = string(short[:most]) + "…"
		}
		text += ": " + said
	}
	return text
}

// statusOf returns the HTTP status of an error; 0 if it has none.
func statusOf(err error) int {
	var response gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &response) {
		return response.Actual
	}
	return 0
}
