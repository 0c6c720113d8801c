// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
	admissionv1 "k8s.io/api/admission/v1"
)

// misaddressed says why a request is not one that an API server sends to a webhook, with the status to answer with.
type misaddressed struct {
	status int
	reason string
}

func (m misaddressed) Error() string { return m.reason }

// checkHeader returns an error if a request to a webhook has another method or media type than those of API servers.
func checkHeader(r *http.Request) error {
	if r.Method != http.MethodPost {
		return misaddressed{http.StatusMethodNotAllowed, "webhooks are asked with the method POST, not " + cut(r.Method, 20)}
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return misaddressed{http.StatusUnsupportedMediaType, "webhooks take the media type application/json only"}
	}
	return nil
}

// checkEnvelope returns an error unless a body is a JSON object with the kind and version of an AdmissionReview. The
// decoder of Kubernetes takes YAML as well, whose aliases and merge keys say much in a few bytes. An API server writes
// kind and version first; nothing behind them is looked at.
func checkEnvelope(body []byte) error {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return misaddressed{http.StatusUnsupportedMediaType, "the body must be a JSON object"}
	}
	var kind, version string
	decoder := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowInvalidUTF8(true))
	_, err := decoder.ReadToken()
	for err == nil && (kind == "" || version == "") && decoder.PeekKind() != '}' {
		var name jsontext.Value
		if name, err = decoder.ReadValue(); err != nil {
			break
		}
		switch string(name) {
		case `"kind"`:
			kind, err = readString(decoder)
		case `"apiVersion"`:
			version, err = readString(decoder)
		default:
			err = decoder.SkipValue()
		}
	}
	wanted, wantedKind := admissionv1.SchemeGroupVersion.String(), "AdmissionReview"
	switch {
	case err != nil:
		return misaddressed{http.StatusBadRequest, "the body is not JSON: " + cut(err.Error(), maxErrorText)}
	case kind != wantedKind || version != wanted:
		return misaddressed{http.StatusBadRequest, fmt.Sprintf("the body must have kind %s and apiVersion %s, not %q and %q",
			wantedKind, wanted, cut(kind, 60), cut(version, 60))}
	}
	return nil
}

// readString reads a value, and returns it if it is a string; otherwise it is "".
func readString(decoder *jsontext.Decoder) (string, error) {
	if decoder.PeekKind() != '"' {
		return "", decoder.SkipValue()
	}
	token, err := decoder.ReadToken()
	if err != nil {
		return "", err
	}
	return token.String(), nil
}

// valuesIn returns how many JSON values a body has at most: characters in strings are counted like all others.
func valuesIn(body []byte) int64 {
	return 1 + int64(bytes.Count(body, []byte(","))+bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")))
}
