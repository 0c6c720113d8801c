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

// The kinds of objects that credentials can be kept in.
var (
	kindSecret         = corev1.SchemeGroupVersion.WithKind("Secret")
	kindInternalSecret = v1beta1.SchemeGroupVersion.WithKind("InternalSecret")
)

// credentialsRef says where credentials are, and which field says that.
type credentialsRef struct {
	corev1.ObjectReference
	// at is the path of the field, and kindAt that of the kind of the object.
	at, kindAt *field.Path
	// place is the path by which findings are known, mostly at: moving on from a SecretBinding to a CredentialsBinding
	// of the same Secret is not what is to be blamed for what is wrong with it.
	place *field.Path
}

func (r credentialsRef) key() client.ObjectKey {
	return client.ObjectKey{Namespace: r.Namespace, Name: r.Name}
}

func (r credentialsRef) object() string { return r.Kind + " " + r.key().String() }

// finding returns an error about what the field refers to.
func (r credentialsRef) finding(rule string, kind field.ErrorType, detail string) finding.Finding {
	f := finding.New(rule, kind, r.at, r.Name, detail)
	f.Place = fieldpath.Of(r.place)
	return f
}

// read reads the object that is referred to. If there is none, the finding says so; the error is about reading it.
func (r credentialsRef) read(ctx context.Context, reader client.Reader, into client.Object) (finding.List, error) {
	found, err := read(ctx, r.Kind, r.key(), into, reader)
	if found || err != nil {
		return nil, err
	}
	detail := r.object() + " does not exist; correct the reference, or create it first"
	return finding.List{r.finding(check.RuleCredentialsMissing.Name, field.ErrorTypeNotFound, detail)}, nil
}

// secretOf returns where the credentials of a SecretBinding are.
func (r credentialsRef) secretOf(binding *v1beta1.SecretBinding) credentialsRef {
	r.APIVersion, r.Kind = kindSecret.ToAPIVersionAndKind()
	r.Namespace, r.Name = cmp.Or(binding.SecretRef.Namespace, binding.Namespace), binding.SecretRef.Name
	return r
}

// credentialsOf returns where the credentials of a CredentialsBinding are.
func (r credentialsRef) credentialsOf(binding *securityv1alpha1.CredentialsBinding) credentialsRef {
	r.ObjectReference = binding.CredentialsRef
	r.Namespace = cmp.Or(r.Namespace, binding.Namespace)
	return r
}

// data returns the data of the object that is referred to. If there is none, or if it is of a kind that the provider
// cannot use, the findings say so; the error is about reading it, and no fault of the user. It is not kept: the API server
// is asked each time.
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

// problems returns what is wrong with the object that is referred to, as errors of the field that does: the findings of
// data, or what a validator of the data says.
func (c *component) problems(
	ctx context.Context, r credentialsRef, validate func(data map[string][]byte, at *field.Path) field.ErrorList,
) (finding.List, error) {
	data, errs, err := c.data(ctx, r)
	if err != nil || errs != nil {
		return errs, err
	}
	for _, problem := range validate(data, field.NewPath("data")) {
		detail := r.object() + ": " + problem.Field + ": " + problem.Detail
		errs = append(errs, r.finding(problem.Origin, field.ErrorTypeInvalid, detail))
	}
	return errs, nil
}

// checkCredentials returns the scope of credentials, nil if it is not known, and what is wrong with them. What they
// hold is in no error.
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

// checkDNS checks the credentials for the provider's DNS service, if that is the primary one of a Shoot: the extension makes its records by
// these. Others are for an extension of their own.
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

// scopeOf returns the same as checkCredentials, about the credentials of a Shoot.
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
		return nil, nil, nil // it is for Gardener to demand one
	}
	if err != nil || missing != nil {
		return nil, missing, err
	}
	return c.checkCredentials(ctx, r)
}

// checkSecretBinding checks what a SecretBinding refers to, when it is created; that cannot be changed.
func (c *component) checkSecretBinding(ctx context.Context, object, old *v1beta1.SecretBinding) (finding.Report, error) {
	if old != nil {
		return finding.Report{}, nil
	}
	at := field.NewPath("secretRef")
	_, errs, err := c.checkCredentials(ctx, credentialsRef{at: at, place: at}.secretOf(object))
	return finding.Report{Errors: errs}, err
}

// checkCredentialsBinding checks what a CredentialsBinding refers to, when it is created; that cannot be changed.
func (c *component) checkCredentialsBinding(ctx context.Context, object, old *securityv1alpha1.CredentialsBinding) (finding.Report, error) {
	if old != nil {
		return finding.Report{}, nil
	}
	at := field.NewPath("credentialsRef")
	r := credentialsRef{at: at, kindAt: at.Child("kind"), place: at}
	_, errs, err := c.checkCredentials(ctx, r.credentialsOf(object))
	return finding.Report{Errors: errs}, err
}

// checkSecret checks a Secret with credentials. What is wrong with the stored one, too, is a warning (semantics S10).
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
