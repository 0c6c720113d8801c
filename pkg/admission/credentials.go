// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/ratchet"
)

// The kinds of objects that can contain credentials.
var (
	kindSecret         = corev1.SchemeGroupVersion.WithKind("Secret")
	kindInternalSecret = v1beta1.SchemeGroupVersion.WithKind("InternalSecret")
)

// credentialsRef is a reference to credentials, with its position in the referring object.
type credentialsRef struct {
	corev1.ObjectReference
	// at is the path of the referring field, and kindAt the path of the referenced kind.
	at, kindAt *field.Path
	// place is the path by which the ratchet identifies findings, mostly at. It is the same for a SecretBinding and a CredentialsBinding
	// of one Secret: migrating between them does not cause the Secret's errors.
	place *field.Path
}

func (r credentialsRef) key() client.ObjectKey {
	return client.ObjectKey{Namespace: r.Namespace, Name: r.Name}
}

func (r credentialsRef) object() string { return r.Kind + " " + r.key().String() }

// finding returns an error about the referenced object.
func (r credentialsRef) finding(rule string, kind field.ErrorType, detail string) finding.Finding {
	f := finding.New(rule, kind, r.at, r.Name, detail)
	f.Place = fieldpath.Of(r.place)
	return f
}

// read reads the referenced object. If that does not exist, it returns a finding; the error is about reading it.
func (r credentialsRef) read(ctx context.Context, reader client.Reader, into client.Object) (finding.List, error) {
	found, err := read(ctx, r.Kind, r.key(), into, reader)
	if found || err != nil {
		return nil, err
	}
	detail := r.object() + " does not exist; correct the reference, or create it first"
	return finding.List{r.finding(check.RuleCredentialsMissing.Name, field.ErrorTypeNotFound, detail)}, nil
}

// secretOf returns a reference to the credentials of a SecretBinding.
func (r credentialsRef) secretOf(binding *v1beta1.SecretBinding) credentialsRef {
	r.APIVersion, r.Kind = kindSecret.ToAPIVersionAndKind()
	r.Namespace, r.Name = cmp.Or(binding.SecretRef.Namespace, binding.Namespace), binding.SecretRef.Name
	return r
}

// credentialsOf returns a reference to the credentials of a CredentialsBinding.
func (r credentialsRef) credentialsOf(binding *securityv1alpha1.CredentialsBinding) credentialsRef {
	r.ObjectReference = binding.CredentialsRef
	r.Namespace = cmp.Or(r.Namespace, binding.Namespace)
	return r
}

// data returns the data of the referenced object. It returns findings if the object does not exist, or if the provider cannot use its
// kind. The error is about reading it, and not the user's fault. Credentials are not cached: each call reads them from the API server.
func (c *component) data(ctx context.Context, r credentialsRef) (map[string][]byte, finding.List, error) {
	secret, internal := &corev1.Secret{}, &v1beta1.InternalSecret{}
	switch schema.FromAPIVersionAndKind(r.APIVersion, r.Kind) {
	case kindSecret:
		missing, err := r.read(ctx, c.live, secret)
		return secret.Data, missing, err
	case kindInternalSecret:
		missing, err := r.read(ctx, c.live, internal)
		return internal.Data, missing, err
	}
	detail := fmt.Sprintf("the provider cannot use credentials of kind %s; supported values: %q",
		cmp.Or(r.Kind, "none"), kindSecret.Kind)
	unsupported := r.finding(check.RuleCredentialsKind.Name, field.ErrorTypeNotSupported, detail)
	unsupported.Field, unsupported.BadValue = r.kindAt.String(), r.Kind
	return nil, finding.List{unsupported}, nil
}

// problems returns the errors about the referenced object, at the referring field: the findings of data, or the errors of a validator.
func (c *component) problems(
	ctx context.Context, r credentialsRef, validate func(data map[string][]byte, at *field.Path) field.ErrorList,
) (finding.List, error) {
	data, errs, err := c.data(ctx, r)
	if err != nil || errs != nil {
		return errs, err
	}
	for _, problem := range finding.Of(validate(data, field.NewPath("data"))) {
		detail := r.object() + ": " + problem.Field + ": " + problem.Detail
		errs = append(errs, r.finding(problem.Origin, field.ErrorTypeInvalid, detail))
	}
	return errs, nil
}

// checkCredentials returns the scope of credentials, nil if unknown, and their errors. No error contains any of their data.
func (c *component) checkCredentials(ctx context.Context, r credentialsRef) (scope *string, errs finding.List, err error) {
	errs, err = c.problems(ctx, r, func(data map[string][]byte, at *field.Path) field.ErrorList {
		said, found := c.credentials.ValidateCredentials(data, at)
		if said != "" {
			scope = &said
		}
		return found
	})
	return scope, errs, err
}

// checkDNS checks the credentials of a Shoot's primary DNS service if it is the provider's: the extension creates the records with them.
// Credentials of other services belong to other extensions.
func (c *component) checkDNS(ctx context.Context, shoot *v1beta1.Shoot) (finding.List, error) {
	if c.dns == nil || shoot.Spec.DNS == nil {
		return nil, nil
	}
	var errs finding.List
	for i, service := range shoot.Spec.DNS.Providers { //nolint:staticcheck // as people write it
		at := field.NewPath("spec", "dns", "providers").Index(i)
		place := at.Child("credentialsRef")
		r := credentialsRef{at: place, kindAt: place.Child("kind"), place: place}
		r.Namespace = shoot.Namespace
		switch ref := service.CredentialsRef; {
		case ptr.Deref(service.Type, "") != c.dns.DNSType(), !ptr.Deref(service.Primary, false): //nolint:staticcheck // as people write it
			continue
		case ref != nil:
			r.APIVersion, r.Kind, r.Name = ref.APIVersion, ref.Kind, ref.Name
		case ptr.Deref(service.SecretName, "") != "": //nolint:staticcheck // as people write it
			r.APIVersion, r.Kind = kindSecret.ToAPIVersionAndKind()
			r.at, r.Name = at.Child("secretName"), *service.SecretName //nolint:staticcheck // as people write it
		default:
			errs = append(errs, r.finding(check.RuleCredentialsMissing.Name, field.ErrorTypeRequired,
				"the primary DNS service needs credentials: refer to a Secret of this namespace that has some for "+c.dns.DNSType()))
			continue
		}
		found, err := c.problems(ctx, r, c.dns.ValidateDNSCredentials)
		if err != nil {
			return nil, err
		}
		errs = append(errs, found...)
	}
	return errs, nil
}

// scopeOf returns the results of checkCredentials for a Shoot's credentials.
func (c *component) scopeOf(ctx context.Context, shoot *v1beta1.Shoot) (*string, finding.List, error) {
	at := field.NewPath("spec", "credentialsBindingName")
	r := credentialsRef{at: at, kindAt: at, place: at}
	r.Namespace = shoot.Namespace
	var missing finding.List
	var err error
	switch spec := &shoot.Spec; {
	case ptr.Deref(spec.CredentialsBindingName, "") != "":
		r.Kind, r.Name = "CredentialsBinding", *spec.CredentialsBindingName
		binding := &securityv1alpha1.CredentialsBinding{}
		missing, err = r.read(ctx, c.live, binding)
		r = r.credentialsOf(binding)
	case ptr.Deref(spec.SecretBindingName, "") != "":
		r.Kind, r.Name = "SecretBinding", *spec.SecretBindingName
		r.at = field.NewPath("spec", "secretBindingName")
		binding := &v1beta1.SecretBinding{}
		missing, err = r.read(ctx, c.live, binding)
		r = r.secretOf(binding)
	default:
		return nil, nil, nil // Gardener requires one
	}
	if err != nil || missing != nil {
		return nil, missing, err
	}
	return c.checkCredentials(ctx, r)
}

// checkSecretBinding checks the credentials of a new SecretBinding. The reference is immutable.
func (c *component) checkSecretBinding(ctx context.Context, object, old *v1beta1.SecretBinding) (finding.Report, error) {
	if old != nil {
		return finding.Report{}, nil
	}
	at := field.NewPath("secretRef")
	_, errs, err := c.checkCredentials(ctx, credentialsRef{at: at, place: at}.secretOf(object))
	return finding.Report{Errors: errs}, err
}

// checkCredentialsBinding checks the credentials of a new CredentialsBinding. The reference is immutable.
func (c *component) checkCredentialsBinding(ctx context.Context, object, old *securityv1alpha1.CredentialsBinding) (finding.Report, error) {
	if old != nil {
		return finding.Report{}, nil
	}
	at := field.NewPath("credentialsRef")
	r := credentialsRef{at: at, kindAt: at.Child("kind"), place: at}
	_, errs, err := c.checkCredentials(ctx, r.credentialsOf(object))
	return finding.Report{Errors: errs}, err
}

// checkSecret checks a Secret with credentials. Errors that the stored Secret has too become warnings (semantics S10).
func (c *component) checkSecret(_ context.Context, object, old *corev1.Secret) (finding.Report, error) {
	check := func(secret *corev1.Secret) ratchet.Judged {
		_, errs := c.credentials.ValidateCredentials(secret.Data, field.NewPath("data"))
		return ratchet.Judged{Object: secret, Report: finding.Report{Errors: finding.Of(errs)}.Sorted()}
	}
	switch {
	case old == nil:
		return check(object).Report, nil
	case maps.EqualFunc(object.Data, old.Data, bytes.Equal):
		return finding.Report{}, nil
	}
	return ratchet.Excuse(check(object), check(old)), nil
}
