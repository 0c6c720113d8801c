// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/strictjson"
)

// garden is what the command knows: its providers, by type; the objects among its inputs, by name as the API server
// would have them; and what was found wrong with them. It is not safe for concurrent use.
type garden struct {
	providers  map[string]Provider
	profiles   map[string]*source[v1beta1.CloudProfile]
	namespaced map[types.NamespacedName]*source[v1beta1.NamespacedCloudProfile]
	shoots     []*source[v1beta1.Shoot]
	// shootManifests holds the manifests of the Shoots.
	shootManifests map[types.NamespacedName]*manifest.Object
	// profileNames and namespacedNames keep the order of the inputs.
	profileNames    []string
	namespacedNames []types.NamespacedName
	// compiled holds the profiles that have been asked for, compiledNamespaced those of NamespacedCloudProfiles.
	compiled           map[string]profile
	compiledNamespaced map[types.NamespacedName]profile

	// gardener is the API server that the objects are for.
	gardener gardenerAPI
	// domain is that of the credentials of all Shoots; nil if it is not known.
	domain   *string
	findings []report.Finding
	// notes are remarks about the profiles that answers come from.
	notes   []string
	objects int
	skipped int
	// unread counts the objects that could not be decoded, so that nothing else was checked about them.
	unread int
	// lost are the problems because of which a document is not among the objects at all.
	lost []manifest.Problem
}

// source is an object with the manifest that it was read from.
type source[T any] struct {
	manifest *manifest.Object
	// object is nil if the manifest could not be decoded.
	object *T
}

// load reads the inputs. The error is about inputs that cannot be read at all; what is wrong in them becomes findings.
func load(args []string, stdin io.Reader, providers map[string]Provider) (*garden, error) {
	objects, problems, err := manifest.Load(args, stdin)
	if err != nil {
		return nil, err
	}
	g := &garden{
		providers:  providers,
		profiles:   map[string]*source[v1beta1.CloudProfile]{},
		namespaced: map[types.NamespacedName]*source[v1beta1.NamespacedCloudProfile]{},

		shootManifests:     map[types.NamespacedName]*manifest.Object{},
		compiled:           map[string]profile{},
		compiledNamespaced: map[types.NamespacedName]profile{},
	}
	g.note(problems)
	for _, o := range objects {
		g.add(o)
	}
	return g, nil
}

// note takes down what could not be read.
func (g *garden) note(problems []manifest.Problem) {
	for _, p := range problems {
		kind := field.ErrorTypeInvalid
		if p.Rule == provider.RuleDuplicateKey {
			kind = field.ErrorTypeDuplicate
		} else {
			g.lost = append(g.lost, p)
		}
		g.findings = append(g.findings, report.Finding{
			Severity: finding.SeverityError, Rule: p.Rule, Type: kind, Message: p.Message,
			Object: object(p.Identity), File: p.File, Line: p.Line, Column: p.Column,
		})
	}
}

// add takes in one object, if it is of a kind that the command understands.
func (g *garden) add(o *manifest.Object) {
	if problem := checkKind(o); problem != nil {
		g.objects++
		g.error(o, problem)
		return
	}
	if o.APIVersion != v1beta1.SchemeGroupVersion.String() {
		g.skipped++
		return
	}
	id := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	switch o.Kind {
	case "CloudProfile":
		s := decode(g, o, &v1beta1.CloudProfile{})
		if first, found := g.profiles[o.Name]; found {
			g.duplicate(o, first.manifest)
			return
		}
		g.profiles[o.Name] = s
		g.profileNames = append(g.profileNames, o.Name)
	case "NamespacedCloudProfile":
		s := decode(g, o, &v1beta1.NamespacedCloudProfile{})
		if first, found := g.namespaced[id]; found {
			g.duplicate(o, first.manifest)
			return
		}
		g.namespaced[id] = s
		g.namespacedNames = append(g.namespacedNames, id)
	case "Shoot":
		s := decode(g, o, &v1beta1.Shoot{})
		if first, found := g.shootManifests[id]; found {
			g.duplicate(o, first)
			return
		}
		g.shootManifests[id] = o
		g.shoots = append(g.shoots, s)
	default:
		g.skipped++
	}
}

// duplicate notes that an object is described a second time.
func (g *garden) duplicate(o, first *manifest.Object) {
	line, _ := first.Position("metadata.name")
	g.error(o, problem(RuleObjectDuplicate, field.ErrorTypeDuplicate, "metadata.name", o.Name, fmt.Sprintf(
		"%s is described already, in %s:%d; remove or rename one of the two", object(o.Identity), first.File, line)))
}

// error notes an error about an object, with its origin as the rule. So do warning and report.
func (g *garden) error(o *manifest.Object, err *field.Error) {
	g.findings = append(g.findings, findingAt(o, finding.SeverityError, err.Origin, err))
}

func (g *garden) warning(o *manifest.Object, err *field.Error) {
	g.findings = append(g.findings, findingAt(o, finding.SeverityWarning, err.Origin, err))
}

func (g *garden) report(o *manifest.Object, r finding.Report) {
	for _, err := range r.Errors {
		g.error(o, err.Error)
	}
	for _, err := range r.Warnings {
		g.warning(o, err.Error)
	}
}

// problem returns an error of a rule at a path.
func problem(rule string, kind field.ErrorType, at string, value any, detail string) *field.Error {
	return (&field.Error{Type: kind, Field: at, BadValue: value, Detail: detail}).WithOrigin(rule)
}

// decode decodes a manifest as the API server does with strict field validation. The object, which is nil in the result
// if there were errors, has no defaults filled in: what the user left out can still be told from what was written. Equal
// flavors in it may share their capabilities, so it must not be changed. The errors are noted as findings.
func decode[T any](g *garden, o *manifest.Object, into *T) *source[T] {
	g.objects++
	errs := strictjson.Decode(o.JSON, into, nil,
		strictjson.Shared[v1beta1.MachineImageFlavor](), strictjson.Shared[v1beta1.Capabilities]())
	for _, err := range errs {
		if wrapped := wrappedFlavor(o, err); wrapped != nil {
			err = wrapped
		}
		g.error(o, err)
	}
	if len(errs) > 0 {
		g.unread++
		return &source[T]{manifest: o}
	}
	return &source[T]{manifest: o, object: into}
}

// gardenKinds are the kinds that the command understands.
var gardenKinds = []string{"CloudProfile", "NamespacedCloudProfile", "Shoot"}

// checkKind finds objects that are meant for Gardener but would not reach it: a kind that the API group does not have,
// or one of our kinds in a version that is not served.
func checkKind(o *manifest.Object) *field.Error {
	served := v1beta1.SchemeGroupVersion
	group, _, _ := strings.Cut(o.APIVersion, "/")
	ours := slices.Contains(gardenKinds, o.Kind) && (o.Kind != "Shoot" || strings.HasSuffix(group, "gardener.cloud") || !strings.Contains(o.APIVersion, "/"))
	switch {
	case ours && o.APIVersion != served.String():
		return problem(RuleObjectKind, field.ErrorTypeNotSupported, "apiVersion", o.APIVersion, fmt.Sprintf(
			"%s is served as apiVersion: %s", o.Kind, served))
	case group == served.Group && !gardener.Recognizes(o.APIVersion, o.Kind):
		return problem(RuleObjectKind, field.ErrorTypeNotSupported, "kind", o.Kind, fmt.Sprintf(
			"%s has no kind %s%s", o.APIVersion, o.Kind, alike(o.Kind)))
	}
	return nil
}

// alike suggests the kind that was meant, if only its letters' case is wrong or it is a plural.
func alike(kind string) string {
	for _, k := range gardenKinds {
		if strings.EqualFold(k, strings.TrimSuffix(kind, "s")) {
			return "; did you mean " + k + "?"
		}
	}
	return ""
}

// findingAt places an error of a rule in the manifest that it is about.
func findingAt(source *manifest.Object, severity finding.Severity, rule string, err *field.Error) report.Finding {
	f := report.Finding{
		Severity: severity, Rule: rule, Type: err.Type, Field: err.Field, Message: message(rule, err),
		Object: object(source.Identity), File: source.File,
	}
	f.Line, f.Column = source.Position(err.Field)
	return f
}

// message is what the user reads: for rules of our own the detail, which says it all; for others what the API server
// would say.
func message(rule string, err *field.Error) string {
	if rule == RuleCore || err.Detail == "" {
		return err.ErrorBody()
	}
	return err.Detail
}

// object is an identity as findings have it.
func object(id manifest.Identity) report.Object {
	return report.Object{APIVersion: id.APIVersion, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}
