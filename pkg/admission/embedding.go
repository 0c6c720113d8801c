// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/provider"
)

// CacheByObject returns the cache selectors for the webhooks of [Switches]. The cache then keeps only objects of the provider's type:
// complete CloudProfiles, NamespacedCloudProfiles without status, and the fields of Shoots that the webhooks read. Add it to ByObject in
// the cache's options before you create the manager; its scheme needs these types by then. The caller owns the map.
//
// Without the selectors, the webhooks answer the same, but the cache keeps the complete Shoots of all providers. With them, other readers
// of the manager's client and cache see no more of these kinds either. The manager's API reader sees everything.
func CacheByObject[R any](cloud provider.Provider[R]) map[client.Object]cache.ByObject {
	label := labels.SelectorFromSet(labels.Set{providerLabel(cloud.Type()): "true"})
	return map[client.Object]cache.ByObject{
		&v1beta1.CloudProfile{}:           {Label: label, Transform: cache.TransformStripManagedFields()},
		&v1beta1.NamespacedCloudProfile{}: {Label: label, Transform: stripStatus},
		&v1beta1.Shoot{}:                  {Label: label, Transform: stripShoot},
	}
}

// stripStatus removes the status and the managed fields of a NamespacedCloudProfile. The status is as large as a CloudProfile, and no
// webhook reads it.
func stripStatus(object any) (any, error) {
	profile, ok := object.(*v1beta1.NamespacedCloudProfile)
	if !ok {
		return object, nil
	}
	stripped := &v1beta1.NamespacedCloudProfile{TypeMeta: profile.TypeMeta, ObjectMeta: profile.ObjectMeta, Spec: profile.Spec}
	stripped.ManagedFields = nil
	return stripped, nil
}

// stripShoot keeps the fields of a Shoot that say how it uses its profile, and those that its maintenance depends on.
func stripShoot(object any) (any, error) {
	shoot, ok := object.(*v1beta1.Shoot)
	if !ok {
		return object, nil
	}
	spec := v1beta1.ShootSpec{
		Region: shoot.Spec.Region, CloudProfile: shoot.Spec.CloudProfile, CloudProfileName: shoot.Spec.CloudProfileName,
		Kubernetes: v1beta1.Kubernetes{Version: shoot.Spec.Kubernetes.Version},
	}
	if m := shoot.Spec.Maintenance; m != nil && m.AutoUpdate != nil {
		spec.Maintenance = &v1beta1.Maintenance{AutoUpdate: m.AutoUpdate}
	}
	for i := range shoot.Spec.Provider.Workers {
		spec.Provider.Workers = append(spec.Provider.Workers, stripWorker(&shoot.Spec.Provider.Workers[i]))
	}
	metadata := metav1.ObjectMeta{
		Name: shoot.Name, Namespace: shoot.Namespace, Labels: shoot.Labels,
		UID: shoot.UID, ResourceVersion: shoot.ResourceVersion, DeletionTimestamp: shoot.DeletionTimestamp,
	}
	return &v1beta1.Shoot{TypeMeta: shoot.TypeMeta, ObjectMeta: metadata, Spec: spec}, nil
}

// stripWorker keeps the fields of a worker that determine its image and its requests, see [provider.PoolsOf], the versions that
// maintenance chooses, and suggestions.
func stripWorker(worker *v1beta1.Worker) v1beta1.Worker {
	stripped := v1beta1.Worker{
		Name: worker.Name, Machine: worker.Machine, UpdateStrategy: worker.UpdateStrategy,
		ProviderConfig: worker.ProviderConfig, Volume: worker.Volume, DataVolumes: worker.DataVolumes, CRI: worker.CRI, Zones: worker.Zones,
	}
	if worker.Kubernetes != nil && worker.Kubernetes.Version != nil {
		stripped.Kubernetes = &v1beta1.WorkerKubernetes{Version: worker.Kubernetes.Version}
	}
	if image := worker.Machine.Image; image != nil {
		stripped.Machine.Image = &v1beta1.ShootMachineImage{Name: image.Name, Version: image.Version}
	}
	return stripped
}

// Rights returns the rules of a ClusterRole with exactly the permissions that the webhooks of [Switches] need in the garden, in all
// namespaces. Registering webhooks and managing certificates need further ones. The caller owns the rules.
func Rights[R any](cloud provider.Provider[R]) []rbacv1.PolicyRule {
	rule := func(verbs, group string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: strings.Fields(verbs)}
	}
	rules := []rbacv1.PolicyRule{
		rule("get list watch", v1beta1.GroupName, "cloudprofiles", "namespacedcloudprofiles"),
		rule("list watch", v1beta1.GroupName, "shoots"),
		rule("create", eventsv1.GroupName, "events"),
	}
	_, credentials := provider.As[provider.CredentialsValidator](cloud)
	_, dns := provider.As[provider.DNSCredentialsValidator](cloud)
	switch {
	case credentials:
		rules = append(rules,
			rule("get", v1beta1.GroupName, "secretbindings", "internalsecrets"),
			rule("get", securityv1alpha1.GroupName, "credentialsbindings"),
			rule("get", corev1.GroupName, "secrets"))
	case dns:
		rules = append(rules, rule("get", v1beta1.GroupName, "internalsecrets"), rule("get", corev1.GroupName, "secrets"))
	}
	return rules
}
