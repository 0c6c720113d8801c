// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package provider defines the interface that authors of Gardener extensions implement. A [Provider] reads and writes the images in its
// cloud's CloudProfileConfig; [WorkersOf] defines the capabilities that its worker pools can request. Everything else builds on these two:
// checks, selection, rendering, webhooks and the command line.
//
// Start reading at [Provider]. Optional abilities are separate interfaces: [RuleDescriber], [ShootUpdateValidator], [CredentialsValidator],
// [DNSCredentialsValidator], [SettingsOwner], [ListExtender], [OfferDescriber], [ReferenceDescriber], [ReferenceSharer],
// [ReferenceDeriver], [PolicyChooser]; [providerconfig.LegacyKeeper] and [providerconfig.FieldIgnorer]; and the Describer of package
// inventory. Package providerconfig decodes provider configs and has ready-made findings. [Check] finds mistakes in a provider itself.
package provider

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// Provider is the wire format of one cloud: it reads a CloudProfileConfig into images, and writes image versions back. R is the provider's
// reference to an image artifact, with everything needed to boot it: an OpenStack image ID, an AMI, a container image. The command line
// prints references as JSON. References are compared with reflect.DeepEqual, and must survive a JSON round trip. Implementations are
// stateless and safe for concurrent use.
type Provider[R any] interface {
	// Type is the provider type, as in spec.type of a CloudProfile: "openstack".
	Type() string

	// Decode strictly reads a provider config, which is written at the path at; [providerconfig.Decode] helps. Images are returned in the
	// order written, each with the path of its entry. An entry without capabilityFlavors becomes a legacy version. It has one flavor for
	// each architecture and each value of the fields that imply capabilities, in order of first appearance (semantics S7). Several entries
	// of one version become several versions with the same version string; callers merge them.
	//
	// The report contains only findings that require the provider's knowledge, such as fields that exclude each other or have no meaning in
	// their place. Package profile checks the images. Decode returns the readable part even if there are errors, with an image and a
	// version for each entry of the two lists. A raw without content is an error, unless the provider needs no config.
	//
	// Images from outside the list machineImages come after the listed ones. Likewise, within an image, versions from outside its list come
	// after the listed ones. Entries of the two lists are at the indices that their paths give.
	Decode(raw *runtime.RawExtension, at *field.Path) (Config[R], finding.Report)

	// Encode is the inverse of Decode for one version of an image. It returns the version's entries in the list of versions, as values that
	// encoding/json can write: one entry, or several if the format has one for each architecture. Decoding them yields the same flavors, in
	// the same order, with the same references. Encode ignores paths. If the format cannot express the version, the error says why, as the
	// end of a sentence: "the legacy format has no place for {hypervisor: [baremetal]}". Every version that Decode reads can be encoded in
	// its own format, with one exception: a regional reference whose NamedAt is outside the version's entry is refused in both formats.
	//
	// In [FormatLegacy], each flavor has one architecture, amd64 if it declares none, and the values of its Implied. If Implied is nil,
	// Encode writes whatever Decode reads as a nil Implied, or returns an error if the format cannot express that. A flavor without a
	// reference is also written if Decode accepts one without an error and the format can express it.
	Encode(version imageselector.Version[R], format Format) ([]any, error)

	// ValidateReference checks the syntax of a reference, and looks nothing up. It refuses the zero R. The path at is Regional.Path, usually
	// that of the region's entry, for a regional reference. For a global one, or one in a list for a single region
	// ([providerconfig.Override]), it is the field that is set; a global reference has it in Global.Path. The Origin of each error is the
	// name of its rule.
	ValidateReference(ref R, at *field.Path) field.ErrorList

	// Workers returns the capabilities that worker pools can request, the same at every call; the zero Workers if there are none.
	Workers() Workers
}

// Config is a decoded provider config.
type Config[R any] struct {
	// Images are the mapped machine images, in the order written.
	Images []imageselector.Image[R]
	// Validator checks the rest of the config; nil if the provider has no rules about it.
	Validator Validator
}

// Format is one of the two ways to write an image version (semantics S7).
type Format string

const (
	// FormatLegacy is the older format, with architectures instead of capabilities.
	FormatLegacy Format = "legacy"
	// FormatFlavors is the format with capabilityFlavors.
	FormatFlavors Format = "capabilityFlavors"
)

// ListExtender is a [Provider] whose NamespacedCloudProfiles may have other lists than machine images in their provider config.
type ListExtender interface {
	// NamespacedLists returns the other lists, which are merged by a key. It returns the same at every call.
	NamespacedLists() []List
}

// List is a list of objects in a provider config. In a NamespacedCloudProfile, an entry replaces the parent's entry with the same key, or
// is added to the list.
type List struct {
	// Field is the list's field in the provider config: "machineTypes".
	Field string
	// Key is the field that identifies entries, a string: "name". Package check refuses entries of a NamespacedCloudProfile without a key,
	// or with the key of another entry.
	Key string
	// Lists are lists within an entry that are merged in the same way: {"regions", "name"} may have {"machineImages", "name"}, which has
	// {"versions", "version"}. If the parent has an entry with the same key, its other fields are kept, and package check refuses fields
	// other than the key and these lists. Nil: entries are replaced as a whole.
	Lists []List
}

// OfferDescriber is a [Provider] whose config has lists that shoot owners choose from, besides regions, machine types and images.
type OfferDescriber interface {
	// Offers returns these lists by their paths in the config, "constraints.floatingPools", and for each the path in spec.provider of a
	// Shoot of the field with the chosen name: "infrastructureConfig.floatingPoolName". That path leads through lists, as in
	// "workers.providerConfig.serverGroup.policy"; it is empty if Shoots do not name their choice. An entry is a name, or has one. A region
	// in it restricts it to Shoots in the region. Offers returns the same at every call. The caller must not change the map.
	Offers() map[string]string
}

// ReferenceDescriber is a [Provider] that describes its references, for the error about a flavor without one.
type ReferenceDescriber interface {
	// ReferenceForm names the fields of a reference: "one of urn and id".
	ReferenceForm() string
}

// ReferenceSharer is a [Provider] whose references may be shared by several architectures or versions, such as the name of a container
// image. For other providers, repeated references cause warnings.
type ReferenceSharer interface {
	// SharesReferences reports whether several images may share a reference.
	SharesReferences() bool
}

// ReferenceDeriver is a [Provider] of a cloud that boots images without a mapping in the provider config: the provider computes the
// reference from image name and version, or the cloud looks it up by these, or the provider has read the mapping elsewhere.
type ReferenceDeriver[R any] interface {
	// DeriveReference returns the reference of a flavor that has none in the provider config. It is used for all regions without a
	// reference of their own. supported is the flavor's set with omissions filled in; DeriveReference may keep the map. derived is false if
	// the flavor needs a mapping, in the place that MappedIn of [policy.Policies] names. The result is the same at every call, and the
	// reference is valid.
	DeriveReference(version ImageVersion, supported v1beta1.Capabilities) (ref R, derived bool)
}

// RuleDescriber is a [Provider] that describes its own rules, for documentation, SARIF output and metrics.
type RuleDescriber interface {
	// Rules returns the catalogue of rules, in any order. The caller owns it.
	Rules() []finding.Rule
}

// Validator holds a provider's own rules for one provider config: about its parts other than images, and about the Shoots of its profile.
// It is immutable and safe for concurrent use. The Origin of a finding names its rule.
type Validator interface {
	// ValidateCloudProfile checks the config, which is at the path at in a CloudProfile (never a NamespacedCloudProfile) with this spec.
	// The report leaves out decoding errors, which Decode has reported, and each Required that only follows from them.
	ValidateCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report
	// ValidateShoot reports errors in a Shoot and values that its profile forbids. It does not check the images of worker pools.
	ValidateShoot(question ShootQuestion) finding.Report
}

// ScopedValidator is a [Validator] whose rules may depend on the scope of a Shoot's credentials. A scope owns users and limits what they
// may use, such as a domain of OpenStack.
type ScopedValidator interface {
	Validator
	// NeedsScope reports whether the result of ValidateShoot may depend on the scope. If not, credentials are not read.
	NeedsScope(shoot *v1beta1.Shoot) bool
}

// ShootQuestion is the input of a [Validator] for a Shoot. It must not be modified.
type ShootQuestion struct {
	Shoot *v1beta1.Shoot
	// Profile is the spec of the Shoot's CloudProfile, or the rendered spec of its NamespacedCloudProfile.
	Profile *v1beta1.CloudProfileSpec
	// Scope is the scope of the Shoot's credentials, see [CredentialsValidator]. Nil: it is unknown. Errors that depend on it are then
	// reported as not checked.
	Scope *string
}

// ShootUpdateValidator is a [Provider] with rules about changes that a Shoot does not allow.
type ShootUpdateValidator interface {
	// ValidateShootUpdate returns an error for each forbidden change, at its path in the updated Shoot, and warnings about consequences of
	// the update. Neither Shoot is being deleted.
	ValidateShootUpdate(updated, old *v1beta1.Shoot) finding.Report
}

// CredentialsValidator is a [Provider] that checks credentials. Its admission component has webhooks for Secrets and the bindings that
// refer to them, and needs the right to read them.
type CredentialsValidator interface {
	// ValidateCredentials checks the data of a Secret, which is at the path at, with which a Shoot is created. It also returns the scope of
	// the credentials, empty if they name none. No error contains a value of the data.
	ValidateCredentials(data map[string][]byte, at *field.Path) (scope string, errs field.ErrorList)
}

// SettingsOwner is a [Provider] with worker pool settings that only the worker controller of this project reads. The cloud's existing
// extension fails for every Shoot that has one.
type SettingsOwner interface {
	// OwnSettings returns an error for each of these settings in a Shoot. Admission calls it unless it is configured for this project's
	// worker controller. It must not modify the Shoot.
	OwnSettings(shoot *v1beta1.Shoot) finding.List
}

// DNSCredentialsValidator is a [Provider] whose cloud has a DNS service, which Shoots name in spec.dns.providers. It checks the credentials
// for the service. Its admission component needs the right to read Secrets.
type DNSCredentialsValidator interface {
	// DNSType is the type of the DNS service: "openstack-designate".
	DNSType() string
	// ValidateDNSCredentials checks the data of a Secret, which is at the path at. No error contains a value of the data.
	ValidateDNSCredentials(data map[string][]byte, at *field.Path) field.ErrorList
}

// ImageVersion identifies a version of a machine image.
type ImageVersion struct{ Image, Version string }

// String returns IMAGE@VERSION, the form used in messages.
func (v ImageVersion) String() string { return v.Image + "@" + v.Version }
