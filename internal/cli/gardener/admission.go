// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/gardener/gardener/pkg/client/core/informers/externalversions"
	securityinformers "github.com/gardener/gardener/pkg/client/security/informers/externalversions"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"github.com/gardener/gardener/plugin/pkg/shoot/mutator"
	"github.com/gardener/gardener/plugin/pkg/shoot/validator"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/words"
)

// RuleAdmission is the origin of errors that Gardener's admission plugins report for Shoots.
const RuleAdmission = "gardener-admission"

// Beside has the objects, besides the profile, that the admission of a Shoot reads. A nil Project is replaced by a synthetic one that is
// always accepted. If a Seed or binding is nil, the Shoot is checked as if it named none.
type Beside struct {
	Project            *v1beta1.Project
	Seed               *v1beta1.Seed
	SecretBinding      *v1beta1.SecretBinding
	CredentialsBinding *securityv1alpha1.CredentialsBinding
}

// plugins are the admission plugins ShootMutator and ShootValidator of Gardener's API server, in this process. They read objects from
// informers, which hold the objects of one request at a time. [Server.run] serializes the requests.
type plugins struct {
	mutate   *mutator.MutateShoot
	validate *validator.ValidateShoot

	profiles, namespaced, projects, seeds, secretBindings, credentialsBindings, secrets cache.Indexer
}

// shootPlugins returns the plugins, which it creates on the first call. Their authorizer allows everything, and their landscape offers
// managed issuers.
var shootPlugins = sync.OnceValue(func() *plugins {
	p := &plugins{}
	p.mutate, _ = mutator.New() // never returns an error
	p.validate, _ = validator.New()
	coreInformers := externalversions.NewSharedInformerFactory(nil, 0)
	security := securityinformers.NewSharedInformerFactory(nil, 0)
	kube := kubeinformers.NewSharedInformerFactory(nil, 0)
	p.mutate.SetCoreInformerFactory(coreInformers)
	p.validate.SetCoreInformerFactory(coreInformers)
	p.validate.SetSecurityInformerFactory(security)
	p.validate.SetKubeInformerFactory(kube)
	p.validate.SetAuthorizer(authorizerfactory.NewAlwaysAllowAuthorizer())
	ready := func() bool { return true }
	p.mutate.AssignReadyFunc(ready)
	p.validate.AssignReadyFunc(ready)
	in := coreInformers.Core().V1beta1()
	p.profiles, p.namespaced = in.CloudProfiles().Informer().GetIndexer(), in.NamespacedCloudProfiles().Informer().GetIndexer()
	p.projects, p.seeds = in.Projects().Informer().GetIndexer(), in.Seeds().Informer().GetIndexer()
	p.secretBindings = in.SecretBindings().Informer().GetIndexer()
	p.credentialsBindings = security.Security().V1alpha1().CredentialsBindings().Informer().GetIndexer()
	p.secrets = kube.Core().V1().Secrets().Informer().GetIndexer()
	return p
})

// question is an admission request for a Shoot.
type question struct {
	shoot, old *core.Shoot
	beside     []stored
}

// stored is an object, and the index in which a plugin looks it up.
type stored struct {
	in     cache.Indexer
	object any
}

// admit runs the mutating plugin on a Shoot, then judge on the result, and then the validating plugin. The API server would stop at errors
// of the mutating one. If these are all about what it cannot fill in, admit runs the validating one anyway, without its errors that follow
// from them; not with a profile without images, which Gardener refuses, and which probably lacks everything else. An existing Shoot gets an
// update of its metadata, any other Shoot is created. admit modifies the Shoot. It returns the errors of the plugins, with fields, and those
// of judge.
func (p *plugins) admit(
	shoot *core.Shoot, profile *v1beta1.CloudProfileSpec, beside Beside, judge func() field.ErrorList,
) (said, judged field.ErrorList) {
	q := p.ask(shoot, profile, beside)
	for _, s := range q.beside {
		_ = s.in.Add(s.object) // cannot fail: it has a name
	}
	defer func() {
		for _, s := range q.beside {
			_ = s.in.Delete(s.object)
		}
	}()
	attributes := q.attributes()
	said = verdict("ShootMutator", shoot, profile, func() error { return p.mutate.Admit(context.Background(), attributes, nil) })
	shoot.Annotations, shoot.Spec.Provider.Workers = q.shoot.Annotations, q.shoot.Spec.Provider.Workers
	shoot.Spec.Kubernetes, shoot.Spec.Maintenance = q.shoot.Spec.Kubernetes, q.shoot.Spec.Maintenance
	judged = judge()
	if len(said) > 0 && len(profile.MachineImages) == 0 || slices.ContainsFunc(said, func(err *field.Error) bool { return !unfilled.MatchString(err.Field) }) {
		return said, judged
	}
	if len(said) > 0 {
		for i := range q.shoot.Spec.Provider.Workers {
			if machine := &q.shoot.Spec.Provider.Workers[i].Machine; machine.Image == nil { // the validating plugin would panic
				machine.Image = &core.ShootMachineImage{}
			}
		}
	}
	q.shoot.Spec.CloudProfile, q.shoot.Spec.CloudProfileName = shoot.Spec.CloudProfile, shoot.Spec.CloudProfileName
	q.shoot.Status = shoot.Status
	validated := verdict("ShootValidator", shoot, profile, func() error { return p.validate.Validate(context.Background(), attributes, nil) })
	return append(said, withoutUnfilled(validated, said)...), judged
}

// unfilled matches the fields of errors about images and Kubernetes versions that the mutating plugin cannot fill in.
var unfilled = regexp.MustCompile(`^spec\.(?:kubernetes\.version|provider\.workers\[\d+\](?:\.kubernetes\.version)?)$`)

// withoutUnfilled removes errors of the validating plugin about images and Kubernetes versions that the mutating one could not fill in. It
// fills in the Kubernetes versions of worker pools up to its first error, and the validating one compares them with images.
func withoutUnfilled(errs, said field.ErrorList) field.ErrorList {
	at, kubernetes := sets.New[string](), false
	for _, err := range said {
		at.Insert(err.Field)
		kubernetes = kubernetes || strings.HasSuffix(err.Field, ".kubernetes.version")
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		pool, of, isImage := strings.Cut(err.Field, ".machine.image")
		return isImage && (at.Has(pool) || kubernetes && of == "") || kubernetes && strings.HasSuffix(err.Field, ".kubernetes.version")
	})
}

// ask returns the admission request for a Shoot, with the objects that it refers to.
func (p *plugins) ask(shoot *core.Shoot, profile *v1beta1.CloudProfileSpec, beside Beside) *question {
	asked := *shoot
	q := &question{shoot: &asked}
	put := func(in cache.Indexer, object any) { q.beside = append(q.beside, stored{in, object}) }
	// keep adds an object to the request and returns its name, or nil if the object is unknown.
	keep := func(name *string, in cache.Indexer, object any, known bool) *string {
		if name == nil || !known {
			return nil
		}
		put(in, object)
		return name
	}
	reference := ptr.Deref(gardenerutils.BuildCoreCloudProfileReference(shoot), v1beta1.CloudProfileReference{})
	named := metav1.ObjectMeta{Name: reference.Name}
	if reference.Kind == v1beta1constants.CloudProfileReferenceKindNamespacedCloudProfile {
		named.Namespace = shoot.Namespace
		put(p.namespaced, &v1beta1.NamespacedCloudProfile{
			ObjectMeta: named, Status: v1beta1.NamespacedCloudProfileStatus{CloudProfileSpec: *profile},
		})
	} else {
		put(p.profiles, &v1beta1.CloudProfile{ObjectMeta: named, Spec: *profile})
	}
	if beside.Project != nil {
		put(p.projects, beside.Project)
	} else {
		put(p.projects, &v1beta1.Project{Spec: v1beta1.ProjectSpec{Namespace: &shoot.Namespace}})
	}
	asked.Spec.SeedName = keep(asked.Spec.SeedName, p.seeds, beside.Seed, beside.Seed != nil)
	asked.Spec.SecretBindingName = keep(asked.Spec.SecretBindingName, p.secretBindings, beside.SecretBinding, beside.SecretBinding != nil)
	asked.Spec.CredentialsBindingName = keep(
		asked.Spec.CredentialsBindingName, p.credentialsBindings, beside.CredentialsBinding, beside.CredentialsBinding != nil)
	put(p.secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: v1beta1constants.GardenNamespace, Name: "issuer",
		Labels: map[string]string{v1beta1constants.GardenRole: v1beta1constants.GardenRoleShootServiceAccountIssuer},
	}})
	if server := asked.Spec.Kubernetes.KubeAPIServer; server != nil {
		for _, plugin := range server.AdmissionPlugins {
			if plugin.KubeconfigSecretName != nil {
				put(p.secrets, &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: shoot.Namespace, Name: *plugin.KubeconfigSecretName},
					Data:       map[string][]byte{"kubeconfig": nil},
				})
			}
		}
	}
	if exists(shoot) { // an update must change something: a label, because annotations must not change while a Seed is being deleted
		before := asked
		before.Labels = map[string]string{"before": "an update"}
		q.old = &before
	}
	return q
}

// exists reports whether a Shoot has been created: it was read from an API server.
func exists(shoot metav1.Object) bool { return shoot.GetUID() != "" }

func (q *question) attributes() admission.Attributes {
	var old runtime.Object
	operation, options := admission.Create, runtime.Object(&metav1.CreateOptions{})
	if q.old != nil {
		old, operation, options = q.old, admission.Update, &metav1.UpdateOptions{}
	}
	return admission.NewAttributesRecord(q.shoot, old, core.SchemeGroupVersion.WithKind("Shoot"), q.shoot.Namespace, q.shoot.Name,
		core.SchemeGroupVersion.WithResource("shoots"), "", operation, options, false, &user.DefaultInfo{})
}

// verdict returns the errors of a plugin, with fields. A panic becomes an error, because the API server answers every request for the Shoot
// with 503. If no API server would store the profile, verdict ignores the panic.
func verdict(plugin string, shoot *core.Shoot, profile *v1beta1.CloudProfileSpec, ask func() error) (errs field.ErrorList) {
	defer func() {
		problem := recover()
		if problem == nil || len((&Server{}).validate(&v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "profile"}, Spec: *profile})) > 0 {
			return
		}
		at, cause := field.NewPath("spec"), ""
		for i, worker := range shoot.Spec.Provider.Workers {
			if !slices.ContainsFunc(profile.MachineTypes, func(t v1beta1.MachineType) bool { return t.Name == worker.Machine.Type }) {
				at = at.Child("provider", "workers").Index(i).Child("machine", "type")
				cause = fmt.Sprintf(": worker pool %s has machine type %s, which its profile does not have; put the machine type back into the profile",
					worker.Name, worker.Machine.Type)
				break
			}
		}
		errs = field.ErrorList{{Type: field.ErrorTypeInternal, Field: at.String(), Origin: RuleAdmission, Detail: fmt.Sprintf(
			"Gardener's admission plugin %s panics (%v), and answers every update of this Shoot with 503%s", plugin, problem, cause)}}
	}()
	return inFields(ask())
}

// refusal matches the prefix of a plugin's error.
var refusal = regexp.MustCompile(`^\S+ "[^"]*" is (?:forbidden|invalid): `)

// inError matches the beginning of an error with a field, in a text with several errors.
var inError = regexp.MustCompile(`(?:^|, )((?:spec|metadata|status|name)(?:[.\[][^\s:]*)?): ` +
	`(Invalid value|Unsupported value|Forbidden|Required value|Duplicate value|Not found|Internal error|Too long|Too many)\b`)

// errorTypes maps the beginnings of errors to their types.
var errorTypes = map[string]field.ErrorType{
	"Invalid value": field.ErrorTypeInvalid, "Unsupported value": field.ErrorTypeNotSupported, "Forbidden": field.ErrorTypeForbidden,
	"Required value": field.ErrorTypeRequired, "Duplicate value": field.ErrorTypeDuplicate, "Not found": field.ErrorTypeNotFound,
	"Internal error": field.ErrorTypeInternal, "Too long": field.ErrorTypeTooLong, "Too many": field.ErrorTypeTooMany,
}

// aboutProfile is an error of the mutating plugin that names no field.
const aboutProfile = "new shoot can only specify either cloudProfileName or cloudProfile reference"

// inFields splits a plugin's error, which is only text, into errors with fields. The details keep the whole text. An error without a field
// is about the spec.
func inFields(err error) field.ErrorList {
	if err == nil {
		return nil
	}
	text := err.Error()
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		text = refusal.ReplaceAllString(text, "")
	}
	if several, found := strings.CutPrefix(text, "["); found {
		text = strings.TrimSuffix(several, "]")
	}
	found := inError.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 || found[0][0] > 0 {
		at := field.NewPath("spec")
		if text == aboutProfile {
			at, text = at.Child("cloudProfileName"), "a new Shoot can have cloudProfile or cloudProfileName, and not both; remove cloudProfileName"
		}
		return field.ErrorList{{Type: field.ErrorTypeForbidden, Field: at.String(), Detail: text, Origin: RuleAdmission}}
	}
	var errs field.ErrorList
	for i, m := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		at := text[m[2]:m[3]]
		if at == "name" {
			at = "metadata.name"
		}
		errs = append(errs, &field.Error{
			Type: errorTypes[text[m[4]:m[5]]], Field: at, Detail: inShort(text[m[4]:end]), Origin: RuleAdmission,
		})
	}
	return errs
}

var (
	// noProject matches an unknown Project in a message.
	noProject = regexp.MustCompile(`\(project: ; `)
	// goList matches a list at the end of a message, as Go prints it.
	goList = regexp.MustCompile(`(?: are:?|values:) \[([^\[\]]*)\]$`)
	// goStruct matches an object in a message, as Go prints it.
	goStruct = regexp.MustCompile(`^(Invalid value): \{[^}]*\}: `)
	// noneSupported matches a message about an unsupported value for which there are no supported ones.
	noneSupported = regexp.MustCompile(`^Unsupported value: "(?:[^"\\]|\\.)*"$`)
)

// inShort removes synthetic objects from a message, shortens lists and objects that Go has printed, and writes none for empty lists.
func inShort(text string) string {
	text = noProject.ReplaceAllString(SortLists(text), "(")
	text = goStruct.ReplaceAllString(text, "$1: ")
	text = noneSupported.ReplaceAllString(text, "$0: supported values: none")
	return goList.ReplaceAllStringFunc(text, func(list string) string {
		names := strings.Fields(goList.FindStringSubmatch(list)[1])
		if len(names) == 0 {
			return ": none"
		}
		return ": " + words.Few(names)
	})
}
