// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// apiGroups is what the names of Gardener's API groups have in common.
const apiGroups = "gardener.cloud"

// garden is what the command knows: its providers, by type; the objects among its inputs; and what was found wrong with
// them. It is not safe for concurrent use.
type garden struct {
	providers  map[string]Provider
	profiles   objects[v1beta1.CloudProfile]
	namespaced objects[v1beta1.NamespacedCloudProfile]
	shoots     objects[v1beta1.Shoot]

	reservedInCore bool // the objects are for a Gardener that accepts the reserved capabilities: see package reserved
	// domain is that of the credentials of all Shoots; nil if it is not known.
	domain   *string
	findings []report.Finding
	// notes are remarks about the profiles that answers come from.
	notes []string
	// summary counts objects, but not what was found.
	summary report.Summary
	// lost are the problems because of which a document is not among the objects at all.
	lost []manifest.Problem

	// skipped is what folders have that is not read, and empty are the inputs without text.
	skipped []manifest.Skipped
	empty   []string

	// marked are the documents in which a comment may silence findings, and began is where the objects of files begin.
	marked []manifest.Text
	began  []began

	// cluster that objects were read from, for messages; empty if it is files alone.
	cluster string
	// namespace of the objects in files that name none; empty if that is left open.
	namespace string
	// leftOut counts the Shoots of the cluster that were not asked about, by their provider, which is not known.
	leftOut map[string]int
}

// objects are those of one kind: in the order of the inputs, and by name, which is [NAMESPACE/]NAME.
type objects[T any] struct {
	all    []*source[T]
	byName map[string]*source[T]
}

// source is an object with the manifest that it was read from.
type source[T any] struct {
	manifest *manifest.Object
	name     string
	// object is as it was written, without defaults; nil if the manifest could not be decoded.
	object *T
	// compiled is the profile that the object is or results in; nil until somebody asks for it.
	compiled anyProfile
	// live is set for an object of the cluster, and aside for one of those that is only there for others to refer to.
	live, aside bool
	// old is what the object is an update of; nil if it is as it is created.
	old *T
}

// forget lets go of an object that nobody will ask for again, of which there may be tens of thousands.
func (s *source[T]) forget() { s.object = nil }

// unread are the values of Shoots that no check reads and of which landscapes have hundreds of megabytes, whether they come
// from files or from a cluster.
func unread(o manifest.Identity) [][]string {
	if o.Kind != "Shoot" {
		return nil
	}
	return [][]string{{"status"}, {"metadata", "managedFields"}}
}

// load reads files, in which objects without a namespace are of the given one, which may be empty, without the values that
// are unread, which may be nil. The error is about files that cannot be read at all; what is wrong in them becomes
// findings.
func load(
	args []string, stdin io.Reader, providers map[string]Provider, namespace string, unread manifest.Unread,
) (*garden, error) {
	in, err := manifest.Read(args, stdin, apiGroups, unread)
	if err != nil {
		return nil, err
	}
	g := &garden{providers: providers, namespace: namespace, skipped: in.Skipped, empty: in.Empty, marked: in.Marked}
	g.summary.Skipped = in.Foreign
	g.note(in.Problems)
	for _, o := range in.Objects {
		g.add(o)
	}
	return g, nil
}

func (g *garden) note(problems []manifest.Problem) {
	for _, p := range problems {
		kind := field.ErrorTypeInvalid
		if p.Rule == strictjson.OriginDuplicateKey {
			kind = field.ErrorTypeDuplicate
		} else {
			g.lost = append(g.lost, p)
		}
		g.findings = append(g.findings, report.Finding{
			Severity: finding.SeverityError, Rule: p.Rule, Type: kind, Message: withShortWords(p.Message),
			Object: report.Object(p.Identity), File: p.File, Line: p.Line, Column: p.Column,
		})
	}
}

// add takes in one object, if it is of a kind that the command understands.
func (g *garden) add(o *manifest.Object) {
	if problem := checkKind(o); problem != nil {
		g.summary.Objects++
		g.begins(o, true)
		g.error(o, problem)
		return
	}
	if o.APIVersion != v1beta1.SchemeGroupVersion.String() {
		g.passOver(o)
		return
	}
	switch o.Kind {
	case "CloudProfile":
		add(g, &g.profiles, o, o.Name)
	case "NamespacedCloudProfile":
		o = g.inNamespace(o)
		if s := add(g, &g.namespaced, o, o.Namespace+"/"+o.Name); s.object != nil {
			s.object.Namespace = o.Namespace
		}
	case "Shoot":
		o = g.inNamespace(o)
		if s := add(g, &g.shoots, o, o.Namespace+"/"+o.Name); s.object != nil {
			s.object.Namespace = o.Namespace
		}
	default:
		g.passOver(o)
	}
}

// passOver counts an object that is not checked.
func (g *garden) passOver(o *manifest.Object) {
	g.summary.Skipped++
	g.begins(o, false)
}

// inNamespace returns an object of a file in the namespace in which it would be applied.
func (g *garden) inNamespace(o *manifest.Object) *manifest.Object {
	if o.Namespace != "" || g.namespace == "" {
		return o
	}
	applied := *o
	applied.Namespace = g.namespace
	return &applied
}

// add decodes a manifest as the API server does with strict field validation, and adds the object to others. What is
// wrong becomes findings; an object that is described a second time is not added. Equal flavors may share their
// capabilities, so these must not be changed.
func add[T any](g *garden, others *objects[T], o *manifest.Object, name string) *source[T] {
	g.summary.Objects++
	g.begins(o, true)
	s := &source[T]{manifest: o, name: name, object: new(T)}
	errs := strictjson.Decode(o.JSON, s.object, nil,
		strictjson.Shared[v1beta1.MachineImageFlavor](), strictjson.Shared[v1beta1.Capabilities](), strictjson.Foreign[v1beta1.SeedSelector]())
	errs = slices.DeleteFunc(errs, func(f finding.Finding) bool { return inStatus(o, f.Error) })
	if err := otherKind(o, errs); err != nil {
		errs = finding.Of(field.ErrorList{err})
	}
	for _, f := range errs {
		if err := cmp.Or(wrappedFlavor(o, f.Error), inPool(f.Error)); err != nil {
			g.error(o, err)
		} else {
			g.report(o, finding.Failed(f))
		}
	}
	if len(errs) > 0 {
		s.object = nil
		g.summary.Unread++
	}
	if first := others.byName[name]; first != nil {
		line, _ := first.manifest.Position("metadata.name")
		g.error(o, problem(ruleObjectDuplicate, field.ErrorTypeDuplicate, "metadata.name", o.Name,
			"%s is described already, in %s:%d; remove or rename one of the two%s",
			report.Object(o.Identity), first.manifest.File, line, orAlone(first.manifest.File, o.File)))
		return s
	}
	others.put(s)
	return s
}

// orAlone says what else to do about an object that two files describe: if these are in folders of their own, one for each
// landscape as a rule, to give the command one folder at a time. It is empty if they are not.
func orAlone(a, b string) string {
	x, y := manifest.Apart(a, b)
	if x == "" {
		return ""
	}
	return fmt.Sprintf("; or, if %s and %s are of two landscapes, run the command for each of them alone: "+
		"what it is given together is one landscape", x, y)
}

// inStatus reports whether an error of the decoder is about something in a status that nobody reads: a field that this
// version of Gardener does not have or, but for NamespacedCloudProfiles, anything. What can be read of the object is there.
func inStatus(o *manifest.Object, err *field.Error) bool {
	below := strings.HasPrefix(err.Field, "status.") || err.Field == "status" && err.Origin == strictjson.OriginFieldType
	return below && (err.Origin == strictjson.OriginUnknownField ||
		err.Origin == strictjson.OriginFieldType && o.Kind != "NamespacedCloudProfile")
}

// error notes errors about an object, with their origins as the rules. So do warning and report.
func (g *garden) error(o *manifest.Object, errs ...*field.Error) {
	g.find(o, finding.SeverityError, errs)
}

func (g *garden) warning(o *manifest.Object, errs ...*field.Error) {
	g.find(o, finding.SeverityWarning, errs)
}

func (g *garden) report(o *manifest.Object, r finding.Report) {
	g.findings = append(g.findings, located(o, finding.SeverityError, r.Errors)...)
	g.findings = append(g.findings, located(o, finding.SeverityWarning, r.Warnings)...)
}

// find notes errors or warnings at their places in the manifest that they are about.
func (g *garden) find(o *manifest.Object, severity finding.Severity, errs field.ErrorList) {
	for _, err := range errs {
		g.findings = append(g.findings, locate(o, severity, err))
	}
}

// located returns findings at their places in the manifest that they are about.
func located(o *manifest.Object, severity finding.Severity, list finding.List) []report.Finding {
	var all []report.Finding
	for _, f := range list {
		at := locate(o, severity, f.Error)
		at.Subject, at.Suggestion = f.Subject, f.Suggestion
		at.Instead = located(o, severity, f.Instead)
		all = append(all, at)
	}
	return all
}

func locate(o *manifest.Object, severity finding.Severity, err *field.Error) report.Finding {
	line, column := o.Position(err.Field)
	return report.Finding{
		Severity: severity, Rule: err.Origin, Type: err.Type, Field: err.Field, Message: message(err),
		Object: report.Object(o.Identity), File: o.File, Line: line, Column: column,
	}
}

// message is what the user reads: for rules of our own the detail, for others what the API server would say; of long values the
// beginning.
func message(err *field.Error) string {
	if err.Origin != gardener.RuleCore && err.Detail != "" {
		return withShortWords(err.Detail)
	}
	said := *err
	if value, isText := err.BadValue.(string); isText {
		said.BadValue = shortened(value)
	}
	return withShortWords(said.ErrorBody())
}

// longest is how many characters a message has of a value, and aroundValue how many more a word may have because of the quotation
// marks and brackets around one.
const (
	longest     = 200
	aroundValue = 20
)

// shortened returns a value as messages have it: of a long one the beginning, and how long it is.
func shortened(value string) string {
	if len(value) <= longest {
		return value
	}
	characters := []rune(value)
	if len(characters) <= longest {
		return value
	}
	return fmt.Sprintf("%s… (%d characters)", string(characters[:longest]), len(characters))
}

// withShortWords returns a message in which words that are too long are shortened.
func withShortWords(message string) string {
	if len(message) <= longest {
		return message
	}
	split := strings.Split(message, " ")
	for i, word := range split {
		if utf8.RuneCountInString(word) > longest+aroundValue {
			bare := strings.TrimRight(word, ".,:;)]}")
			split[i] = shortened(bare) + word[len(bare):]
		}
	}
	return strings.Join(split, " ")
}

// problem returns an error of a rule at a path, with a detail that is formatted as by [fmt.Sprintf].
func problem(rule string, kind field.ErrorType, at string, value any, format string, args ...any) *field.Error {
	return &field.Error{Type: kind, Field: at, BadValue: value, Origin: rule, Detail: fmt.Sprintf(format, args...)}
}

var gardenKinds = []string{"CloudProfile", "NamespacedCloudProfile", "Shoot"}

// checkKind finds objects that are meant for Gardener but would not reach it: a kind that the API group does not have,
// or one of our kinds in a version that is not served.
func checkKind(o *manifest.Object) *field.Error {
	served := v1beta1.SchemeGroupVersion
	group, _, _ := strings.Cut(o.APIVersion, "/")
	ours := slices.Contains(gardenKinds, o.Kind) &&
		(o.Kind != "Shoot" || strings.HasSuffix(group, "gardener.cloud") || !strings.Contains(o.APIVersion, "/"))
	switch {
	case ours && o.APIVersion != served.String():
		return problem(ruleObjectKind, field.ErrorTypeNotSupported, "apiVersion", o.APIVersion,
			"%s is served as apiVersion: %s", o.Kind, served)
	case group == served.Group && !gardener.Recognizes(o.APIVersion, o.Kind):
		return problem(ruleObjectKind, field.ErrorTypeNotSupported, "kind", o.Kind,
			"%s has no kind %s%s", o.APIVersion, o.Kind, words.DidYouMean(words.InCase(strings.TrimSuffix(o.Kind, "s"), gardenKinds)))
	}
	return nil
}

// coreFlavor matches the path of a core flavor, and of what is in it.
var coreFlavor = regexp.MustCompile(`^spec\.machineImages\[\d+\]\.versions\[\d+\]\.capabilityFlavors\[\d+\]`)

// wrappedFlavor replaces the decoder's error about a core flavor that wraps its capabilities into a key, a form that
// only provider configs have. It returns nil for any other error.
func wrappedFlavor(o *manifest.Object, err *field.Error) *field.Error {
	flavor := coreFlavor.FindString(err.Field)
	if flavor == "" || err.Origin != strictjson.OriginFieldType {
		return nil
	}
	at := flavor + ".capabilities"
	var capabilities map[string]any
	if _ = json.Unmarshal(o.Value(at), &capabilities); capabilities == nil { // it is not there, or no map
		return nil
	}
	return problem(ruleFlavorWrapped, field.ErrorTypeInvalid, at, nil,
		`a core flavor is the map of its capabilities itself, without the key "capabilities:", `+
			`which only flavors under spec.providerConfig have; write: - %s`, flowStyle(capabilities))
}

// flowStyle prints a map of lists in YAML's flow style, in the order of names.
func flowStyle(capabilities map[string]any) string {
	entries := make([]string, 0, len(capabilities))
	for _, name := range slices.Sorted(maps.Keys(capabilities)) {
		values, isList := capabilities[name].([]any)
		if !isList {
			values = []any{capabilities[name]}
		}
		texts := make([]string, 0, len(values))
		for _, value := range values {
			texts = append(texts, fmt.Sprint(value))
		}
		entries = append(entries, name+": ["+strings.Join(texts, ", ")+"]")
	}
	return "{" + strings.Join(entries, ", ") + "}"
}
