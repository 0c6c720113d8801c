// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// user writes objects as one with every right does, and notes what the API server warns about.
type user struct {
	client.Client
	lock     sync.Mutex
	warnings []string
}

func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{}
	config := g.RESTConfig()
	config.WarningHandlerWithContext = u
	c, err := client.New(config, client.Options{Scheme: g.Client().Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	u.Client = c
	return u
}

// HandleWarningHeaderWithContext notes a warning.
func (u *user) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	u.lock.Lock()
	defer u.lock.Unlock()
	if code == 299 {
		u.warnings = append(u.warnings, text)
	}
}

// heard returns the warnings since the last call.
func (u *user) heard() []string {
	u.lock.Lock()
	defer u.lock.Unlock()
	heard := u.warnings
	u.warnings = nil
	return heard
}

// read decodes the first object of a manifest.
func read[T any](t *testing.T, file string) *T {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	object := new(T)
	first, _, _ := strings.Cut(string(content), "\n---")
	if err := yaml.UnmarshalStrict([]byte(first), object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return object
}

// openstack returns the example CloudProfile under another name.
func openstack(t *testing.T, name string) *v1beta1.CloudProfile {
	t.Helper()
	profile := read[v1beta1.CloudProfile](t, "../../example/cloudprofile.yaml")
	profile.Name = name
	return profile
}

// shoot returns the example Shoot under another name, with the first of its worker pools, for a CloudProfile.
func shoot(t *testing.T, name, profile string) *v1beta1.Shoot {
	t.Helper()
	s := read[v1beta1.Shoot](t, "../../example/shoot.yaml")
	s.Name, s.Spec.CloudProfile.Name = name, profile
	s.Spec.Provider.Workers = s.Spec.Provider.Workers[:1]
	return s
}

// replaceConfig replaces a text in the provider config of a CloudProfile, which has to be there.
func replaceConfig(t *testing.T, profile *v1beta1.CloudProfile, old, replacement string) {
	t.Helper()
	raw := string(profile.Spec.ProviderConfig.Raw)
	if !strings.Contains(raw, old) {
		t.Fatalf("%s is not in %s", old, raw)
	}
	profile.Spec.ProviderConfig.Raw = []byte(strings.ReplaceAll(raw, old, replacement))
}

// Create creates an object. Gardener's own admission reads CloudProfiles from an informer; while that does not have one yet
// that was just created it is asked again.
func (u *user) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := u.Client.Create(ctx, object, options...)
		behind := apierrors.IsInternalError(err) && strings.Contains(err.Error(), "cloudprofile.core.gardener.cloud") && strings.HasSuffix(err.Error(), "not found")
		if !behind || time.Now().After(end) {
			return err
		}
	}
}

// create creates an object, which has to be accepted.
func (u *user) create(t *testing.T, object client.Object) {
	t.Helper()
	if err := u.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// change reads an object, changes it and writes it. It does so again if somebody else was faster.
func change[P client.Object](t *testing.T, u *user, object P, change func(P)) error {
	t.Helper()
	for {
		if err := u.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		change(object)
		u.heard()
		if err := u.Update(t.Context(), object); !apierrors.IsConflict(err) {
			return err
		}
	}
}

// refused demands that an error is the denial of an object, at the fields given and in that order.
func refused(t *testing.T, err error, fields ...string) {
	t.Helper()
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		t.Fatalf("got %v, want a refusal at %s", err, fields)
	}
	var got []string
	for _, cause := range status.Status().Details.Causes {
		got = append(got, cause.Field)
	}
	if !slices.Equal(got, fields) {
		t.Errorf("refused at %s, want %s: %v", got, fields, err)
	}
}

// accepted demands that there was no error, and that each of the texts is in one of the warnings.
func (u *user) accepted(t *testing.T, err error, warnings ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	heard := u.heard()
	for _, want := range warnings {
		if !slices.ContainsFunc(heard, func(warning string) bool { return strings.Contains(warning, want) }) {
			t.Errorf("no warning says %q: %q", want, heard)
		}
	}
	if len(warnings) == 0 && len(heard) > 0 {
		t.Errorf("warnings: %q", heard)
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}
