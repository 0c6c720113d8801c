// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"
)

// seen makes writes wait until every server has seen what was written before.
//
// Gardener's API server and its controllers read profiles, bindings, Secrets, projects and registrations from caches.
// A cache learns of a write after its author has been told that it succeeded: within milliseconds, or seconds if the
// machine is busy. Until then, a write that refers to the object is refused: `secretbinding.core.gardener.cloud "x"
// not found`.
//
// Hence seen notes what is written, and sends a write again while it is refused for want of an object that is there.
// It waits for new objects only. Whether a server has seen a change of an object is for the caller to find out, with
// Eventually.
type seen struct {
	// objects has whether there is an object, by its kind and name.
	objects sync.Map
}

// seeingTimeout ends the wait for a server that never sees an object. Then the last refusal is returned.
const seeingTimeout = 2 * time.Minute

// seeingPeriod is the time between two tries.
const seeingPeriod = 50 * time.Millisecond

// note notes that there is an object now, or none any more. A kind is written in lower case, in the singular or the
// plural.
func (s *seen) note(kind, name string, exists bool) { s.objects.Store(key(kind, name), exists) }

func (s *seen) exists(kind, name string) bool {
	exists, noted := s.objects.Load(key(kind, name))
	return noted && exists.(bool)
}

func key(kind, name string) string { return strings.TrimSuffix(kind, "s") + "/" + name }

// What servers say about an object that they do not find.
var (
	notFound      = regexp.MustCompile(`([a-z]+)(?:\.[a-z.]+)? "([^"]+)" not found`)
	notRegistered = regexp.MustCompile(`uses non-registered [^(]*\("([^"]+)"\)`)
)

const (
	noProject     = `"<unknown>" not found` // the project of a namespace
	noParent      = "parent CloudProfile could not be found"
	noImages      = "the cloud profile does not contain any machine image" // in a status that is still empty
	notRenderedAs = "has not been rendered yet; try again"
)

// registration is the kind under which the types of a ControllerRegistration are noted.
const registration = "registration"

// missing reports whether a refusal is for want of an object that is there. written is the manifest that was refused;
// nil if it is not known.
func (s *seen) missing(refusal string, written []byte) bool {
	for _, match := range notFound.FindAllStringSubmatch(refusal, -1) {
		if s.exists(match[1], match[2]) {
			return true
		}
	}
	for _, match := range notRegistered.FindAllStringSubmatch(refusal, -1) {
		if s.exists(registration, match[1]) {
			return true
		}
	}
	var object struct {
		Spec struct {
			Parent       struct{ Name string }
			CloudProfile struct{ Name string }
		}
	}
	known := yaml.Unmarshal(written, &object) == nil && written != nil
	switch {
	case strings.Contains(refusal, noProject):
		return true
	case strings.Contains(refusal, noParent):
		return !known || s.exists("cloudprofile", object.Spec.Parent.Name)
	case strings.Contains(refusal, noImages), strings.Contains(refusal, notRenderedAs):
		return !known || s.exists("namespacedcloudprofile", object.Spec.CloudProfile.Name)
	}
	return false
}

// wrap is for rest.Config.Wrap.
func (s *seen) wrap(next http.RoundTripper) http.RoundTripper { return &seeing{seen: s, next: next} }

type seeing struct {
	*seen
	next http.RoundTripper
}

// RoundTrip sends a write until it is not refused any more for want of what is there.
func (s *seeing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return s.next.RoundTrip(request)
	}
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
		_ = request.Body.Close()
	}
	var response *http.Response
	var answer []byte
	err := poll(request.Context(), func() (bool, error) {
		again := request.Clone(request.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		var err error
		if response, err = s.next.RoundTrip(again); err != nil {
			return false, err
		}
		answer, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
		return response.StatusCode < http.StatusBadRequest || !s.missing(said(answer), body), err
	})
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	if response.StatusCode < http.StatusBadRequest && request.URL.Query().Get("dryRun") == "" {
		s.noteWrite(request, answer)
	}
	return response, nil
}

// poll tries until a try is done, and for seeingTimeout at most. The end of that time is not an error.
func poll(ctx context.Context, try func() (done bool, err error)) error {
	err := wait.PollUntilContextTimeout(ctx, seeingPeriod, seeingTimeout, true, func(context.Context) (bool, error) { return try() })
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil
	}
	return err
}

// said returns the message of a refusal.
func said(answer []byte) string {
	var status struct{ Message string }
	if json.Unmarshal(answer, &status) != nil {
		return string(answer)
	}
	return status.Message
}

// noteWrite notes what a write that succeeded has changed.
func (s *seen) noteWrite(request *http.Request, answer []byte) {
	var object struct {
		Kind     string
		Metadata struct{ Name, DeletionTimestamp string }
		Spec     struct{ Resources []struct{ Type string } }
	}
	if json.Unmarshal(answer, &object) != nil {
		return
	}
	if request.Method == http.MethodDelete {
		resource, name := path.Split(request.URL.Path)
		s.note(path.Base(resource), name, false)
		return
	}
	s.note(strings.ToLower(object.Kind), object.Metadata.Name, object.Metadata.DeletionTimestamp == "")
	if object.Kind == "ControllerRegistration" {
		for _, resource := range object.Spec.Resources {
			s.note(registration, resource.Type, true)
		}
	}
}

// applied matches what kubectl prints about an object that it has written.
var applied = regexp.MustCompile(`(?m)^([a-z]+)(?:\.[a-z0-9.]+)?/(\S+) (?:created|configured|unchanged|serverside-applied)$`)

// noteOutput notes what kubectl says that it has written.
func (s *seen) noteOutput(output string) {
	for _, match := range applied.FindAllStringSubmatch(output, -1) {
		s.note(match[1], match[2], true)
	}
}

// untilSeen runs kubectl until it does not fail any more for want of what is there. Its output is that of the last run.
func (s *seen) untilSeen(ctx context.Context, run func() (output string, err error)) (output string, err error) {
	if polled := poll(ctx, func() (bool, error) {
		output, err = run()
		s.noteOutput(output)
		return err == nil || !s.missing(output, nil), nil
	}); polled != nil {
		return output, fmt.Errorf("%w: %w", polled, err)
	}
	return output, err
}
