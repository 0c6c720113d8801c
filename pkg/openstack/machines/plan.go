// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
)

// situation contains all inputs for the machines of a Worker. It is read-only.
type situation struct {
	worker  *extensionsv1alpha1.Worker
	cluster *extensionscontroller.Cluster
	// status has the image records and the current server groups.
	status *v1alpha1.WorkerStatus
	// classes are the existing machine classes, or those from before a control plane migration.
	classes []worker.Class[openstack.Image]
	// written maps names to the machine classes in the seed. They are not modified.
	written map[string]*machinev1alpha1.MachineClass
	// userData maps secret name and key to the user data.
	userData map[corev1.SecretKeySelector][]byte
}

// plan is the desired state of a Worker's pools.
type plan struct {
	pools []poolPlan
	// faults are errors in the profile and in the pools' configs that do not affect machines.
	faults finding.List
	// legacy reports whether the profile has no capabilities.
	legacy bool
}

// poolPlan is the desired state of one pool. Each slice has an element for each zone, in order.
type poolPlan struct {
	image       worker.Image[openstack.Image]
	classes     []*machinev1alpha1.MachineClass
	secrets     []*corev1.Secret
	deployments extensionsworker.MachineDeployments
}

// deployments returns the desired machine deployments of all pools.
func (p *plan) deployments() extensionsworker.MachineDeployments {
	var deployments extensionsworker.MachineDeployments
	for i := range p.pools {
		deployments = append(deployments, p.pools[i].deployments...)
	}
	return deployments
}

// wanted returns the desired machine classes with their secrets.
func (p *plan) wanted() []kit.Wanted {
	var wanted []kit.Wanted
	for i := range p.pools {
		for k, class := range p.pools[i].classes {
			wanted = append(wanted, kit.Wanted{Class: class, Secret: p.pools[i].secrets[k]})
		}
	}
	return wanted
}

// plan returns the desired state of the pools. If there is an error, it returns the pools that succeed, and the error names all others.
func (s *situation) plan() (*plan, error) {
	infrastructure, err := infrastructureOf(s.worker.Spec.InfrastructureProviderStatus)
	if err != nil {
		return &plan{}, fmt.Errorf("worker pools %s: %w", s.poolNames(), err)
	}
	if s.cluster == nil || s.cluster.Shoot == nil || s.cluster.CloudProfile == nil {
		return &plan{}, fmt.Errorf("worker pools %s: the Cluster of namespace %s has no Shoot or no CloudProfile",
			s.poolNames(), s.worker.Namespace)
	}
	if len(extensionscontroller.GetPodNetwork(s.cluster)) == 0 { // no machine controller takes a class without
		return &plan{}, fmt.Errorf("worker pools %s: the Shoot of namespace %s has no pod network", s.poolNames(), s.worker.Namespace)
	}
	if s.worker.Spec.Region == "" { // the same; an image by name would be selected even so
		return &plan{}, fmt.Errorf("worker pools %s: the Worker of namespace %s has no region", s.poolNames(), s.worker.Namespace)
	}
	spec := &s.cluster.CloudProfile.Spec
	compiled, report := profile.Compile(openstack.Provider{}, spec, field.NewPath("spec"))
	p := &plan{faults: report.Errors, legacy: compiled.Vocabulary().Legacy()}
	images := worker.NewImages(compiled, recordsOf(s.status))
	questions := worker.PoolsOf(s.worker)
	var errs []error
	for i := range s.worker.Spec.Pools {
		pool := &s.worker.Spec.Pools[i]
		planned, err := s.pool(infrastructure, spec, images, &questions[i], pool)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.faults = append(p.faults, planned.image.Faults...)
		p.pools = append(p.pools, *planned)
	}
	return p, errors.Join(errs...)
}

// poolNames returns the names of the pools for an error.
func (s *situation) poolNames() string {
	var names []string
	for i := range s.worker.Spec.Pools {
		names = append(names, words.Printable(s.worker.Spec.Pools[i].Name))
	}
	return strings.Join(names, ", ")
}

// printable makes an error with names from a Worker, which are not validated, printable for a status.
type printable struct{ error }

func (p printable) Error() string { return words.Printable(p.error.Error()) }

func (p printable) Unwrap() error { return p.error }

// problem returns an error with Gardener's code for configuration problems, which a user or operator has to repair.
func problem(format string, args ...any) error {
	return v1beta1helper.NewErrorWithCodes(fmt.Errorf(format, args...), v1beta1.ErrorConfigurationProblem)
}

// pool returns the desired state of one pool. The error names it.
func (s *situation) pool(
	infrastructure *infrastructure, spec *v1beta1.CloudProfileSpec, images *worker.Images[openstack.Image],
	question *provider.Pool, pool *extensionsv1alpha1.WorkerPool,
) (*poolPlan, error) {
	failed := func(format string, args ...any) (*poolPlan, error) {
		return nil, printable{fmt.Errorf("worker pool %s: %w", pool.Name, fmt.Errorf(format, args...))}
	}
	if len(pool.Zones) == 0 || slices.Contains(pool.Zones, "") { // otherwise the pool would silently get no machines
		return failed("%w", problem("a worker pool needs the name of at least one zone"))
	}
	config := configOf(pool.ProviderConfig)
	group, found := s.serverGroup(pool.Name, config)
	if !found {
		return failed("it has no server group yet")
	}
	hash, err := hashOf(pool, question, s.cluster, config, group)
	if err != nil {
		return failed("the hash of its machine classes: %w", err)
	}
	planned := &poolPlan{}
	names := make([]string, len(pool.Zones))
	for i := range pool.Zones {
		names[i] = kit.ClassName(s.deploymentName(pool.Name, i), hash)
	}
	planned.image, err = images.Of(worker.Question[openstack.Image]{
		Pool: *question, Names: names, Classes: kit.ClassesOf(s.cluster.Shoot.Status.TechnicalID, pool.Name, s.classes),
	})
	if err != nil {
		return nil, err
	}
	made := zoned{
		situation: s, pool: pool, machineType: v1beta1helper.FindMachineTypeByName(spec.MachineTypes, pool.MachineType), config: config,
		infrastructure: infrastructure, image: planned.image.Reference, serverGroup: group,
	}
	if made.machineType != nil {
		if made.disk, err = diskOf(pool, made.machineType); err != nil {
			return failed("%w", err)
		}
	}
	data := s.userData[pool.UserDataSecretRef]
	if len(data) == 0 {
		return failed("secret %s has no user data under %s: it is there once the OperatingSystemConfig has been reconciled",
			pool.UserDataSecretRef.Name, pool.UserDataSecretRef.Key)
	}
	if err := checkShares(pool); err != nil {
		return failed("%w", err)
	}
	for i, zone := range pool.Zones {
		made.zone = zone
		class, err := made.classThatFits(names[i], planned.image.Stays)
		if err != nil {
			return failed("%w", err)
		}
		planned.classes = append(planned.classes, class)
		planned.secrets = append(planned.secrets, kit.SecretOf(class, data))
		deployment := kit.DeploymentOf(pool, s.deploymentName(pool.Name, i), names[i], i)
		addZone(deployment.Labels, zone)
		planned.deployments = append(planned.deployments, deployment)
	}
	return planned, nil
}

// checkShares returns an error if Gardener's library would panic at the pool's maxSurge or maxUnavailable. Gardener accepts percentages
// of any length.
func checkShares(pool *extensionsv1alpha1.WorkerPool) error {
	for _, share := range []struct {
		name  string
		value intstr.IntOrString
	}{{"maxSurge", pool.MaxSurge}, {"maxUnavailable", pool.MaxUnavailable}} {
		if _, err := intstr.GetScaledValueFromIntOrPercent(&share.value, 1, true); err != nil {
			return problem("%s is %q, neither a number of machines nor a percentage that is small enough, such as 100%%", share.name, share.value.StrVal)
		}
	}
	return nil
}

// serverGroup returns the ID of a pool's server group, or "" if it requests none. It returns false if the group does not exist yet.
func (s *situation) serverGroup(pool string, config *v1alpha1.WorkerConfig) (id string, found bool) {
	if !wantsServerGroup(config) {
		return "", true
	}
	i := slices.IndexFunc(s.status.ServerGroupDependencies, func(d v1alpha1.ServerGroupDependency) bool { return d.PoolName == pool })
	if i < 0 {
		return "", false
	}
	return s.status.ServerGroupDependencies[i].ID, true
}

// configOf reads the WorkerConfig of a pool, or returns an empty one. Package worker reports its errors.
func configOf(raw *runtime.RawExtension) *v1alpha1.WorkerConfig {
	config := &v1alpha1.WorkerConfig{}
	if providerconfig.HasContent(raw) {
		kind := schema.GroupVersion(v1alpha1.GroupVersion).WithKind("WorkerConfig")
		_ = providerconfig.Decode(raw, kind, config, field.NewPath("providerConfig"))
	}
	return config
}

func wantsServerGroup(config *v1alpha1.WorkerConfig) bool {
	return config.ServerGroup != nil && config.ServerGroup.Policy != ""
}

// deploymentName returns the name of a pool's machine deployment in the zone with this index.
func (s *situation) deploymentName(pool string, zone int) string {
	return kit.DeploymentName(s.cluster.Shoot.Status.TechnicalID, pool, zone)
}

// hashOf returns the suffix of a pool's machine class names; a change replaces the machines. It hashes Gardener's own fields and the
// provider's RollingUpdate triggers. Server group ID, labels that trigger rolling, and security groups are written as in
// provider-openstack. In-place updates replace no machines, so only Gardener's fields matter for them.
func hashOf(
	pool *extensionsv1alpha1.WorkerPool, question *provider.Pool, cluster *extensionscontroller.Cluster, config *v1alpha1.WorkerConfig,
	serverGroup string,
) (string, error) {
	var group, labels []string
	if serverGroup != "" {
		group = []string{serverGroup}
	}
	for _, label := range config.MachineLabels {
		if ptr.Deref(label.TriggerRollingOnUpdate, false) {
			labels = append(labels, label.Name+"="+label.Value)
		}
	}
	slices.Sort(labels)
	rolling := openstack.Provider{}.Workers().Rolling(*question)
	data, err := kit.HashData(rolling, map[string][]string{
		"serverGroup": group, "machineLabels": labels,
		"additionalSecurityGroups": slices.Sorted(slices.Values(config.AdditionalSecurityGroups)),
	})
	if err != nil {
		return "", err
	}
	return extensionsworker.WorkerPoolHash(*pool, cluster, data, nil)
}

// disk is the root disk of machines.
type disk struct {
	// size in GiB; 0 for the machine type's own disk.
	size int
	// kind is the volume type; empty for OpenStack's default.
	kind string
}

// diskOf returns the root disk of a pool's machines, from the pool's volume or else the machine type's storage.
func diskOf(pool *extensionsv1alpha1.WorkerPool, machineType *v1beta1.MachineType) (disk, error) {
	var d disk
	if pool.Volume != nil {
		size, err := extensionsworker.DiskSize(pool.Volume.Size)
		if err != nil {
			return d, problem("volume.size is %q, not a number of Gi, such as 50Gi", pool.Volume.Size)
		}
		d = disk{size, ptr.Deref(pool.Volume.Type, "")}
	}
	storage := machineType.Storage
	if pool.Volume != nil && pool.Volume.Type != nil || storage == nil || storage.Type == "" || storage.Type == "default" {
		return d, nil
	}
	d.kind = storage.Type
	if size := storage.StorageSize; size != nil {
		const gib = 1 << 30
		d.size = cmp.Or(d.size, int((size.Value()+gib-1)/gib))
	}
	return d, nil
}

// addZone adds the zone labels of the volume plugins to the labels of nodes.
func addZone(labels map[string]string, zone string) {
	labels["topology.cinder.csi.openstack.org/zone"] = zone
	labels["topology.manila.csi.openstack.org/zone"] = zone
}
