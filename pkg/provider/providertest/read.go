// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

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

// checkRules checks that each finding in a config has a rule, with the severity that the catalogue of a [provider.RuleDescriber] gives it,
// if it is one of the provider's own, whose names begin with its type.
func checkRules[R any](cloud provider.Provider[R], images []imageselector.Image[R], report finding.Report) error {
	describer, describes := provider.As[provider.RuleDescriber](cloud)
	described := map[string]finding.Severity{}
	if describes {
		for _, rule := range describer.Rules() {
			described[rule.Name] = rule.Severity
		}
	}
	var errs []error
	found := func(name, at string, severity finding.Severity) {
		switch says := described[name]; {
		case name == "":
			errs = append(errs, fmt.Errorf("the %s at %s has no rule: set its Origin", severity, at))
		case describes && says != severity && strings.HasPrefix(name, cloud.Type()+"-"):
			errs = append(errs, fmt.Errorf("the rule of the %s at %s, %s, is described as %q by the provider's Rules", severity, at, name, says))
		}
	}
	inReport := func(list finding.List, severity finding.Severity) {
		for i, f := range list {
			if f.Error == nil {
				errs = append(errs, fmt.Errorf("the provider's Decode returns %s %d without a field.Error: make it with finding.New", severity, i))
				continue
			}
			found(f.Origin, f.Field, severity)
		}
	}
	inReport(report.Errors, finding.SeverityError)
	inReport(report.Warnings, finding.SeverityWarning)
	eachReference(images, func(ref R, at *field.Path) {
		for _, err := range cloud.ValidateReference(ref, at) {
			if err == nil {
				errs = append(errs, fmt.Errorf("ValidateReference returns nil among its errors at %s", at))
				continue
			}
			found(err.Origin, err.Field, finding.SeverityError)
			if !fieldpath.Above(at.String(), err.Field) {
				errs = append(errs, fmt.Errorf("ValidateReference reports at %s, which is not at or below %s", err.Field, at))
			}
		}
	})
	return errors.Join(errs...)
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
