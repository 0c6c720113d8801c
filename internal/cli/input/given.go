// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/decoding"
	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/landscape"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// Given is what a command was given: the objects among its inputs, the providers that it knows, by type, and what was found wrong.
// It is not safe for concurrent use.
type Given struct {
	Providers  map[string]command.Provider
	Profiles   Objects[v1beta1.CloudProfile]
	Namespaced Objects[v1beta1.NamespacedCloudProfile]
	Shoots     Objects[v1beta1.Shoot]
	beside     landscape.Beside
	// specs are those that admission finds, by profile; nil until somebody asks for one.
	specs map[AnyProfile]*v1beta1.CloudProfileSpec

	// Landscape that the inputs are of.
	landscape.Landscape

	ReservedInCore bool // the objects are for a Gardener that accepts the reserved capabilities: see package reserved
	// Order is the preference order by which worker pools get their images; nil for that of their provider. It is set before anything is
	// compiled.
	Order *capability.Order
	// Domain is that of the credentials of all Shoots; nil if it is not known.
	Domain   *string
	Findings []report.Finding
	// Notes are remarks about the profiles that answers come from.
	Notes []string
	// Summary counts objects, but not what was found.
	Summary report.Summary
	// Lost are the problems because of which a document is not among the objects at all.
	Lost []manifest.Problem

	// misread says where the objects, KIND NAME, are written that were found and not read, and have an error for that.
	misread map[string]string
	// skipped is what folders have that is not read, and empty are the inputs without text.
	skipped []manifest.Skipped
	empty   []string
	// stdin is how the user calls standard input; empty for its usual name.
	stdin string

	// Decoded keeps what manifests were decoded to, for inputs that are read again; nil for others.
	Decoded decoding.Memory

	// Names are those of objects that have only the beginning of one.
	Names decoding.Names

	// Marked are the documents in which a comment may silence findings, and began is where the objects of files begin.
	Marked []manifest.Text
	Began  []Began

	// AsMeant is set if objects with errors are taken for what they were probably meant to be.
	AsMeant bool

	// Cluster that objects were read from, for messages; empty if it is files alone.
	Cluster string
	// Namespace of the objects in files that name none; empty if that is left open.
	Namespace string
}

// Beside returns what the inputs have of the objects that Gardener's admission looks at besides a Shoot and its profile.
func (in *Given) Beside(shoot *v1beta1.Shoot) gardener.Beside { return in.beside.Of(shoot) }

// Unread are the values of Shoots that no check reads and of which landscapes have hundreds of megabytes, whether they come
// from files or from a cluster.
func Unread(o manifest.Identity) [][]string {
	if o.Kind != "Shoot" {
		return nil
	}
	return unread
}

// unread is the status but for inPlaceUpdates, by which Gardener refuses updates.
var unread = [][]string{
	{"metadata", "managedFields"}, {"status", "advertisedAddresses"}, {"status", "clusterIdentity"}, {"status", "conditions"},
	{"status", "constraints"}, {"status", "credentials"}, {"status", "encryptedResources"}, {"status", "gardener"}, {"status", "hibernated"},
	{"status", "lastErrors"}, {"status", "lastHibernationTriggerTime"}, {"status", "lastMaintenance"}, {"status", "lastOperation"},
	{"status", "liveMigration"}, {"status", "manualWorkerPoolRollout"}, {"status", "migrationStartTime"}, {"status", "networking"},
	{"status", "observedGeneration"}, {"status", "retryCycleStartTime"}, {"status", "seedName"}, {"status", "technicalID"}, {"status", "uid"},
}

// Files reads files, in which objects without a namespace are of the given one, which may be empty, without the values that
// are unread, which may be nil. The error is about files that cannot be read at all; what is wrong in them becomes
// findings.
func Files(
	args []string, stdin io.Reader, providers map[string]command.Provider, namespace string, unread manifest.Unread, apart ...string,
) (*Given, error) {
	read, err := manifest.Read(args, stdin, decoding.APIGroups, unread, apart...)
	if err != nil {
		return nil, err
	}
	in := &Given{Providers: providers, Namespace: namespace}
	in.AddInput(read)
	return in, nil
}

// AddInput adds what was read of some files.
func (in *Given) AddInput(read manifest.Input) {
	in.skipped, in.empty, in.Marked = append(in.skipped, read.Skipped...), append(in.empty, read.Empty...), append(in.Marked, read.Marked...)
	in.Summary.Skipped += read.Foreign
	in.Summary.Passed += len(read.Skipped)
	in.AddProblems(read.Problems)
	for _, o := range read.Objects {
		in.Add(o)
	}
}

// AddProblems adds what is wrong with files as such to the findings.
func (in *Given) AddProblems(problems []manifest.Problem) {
	for _, p := range problems {
		kind := field.ErrorTypeInvalid
		if p.Rule == strictjson.OriginDuplicateKey {
			kind = field.ErrorTypeDuplicate
		} else {
			in.Lost = append(in.Lost, p)
		}
		in.addMisread(p.File, p.Line, p.Identity, p.Hidden)
		in.Findings = append(in.Findings, report.Finding{
			Severity: finding.SeverityError, Rule: p.Rule, Type: kind, Message: report.ShortWords(p.Message),
			Object: report.Object(p.Identity), File: p.File, Line: p.Line, Column: p.Column,
		})
	}
}

// addMisread notes where there is an error because of which objects may not be read. Their kinds may be misspelt.
func (in *Given) addMisread(file string, line int, objects ...manifest.Identity) {
	if in.misread == nil {
		in.misread = map[string]string{}
	}
	for _, who := range objects {
		who.Kind, who.Namespace = words.Closest(strings.TrimSuffix(who.Kind, "s"), GardenKinds), cmp.Or(who.Namespace, in.Namespace)
		in.misread[who.Kind+" "+nameOf(who)] = fmt.Sprintf("%s:%d", file, line)
	}
}

// Add adds one object, if it is of a kind that the command understands.
func (in *Given) Add(o *manifest.Object) {
	if problem := checkKind(o); problem != nil {
		in.Summary.Objects++
		in.begins(o, true)
		in.AddErrors(o, problem)
		line, _ := o.Position(problem.Field)
		in.addMisread(o.File, line, o.Identity)
		return
	}
	if o.APIVersion != v1beta1.SchemeGroupVersion.String() {
		in.beside.Keep(in.inNamespace(o))
		in.passOver(o)
		return
	}
	switch o.Kind {
	case "CloudProfile":
		add(in, &in.Profiles, o)
	case "NamespacedCloudProfile":
		add(in, &in.Namespaced, in.inNamespace(o))
	case "Shoot":
		add(in, &in.Shoots, in.inNamespace(o))
	default:
		in.beside.Keep(in.inNamespace(o))
		in.passOver(o)
	}
}

// passOver counts an object that is not checked.
func (in *Given) passOver(o *manifest.Object) {
	in.Summary.Skipped++
	in.begins(o, false)
}

// inNamespace returns an object of a file in the namespace in which it would be applied.
func (in *Given) inNamespace(o *manifest.Object) *manifest.Object {
	if o.Namespace != "" || in.Namespace == "" {
		return o
	}
	applied := *o
	applied.Namespace = in.Namespace
	return &applied
}

// nameOf returns the name of an object, as [NAMESPACE/]NAME. CloudProfiles have no namespace, whatever is written.
func nameOf(o manifest.Identity) string {
	if o.Kind == "CloudProfile" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// add decodes a manifest as the API server does with strict field validation, and adds the object to others. What is
// wrong becomes findings; an object that is described a second time is not added. Equal flavors may share their
// capabilities, so these must not be changed.
func add[T any](in *Given, others *Objects[T], o *manifest.Object) {
	in.Summary.Objects++
	in.begins(o, true)
	object, errs := decoding.Object[T](in.Decoded, o)
	o, object = decoding.Named(&in.Names, o, object, len(others.All)+1)
	s := &Source[T]{Manifest: o, Name: nameOf(o.Identity), Object: object}
	in.AddReport(o, finding.Report{Errors: errs})
	if len(errs) > 0 {
		s.Object = nil
		in.Summary.Unread++
		misnamed[T](in, o, errs[0].Field)
	}
	if first := others.ByName[s.Name]; first != nil && o.Name != "" { // what has no name has an error for that
		line, _ := first.Manifest.Position("metadata.name")
		in.AddErrors(o, Problem(RuleObjectDuplicate, field.ErrorTypeDuplicate, "metadata.name", o.Name,
			"%s is already described in %s:%d; remove or rename one of the two%s",
			report.Object(o.Identity), first.Manifest.File, line, manifest.OrAlone(first.Manifest.File, o.File)))
		return
	}
	others.put(s)
}

// misnamed notes where there is an error, at a path, because of which an object may have no name or no namespace, by which others refer to it.
func misnamed[T any](in *Given, o *manifest.Object, at string) {
	if o.Name != "" && (o.Namespace != "" || o.Kind != "NamespacedCloudProfile") {
		return
	}
	if meant, _ := decoding.Meant[T](in.Decoded, o); meant != nil {
		line, _ := o.Position(at)
		named := any(meant).(metav1.Object)
		in.addMisread(o.File, line, manifest.Identity{Kind: o.Kind, Namespace: named.GetNamespace(), Name: named.GetName()})
	}
}

// TakeAsMeant takes the objects so far whose manifests have errors for what they were probably meant to be, so that the rest of them is
// checked as well, and misspelt provider types of CloudProfiles and keys of their provider configs. Where the errors do not say what was
// meant, nothing is assumed.
func (in *Given) TakeAsMeant() {
	in.AsMeant = true
	counted := takeAsMeant(in, &in.Profiles)
	takeAsMeant(in, &in.Namespaced)
	takeAsMeant(in, &in.Shoots)
	for _, s := range in.Profiles.All {
		if s.Object == nil || s.Aside || s.Object.DeletionTimestamp != nil {
			continue
		}
		object, as := *s.Object, s.Manifest
		if meant := in.MeantProvider(object.Spec.Type); meant != "" && in.Providers[object.Spec.Type] == nil {
			in.AddErrors(as, in.UnknownProvider(object.Spec.Type, "spec.type"))
			object.Spec.Type = meant
		}
		object.Spec.ProviderConfig, s.Manifest = in.configAsMeant(&object.Spec, as)
		if object.Spec.Type == s.Object.Spec.Type && as == s.Manifest {
			continue
		}
		s.Object = &object
		if !counted[s] {
			in.Summary.AsMeant++
		}
	}
}

// configAsMeant returns the provider config of a profile as it was probably meant, and its manifest, in which it is at its paths.
func (in *Given) configAsMeant(spec *v1beta1.CloudProfileSpec, o *manifest.Object) (*runtime.RawExtension, *manifest.Object) {
	provider, at := in.Providers[spec.Type], field.NewPath("spec", "providerConfig")
	if provider == nil || !providerconfig.HasContent(spec.ProviderConfig) {
		return spec.ProviderConfig, o
	}
	meant := in.Decoded.Config(o, spec.ProviderConfig.Raw, at.String(), func() finding.List {
		_, found := provider.Decode(spec.ProviderConfig, at)
		if len(found.Errors) > 0 { // the compiler says which image version they are about
			_, found = in.compile(provider, spec, field.NewPath("spec"))
		}
		return found.Errors
	})
	if meant.Raw == nil {
		return spec.ProviderConfig, o
	}
	in.AddReport(o, finding.Report{Errors: meant.Taken})
	return &runtime.RawExtension{Raw: meant.Raw}, meant.Manifest
}

// takeAsMeant does so for objects of one kind, and returns those with errors that it takes.
func takeAsMeant[T any](in *Given, objects *Objects[T]) (taken map[*Source[T]]bool) {
	taken = map[*Source[T]]bool{}
	for _, s := range objects.All {
		if s.Object != nil {
			continue
		}
		if meant, as := decoding.Meant[T](in.Decoded, s.Manifest); meant != nil {
			s.Object, s.Manifest = meant, as
			in.Summary.Unread--
			in.Summary.AsMeant++
			taken[s] = true
			named := any(meant).(metav1.Object)
			name := nameOf(manifest.Identity{Kind: as.Kind, Namespace: named.GetNamespace(), Name: named.GetName()})
			if objects.ByName[name] == nil { // its key is misspelt, or that of the metadata
				s.Name, objects.ByName[name] = name, s
			}
		}
	}
	return taken
}

// AddErrors adds errors about an object to the findings, with their origins as the rules.
func (in *Given) AddErrors(o *manifest.Object, errs ...*field.Error) {
	in.AddReport(o, finding.Report{Errors: finding.Of(errs)})
}

// AddWarnings adds warnings about an object to the findings, with their origins as the rules.
func (in *Given) AddWarnings(o *manifest.Object, errs ...*field.Error) {
	in.AddReport(o, finding.Report{Warnings: finding.Of(errs)})
}

// AddReport adds the errors and warnings of a report about an object to the findings.
func (in *Given) AddReport(o *manifest.Object, r finding.Report) {
	in.Findings = append(in.Findings, located(o, finding.SeverityError, r.Errors)...)
	in.Findings = append(in.Findings, located(o, finding.SeverityWarning, r.Warnings)...)
}

// located returns findings at their places in the manifest that they are about.
func located(o *manifest.Object, severity finding.Severity, list finding.List) []report.Finding {
	var all []report.Finding
	for _, f := range list {
		at := f.Field
		if key, isText := f.BadValue.(string); isText && f.Type == field.ErrorTypeNotSupported && o.Value(at+"."+key) != nil {
			at += "." + key // that of a map, which is the path
		}
		line, column := o.Position(at)
		all = append(all, report.Finding{
			Severity: severity, Rule: f.Origin, Type: f.Type, Field: f.Field, Message: Message(f.Error),
			Object: report.Object(o.Identity), File: o.File, Line: line, Column: column,
			Subject: f.Subject, Suggestion: f.Suggestion, Implied: located(o, severity, f.Implied),
		})
	}
	return all
}

// Message is what the user reads: for rules of our own the detail, for others what the API server would say; of long values the
// beginning.
func Message(err *field.Error) string {
	if err.Origin != gardener.RuleCore && err.Detail != "" {
		return report.ShortWords(err.Detail)
	}
	said := *err
	if value, isText := err.BadValue.(string); isText {
		said.BadValue = report.Shortened(value)
	}
	return report.ShortWords(asWritten.Replace(said.ErrorBody()))
}

// asWritten undoes what JSON does to signs that mean something in HTML.
var asWritten = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// Problem returns an error of a rule at a path, with a detail that is formatted as by [fmt.Sprintf].
func Problem(rule string, kind field.ErrorType, at string, value any, format string, args ...any) *field.Error {
	return decoding.Problem(rule, kind, at, value, format, args...)
}

// GardenKinds are the kinds of objects that the command understands.
var GardenKinds = decoding.GardenKinds

// checkKind finds objects that are meant for Gardener but would not reach it: a kind that the API group does not have,
// or one of our kinds in a version that is not served.
func checkKind(o *manifest.Object) *field.Error {
	served := v1beta1.SchemeGroupVersion
	group, _, _ := strings.Cut(o.APIVersion, "/")
	ours := slices.Contains(GardenKinds, o.Kind) &&
		(o.Kind != "Shoot" || strings.HasSuffix(group, "gardener.cloud") || !strings.Contains(o.APIVersion, "/"))
	switch {
	case ours && o.APIVersion != served.String():
		return Problem(RuleObjectKind, field.ErrorTypeNotSupported, "apiVersion", o.APIVersion,
			"Gardener serves %s in one version; write apiVersion: %s", o.Kind, served)
	case group == served.Group && !gardener.Recognizes(o.APIVersion, o.Kind):
		return Problem(RuleObjectKind, field.ErrorTypeNotSupported, "kind", o.Kind,
			"%s has no kind %s%s", o.APIVersion, o.Kind, words.DidYouMean(words.Closest(strings.TrimSuffix(o.Kind, "s"), GardenKinds)))
	}
	return nil
}

// Began is where an object begins.
type Began struct {
	File string
	Line int
	Who  report.Object
	// Checked is set unless it is of a kind that is passed over.
	Checked bool
}

// begins records where an object begins.
func (in *Given) begins(o *manifest.Object, checked bool) {
	if line, _ := o.Position(""); line > 0 {
		in.Began = append(in.Began, Began{o.File, line, report.Object(o.Identity), checked})
	}
}
