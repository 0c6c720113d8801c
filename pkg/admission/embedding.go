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

// CacheByObject returns what the manager's cache keeps for the webhooks of [Switches]: of the provider's type alone, all of
// CloudProfiles, NamespacedCloudProfiles without their status, and of Shoots what the webhooks read. Add it to the ByObject of the
// cache's options, before the manager is made: with a scheme that has these types by then. The map is the caller's.
//
// Without it the webhooks answer the same, but the cache keeps the Shoots of all providers as a whole. With it, whoever reads one of
// these kinds through the manager's client or cache finds no more of it. The manager's API reader finds all.
func CacheByObject[R any](cloud provider.Provider[R]) map[client.Object]cache.ByObject {
	label := labels.SelectorFromSet(labels.Set{providerLabel(cloud.Type()): "true"})
	return map[client.Object]cache.ByObject{
		&v1beta1.CloudProfile{}:           {Label: label, Transform: cache.TransformStripManagedFields()},
		&v1beta1.NamespacedCloudProfile{}: {Label: label, Transform: stripStatus},
		&v1beta1.Shoot{}:                  {Label: label, Transform: stripShoot},
	}
}

// stripStatus leaves of a NamespacedCloudProfile all but its status, which is as large as a CloudProfile and decides
// nothing, and its managed fields.
func stripStatus(object any) (any, error) {
	profile, ok := object.(*v1beta1.NamespacedCloudProfile)
	if !ok {
		return object, nil
	}
	stripped := &v1beta1.NamespacedCloudProfile{TypeMeta: profile.TypeMeta, ObjectMeta: profile.ObjectMeta, Spec: profile.Spec}
	stripped.ManagedFields = nil
	return stripped, nil
}

// stripShoot leaves of a Shoot what says which profile it uses, and how, and what its maintenance goes by.
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

// stripWorker leaves of a worker what says which image it boots, and what it asks for, see [provider.PoolsOf], and what
// decides the versions that maintenance chooses, and what is suggested.
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

// Rights returns what the webhooks of [Switches] have to be allowed in the garden, in all namespaces, and no more: the rules of a
// ClusterRole. What registers webhooks and manages certificates in the extension needs others. The rules are the caller's.
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
