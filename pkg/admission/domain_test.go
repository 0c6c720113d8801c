// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// ruled is a provider with its own rules: a Shoot must be of one domain, and its purpose is immutable.
type ruled struct {
	openstack.Provider
	domain string
	// independent means that no Shoot needs the domain.
	independent bool
}

func (r ruled) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[openstack.Image], finding.Report) {
	config, report := r.Provider.Decode(raw, at)
	config.Validator = r
	return config, report
}

func (ruled) Rules() []finding.Rule { return nil }

func (ruled) ValidateCloudProfile(*v1beta1.CloudProfileSpec, *field.Path) finding.Report {
	return finding.Report{}
}

func (r ruled) NeedsScope(*v1beta1.Shoot) bool { return !r.independent }

func (r ruled) ValidateShoot(question provider.ShootQuestion) (report finding.Report) {
	at := field.NewPath("spec", "region")
	switch {
	case r.independent:
	case question.Scope == nil:
		report.Warnings = finding.List{finding.New("domain", field.ErrorTypeForbidden, at, nil, "not checked")}
	case *question.Scope != r.domain:
		report.Errors = finding.List{finding.New("domain", field.ErrorTypeForbidden, at, nil, "another domain")}
	}
	return report
}

func (ruled) ValidateShootUpdate(shoot, old *v1beta1.Shoot) (report finding.Report) {
	at := field.NewPath("spec", "purpose")
	if ptr.Deref(old.Spec.Purpose, "") != ptr.Deref(shoot.Spec.Purpose, "") {
		report.Errors = finding.List{finding.New("immutable", field.ErrorTypeForbidden, at, nil, "it cannot be changed")}
		report.Warnings = finding.List{finding.New("rolling", field.ErrorTypeForbidden, at, nil, "machines are replaced")}
	}
	return report
}

// judge checks the creation or update of a Shoot. The informers do not know these bindings and Secrets; the API server does.
func (r ruled) judge(t *testing.T, object, old *v1beta1.Shoot, others ...client.Object) (errs, warnings []string) {
	t.Helper()
	c := componentFor(r, garden(t))
	c.live = garden(t, others...)
	report, err := c.checkShoot(t.Context(), object, old)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range report.Errors {
		errs = append(errs, e.Field+" "+e.Origin)
	}
	for _, w := range report.Warnings {
		warnings = append(warnings, w.Field+" "+w.Origin)
	}
	return errs, warnings
}

// bound returns the example Shoot, by default with a CredentialsBinding.
func bound(t *testing.T, change ...func(*v1beta1.Shoot)) *v1beta1.Shoot {
	t.Helper()
	shoot := example[v1beta1.Shoot](t, "shoot.yaml")
	for _, c := range change {
		c(shoot)
	}
	return shoot
}

func bySecretBinding(s *v1beta1.Shoot) {
	s.Spec.SecretBindingName, s.Spec.CredentialsBindingName = s.Spec.CredentialsBindingName, nil
}

func TestDomainOfAShoot(t *testing.T) {
	identity := newBinding("openstack")
	identity.CredentialsRef.APIVersion, identity.CredentialsRef.Kind = "security.gardener.cloud/v1alpha1", "WorkloadIdentity"
	elsewhere := newBinding("openstack")
	elsewhere.CredentialsRef.Namespace = "garden-other"
	other := newSecret("openstack", "domainName", "other")
	other.Namespace = "garden-other"
	const (
		refused     = "spec.region domain"
		credentials = "spec.credentialsBindingName credentials-"
		secret      = "spec.secretBindingName credentials-"
	)
	none := func(s *v1beta1.Shoot) { s.Spec.CredentialsBindingName = nil }
	binding, demo, legacy := newBinding("openstack"), newSecret("openstack"), newSecretBinding("openstack")
	foreign := newSecret("openstack", "domainName", "other")
	for name, test := range map[string]struct {
		change         func(*v1beta1.Shoot)
		others         []client.Object
		errs, warnings []string
	}{
		"its domain":        {nil, []client.Object{binding, demo}, nil, nil},
		"another domain":    {nil, []client.Object{binding, foreign}, []string{refused}, nil},
		"another namespace": {nil, []client.Object{elsewhere, demo, other}, []string{refused}, nil},
		"no binding":        {nil, []client.Object{demo}, []string{credentials + "missing"}, []string{refused}},
		"no Secret":         {nil, []client.Object{binding}, []string{credentials + "missing"}, []string{refused}},
		"no domain": {
			nil, []client.Object{binding, newSecret("openstack", "domainName", "-")}, []string{credentials + "incomplete"}, []string{refused},
		},
		"its domain, and no password":     {nil, []client.Object{binding, newSecret("openstack", "password", "-")}, []string{credentials + "incomplete"}, nil},
		"an identity":                     {nil, []client.Object{identity}, []string{credentials + "kind"}, []string{refused}},
		"neither of the two":              {none, nil, nil, []string{refused}},
		"SecretBinding":                   {bySecretBinding, []client.Object{legacy, demo}, nil, nil},
		"SecretBinding of another domain": {bySecretBinding, []client.Object{legacy, foreign}, []string{refused}, nil},
		"no SecretBinding":                {bySecretBinding, []client.Object{binding, demo}, []string{secret + "missing"}, []string{refused}},
		"SecretBinding without Secret":    {bySecretBinding, []client.Object{legacy}, []string{secret + "missing"}, []string{refused}},
	} {
		t.Run(name, func(t *testing.T) {
			object := bound(t)
			if test.change != nil {
				test.change(object)
			}
			errs, warnings := ruled{domain: "demo"}.judge(t, object, nil, test.others...)
			if !slices.Equal(errs, test.errs) || !slices.Equal(warnings, test.warnings) {
				t.Errorf("got %q and %q, want %q and %q", errs, warnings, test.errs, test.warnings)
			}
			// None of these prevents the existing Shoot from being hibernated.
			hibernated := object.DeepCopy()
			hibernated.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)}
			errs, warnings = ruled{domain: "demo"}.judge(t, hibernated, object, test.others...)
			all := append(slices.Clone(test.errs), test.warnings...)
			slices.Sort(all)
			slices.Sort(warnings)
			if len(errs) > 0 || !slices.Equal(warnings, all) {
				t.Errorf("the update: got %q and %q, want only %q", errs, warnings, all)
			}
		})
	}
}

// Credentials without effect on the answer are not read.
func TestCredentialsThatAreNotNeeded(t *testing.T) {
	if errs, warnings := (ruled{independent: true}).judge(t, bound(t), nil); len(errs)+len(warnings) > 0 {
		t.Errorf("got %q and %q", errs, warnings)
	}
}

func TestUpdatesOfShootsWithRules(t *testing.T) {
	demo, other := newSecret("openstack"), newSecret("other", "domainName", "other")
	objects := []client.Object{
		demo, other, newBinding("openstack"), newBinding("other"), newSecretBinding("openstack"),
	}
	moved := func(s *v1beta1.Shoot) { s.Spec.CredentialsBindingName = ptr.To("other") }
	purpose := func(s *v1beta1.Shoot) { s.Spec.Purpose = ptr.To(v1beta1.ShootPurposeTesting) }
	leaving := func(s *v1beta1.Shoot) { s.DeletionTimestamp = ptr.To(metav1.Now()) }
	annotated := func(s *v1beta1.Shoot) { s.Annotations = map[string]string{"a": "b"} }
	const immutable, domain = "spec.purpose immutable", "spec.region domain"
	for name, test := range map[string]struct {
		domain         string
		change         []func(*v1beta1.Shoot)
		errs, warnings []string
	}{
		"nothing":                         {"demo", nil, nil, nil},
		"an annotation":                   {"nobody's", []func(*v1beta1.Shoot){annotated}, nil, nil},
		"something that cannot change":    {"demo", []func(*v1beta1.Shoot){purpose}, []string{immutable}, []string{"spec.purpose rolling"}},
		"the same, with an error before":  {"nobody's", []func(*v1beta1.Shoot){purpose}, []string{immutable}, []string{"spec.purpose rolling", domain}},
		"to another kind of binding":      {"demo", []func(*v1beta1.Shoot){bySecretBinding}, nil, nil},
		"to credentials of another one":   {"demo", []func(*v1beta1.Shoot){moved}, []string{domain}, nil},
		"to credentials of the right one": {"other", []func(*v1beta1.Shoot){moved}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			errs, warnings := ruled{domain: test.domain}.judge(t, bound(t, test.change...), bound(t), objects...)
			if !slices.Equal(errs, test.errs) || !slices.Equal(warnings, test.warnings) {
				t.Errorf("got %q and %q, want %q and %q", errs, warnings, test.errs, test.warnings)
			}
		})
	}
	response, _ := newEndpoints(t).ask(t, "validate-shoot", bound(t, purpose, moved, leaving), bound(t))
	if !response.Allowed || len(response.Warnings) > 0 {
		t.Errorf("one that is being deleted: %v", response)
	}
}

func TestShootWhoseCredentialsCannotBeRead(t *testing.T) {
	for _, what := range []client.Object{newBinding(""), newSecret("")} {
		c := componentFor(ruled{}, unreachable{garden(t, sound()...), what})
		for _, old := range []*v1beta1.Shoot{nil, bound(t, bySecretBinding)} {
			report, err := c.checkShoot(t.Context(), bound(t), old)
			const want = "garden-demo/openstack could not be read, so nothing was checked: no answer"
			if err == nil || !strings.Contains(err.Error(), want) || len(report.Errors)+len(report.Warnings) > 0 {
				t.Errorf("%T: %v, %v", what, report, err)
			}
		}
	}
}

// Switching to a CredentialsBinding of the same Secret is allowed even if the Secret has faults.
func TestAnotherBindingOfTheSameSecret(t *testing.T) {
	objects := []client.Object{newBinding("openstack"), newSecretBinding("openstack"), newSecret("openstack", "password", "ends\n")}
	for want, shoots := range map[string][2]*v1beta1.Shoot{
		"spec.credentialsBindingName credentials-value": {bound(t), bound(t, bySecretBinding)},
		"spec.secretBindingName credentials-value":      {bound(t, bySecretBinding), bound(t)},
	} {
		errs, warnings := ruled{domain: "demo"}.judge(t, shoots[0], shoots[1], objects...)
		if len(errs) > 0 || !slices.Equal(warnings, []string{want}) {
			t.Errorf("got %q and %q, want %q as a warning", errs, warnings, want)
		}
	}
}

// scribbling returns a nil among its errors about credentials.
type scribbling struct{ openstack.Provider }

func (scribbling) ValidateCredentials(map[string][]byte, *field.Path) (string, field.ErrorList) {
	return "", field.ErrorList{nil}
}

func TestANilAmongErrorsAboutCredentials(t *testing.T) {
	c := componentFor(scribbling{}, garden(t))
	c.live = garden(t, newSecret("openstack"))
	report, err := c.checkCredentialsBinding(t.Context(), newBinding("openstack"), nil)
	if err != nil || len(report.Errors) > 0 {
		t.Error(err, report.Errors)
	}
}
