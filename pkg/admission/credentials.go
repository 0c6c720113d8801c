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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/ratchet"
)

// The kinds of objects that credentials can be kept in.
var (
	kindSecret         = corev1.SchemeGroupVersion.WithKind("Secret")
	kindInternalSecret = v1beta1.SchemeGroupVersion.WithKind("InternalSecret")
)

// credentials finds the credentials of Shoots, and asks the provider about them. What they hold is in no error, and is not
// kept: reader asks the API server each time.
type credentials struct {
	rules  provider.CredentialsValidator
	reader client.Reader
}

// credentialsRef says where credentials are, and which field says that.
type credentialsRef struct {
	corev1.ObjectReference
	// at is the path of the field, and kindAt that of the kind of the object.
	at, kindAt *field.Path
	// place is the path by which findings are known, if that is not at: moving on from a SecretBinding to a CredentialsBinding
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
	if r.place != nil {
		f.Place = finding.PathOf(r.place)
	}
	return f
}

// missing returns the error that there is no such object.
func (r credentialsRef) missing() finding.Finding {
	return r.finding(consistency.RuleCredentialsMissing, field.ErrorTypeNotFound, r.object()+" does not exist; correct the reference, or create it first")
}

func refOfSecretBinding(binding *v1beta1.SecretBinding, at *field.Path) credentialsRef {
	version, kind := kindSecret.ToAPIVersionAndKind()
	return credentialsRef{at: at, kindAt: at, ObjectReference: corev1.ObjectReference{
		APIVersion: version, Kind: kind, Name: binding.SecretRef.Name, Namespace: cmp.Or(binding.SecretRef.Namespace, binding.Namespace),
	}}
}

func refOfCredentialsBinding(binding *securityv1alpha1.CredentialsBinding, at, kindAt *field.Path) credentialsRef {
	r := credentialsRef{at: at, kindAt: kindAt, ObjectReference: binding.CredentialsRef}
	r.Namespace = cmp.Or(r.Namespace, binding.Namespace)
	return r
}

// check returns the scope of credentials, nil if it is not known, and what is wrong with them. The error is about reading
// them, and no fault of the user.
func (c credentials) check(ctx context.Context, r credentialsRef) (*string, finding.List, error) {
	var data map[string][]byte
	var err error
	switch kind := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind); kind {
	case kindSecret:
		secret := &corev1.Secret{}
		err = c.reader.Get(ctx, r.key(), secret)
		data = secret.Data
	case kindInternalSecret:
		secret := &v1beta1.InternalSecret{}
		err = c.reader.Get(ctx, r.key(), secret)
		data = secret.Data
	default:
		detail := fmt.Sprintf("the provider cannot use credentials of kind %s; supported values: %q", cmp.Or(r.Kind, "none"), kindSecret.Kind)
		unsupported := r.finding(consistency.RuleCredentialsKind, field.ErrorTypeNotSupported, detail)
		unsupported.Field, unsupported.BadValue = r.kindAt.String(), r.Kind
		return nil, finding.List{unsupported}, nil
	}
	if apierrors.IsNotFound(err) {
		return nil, finding.List{r.missing()}, nil
	} else if err != nil {
		return nil, nil, unreadable(r.Kind, r.key().String(), err)
	}
	scope, found := c.rules.ValidateCredentials(data, field.NewPath("data"))
	var errs finding.List
	for _, problem := range found {
		errs = append(errs, r.finding(problem.Origin, field.ErrorTypeInvalid, r.object()+": "+problem.Field+": "+problem.Detail))
	}
	if scope == "" {
		return nil, errs, nil
	}
	return &scope, errs, nil
}

// scopeOf returns the scope of a Shoot's credentials, nil if it is not known, and what is wrong with them, as check does.
func (c credentials) scopeOf(ctx context.Context, shoot *v1beta1.Shoot) (*string, finding.List, error) {
	var binding, secret credentialsRef
	var err error
	switch spec := &shoot.Spec; {
	case ptr.Deref(spec.CredentialsBindingName, "") != "":
		object, at := &securityv1alpha1.CredentialsBinding{}, field.NewPath("spec", "credentialsBindingName")
		binding = bindingOf(shoot, "CredentialsBinding", *spec.CredentialsBindingName, at)
		err = c.reader.Get(ctx, binding.key(), object)
		secret = refOfCredentialsBinding(object, at, at)
	case ptr.Deref(spec.SecretBindingName, "") != "":
		object, at := &v1beta1.SecretBinding{}, field.NewPath("spec", "secretBindingName")
		binding = bindingOf(shoot, "SecretBinding", *spec.SecretBindingName, at)
		err = c.reader.Get(ctx, binding.key(), object)
		binding.place = field.NewPath("spec", "credentialsBindingName")
		secret = refOfSecretBinding(object, at)
		secret.place = binding.place
	default:
		return nil, nil, nil // it is for Gardener to demand one
	}
	if apierrors.IsNotFound(err) {
		return nil, finding.List{binding.missing()}, nil
	} else if err != nil {
		return nil, nil, unreadable(binding.Kind, binding.key().String(), err)
	}
	return c.check(ctx, secret)
}

func bindingOf(shoot *v1beta1.Shoot, kind, name string, at *field.Path) credentialsRef {
	return credentialsRef{at: at, ObjectReference: corev1.ObjectReference{Kind: kind, Namespace: shoot.Namespace, Name: name}}
}

// checkSecretBinding checks what a SecretBinding refers to, when it is created; that cannot be changed.
func (c credentials) checkSecretBinding(ctx context.Context, object *v1beta1.SecretBinding, stored func() (*v1beta1.SecretBinding, error)) (finding.Report, error) {
	if old, err := stored(); err != nil || old != nil {
		return finding.Report{}, err
	}
	_, errs, err := c.check(ctx, refOfSecretBinding(object, field.NewPath("secretRef")))
	return finding.Report{Errors: errs}, err
}

// checkCredentialsBinding checks what a CredentialsBinding refers to, when it is created; that cannot be changed.
func (c credentials) checkCredentialsBinding(ctx context.Context, object *securityv1alpha1.CredentialsBinding, stored func() (*securityv1alpha1.CredentialsBinding, error)) (finding.Report, error) {
	if old, err := stored(); err != nil || old != nil {
		return finding.Report{}, err
	}
	at := field.NewPath("credentialsRef")
	_, errs, err := c.check(ctx, refOfCredentialsBinding(object, at, at.Child("kind")))
	return finding.Report{Errors: errs}, err
}

// checkSecret checks the data of a Secret with credentials. What the stored one has as well is a warning (semantics S10).
func (c credentials) checkSecret(_ context.Context, object *corev1.Secret, stored func() (*corev1.Secret, error)) (finding.Report, error) {
	old, err := stored()
	if err != nil || old != nil && maps.EqualFunc(object.Data, old.Data, bytes.Equal) {
		return finding.Report{}, err
	}
	at := field.NewPath("data")
	check := func(secret *corev1.Secret) ratchet.Judged {
		_, errs := c.rules.ValidateCredentials(secret.Data, at)
		return ratchet.Judged{Object: secret, Report: finding.Report{Errors: finding.Of(errs)}.Sorted()}
	}
	if old == nil {
		return check(object).Report, nil
	}
	return ratchet.Excuse(check(object), check(old)), nil
}
