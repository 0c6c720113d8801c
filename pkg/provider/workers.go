// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
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

// Pool is what decides the image of a worker pool: of a Shoot, see [PoolsOf], or of an extension resource.
type Pool struct {
	// Name of the worker pool; empty if the question is not about one.
	Name string
	// MachineType, Image and Version as the pool names them, upper and lower case included.
	MachineType, Image, Version string
	// Architecture is the pool's machine.architecture, empty if it asks for none. A machine type that names none has it;
	// one that names another is refused (semantics S2).
	Architecture string
	// Region of the Shoot, and Zones of the pool. No image is chosen by zones. But a machine type that one of them does not have is not
	// suggested. Nil: not known, or none.
	Region string
	Zones  []string
	// Volume and DataVolumes are those of the machines, for a provider's own requests; nil if there are none.
	Volume      *v1beta1.Volume
	DataVolumes []v1beta1.DataVolume
	// Worker are the properties of the pool that ask for reserved capabilities, Config is its providerConfig, which asks
	// for those of the provider (semantics S3). Nil: it has none.
	Worker capability.Worker
	Config *runtime.RawExtension
	// Kubelet is the version of the pool's kubelets, CRI its container runtime interface. No image is chosen by them. But there are
	// image versions that Gardener does not let the pool have because of them, and these are not suggested. Empty and nil: not
	// known, or no condition.
	Kubelet string
	CRI     *v1beta1.CRI
	// Path of the pool, below which errors are reported; nil if it stands in no manifest.
	Path *field.Path
}

// PoolsOf returns the questions that the worker pools of a Shoot ask, in their order; none for a Shoot without workers.
// Image and version are empty if a worker leaves them to Gardener. A pool shares the worker's zones, volumes, CRI and providerConfig.
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

// kubeletOf returns the version of a worker's kubelets: its own or, if it has none, that of the control plane.
func kubeletOf(shoot *v1beta1.Shoot, worker *v1beta1.Worker) string {
	if own := worker.Kubernetes; own != nil && own.Version != nil {
		return *own.Version
	}
	return shoot.Spec.Kubernetes.Version
}

// ConfigPath is the path of the pool's providerConfig; nil, as of a document of its own, if it stands in no manifest.
func (p *Pool) ConfigPath() *field.Path { return p.child("providerConfig") }

func (p *Pool) child(name string) *field.Path {
	if p.Path == nil {
		return nil
	}
	return p.Path.Child(name)
}

// Shape is what decides the image of a worker pool. By the same profile all pools of one shape boot the same, so that a
// question about thousands of them is one about a few shapes. It is a value to compare.
type Shape struct {
	machineType, image, version, architecture, region, config string
	worker                                                    capability.Worker
	// followed says which requests follow from other fields of the pool: "1" or "0" for each that has a PoolField.
	followed string
}

// WorkerConfig says all that there is to say about the worker pools of a provider, whose providerConfig is a W: which
// capabilities they can ask for, by which settings, what a providerConfig must look like, and what in it replaces machines
// (semantics S3). [WorkersOf] makes it usable. A provider without such a config uses metav1.TypeMeta as W.
type WorkerConfig[W any] struct {
	// Kind of the config. It is decoded strictly, whether or not anything asks for a capability. The zero Kind: there is no
	// such config; a providerConfig is then not looked at, and requests see an empty W.
	Kind schema.GroupVersionKind
	// KnownUpTo is for a config that another program reads, the extension of the cloud, which may have more fields in its
	// next version than W: it says up to which version all of them are known, "provider-acme v1.74". A field that W does not
	// have is then a warning, and asks for nothing. Empty: such a field is an error.
	KnownUpTo string
	// Capabilities are the worker capabilities that the provider defines, in the order of their priority.
	Capabilities []capability.Definition
	// Requests say what asks for them, or for a reserved capability.
	Requests []Request[W]
	// Validate returns what is wrong with a config that could be decoded, at paths below at: a value of text that no
	// request knows, for example, which would ask for nothing without a word. The Origin of each error is the name of its
	// rule. Nil: nothing more can be wrong.
	Validate func(config *W, at *field.Path) field.ErrorList
	// RollingUpdate are the parts of the config whose change replaces the machines of a worker pool, one after the other,
	// in addition to what Gardener itself replaces machines for.
	RollingUpdate []Trigger[W]
}

// Request is a setting of a worker pool that asks for a capability.
type Request[W any] struct {
	// Setting says in words what asks, as the user would write it: "trustedLaunch.enabled: true".
	Setting string
	// Field is the field of the providerConfig that errors are reported at: "trustedLaunch". Empty if PoolField is set.
	Field string
	// PoolField is the field of the worker pool instead, for what core's own fields ask for: "volume", "machine.type". Such a
	// request follows from the pool alone: it is asked with an empty config, whatever the pool's is.
	PoolField string
	// Capability is the name of a worker capability that the provider defines, or of a reserved one.
	Capability string
	// Values of the capability, one of which is enough; at least one.
	Values []string
	// OnlyIfOffered is for a setting that asks for a reserved capability and that worker pools had before there was the
	// capability. Where the operator does not offer it, the request is ignored, and the Shoot gets a warning. It is
	// offered in a profile that registers it, or in whose provider config a flavor declares it. For a capability of the
	// provider itself see [capability.Definition].OnlyIfRegistered.
	OnlyIfOffered bool
	// Asks reports whether a worker pool asks for it. It changes neither argument. The config of a pool without one is
	// empty, so that a feature which must be kept off can ask for that. Without a PoolField the config decides: what an empty one
	// asks for does not depend on the pool, and what another one does on no more of it than machine type, architecture, image,
	// version, region and Worker.
	Asks func(pool *Pool, config *W) bool
}

// Trigger is a part of a providerConfig, W, whose change replaces the machines of a worker pool.
type Trigger[W any] struct {
	// Field of the providerConfig, as users write it: "serverGroup".
	Field string
	// Value returns what counts of a config, in a form that people read, and that is the same if nothing has changed that
	// counts; empty if the config does not have it. It is asked about an empty config, too.
	Value func(config *W) string
}

// Workers says what a provider's worker pools can ask for: with the zero Workers nothing, and nobody reads a
// providerConfig. [WorkersOf] makes others. It is immutable and safe for concurrent use.
type Workers struct {
	kind        schema.GroupVersionKind
	knownUpTo   string
	definitions []capability.Definition
	settings    []capability.Requirement
	// ask reads the config of a pool, which asks for the requirements; nil for the zero Workers, as is rolling.
	ask     func(pool *Pool) ([]capability.Requirement, finding.Report)
	rolling func(pool *Pool) []Rolling
	// follow are the requests that follow from fields of the pool, in their order.
	follow []func(pool *Pool) bool
}

// Rolling is a part of a providerConfig whose change replaces the machines of the worker pool.
type Rolling struct {
	// Field of the providerConfig.
	Field string `json:"field"`
	// Value is what counts of it at present; empty if the worker pool does not have it.
	Value string `json:"value"`
}

// WorkersOf returns the Workers of a config, which must not be changed any more. [Check] finds what is wrong with it.
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
		ask: func(pool *Pool) ([]capability.Requirement, finding.Report) {
			config, report := read(pool)
			return c.requirements(pool, config), report
		},
		rolling: func(pool *Pool) []Rolling {
			config, _ := read(pool) // what could be read counts
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

// follow returns the requests that follow from fields of the pool.
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

// requirements returns what a pool asks for, in the order of the requests; implied what it asks for without any config.
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

// KnownUpTo returns up to which version of another program the fields of the providerConfig are known; empty if the
// provider's own types say which there are, so that an unknown one is an error.
func (w Workers) KnownUpTo() string { return w.knownUpTo }

// Definitions returns the provider's worker capabilities, by priority. The caller owns the slice, not what is in it.
func (w Workers) Definitions() []capability.Definition { return slices.Clone(w.definitions) }

// Settings returns what each setting asks for, in the order of the requests; Because is its path below the worker pool,
// "providerConfig.trustedLaunch". The caller owns the slice, but not what its elements hold.
func (w Workers) Settings() []capability.Requirement { return slices.Clone(w.settings) }

// FollowsFromPool reports whether a setting, as [Workers.Settings] returns it, is a field of the worker pool itself.
func FollowsFromPool(setting capability.Requirement) bool {
	return !strings.HasPrefix(setting.Because.String(), "providerConfig.")
}

// Follows reports whether something that a pool asks for follows from the pool itself, whatever its providerConfig says.
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
	var buffer [8]byte // on the stack, and enough for most providers
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

// Requirements returns what a pool asks for beside the reserved capabilities, as far as its providerConfig can be read,
// and what is wrong with that. A pool without one, or with null, asks for what follows from saying nothing. With warnings
// alone the config could be read. The caller owns the slice, but not what its elements hold.
func (w Workers) Requirements(pool Pool) ([]capability.Requirement, finding.Report) {
	if w.ask == nil {
		return nil, finding.Report{}
	}
	return w.ask(&pool)
}

// Rolling returns the parts of a pool's providerConfig whose change replaces the machines of the pool, whether or not the
// pool has them, in the order in which the provider lists them.
func (w Workers) Rolling(pool Pool) []Rolling {
	if w.rolling == nil {
		return nil
	}
	return w.rolling(&pool)
}
