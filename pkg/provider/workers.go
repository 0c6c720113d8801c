// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Pool holds everything that decides the image of a worker pool, either of a Shoot ([PoolsOf]) or of an extension resource.
type Pool struct {
	// Name of the worker pool; empty if the question is not about a particular one.
	Name string
	// MachineType, Image and Version as the pool writes them; they are case-sensitive.
	MachineType, Image, Version string
	// Architecture is the pool's machine.architecture, empty if it sets none. It applies to a machine type that names no architecture; if
	// the machine type names another one, the pool is refused (semantics S2).
	Architecture string
	// Region of the Shoot, and Zones of the pool. Zones do not affect the choice of an image, but machine types that are unavailable in one
	// of them are not suggested. Nil: unknown, or none.
	Region string
	Zones  []string
	// Volume and DataVolumes of the machines, for a provider's own requests; nil if there are none.
	Volume      *v1beta1.Volume
	DataVolumes []v1beta1.DataVolume
	// Worker holds the properties of the pool that request reserved capabilities. Config is its providerConfig, which requests capabilities
	// of the provider (semantics S3); nil if it has none.
	Worker capability.Worker
	Config *runtime.RawExtension
	// Kubelet is the kubelet version of the pool, and CRI its container runtime interface. They do not affect the choice of an image, but
	// image versions that Gardener forbids because of them are not suggested. Empty and nil: unknown, or no condition.
	Kubelet string
	CRI     *v1beta1.CRI
	// Path of the pool, below which errors are reported; nil if the pool is in no manifest.
	Path *field.Path
}

// PoolsOf returns the worker pools of a Shoot, in their order; none for a Shoot without workers. Image and version are empty if a worker
// leaves them to Gardener. A pool shares the worker's zones, volumes, CRI and providerConfig.
func PoolsOf(shoot *v1beta1.Shoot) []Pool {
	at := field.NewPath("spec", "provider", "workers")
	pools := make([]Pool, 0, len(shoot.Spec.Provider.Workers))
	for i, worker := range shoot.Spec.Provider.Workers {
		image := ptr.Deref(worker.Machine.Image, v1beta1.ShootMachineImage{})
		pools = append(pools, Pool{
			Name: worker.Name, Region: shoot.Spec.Region, Zones: worker.Zones, Path: at.Index(i), MachineType: worker.Machine.Type,
			Image: image.Name, Version: ptr.Deref(image.Version, ""),
			Architecture: ptr.Deref(worker.Machine.Architecture, ""),
			Worker:       capability.Worker{UpdateStrategy: ptr.Deref(worker.UpdateStrategy, "")},
			Config:       worker.ProviderConfig, Volume: worker.Volume, DataVolumes: worker.DataVolumes,
			Kubelet: kubeletOf(shoot, &worker), CRI: worker.CRI,
		})
	}
	return pools
}

// kubeletOf returns a worker's kubelet version: its own or, if it has none, the control plane's.
func kubeletOf(shoot *v1beta1.Shoot, worker *v1beta1.Worker) string {
	if own := worker.Kubernetes; own != nil && own.Version != nil {
		return *own.Version
	}
	return shoot.Spec.Kubernetes.Version
}

// ConfigPath returns the path of the pool's providerConfig. It is nil, as for a document of its own, if the pool is in no manifest.
func (p *Pool) ConfigPath() *field.Path { return p.child("providerConfig") }

func (p *Pool) child(name string) *field.Path {
	if p.Path == nil {
		return nil
	}
	return p.Path.Child(name)
}

// Shape identifies worker pools with equal answers: in one profile, all pools of a shape boot the same image. So a question about thousands
// of pools becomes one about a few shapes. Shapes are comparable.
type Shape struct {
	machineType, image, version, architecture, region, config string
	worker                                                    capability.Worker
	// followed has "1" or "0" for each request with a PoolField: whether the pool makes it.
	followed string
}

// WorkerConfig describes the worker pools of a provider, whose providerConfig is a W: the capabilities that they can request, the settings
// that request them, the rules for a providerConfig, and its parts whose change replaces machines (semantics S3). [WorkersOf] compiles it.
// A provider without such a config uses metav1.TypeMeta as W.
type WorkerConfig[W any] struct {
	// Kind of the config. The config is decoded strictly, even if nothing requests a capability. The zero Kind: there is no such config; a
	// providerConfig is then ignored, and requests see an empty W.
	Kind schema.GroupVersionKind
	// KnownUpTo is for a config that another program reads, such as the cloud's extension, whose next version may have more fields than W.
	// It names the last version whose fields are all known: "provider-acme v1.74". An unknown field is then a warning, and requests
	// nothing. Empty: an unknown field is an error.
	KnownUpTo string
	// Capabilities are the worker capabilities that the provider defines, by priority.
	Capabilities []capability.Definition
	// Requests are the settings that request these or reserved capabilities.
	Requests []Request[W]
	// Validate checks a config that was decoded without errors, at paths below at. It reports, for example, a text value that no request
	// knows, which would silently request nothing. The Origin of each error is the name of its rule. Nil: there are no further rules.
	Validate func(config *W, at *field.Path) field.ErrorList
	// RollingUpdate lists the parts of the config whose change replaces the machines of a worker pool one by one, in addition to Gardener's
	// own triggers.
	RollingUpdate []Trigger[W]
}

// Request is a setting of a worker pool that requests a capability.
type Request[W any] struct {
	// Setting is the setting as the user would write it: "trustedLaunch.enabled: true".
	Setting string
	// Field is the field of the providerConfig at which errors are reported: "trustedLaunch". Empty if PoolField is set.
	Field string
	// PoolField is the field of the worker pool instead, for requests by core's own fields: "volume", "machine.type". Such a request
	// depends on the pool alone: Asks gets an empty config, whatever the pool's is.
	PoolField string
	// Capability is the name of a worker capability that the provider defines, or of a reserved one.
	Capability string
	// Values of the capability, any one of which suffices; at least one.
	Values []string
	// OnlyIfOffered is for a setting that is older than the reserved capability it requests. Where the operator does not offer the
	// capability, the request is ignored, and the Shoot gets a warning. A profile offers it by registering it, or by a flavor in its
	// provider config that declares it. For capabilities of the provider itself see [capability.Definition].OnlyIfRegistered.
	OnlyIfOffered bool
	// Asks reports whether a worker pool makes the request. It modifies neither argument. A pool without a config has an empty one, so that
	// a request can be for a feature's absence. Without a PoolField the config decides: the answer for an empty config does not depend on
	// the pool, and the answer for another config depends only on the pool's machine type, architecture, image, version, region and Worker.
	Asks func(pool *Pool, config *W) bool
}

// Trigger is a part of a providerConfig, W, whose change replaces the machines of a worker pool.
type Trigger[W any] struct {
	// Field of the providerConfig, as users write it: "serverGroup".
	Field string
	// Value returns the relevant part of a config in a readable form, which changes only if machines must be replaced; empty if the config
	// lacks that part. It is also called with an empty config.
	Value func(config *W) string
}

// Workers describes the capabilities that a provider's worker pools can request. The zero Workers has none and reads no providerConfig;
// [WorkersOf] makes others. It is immutable and safe for concurrent use.
type Workers struct {
	kind        schema.GroupVersionKind
	knownUpTo   string
	definitions []capability.Definition
	settings    []capability.Requirement
	// ask reads a pool's config and returns its requirements. ask, rolling and lacks are nil for the zero Workers.
	ask     func(pool *Pool) ([]capability.Requirement, finding.Report)
	rolling func(pool *Pool) []Rolling
	// lacks says why the config cannot have a field, see lacking.
	lacks func(path string) string
	// follow are the requests with a PoolField, in their order.
	follow []func(pool *Pool) bool
	// faults are the mistakes in the WorkerConfig that nothing else here shows.
	faults []string
}

// Rolling is a part of a providerConfig whose change replaces the machines of the worker pool.
type Rolling struct {
	// Field of the providerConfig.
	Field string `json:"field"`
	// Value is its current value; empty if the worker pool lacks it.
	Value string `json:"value"`
}

// WorkersOf returns the Workers of a config, which must not be modified afterwards. [Check] finds mistakes in it.
func WorkersOf[W any, P interface {
	*W
	schema.ObjectKind
}](c WorkerConfig[W]) Workers {
	read := func(pool *Pool) (P, finding.Report) {
		config, at := P(new(W)), pool.ConfigPath()
		if c.Kind == (schema.GroupVersionKind{}) || !providerconfig.HasContent(pool.Config) {
			return config, finding.Report{}
		}
		report := finding.Report{Errors: providerconfig.Decode(pool.Config, c.Kind, config, at)}
		if c.KnownUpTo != "" {
			report = providerconfig.FieldsOfLater(c.KnownUpTo, report.Errors)
		}
		if len(report.Errors) == 0 && c.Validate != nil {
			report.Errors = finding.Of(c.Validate(config, at))
		}
		return config, report
	}
	return Workers{
		kind:        c.Kind,
		knownUpTo:   c.KnownUpTo,
		definitions: c.Capabilities,
		settings:    c.settings(),
		follow:      c.follow(),
		faults:      c.faults(),
		lacks:       func(path string) string { return lacking(new(W), path) },
		ask: func(pool *Pool) ([]capability.Requirement, finding.Report) {
			config, report := read(pool)
			return c.requirements(pool, config), report
		},
		rolling: func(pool *Pool) []Rolling {
			config, _ := read(pool) // the readable part is used
			rolling := make([]Rolling, 0, len(c.RollingUpdate))
			for _, t := range c.RollingUpdate {
				rolling = append(rolling, Rolling{t.Field, t.Value(config)})
			}
			return rolling
		},
	}
}

func (r *Request[W]) requirement(because *field.Path) capability.Requirement {
	return capability.Requirement{
		Capability: r.Capability, Values: r.Values, Setting: r.Setting, OnlyIfRegistered: r.OnlyIfOffered, Because: because,
	}
}

func (c *WorkerConfig[W]) settings() []capability.Requirement {
	var settings []capability.Requirement
	for _, r := range c.Requests {
		settings = append(settings, r.requirement(field.NewPath(cmp.Or(r.PoolField, "providerConfig."+r.Field))))
	}
	return settings
}

// faults returns what is contradictory, or has no effect.
func (c *WorkerConfig[W]) faults() (faults []string) {
	if c.Kind.Empty() && (c.Validate != nil || c.KnownUpTo != "" || len(c.RollingUpdate) > 0) {
		faults = append(faults, "the WorkerConfig has no Kind, so no providerConfig is read: set it, or remove Validate, KnownUpTo and RollingUpdate")
	}
	for _, r := range c.Requests {
		if r.Field != "" && r.PoolField != "" {
			faults = append(faults, fmt.Sprintf("the request %q has a Field and a PoolField; with the latter, Asks gets an empty config: "+
				"remove one, or make two requests", r.Setting))
		}
		if r.Asks == nil {
			faults = append(faults, fmt.Sprintf("the request %q has no Asks", r.Setting))
		}
	}
	for _, t := range c.RollingUpdate {
		if t.Value == nil {
			faults = append(faults, fmt.Sprintf("the entry %q of RollingUpdate has no Value", t.Field))
		}
	}
	return faults
}

// follow returns the requests that depend on the pool alone.
func (c *WorkerConfig[W]) follow() []func(pool *Pool) bool {
	var follow []func(pool *Pool) bool
	nothing := new(W)
	for _, r := range c.Requests {
		if r.PoolField != "" {
			follow = append(follow, func(pool *Pool) bool { return r.Asks(pool, nothing) })
		}
	}
	return follow
}

// requirements returns the requests that a pool makes, in their order. A request of the config that an empty config makes as well is
// Implied.
func (c *WorkerConfig[W]) requirements(pool *Pool, config *W) []capability.Requirement {
	var requirements []capability.Requirement
	for _, r := range c.Requests {
		if r.PoolField != "" {
			if r.Asks(pool, new(W)) {
				requirements = append(requirements, r.requirement(pool.child(r.PoolField)))
			}
			continue
		}
		if !r.Asks(pool, config) {
			continue
		}
		q := r.requirement(pool.ConfigPath().Child(r.Field))
		q.Implied = r.Asks(pool, new(W))
		requirements = append(requirements, q)
	}
	return requirements
}

// Kind returns the kind of the providerConfig; the zero kind if there is none.
func (w Workers) Kind() schema.GroupVersionKind { return w.kind }

// KnownUpTo names the version of another program up to which the fields of the providerConfig are known. Empty if the provider's own types
// define the fields, so that an unknown one is an error.
func (w Workers) KnownUpTo() string { return w.knownUpTo }

// Definitions returns the provider's worker capabilities, by priority. The caller owns the slice, but not its contents.
func (w Workers) Definitions() []capability.Definition { return slices.Clone(w.definitions) }

// Settings returns the requirement of each setting, in the order of the requests. Because is the setting's path below the worker pool:
// "providerConfig.trustedLaunch". The caller owns the slice, but not the contents of its elements.
func (w Workers) Settings() []capability.Requirement { return slices.Clone(w.settings) }

// FollowsFromPool reports whether a setting, as [Workers.Settings] returns it, is a field of the worker pool itself.
func FollowsFromPool(setting capability.Requirement) bool {
	return !strings.HasPrefix(setting.Because.String(), "providerConfig.")
}

// Follows reports whether some request of a pool follows from the pool itself, whatever its providerConfig.
func (w Workers) Follows(pool *Pool) bool {
	return slices.ContainsFunc(w.follow, func(asks func(pool *Pool) bool) bool { return asks(pool) })
}

// ShapeOf returns the shape of a pool, for profiles of the provider.
func (w Workers) ShapeOf(pool *Pool) Shape {
	shape := Shape{
		machineType: pool.MachineType, image: pool.Image, version: pool.Version, architecture: pool.Architecture,
		region: pool.Region, worker: pool.Worker,
	}
	if pool.Config != nil {
		shape.config = string(pool.Config.Raw)
	}
	var buffer [8]byte // on the stack, and large enough for most providers
	followed := buffer[:0]
	for _, asks := range w.follow {
		answer := byte('0')
		if asks(pool) {
			answer = '1'
		}
		followed = append(followed, answer)
	}
	shape.followed = string(followed)
	return shape
}

// Requirements returns the requests that a pool makes by the provider's settings, from the readable part of its providerConfig. It does not
// include the requests of [Pool].Worker. The report has the mistakes in the providerConfig; if it has warnings only, the config was
// readable. A providerConfig that is absent or null is treated as empty. The caller owns the slice, but not the contents of its elements.
func (w Workers) Requirements(pool Pool) ([]capability.Requirement, finding.Report) {
	if w.ask == nil {
		return nil, finding.Report{}
	}
	return w.ask(&pool)
}

// Rolling returns the parts of a pool's providerConfig whose change replaces its machines, in the provider's order. Parts that the pool
// lacks are included.
func (w Workers) Rolling(pool Pool) []Rolling {
	if w.rolling == nil {
		return nil
	}
	return w.rolling(&pool)
}
