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

// The stable names of the rules about manifests as files, and about relations between objects. The rules about images are in package
// check.
const (
	RuleObjectKind        = decoding.RuleObjectKind
	RuleObjectDuplicate   = "object-duplicate"
	RuleFlavorWrapped     = decoding.RuleFlavorWrapped
	RuleProviderUnknown   = "provider-unknown"
	RulePoolNotChecked    = "pool-not-checked"
	RuleProfileUnreadable = "profile-unreadable"
)

// Given contains the inputs of a command: the objects, the known providers by type, and the findings so far. It is not safe for
// concurrent use.
type Given struct {
	Providers  map[string]command.Provider
	Profiles   Objects[v1beta1.CloudProfile]
	Namespaced Objects[v1beta1.NamespacedCloudProfile]
	Shoots     Objects[v1beta1.Shoot]
	beside     landscape.Beside
	// specs memoizes the results of SpecForAdmission.
	specs map[AnyProfile]*v1beta1.CloudProfileSpec

	// Landscape of the inputs.
	landscape.Landscape

	ReservedInCore bool // the objects are for a Gardener that accepts the reserved capabilities, see package reserved
	// Order is the preference order among images; nil for that of the provider. Set it before anything is compiled.
	Order *capability.Order
	// Domain is the domain of all Shoots' credentials; nil if unknown.
	Domain   *string
	Findings []report.Finding
	// Notes are remarks about the profiles behind the answers.
	Notes []string
	// Summary counts objects, but not findings.
	Summary report.Summary
	// Lost are the problems that kept a document from being among the objects.
	Lost []manifest.Problem

	// misread maps KIND NAME of objects that were found but not read to their positions. Each has an error already.
	misread map[string]string
	// skipped lists what was not read in folders, and empty the inputs without text.
	skipped []manifest.Skipped
	empty   []string
	// stdin is the user's name for standard input; empty for the usual name.
	stdin string

	// Decoded memoizes decoded manifests, for inputs that are read repeatedly; nil for others.
	Decoded decoding.Memory

	// Names are the names of objects that have only generateName.
	Names decoding.Names

	// Marked are the documents in which a comment may silence findings. Began lists where the objects in files begin.
	Marked []manifest.Text
	Began  []Began

	// AsMeant reports whether objects with errors are read as they were probably meant.
	AsMeant bool

	asLint command.AsLint

	// Cluster is the name of the cluster that objects were read from, for messages; empty if only files were read.
	Cluster string
	// Namespace of objects in files without one; empty if unknown.
	Namespace string
}

// Beside returns the objects among the inputs that Gardener's admission reads besides a Shoot and its profile.
func (in *Given) Beside(shoot *v1beta1.Shoot) gardener.Beside { return in.beside.Of(shoot) }

// Unread returns the fields of Shoots that no check reads. In a landscape they amount to hundreds of megabytes, in files and in a
// cluster.
func Unread(o manifest.Identity) [][]string {
	if o.Kind != "Shoot" {
		return nil
	}
	return unread
}

// unread are the managed fields, and the status except inPlaceUpdates, because of which Gardener may refuse updates.
var unread = [][]string{
	{"metadata", "managedFields"}, {"status", "advertisedAddresses"}, {"status", "clusterIdentity"}, {"status", "conditions"},
	{"status", "constraints"}, {"status", "credentials"}, {"status", "encryptedResources"}, {"status", "gardener"}, {"status", "hibernated"},
	{"status", "lastErrors"}, {"status", "lastHibernationTriggerTime"}, {"status", "lastMaintenance"}, {"status", "lastOperation"},
	{"status", "liveMigration"}, {"status", "manualWorkerPoolRollout"}, {"status", "migrationStartTime"}, {"status", "networking"},
	{"status", "observedGeneration"}, {"status", "retryCycleStartTime"}, {"status", "seedName"}, {"status", "technicalID"}, {"status", "uid"},
}

// Files reads files. Objects without a namespace get the given one, which may be empty. Fields that unread returns are dropped; it may be
// nil. Files that are apart are not read. The error is about files that cannot be read at all; errors in their contents become findings.
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

// AddInput adds the results of reading files.
func (in *Given) AddInput(read manifest.Input) {
	in.skipped, in.empty, in.Marked = append(in.skipped, read.Skipped...), append(in.empty, read.Empty...), append(in.Marked, read.Marked...)
	in.Summary.Skipped += read.Foreign
	in.Summary.Passed += len(read.Skipped)
	in.AddProblems(read.Problems)
	for _, o := range read.Objects {
		in.Add(o)
	}
}

// AddProblems adds problems of files to the findings.
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

// addMisread records the position of an error that may keep objects from being read. Their kinds may be misspelt.
func (in *Given) addMisread(file string, line int, objects ...manifest.Identity) {
	if in.misread == nil {
		in.misread = map[string]string{}
	}
	for _, who := range objects {
		who.Kind, who.Namespace = words.Closest(strings.TrimSuffix(who.Kind, "s"), GardenKinds), cmp.Or(who.Namespace, in.Namespace)
		in.misread[who.Kind+" "+nameOf(who)] = fmt.Sprintf("%s:%d", file, line)
	}
}

// Add adds an object, if the command understands its kind.
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

// inNamespace returns an object in the namespace in which it would be applied.
func (in *Given) inNamespace(o *manifest.Object) *manifest.Object {
	if o.Namespace != "" || in.Namespace == "" {
		return o
	}
	applied := *o
	applied.Namespace = in.Namespace
	return &applied
}

// nameOf returns an object's [NAMESPACE/]NAME. CloudProfiles have no namespace, whatever their manifest says.
func nameOf(o manifest.Identity) string {
	if o.Kind == "CloudProfile" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// add decodes a manifest like the API server with strict field validation, and adds the object to others. Errors become findings. It does
// not add the second object of a name. Equal flavors may share their capabilities, so these must not be modified.
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
	if first := others.ByName[s.Name]; first != nil && o.Name != "" { // an object without a name has another error
		line, _ := first.Manifest.Position("metadata.name")
		in.AddErrors(o, Problem(RuleObjectDuplicate, field.ErrorTypeDuplicate, "metadata.name", o.Name,
			"%s is already described in %s:%d; remove or rename one of the two%s",
			report.Object(o.Identity), first.Manifest.File, line, manifest.OrAlone(first.Manifest.File, o.File)))
		return
	}
	others.put(s)
}

// misnamed records an error at a path that may have left an object without the name or namespace by which others refer to it.
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

// TakeAsMeant replaces objects with errors by their probable meaning, so that the rest of them is checked too. It also corrects misspelt
// provider types of CloudProfiles and keys of their provider configs. It assumes nothing where the errors do not reveal the meaning.
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

// configAsMeant returns the probable meaning of a profile's provider config, and a manifest with the paths of that.
func (in *Given) configAsMeant(spec *v1beta1.CloudProfileSpec, o *manifest.Object) (*runtime.RawExtension, *manifest.Object) {
	provider, at := in.Providers[spec.Type], field.NewPath("spec", "providerConfig")
	if provider == nil || !providerconfig.HasContent(spec.ProviderConfig) {
		return spec.ProviderConfig, o
	}
	meant := in.Decoded.Config(o, spec.ProviderConfig.Raw, at.String(), func() finding.List {
		_, found := provider.Decode(spec.ProviderConfig, at)
		if len(found.Errors) > 0 { // the compiler names the image version
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

// takeAsMeant replaces the objects of one kind with errors by their probable meaning, and returns those that it replaced.
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

// AddErrors adds errors about an object to the findings. Their origins are the rules.
func (in *Given) AddErrors(o *manifest.Object, errs ...*field.Error) {
	in.AddReport(o, finding.Report{Errors: finding.Of(errs)})
}

// AddWarnings adds warnings about an object to the findings. Their origins are the rules.
func (in *Given) AddWarnings(o *manifest.Object, errs ...*field.Error) {
	in.AddReport(o, finding.Report{Warnings: finding.Of(errs)})
}

// AddReport adds the errors and warnings of a report about an object to the findings.
func (in *Given) AddReport(o *manifest.Object, r finding.Report) {
	in.Findings = append(in.Findings, located(o, finding.SeverityError, r.Errors)...)
	in.Findings = append(in.Findings, located(o, finding.SeverityWarning, r.Warnings)...)
}

// located returns findings with their positions in a manifest.
func located(o *manifest.Object, severity finding.Severity, list finding.List) []report.Finding {
	var all []report.Finding
	for _, f := range list {
		at := f.Field
		if key, isText := f.BadValue.(string); isText && f.Type == field.ErrorTypeNotSupported && o.Value(at+"."+key) != nil {
			at += "." + key // the key of a map, whose path the error has
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

// Message returns the text for the user: the detail for rules of capkit, and the API server's text for others. Long values are truncated.
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

// asWritten reverts the escaping of HTML characters in JSON.
var asWritten = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// Problem returns an error of a rule at a path. Its detail is formatted as by [fmt.Sprintf].
func Problem(rule string, kind field.ErrorType, at string, value any, format string, args ...any) *field.Error {
	return decoding.Problem(rule, kind, at, value, format, args...)
}

// GardenKinds are the kinds of objects that the command understands.
var GardenKinds = decoding.GardenKinds

// checkKind returns an error about an object that is meant for Gardener but would not reach it, because the API group lacks its kind or
// does not serve its version.
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

// Began is the position of an object.
type Began struct {
	File string
	Line int
	Who  report.Object
	// Checked reports whether its kind is checked, and not skipped.
	Checked bool
}

// begins records the position of an object.
func (in *Given) begins(o *manifest.Object, checked bool) {
	if line, _ := o.Position(""); line > 0 {
		in.Began = append(in.Began, Began{o.File, line, report.Object(o.Identity), checked})
	}
}
