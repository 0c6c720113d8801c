// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
)

// inParts is a stored that lists one object at a time if there is no namespace. After failing successful calls, one call fails; none does
// if failing is negative.
type inParts struct {
	stored
	failing *int
}

func (p inParts) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if *p.failing--; *p.failing == -1 {
		return errors.New("the API server does not answer")
	}
	if err := p.stored.List(ctx, list, options...); err != nil {
		return err
	}
	asked := (&client.ListOptions{}).ApplyOptions(options)
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	if asked.Namespace != "" || asked.Limit == 0 || items.Len() == 0 {
		return nil
	}
	at, _ := strconv.Atoi(asked.Continue)
	if at+1 < items.Len() {
		list.SetContinue(fmt.Sprint(at + 1))
	}
	items.Set(items.Slice(at, at+1))
	return nil
}

// use returns a Shoot of a provider type that refers to a profile.
func use(namespace, name, providerType string, reference *v1beta1.CloudProfileReference) *v1beta1.Shoot {
	shoot := &v1beta1.Shoot{}
	shoot.Namespace, shoot.Name = namespace, name
	shoot.Labels = map[string]string{providerLabel(providerType): "true"}
	shoot.Spec.CloudProfile = reference
	return shoot
}

// retyped returns a CloudProfile with another type, and the original.
func retyped(t *testing.T, to string) (updated, old *v1beta1.CloudProfile) {
	t.Helper()
	old = example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	updated = old.DeepCopy()
	updated.Spec.Type = to
	return updated, old
}

func TestWhoIsOfAnotherType(t *testing.T) {
	direct := func(name string) *v1beta1.CloudProfileReference {
		return &v1beta1.CloudProfileReference{Kind: kindCloudProfile, Name: name}
	}
	through := func(name string) *v1beta1.CloudProfileReference {
		return &v1beta1.CloudProfileReference{Kind: kindNamespacedCloudProfile, Name: name}
	}
	child := func(namespace, name, parent string) *v1beta1.NamespacedCloudProfile {
		child := &v1beta1.NamespacedCloudProfile{}
		child.Namespace, child.Name, child.Spec.Parent.Name = namespace, name, parent
		return child
	}
	old := use("garden-a", "old", "openstack", nil)
	old.Spec.CloudProfileName = ptr.To("openstack")
	reader := inParts{stored{
		use("garden-a", "direct", "openstack", direct("openstack")),
		use("garden-a", "already", "local", direct("openstack")),
		use("garden-a", "elsewhere", "openstack", direct("another")),
		use("garden-a", "namesake", "openstack", through("openstack")), // its NamespacedCloudProfile has another parent
		use("garden-b", "indirect", "openstack", through("used")),
		use("garden-b", "indirect-already", "local", through("used-already")),
		old,
		child("garden-a", "openstack", "another"),
		child("garden-b", "used", "openstack"),
		child("garden-b", "used-already", "openstack"),
		child("garden-c", "used", "openstack"),
	}, ptr.To(-1)}
	want := []string{
		"Shoot garden-a/direct", "Shoot garden-a/old", "Shoot garden-b/indirect", "NamespacedCloudProfile garden-c/used",
	}
	updated, _ := retyped(t, "local")
	got, err := componentFor(openstack.Provider{}, reader).usersOfOtherTypes(t.Context(), updated)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v instead of %q", got, err, want)
	}
}

// Both components refuse to change a type in use, and report nothing else.
func TestTypesInUseAreNotChanged(t *testing.T) {
	updated, old := retyped(t, "local")
	reader := stored{use("garden-a", "shop", "openstack", &v1beta1.CloudProfileReference{Name: old.Name})}
	for provider, check := range map[string]func(*testing.T) []string{
		"openstack": func(t *testing.T) []string {
			return checked(t, componentFor(openstack.Provider{}, reader), updated, old)
		},
		"local": func(t *testing.T) []string { return checked(t, componentFor(local.Provider{}, reader), updated, old) },
	} {
		if got := check(t); !slices.Equal(got, []string{"provider-type-in-use spec.type"}) {
			t.Errorf("%s says %q", provider, got)
		}
	}
}

// checked returns the rules and fields of an update's errors.
func checked(t *testing.T, c *component, object, old *v1beta1.CloudProfile) (found []string) {
	t.Helper()
	report, err := c.checkCloudProfile(t.Context(), object, old)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range report.Errors {
		found = append(found, e.Origin+" "+e.Field)
	}
	return found
}

// If a list fails, the check has an error.
func TestUsersThatCannotBeListed(t *testing.T) {
	updated, old := retyped(t, "local")
	child := &v1beta1.NamespacedCloudProfile{}
	child.Namespace, child.Name, child.Spec.Parent.Name = "garden-a", "child", old.Name
	const lists = 4 // Shoots by two fields, NamespacedCloudProfiles, and Shoots by one field
	for failing := range lists {
		c := componentFor(openstack.Provider{}, inParts{stored{child}, &failing})
		if report, err := c.checkCloudProfile(t.Context(), updated, old); err == nil || len(report.Errors) > 0 {
			t.Errorf("%v, %v", report, err)
		}
	}
}

func TestFieldsOfShoots(t *testing.T) {
	for ours, gardeners := range map[string]string{
		shootCloudProfileName:    core.ShootCloudProfileName,
		shootCloudProfileRefName: core.ShootCloudProfileRefName,
		shootCloudProfileRefKind: core.ShootCloudProfileRefKind,
	} {
		if ours != gardeners {
			t.Errorf("%s is called %s", ours, gardeners)
		}
	}
}
