// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gophercloud/gophercloud/v2"

	"github.com/capkit/capkit/pkg/words"
)

// service describes a service of OpenStack for errors.
type service struct {
	// name is the service's name, and host its host, with the port if the URL has one.
	name, host string
	// fields names the source of the URL.
	fields string
	// secrets must not appear in errors.
	secrets []string
}

var errNoGroup = errors.New("there is no server group in its answer")

// hostOf returns only the host of a URL.
func hostOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", errors.New("this is not a URL with a host")
	}
	return u.Host, nil
}

// failure converts an error of the service into one with error codes and a printable text. doing is the failed operation; it is empty if
// the caller adds it. The error wraps ErrNotFound if the object does not exist.
func (s *service) failure(doing string, err error) error {
	f := s.explain(err)
	if doing != "" {
		f.text = doing + ": " + f.text
	}
	f.text = words.Printable(s.withoutSecrets(f.text))
	return f
}

// withoutSecrets replaces secrets in a text. It finds only exact matches, so call it before the text is shortened or its white space
// changes.
func (s *service) withoutSecrets(text string) string {
	for _, secret := range s.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "...")
		}
	}
	return text
}

func (s *service) explain(err error) *failure {
	var answer gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &answer) {
		return s.refusal(&answer)
	}
	at := "the " + s.name + " at " + s.host
	f := &failure{away: true} // the error itself is not wrapped, since it may contain anything
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) {
			f.causes = []error{end}
		}
	}
	var (
		timeout     net.Error
		unknownCA   x509.UnknownAuthorityError
		certificate *tls.CertificateVerificationError
	)
	switch {
	case errors.Is(err, context.Canceled):
		f.text = "interrupted while waiting for " + at
	case errors.As(err, &timeout) && timeout.Timeout():
		f.text = at + " does not answer in time; check that it is up and can be reached from the seed"
	case errors.As(err, &unknownCA), errors.As(err, &certificate):
		f.text = at + " has a certificate that cannot be trusted: " + causeOf(err) +
			"; check keystoneCACert and the caCert of keystoneURLs in the CloudProfile"
		f.codes = []v1beta1.ErrorCode{v1beta1.ErrorConfigurationProblem}
	case errors.As(err, new(*net.OpError)), errors.As(err, new(*url.Error)):
		f.text = at + " cannot be reached: " + causeOf(err) + "; check " + s.fields + ", and that it is up"
	default:
		f.text = at + " gives an answer that cannot be read: " + causeOf(err) + "; check " + s.fields
	}
	return f
}

// causeOf returns the innermost part of a network error. It has no local port and no URL, so the same error has the same text each time.
func causeOf(err error) string {
	var operation *net.OpError
	if errors.As(err, &operation) {
		return operation.Err.Error()
	}
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err.Error()
	}
	return err.Error()
}

// refusal returns the error for a response with an unsuccessful status.
func (s *service) refusal(answer *gophercloud.ErrUnexpectedResponseCode) *failure {
	said := s.wordsOf(answer.Body)
	f := &failure{text: fmt.Sprintf("the %s at %s answers %d", s.name, s.host, answer.Actual)}
	if said != "" {
		f.text += ": " + said
	}
	advise := func(advice string, codes ...v1beta1.ErrorCode) {
		f.text, f.codes = f.text+"; "+advice, codes
	}
	isQuota := strings.Contains(strings.ToLower(said), "quota")
	switch status := answer.Actual; {
	case isMissing(answer):
		f.causes = []error{ErrNotFound}
	case s.isIdentity() && (status == http.StatusUnauthorized || status == http.StatusNotFound && isRevoked(said)):
		f.away = true
		advise("check the user, the password or the application credential, the domain and the tenant in the Secret of the Shoot",
			v1beta1.ErrorInfraUnauthenticated)
	case status == http.StatusUnauthorized:
		f.away = true // the credentials are not wrong, since the identity service has accepted them
		advise("the token may have expired meanwhile")
	case (status == http.StatusForbidden || status == http.StatusRequestEntityTooLarge) && isQuota:
		advise("remove server groups that are not needed, or ask for a higher quota of the tenant", v1beta1.ErrorInfraQuotaExceeded)
	case status == http.StatusForbidden:
		advise("give the user, or the application credential, a role that may do this in the tenant", v1beta1.ErrorInfraUnauthorized)
	case status == http.StatusTooManyRequests || status == http.StatusRequestEntityTooLarge:
		f.away = true
		advise("it will be tried again", v1beta1.ErrorInfraRateLimitsExceeded)
	case status == http.StatusConflict:
		advise("it will be tried again", v1beta1.ErrorRetryableInfraDependencies)
	case status == http.StatusBadRequest:
		advise("check that the region has what is asked for", v1beta1.ErrorConfigurationProblem)
	case status >= http.StatusInternalServerError:
		f.away = true
		advise("it is to be looked at by those who run it", v1beta1.ErrorRetryableInfraDependencies)
	default:
		f.away = true
		advise("check " + s.fields)
	}
	return f
}

// isRevoked reports whether the identity service does not know the application credential. It answers 401 for other unknown credentials,
// and uses other words for an unknown URL.
func isRevoked(said string) bool {
	return strings.Contains(strings.ToLower(said), "application credential")
}

func (s *service) isIdentity() bool { return s.name == "identity service" }

// isNotFound reports whether the compute service answers that an object does not exist.
func isNotFound(err error) bool {
	var answer gophercloud.ErrUnexpectedResponseCode
	return errors.As(err, &answer) && isMissing(&answer)
}

// isMissing reports whether the compute service itself answers that an object does not exist. A proxy in front of it, or another service
// at a wrong URL, answers 404 in other forms. These must not be mistaken for a deleted group.
func isMissing(answer *gophercloud.ErrUnexpectedResponseCode) bool {
	var body map[string]json.RawMessage
	if answer.Actual != http.StatusNotFound || json.Unmarshal(answer.Body, &body) != nil {
		return false
	}
	_, found := body["itemNotFound"]
	return found
}

// maxWords bounds the message of a service, in characters.
const maxWords = 300

// wordsOf returns the message in a response of OpenStack, an object with one field whose value has a message. It returns "" if there is
// none. The message contains no secrets.
func (s *service) wordsOf(body []byte) string {
	var parsed map[string]json.RawMessage
	if json.Unmarshal(body, &parsed) != nil {
		return ""
	}
	var fault struct {
		Message string `json:"message"`
	}
	for _, value := range parsed {
		if len(parsed) != 1 || json.Unmarshal(value, &fault) != nil {
			return ""
		}
	}
	said := strings.Join(strings.FieldsFunc(s.withoutSecrets(fault.Message), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if utf8.RuneCountInString(said) > maxWords {
		return string([]rune(said)[:maxWords]) + "..."
	}
	return strings.TrimSuffix(said, ".")
}

// maxBody bounds the bytes that are read of a response. A thousand server groups take less than one million.
const maxBody = 64 << 20

// limited bounds responses, because a user may choose the URL of the identity service.
type limited struct{ http.RoundTripper }

// RoundTrip returns a response with a bounded body.
func (l limited) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxBody), response.Body}
	}
	return response, err
}
