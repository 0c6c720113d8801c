// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/openstack/machines/servergroups"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
)

// ensureServerGroups ensures once that the pools have the server groups that they request. It records the groups in the status of the
// Worker, even if it returns an error. It connects to OpenStack only if a pool requests a group.
func (d *delegate) ensureServerGroups(ctx context.Context) error {
	pools := d.groupPools()
	if d.ensured || len(pools) == 0 {
		return nil
	}
	if err := d.read(ctx); err != nil {
		return err
	}
	for i := range pools {
		pools[i].Refers = d.groupsReferredTo(pools[i].Name)
	}
	compute, err := d.connect(ctx)
	if err != nil {
		return err
	}
	_, record, err := servergroups.Ensure(ctx, compute, d.groupNames(), pools, d.status.ServerGroupDependencies)
	d.status.ServerGroupDependencies = record
	if writeErr := d.writeStatus(ctx); err == nil {
		err = writeErr
	}
	d.ensured = err == nil
	return err
}

// cleanUpServerGroups deletes the server groups that no pool needs any more. If the Worker is being deleted, it deletes all of them.
func (d *delegate) cleanUpServerGroups(ctx context.Context) error {
	pools, have := d.groupPools(), d.status.ServerGroupDependencies
	if len(pools) == 0 && len(have) == 0 {
		if d.worker.DeletionTimestamp != nil {
			d.deleteUnrecorded(ctx)
		}
		return nil
	}
	compute, err := d.connect(ctx)
	if err != nil {
		return err
	}
	if d.worker.DeletionTimestamp != nil {
		d.status.ServerGroupDependencies, err = servergroups.Delete(ctx, compute, d.groupNames(), have)
	} else {
		d.status.ServerGroupDependencies, err = servergroups.CleanUp(ctx, compute, d.groupNames(), pools, have)
	}
	if writeErr := d.writeStatus(ctx); err == nil {
		err = writeErr
	}
	return err
}

// deleteUnrecorded deletes unrecorded server groups of a Worker that is being deleted and requests none. A group is unrecorded if the
// process died between creating and recording it, and no pool has requested it since. That is rare, so an error does not stop the
// deletion.
func (d *delegate) deleteUnrecorded(ctx context.Context) {
	compute, err := d.connect(ctx)
	if err == nil {
		_, err = servergroups.Delete(ctx, compute, d.groupNames(), nil)
	}
	if err != nil {
		logf.FromContext(ctx).Info("Going on with the deletion, without looking for server groups that were not recorded", "reason", words.Printable(err.Error()))
	}
}

// groupsReferredTo returns the IDs of the server groups that a pool's machine classes refer to.
func (d *delegate) groupsReferredTo(pool string) []string {
	var ids []string
	for _, class := range d.classesOf(pool) {
		if id := serverGroupOf(d.existing.Classes[class.Name]); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// classesOf returns the existing machine classes of a pool.
func (d *delegate) classesOf(pool string) []worker.Class[openstack.Image] {
	return kit.ClassesOf(d.groupNames().TechnicalID, pool, kit.Classes(d.existing.Classes, nil, referenceOf))
}

// groupPools returns the pools that request a server group. A pool with an unreadable config requests none, because its machines are
// refused.
func (d *delegate) groupPools() []servergroups.Pool {
	var pools []servergroups.Pool
	for i := range d.worker.Spec.Pools {
		pool := &d.worker.Spec.Pools[i]
		if config := configOf(pool.ProviderConfig); wantsServerGroup(config) {
			pools = append(pools, servergroups.Pool{Name: pool.Name, Policy: config.ServerGroup.Policy})
		}
	}
	return pools
}

func (d *delegate) groupNames() servergroups.Names {
	var names servergroups.Names
	if d.cluster != nil && d.cluster.Shoot != nil {
		names.TechnicalID, names.UID = d.cluster.Shoot.Status.TechnicalID, string(d.cluster.Shoot.UID)
	}
	return names
}

// identityService returns the identity service of the Worker's region, and whether its certificate must not be verified. The service is
// empty if the profile is unreadable or lacks the region; the credentials then contain a URL.
func (d *delegate) identityService() (endpoint lookup.Endpoint, insecure bool) {
	if d.cluster == nil || d.cluster.CloudProfile == nil || !providerconfig.HasContent(d.cluster.CloudProfile.Spec.ProviderConfig) {
		return lookup.Endpoint{}, false
	}
	config := &v1alpha1.CloudProfileConfig{}
	kind := schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")
	_ = providerconfig.Decode(d.cluster.CloudProfile.Spec.ProviderConfig, kind, config, field.NewPath("spec", "providerConfig"))
	endpoint, _ = lookup.Keystone(config, d.worker.Spec.Region)
	return endpoint, ptr.Deref(config.KeystoneForceInsecure, false)
}
