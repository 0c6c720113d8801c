// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// The stable names of the rules about reading a provider's objects, in addition to those of strictjson.
const (
	RuleConfigKind       = "provider-config-kind"
	RuleFormatMixed      = "version-format-mixed"
	RuleReferenceMissing = "reference-missing"
	// RuleWorkerFieldUnknown applies to providers whose provider.WorkerConfig has a KnownUpTo.
	RuleWorkerFieldUnknown = "unknown-worker-field"
	// RuleFieldUnknown applies to providers that are a [FieldIgnorer].
	RuleFieldUnknown = "unknown-config-field"

	ruleConfigMissing      = "provider-config-missing"
	ruleImageIgnored       = "version-image-ignored"
	ruleFlavorArchitecture = "flavor-region-architecture"
)

// Rules returns the catalogue of these rules, in any order. The caller owns it.
func Rules() []finding.Rule { return slices.Clone(rules) }

var rules = slices.Concat(finding.On(finding.ObjectFile,
	finding.Denies(strictjson.OriginSyntax,
		"The document is not valid YAML or JSON. The other documents of the file are still checked.",
		"Look at the line, and at the one before it: indentation, a missing colon, an unclosed quote or bracket."),
), finding.On(finding.ObjectAny,
	finding.Denies(strictjson.OriginDuplicateKey,
		"A key occurs twice in one mapping. One of the two values would be lost silently.",
		"Remove or rename one of the two. Often the second one belongs elsewhere: check its indentation."),
	finding.Denies(strictjson.OriginUnknownField,
		"A field does not exist at this place, in Gardener's API or in the provider config.",
		"Correct the spelling, or the indentation. Field names are case-sensitive."),
	finding.Denies(strictjson.OriginFieldType,
		"A value has the wrong type or form: a string where a list belongs, an amount that is not a quantity.",
		"Write what the message says is expected. Versions and IDs that look like numbers need quotes."),
	finding.Denies(ruleConfigMissing,
		"A CloudProfile of this provider needs a provider config: without it no image can be found. A Shoot needs the configs that the "+
			"provider reads.",
		"Add the config with the `apiVersion` and `kind` that the message names; in a CloudProfile, map every image version there."),
	finding.Denies(RuleConfigKind,
		"The provider config has an `apiVersion` or `kind` that the extension does not read. Or that of a NamespacedCloudProfile has another "+
			"`apiVersion` than its parent's, in which images have other fields.",
		"Write the `apiVersion` and `kind` that the message names. A config of another provider does not belong here: look at `spec.type`, too."),
), finding.On(finding.ObjectShoot,
	finding.Warns(RuleWorkerFieldUnknown,
		"The `providerConfig` of a worker pool has a field that is not known here. The extension of the cloud reads the config, and a "+
			"later version of it may have the field. Otherwise it refuses the Shoot.",
		"Correct the spelling, or the indentation. If the field is right, ignore the warning: no image depends on it."),
), finding.On(finding.ObjectCloudProfile,
	finding.Denies(RuleFormatMixed,
		"One version entry has the fields of both formats: `regions`, or another field that names the image in the legacy format, and "+
			"`capabilityFlavors`.",
		"Move the regions into the flavors and remove `regions`. An architecture is a capability of a flavor. Only different versions may differ in format."),
	finding.Warns(RuleFieldUnknown,
		"The provider config of a cloud by description has a field that is not known here, and looks like one that is known and absent. It "+
			"is ignored: the extension may have more fields.",
		"Correct the spelling. If the extension has the field, ignore the warning."),
	finding.Warns(ruleImageIgnored,
		"A version has `capabilityFlavors` and, beside them, an `image`, which belongs to the legacy format and is ignored.",
		"Remove the `image`, or move it into the flavor that it belongs to."),
	finding.Denies(ruleFlavorArchitecture,
		"A region inside a flavor carries an `architecture`. In the new format the architecture is a capability of the flavor.",
		"Remove it from the region and write it into the flavor's `capabilities`."),
	finding.Denies(RuleReferenceMissing,
		"A flavor, or a version in the legacy format, refers to no image at all.",
		"Add a reference, or remove the entry."),
))

// The findings below are for implementations of provider.Provider, which alone can detect them; all share the same wording.

// ReferenceMissing returns the error for an empty reference, or an empty part of one; what names it: "the image ID". For a regional
// reference, the caller of ValidateReference adds the region.
func ReferenceMissing(at *field.Path, what string) *field.Error {
	return field.Required(at, what+" is missing; write it as "+fieldpath.Last(at)+", or remove the entry").WithOrigin(RuleReferenceMissing)
}

// FormatMixed returns the error for a legacy field that locates images, such as regions, beside capabilityFlavors (semantics S7). It
// advises to move the field into the flavors. For a field that becomes a capability there, use [Exclusive], or a finding that names the
// capability.
func FormatMixed(at *field.Path, legacy string) finding.Finding {
	into := " into the flavor that it belongs to, or remove it"
	if strings.HasSuffix(legacy, "s") {
		into = " into the flavors that they belong to, or remove them"
	}
	return finding.New(RuleFormatMixed, field.ErrorTypeForbidden, at, nil, legacy+" and capabilityFlavors exclude each other: move "+legacy+into)
}

// VersionArchitecture returns the error for a version's architecture beside capabilityFlavors (semantics S7).
func VersionArchitecture(at *field.Path, architecture string) finding.Finding {
	return finding.New(RuleFormatMixed, field.ErrorTypeForbidden, at, architecture,
		"architecture and capabilityFlavors exclude each other: write capabilities: {architecture: ["+architecture+
			"]} into the flavors that it is meant for, and remove it here")
}

// LegacyArchitecture returns the architecture that the legacy format writes for a flavor with these capabilities, amd64 if there are none.
// For any others than one architecture it returns an error, which Encode of provider.Provider can return.
func LegacyArchitecture(capabilities v1beta1.Capabilities) (string, error) {
	named := capabilities[capability.Architecture]
	switch {
	case len(capabilities) == 0:
		return constants.ArchitectureAMD64, nil
	case len(capabilities) > 1 || len(named) != 1:
		return "", errors.New("the legacy format has no place for any capability but one architecture")
	}
	return named[0], nil
}

// ImageIgnored returns the warning for a version's image beside capabilityFlavors (semantics S7). The path's last element is the field.
func ImageIgnored(at *field.Path, image string) finding.Finding {
	return finding.New(ruleImageIgnored, field.ErrorTypeForbidden, at, image, fieldpath.Last(at)+
		" is ignored because the version has capabilityFlavors: move it into the flavor it belongs to, or remove it")
}

// FlavorArchitecture returns the error for an architecture in a region of a flavor (semantics S6).
func FlavorArchitecture(at *field.Path, architecture string) finding.Finding {
	write := "remove it here, and write capabilities: {architecture: [" + architecture + "]} if the flavor has none"
	if !slices.Contains(constants.ValidArchitectures, architecture) {
		write = "remove it here, and write the one that the image has, as in capabilities: {architecture: [amd64]}"
	}
	return finding.New(ruleFlavorArchitecture, field.ErrorTypeForbidden, at, architecture,
		"the architecture of a flavor is a capability: "+write)
}

// NotSupported returns the error of a rule for a value that is not among the possible ones.
func NotSupported(rule string, at *field.Path, value string, possible []string) *field.Error {
	return (&field.Error{
		Type: field.ErrorTypeNotSupported, Field: at.String(), BadValue: value,
		Detail: fmt.Sprintf("%s is not supported here; write one of %s", words.Quoted(value), strings.Join(possible, ", ")),
	}).WithOrigin(rule)
}

// Exclusive returns the error of a rule for fields that exclude each other. at is the path of the second one that is set, where the error
// is reported. names are the names of all such fields. [finding.Of] turns the error into a finding.
func Exclusive(rule string, at *field.Path, names ...string) *field.Error {
	return field.Forbidden(at, words.And(names)+" exclude each other: keep one of them").WithOrigin(rule)
}

// FieldIgnored returns the warning of a rule for a field without effect. because gives the reason, as the end of a sentence.
func FieldIgnored(rule string, at *field.Path, because string) finding.Finding {
	return finding.New(rule, field.ErrorTypeForbidden, at, nil, fieldpath.Last(at)+" is ignored, because "+because+"; remove it")
}
