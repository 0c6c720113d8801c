// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package landscape

import (
	"encoding/json"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/manifest"
)

// Beside has the inputs that are not checked, but that Gardener's admission of Shoots reads. Keys are [NAMESPACE/]NAME; for Projects, they
// are the Projects' namespaces. The zero value is empty.
type Beside struct {
	projects            map[string]*v1beta1.Project
	seeds               map[string]*v1beta1.Seed
	secretBindings      map[string]*v1beta1.SecretBinding
	credentialsBindings map[string]*securityv1alpha1.CredentialsBinding
}

// Keep stores an object of one of these kinds, if it can be read. Of several with the same name, the first wins.
func (b *Beside) Keep(o *manifest.Object) {
	name := o.Namespace + "/" + o.Name
	switch o.APIVersion + " " + o.Kind {
	case v1beta1.SchemeGroupVersion.String() + " Project":
		if project := read[v1beta1.Project](o); project != nil && project.Spec.Namespace != nil {
			remember(&b.projects, *project.Spec.Namespace, project)
		}
	case v1beta1.SchemeGroupVersion.String() + " Seed":
		remember(&b.seeds, o.Name, read[v1beta1.Seed](o))
	case v1beta1.SchemeGroupVersion.String() + " SecretBinding":
		remember(&b.secretBindings, name, read[v1beta1.SecretBinding](o))
	case securityv1alpha1.SchemeGroupVersion.String() + " CredentialsBinding":
		remember(&b.credentialsBindings, name, read[securityv1alpha1.CredentialsBinding](o))
	}
}

// read returns the object of a manifest; nil if it cannot be decoded.
func read[T any](o *manifest.Object) *T {
	object := new(T)
	if json.Unmarshal(o.JSON, object) != nil {
		return nil
	}
	return object
}

func remember[T any](all *map[string]*T, name string, object *T) {
	if object == nil || (*all)[name] != nil {
		return
	}
	if *all == nil {
		*all = map[string]*T{}
	}
	(*all)[name] = object
}

// Of returns the objects that Gardener's admission reads for a Shoot, besides its profile. Missing ones are nil.
func (b *Beside) Of(shoot *v1beta1.Shoot) gardener.Beside {
	namespace := shoot.Namespace + "/"
	return gardener.Beside{
		Project: b.projects[shoot.Namespace], Seed: b.seeds[ptr.Deref(shoot.Spec.SeedName, "")],
		SecretBinding:      b.secretBindings[namespace+ptr.Deref(shoot.Spec.SecretBindingName, "")],
		CredentialsBinding: b.credentialsBindings[namespace+ptr.Deref(shoot.Spec.CredentialsBindingName, "")],
	}
}
