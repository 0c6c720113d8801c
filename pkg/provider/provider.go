// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package provider is the interface for authors of Gardener extensions: [Provider] reads and writes the images of a cloud's
// CloudProfileConfig, and [WorkersOf] defines what its worker pools can ask for. Everything else follows from these: checks, selection,
// rendering, webhooks and the command line.
//
// Start reading at [Provider]. Each further ability of a provider is an interface of its own, which it may implement: [RuleDescriber],
// [ShootUpdateValidator], [CredentialsValidator], [DNSCredentialsValidator], [SettingsOwner], [ListExtender], [OfferDescriber],
// [ReferenceDescriber], [ReferenceSharer], [ReferenceDeriver], [PolicyChooser]; [providerconfig.LegacyKeeper] and
// [providerconfig.FieldIgnorer]; and the Describer of package inventory. Package providerconfig decodes and has ready-made findings; [Check]
// finds what is wrong with a provider itself.
package provider

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// Provider is the wire format of one cloud: it reads a CloudProfileConfig into images, and writes their versions back. R is
// the provider's reference to an image artifact: an OpenStack image ID, an AMI, a container image, with all that is needed
// to boot it. As JSON it is what the command line shows. Two references are the same if reflect.DeepEqual says so; read from their JSON,
// they are the same still. Implementations are stateless and safe for concurrent use.
type Provider[R any] interface {
	// Type is the provider type, as in spec.type of a CloudProfile: "openstack".
	Type() string

	// Decode reads a provider config that stands at the path at, strictly; [providerconfig.Decode] does the decoding. The
	// images come in the order written, and each carries the path where it is written. An entry without
	// capabilityFlavors becomes a legacy version with one flavor for each architecture, and for each value of the fields
	// that imply capabilities, in order of first appearance (semantics S7). Several entries of one version are several
	// versions with the same version string, which are put together later.
	//
	// The report holds what only the provider can see: fields that exclude each other, fields that mean nothing where they
	// stand. What follows from the images is checked by package profile. After errors what could be read is returned
	// all the same, with an image and a version for each entry of the two lists. A raw without content is an error, unless
	// the provider does without a config.
	//
	// Images that are not in the list machineImages come after those that are, and versions that are not in the list of
	// their image after those: what stands in the two lists is where its path says.
	Decode(raw *runtime.RawExtension, at *field.Path) (Config[R], finding.Report)

	// Encode is the inverse of Decode for one version of an image. It returns the entries that stand for it in the list of
	// versions, as values that encoding/json can write: one, or several if the format has an entry for each architecture.
	// Decoded again they give the same flavors, in the same order, with the same references. Paths are ignored. The error says
	// what the format has no words for, as the end of a sentence: "the legacy format has no place for {hypervisor:
	// [baremetal]}". In its own format it writes every version that Decode reads, with one exception: a reference of a region
	// that is named elsewhere, which is Regional.NamedAt, it refuses in both formats.
	//
	// In [FormatLegacy] each flavor has one architecture, amd64 if it declares none, and what its Implied says. For a nil
	// Implied it writes what Decode reads as nothing said, or returns an error if the format cannot say that. A flavor
	// without a reference is written, too, if Decode accepts one without an error and the format can say it.
	Encode(version imageselector.Version[R], format Format) ([]any, error)

	// ValidateReference checks the syntax of a reference that stands at the path at: of a region's entry if the reference
	// is regional, which is Regional.Path, and of the field that is set if it is global, which is Global.Path, or stands in a list for one
	// region, see [providerconfig.Override]. It never looks anything up. The Origin of each error is the name of its rule.
	ValidateReference(ref R, at *field.Path) field.ErrorList

	// Workers returns what the provider's worker pools can ask for, the same at every call; the zero Workers for nothing.
	Workers() Workers
}

// Config is a provider config that was read.
type Config[R any] struct {
	// Images maps the machine images, in the order written.
	Images []imageselector.Image[R]
	// Validator checks the rest of the config; nil if the provider has no rules of its own about it.
	Validator Validator
}

// Format is one of the two ways to write an image version (semantics S7).
type Format string

const (
	// FormatLegacy is the older one, with architectures instead of capabilities.
	FormatLegacy Format = "legacy"
	// FormatFlavors is the one with capabilityFlavors.
	FormatFlavors Format = "capabilityFlavors"
)

// ListExtender is a [Provider] whose NamespacedCloudProfiles may have more than machine images in their provider config.
type ListExtender interface {
	// NamespacedLists are further lists of objects, merged by a key. It is the same at every call.
	NamespacedLists() []List
}

// List is a list of objects in a provider config. In a NamespacedCloudProfile an entry replaces the parent's entry with the same key, or
// is added to the list.
type List struct {
	// Field of the provider config: "machineTypes".
	Field string
	// Key is the field that identifies entries: "name". Its value is text. In a NamespacedCloudProfile an entry without
	// it, or with that of another entry, is refused by package check.
	Key string
	// Lists of an entry that are merged in the same way: {"regions", "name"} may have {"machineImages", "name"}, and that
	// {"versions", "version"}. An entry that the parent has under the same key then keeps all else that it has, and package
	// check refuses other fields than the key and these. Nil: entries are replaced as a whole.
	Lists []List
}

// OfferDescriber is a [Provider] whose config has further lists that owners of Shoots choose from, besides regions, machine types and
// images.
type OfferDescriber interface {
	// Offers are the paths of these lists in the config: "constraints.floatingPools". It is the same at every call.
	Offers() []string
}

// ReferenceDescriber is a [Provider] that describes its references, for the error about a flavor without one.
type ReferenceDescriber interface {
	// ReferenceForm names the fields of a reference: "one of urn and id".
	ReferenceForm() string
}

// ReferenceSharer is a [Provider] of whose references one may stand for images of several architectures, or for several
// versions: the name of a container image, for example. For other providers, repeated references cause warnings.
type ReferenceSharer interface {
	// SharesReferences reports whether a reference may stand for several images.
	SharesReferences() bool
}

// ReferenceDeriver is a [Provider] of a cloud that boots an image without a mapping in the provider config: it makes the reference of
// the names of image and version, or the cloud looks it up by these, or the mapping is in another place, which the provider has read.
type ReferenceDeriver[R any] interface {
	// DeriveReference returns the reference of a flavor of an image version where the provider config has none, for all regions
	// without one of their own. supported is what the flavor supports, with all that is registered; the map may be kept. derived is
	// false if the flavor needs a mapping, in the place that is MappedIn of [policy.Policies]. It is the same at every call, and the reference
	// is valid.
	DeriveReference(version ImageVersion, supported v1beta1.Capabilities) (ref R, derived bool)
}

// RuleDescriber is a [Provider] that describes its own rules, for the documentation, SARIF output and metrics.
type RuleDescriber interface {
	// Rules is the catalogue, in any order. The caller owns it.
	Rules() []finding.Rule
}

// Validator holds a provider's own rules over one provider config: about what it says besides its images, and about the
// Shoots of its profile. It is immutable and safe for concurrent use. The Origin of a finding names its rule.
type Validator interface {
	// ValidateCloudProfile reports what is wrong with the config, at the path at in a CloudProfile, not a namespaced one,
	// with this spec. What could not be decoded is reported already, and a Required that only follows from that left out.
	ValidateCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report
	// ValidateShoot reports what is wrong with a Shoot, or what its profile forbids, apart from images of worker pools.
	ValidateShoot(question ShootQuestion) finding.Report
}

// ScopedValidator is a [Validator] whose rules may depend on the scope of a Shoot's credentials: whatever in a cloud has users
// and decides what they may use, such as a domain of OpenStack.
type ScopedValidator interface {
	Validator
	// NeedsScope reports whether the result of ValidateShoot may depend on the scope; otherwise credentials are not read.
	NeedsScope(shoot *v1beta1.Shoot) bool
}

// ShootQuestion is the input of a [Validator] for a Shoot. None of it may be changed.
type ShootQuestion struct {
	Shoot *v1beta1.Shoot
	// Profile is the spec of the Shoot's CloudProfile, or of what is rendered of its NamespacedCloudProfile.
	Profile *v1beta1.CloudProfileSpec
	// Scope is that of the Shoot's credentials, see [CredentialsValidator]. Nil: it is not known. Then what would be an
	// error for some scopes only is reported as not checked.
	Scope *string
}

// ShootUpdateValidator is a [Provider] with rules about what can be changed in a Shoot.
type ShootUpdateValidator interface {
	// ValidateShootUpdate reports what an update changes in a Shoot that cannot be changed, at paths of the updated Shoot,
	// and as warnings what follows from it. Neither of the two is being deleted.
	ValidateShootUpdate(updated, old *v1beta1.Shoot) finding.Report
}

// CredentialsValidator is a [Provider] that checks credentials. Its admission component has webhooks for Secrets and the
// bindings that refer to them, and needs the right to read them.
type CredentialsValidator interface {
	// ValidateCredentials returns what is wrong with the data of a Secret, which stands at the path at, that a Shoot is
	// created with, and the scope that they are of; empty if they name none. No error holds a value of the data.
	ValidateCredentials(data map[string][]byte, at *field.Path) (scope string, errs field.ErrorList)
}

// SettingsOwner is a [Provider] with settings of worker pools that only the worker controller of this project reads. The cloud's existing
// extension fails for each Shoot that has one.
type SettingsOwner interface {
	// OwnSettings returns an error for each setting of a Shoot that only this project's worker controller reads. Admission calls it unless
	// it is configured for this controller. It must not change the Shoot.
	OwnSettings(shoot *v1beta1.Shoot) finding.List
}

// DNSCredentialsValidator is a [Provider] of a cloud with a DNS service, which Shoots name in spec.dns.providers, and that
// checks the credentials for it. Its admission component needs the right to read Secrets.
type DNSCredentialsValidator interface {
	// DNSType is the type of the DNS service: "openstack-designate".
	DNSType() string
	// ValidateDNSCredentials returns what is wrong with the data of a Secret, which stands at the path at. No error holds a
	// value of the data.
	ValidateDNSCredentials(data map[string][]byte, at *field.Path) field.ErrorList
}

// ImageVersion names a version of a machine image.
type ImageVersion struct{ Image, Version string }

// String returns the name as messages have it: IMAGE@VERSION.
func (v ImageVersion) String() string { return v.Image + "@" + v.Version }
