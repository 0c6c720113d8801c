// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// checkRead returns the mistakes in the images that Decode returns for a config at the path at: paths that lead to nothing, unless images
// are mapped elsewhere, and references that do not survive a JSON round trip.
func checkRead[R any](config []byte, images []imageselector.Image[R], elsewhere bool, at *field.Path) error {
	var written any
	if err := json.Unmarshal(config, &written); err != nil {
		return err
	}
	var errs []error
	place := func(of string, path *field.Path, name string) {
		if value, found := valueAt(written, at, path); !elsewhere && (!found || name != "" && value != name) {
			errs = append(errs, fmt.Errorf("the provider's Decode returns %s at the path %s, where it is not written", of, fieldpath.Text(path)))
		}
	}
	for _, image := range images {
		place("image "+image.Name, image.Path.Child("name"), image.Name)
		for _, version := range image.Versions {
			of := image.Name + "@" + version.Version
			place(of, version.Path.Child("version"), version.Version)
			for i, flavor := range version.Flavors {
				of := fmt.Sprintf("flavor %d of %s", i, of)
				place(of, flavor.Path, "")
				for _, regional := range flavor.Regional {
					place(of+" for region "+regional.Region, regional.NamePath(), nameAsValue(&regional))
					place(of+" for region "+regional.Region, regional.Path, "")
					errs = append(errs, checkReference(regional.Ref))
				}
				if flavor.Global != nil {
					place("the global reference of "+of, flavor.Global.Path, "")
					errs = append(errs, checkReference(flavor.Global.Ref))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// nameAsValue returns the name of a region as its NamePath has it: "" if it is the key of a map.
func nameAsValue[R any](r *imageselector.Regional[R]) string {
	if fieldpath.Last(r.NamedAt) == r.Region {
		return ""
	}
	return r.Region
}

// valueAt returns the value at a path in a config, which is at the path at. It reports whether the path is valid: so is that of an absent
// field, whose value is nil, and any path below a null entry.
func valueAt(config any, at, path *field.Path) (value any, found bool) {
	if path == nil || !fieldpath.Above(at.String(), path.String()) {
		return nil, false
	}
	value = config
	steps := fieldpath.Of(path)[len(fieldpath.Of(at)):]
	for i, step := range steps {
		switch of := value.(type) {
		case []any:
			if !step.IsIndex() || step.Index >= len(of) {
				return nil, false
			}
			value = of[step.Index]
		case map[string]any:
			member, there := of[step.Name]
			if !there && i < len(steps)-1 {
				return nil, false
			}
			value = member
		default:
			return nil, of == nil
		}
	}
	return value, true
}

// checkReference checks that a reference survives a JSON round trip, because a worker controller stores it as JSON and compares it later. A
// type that implements json.Marshaler is exempt: only commands use it, which merely print it.
func checkReference(ref any) error {
	if _, itself := ref.(json.Marshaler); itself || ref == nil { // nil is the zero reference of provider.Untyped
		return nil
	}
	written, err := json.Marshal(ref)
	if err != nil {
		return fmt.Errorf("a reference that is not JSON: %w", err)
	}
	again := reflect.New(reflect.TypeOf(ref))
	if err := json.Unmarshal(written, again.Interface()); err != nil || !reflect.DeepEqual(ref, again.Elem().Interface()) {
		return fmt.Errorf("a reference that is not read as it is written, %s: %#v", written, ref)
	}
	return nil
}

// rules checks the findings of a provider.
type rules struct {
	// described are the severities of the rules that the provider describes, by name; nil if it describes none. The names of its own rules
	// begin with prefix.
	described map[string]finding.Severity
	prefix    string
	errs      []error
}

func rulesOf[R any](cloud provider.Provider[R]) *rules {
	describer, describes := provider.As[provider.RuleDescriber](cloud)
	if !describes {
		return &rules{}
	}
	r := &rules{described: map[string]finding.Severity{}, prefix: cloud.Type() + "-"}
	for _, rule := range describer.Rules() {
		r.described[rule.Name] = rule.Severity
	}
	return r
}

func (r *rules) wrong(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

// found checks that a finding has a rule, with the severity that the catalogue of a [provider.RuleDescriber] gives it, if it is one of the
// provider's own.
func (r *rules) found(name, at string, severity finding.Severity) {
	switch says := r.described[name]; {
	case name == "":
		r.wrong("the %s at %s has no rule: set its Origin", severity, at)
	case r.described != nil && says != severity && strings.HasPrefix(name, r.prefix):
		r.wrong("the rule of the %s at %s, %s, is described as %q by the provider's Rules", severity, at, name, says)
	}
}

// report checks the findings that a method returns, at or below the path at; nil is any path.
func (r *rules) report(method string, report finding.Report, at *field.Path) {
	r.list(method, finding.SeverityError, report.Errors, at)
	r.list(method, finding.SeverityWarning, report.Warnings, at)
}

func (r *rules) list(method string, severity finding.Severity, list finding.List, at *field.Path) {
	seen := sets.New[string]()
	for i, f := range list {
		if f.Error == nil {
			r.wrong("%s returns %s %d without a field.Error: make it with finding.New", method, severity, i)
			continue
		}
		r.found(f.Origin, f.Field, severity)
		if at != nil && !fieldpath.Above(at.String(), f.Field) {
			r.wrong("%s reports at %s, which is not at or below %s", method, f.Field, at)
		}
		if id := f.Origin + " " + f.String(); seen.Has(id) {
			r.wrong("%s reports the same twice at %s: %s", method, f.Field, f.Detail)
		} else {
			seen.Insert(id)
		}
	}
}

// fieldErrors checks the errors that a method returns, at or below the path at.
func (r *rules) fieldErrors(method string, errs field.ErrorList, at *field.Path) {
	if slices.Contains(errs, nil) {
		r.wrong("%s returns nil among its errors at %s", method, at)
	}
	r.list(method, finding.SeverityError, finding.Of(errs), at)
}

// eachReference calls a function for all references of the images, with the path that ValidateReference gets.
func eachReference[R any](images []imageselector.Image[R], call func(ref R, at *field.Path)) {
	for _, image := range images {
		for _, version := range image.Versions {
			for _, flavor := range version.Flavors {
				for _, regional := range flavor.Regional {
					call(regional.Ref, regional.Path)
				}
				if flavor.Global != nil {
					call(flavor.Global.Ref, flavor.Global.Path)
				}
			}
		}
	}
}
