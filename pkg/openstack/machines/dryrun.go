// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/words"
)

// DryRun prints the effects of the controller on the Workers of a seed, and those that provider-openstack would undo, one per line. It
// writes nothing to the seed and does not call OpenStack. It returns an error if machines would be replaced or deleted, if a Worker could
// not be reconciled, if provider-openstack is too old, or if the seed cannot be read.
func DryRun(ctx context.Context, config *rest.Config, out io.Writer) error {
	known := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(known), extensionscontroller.AddToScheme(known), machinev1alpha1.AddToScheme(known)); err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: known})
	if err != nil {
		return err
	}
	return dryRun(ctx, c, out)
}

func dryRun(ctx context.Context, reader client.Reader, out io.Writer) error {
	workers := &extensionsv1alpha1.WorkerList{}
	if err := reader.List(ctx, workers); err != nil {
		return fmt.Errorf("reading Workers: %w", err)
	}
	found := CheckRelease(ctx, reader)
	count, bad, same := 0, 0, 0
	for i := range workers.Items {
		w := &workers.Items[i]
		if w.Spec.Type != (openstack.Provider{}).Type() || w.DeletionTimestamp != nil {
			continue
		}
		count++
		effects, err := effectsOn(ctx, reader, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Namespace, err)
		}
		if slices.ContainsFunc(effects, func(e effect) bool { return e.bad }) {
			bad++
		}
		if len(effects) == 0 {
			same++
		}
		if err := tell(out, w.Namespace, effects); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(out, "%s checked, %d without findings\n", words.Count(count, "Worker"), same); err != nil {
		return err
	}
	if bad > 0 {
		found = errors.Join(found, fmt.Errorf("the worker controller must not take over yet: see STOP above, at %s", words.Count(bad, "Worker")))
	}
	return found
}

// effect is an effect of a reconciliation on a Worker, or a fact that an operator must know before it.
type effect struct {
	text string
	// bad reports whether machines would be replaced or deleted, or the Worker could not be reconciled.
	bad bool
}

// tell writes a line for each effect on a Worker.
func tell(out io.Writer, namespace string, effects []effect) error {
	for _, e := range effects {
		mark := ""
		if e.bad {
			mark = "STOP: "
		}
		if _, err := fmt.Fprintf(out, "%s: %s\n", namespace, words.Printable(mark+e.text)); err != nil {
			return err
		}
	}
	return nil
}

// effectsOn returns the effects on a Worker, in the order of its pools, or nil if nothing would change.
func effectsOn(ctx context.Context, reader client.Reader, w *extensionsv1alpha1.Worker) ([]effect, error) {
	cluster, err := extensionscontroller.GetCluster(ctx, reader, w.Namespace)
	switch {
	case apierrors.IsNotFound(err): // this concerns only this Worker
		return []effect{{err.Error(), true}}, nil
	case err != nil:
		return nil, fmt.Errorf("reading the Cluster: %w", err)
	}
	made, err := NewDelegateFactory(nil, reader, nil).WorkerDelegate(ctx, w, cluster)
	if err != nil {
		return nil, err
	}
	d := made.(*delegate)
	deployments := &machinev1alpha1.MachineDeploymentList{}
	if err := errors.Join(d.read(ctx), reader.List(ctx, deployments, client.InNamespace(w.Namespace))); err != nil {
		return nil, err
	}
	var effects []effect
	if err := d.checkDriver(ctx); err != nil {
		effects = append(effects, effect{err.Error(), true})
	}
	if err := d.readStatus(ctx); err != nil {
		return append(effects, effect{err.Error(), true}), nil //nolint:nilerr // it is told, like everything else about the Worker
	}
	effects = append(effects, d.recordGroups()...)
	situation, err := d.situation(ctx)
	if err != nil {
		return nil, err
	}
	planned, err := situation.plan()
	if err != nil {
		effects = append(effects, effect{err.Error(), true})
	}
	for i := range planned.pools {
		effects = append(effects, d.effectsOf(&planned.pools[i], deployments.Items)...)
	}
	if err == nil { // with an error, nothing is deleted
		effects = append(effects, deletions(planned.deployments(), deployments.Items)...)
	}
	if cluster.Shoot == nil {
		return effects, nil
	}
	for _, fault := range (openstack.Provider{}).OwnSettings(cluster.Shoot) {
		effects = append(effects, effect{fault.Field + " would have to be removed before going back: provider-openstack cannot read it", false})
	}
	return effects, nil
}

// deletions returns the machine deployments that no pool needs any more.
func deletions(wanted extensionsworker.MachineDeployments, deployments []machinev1alpha1.MachineDeployment) []effect {
	var effects []effect
	for i := range deployments {
		if name := deployments[i].Name; !wanted.HasDeployment(name) {
			effects = append(effects, effect{fmt.Sprintf("machine deployment %s would be deleted, with its machines", name), true})
		}
	}
	return effects
}

// recordGroups adds the server groups that the controller would find through machine classes to d.status, which is not written. It adds a
// synthetic one for each pool without machine classes, whose group would be created. It returns the effects on these pools.
func (d *delegate) recordGroups() []effect {
	var effects []effect
	for _, pool := range d.groupPools() {
		i := slices.IndexFunc(d.status.ServerGroupDependencies, func(e v1alpha1.ServerGroupDependency) bool { return e.PoolName == pool.Name })
		switch ids := d.groupsReferredTo(pool.Name); {
		case i >= 0 && strings.HasPrefix(d.status.ServerGroupDependencies[i].Name, d.groupNames().TechnicalID+"-"):
			effects = append(effects, effect{fmt.Sprintf("worker pool %s: server group %s has an old name: with Kubernetes 1.35 or newer, going back "+
				"replaces the machines", pool.Name, d.status.ServerGroupDependencies[i].Name), false})
		case i < 0 && len(ids) > 0:
			d.status.ServerGroupDependencies = append(d.status.ServerGroupDependencies, v1alpha1.ServerGroupDependency{PoolName: pool.Name, ID: ids[0]})
			effects = append(effects, effect{fmt.Sprintf("worker pool %s: its server group %s is not recorded, and would be", pool.Name, ids[0]), false})
		case i < 0 && len(d.classesOf(pool.Name)) == 0:
			d.status.ServerGroupDependencies = append(d.status.ServerGroupDependencies, v1alpha1.ServerGroupDependency{PoolName: pool.Name, ID: "new"})
			effects = append(effects, effect{fmt.Sprintf("worker pool %s: its server group would be made", pool.Name), false})
		}
	}
	return effects
}

// effectsOf returns the effects on a pool.
func (d *delegate) effectsOf(pool *poolPlan, deployments []machinev1alpha1.MachineDeployment) []effect {
	var effects []effect
	for _, text := range []string{pool.image.Replaced, pool.image.Undecided} {
		if text != "" {
			effects = append(effects, effect{text, false})
		}
	}
	for i, wanted := range pool.deployments {
		found := slices.IndexFunc(deployments, func(m machinev1alpha1.MachineDeployment) bool { return m.Name == wanted.Name })
		if found < 0 {
			effects = append(effects, effect{fmt.Sprintf("worker pool %s: machine deployment %s would be made", wanted.PoolName, wanted.Name), false})
			continue
		}
		if has := deployments[found].Spec.Template.Spec.Class.Name; has != wanted.ClassName {
			effects = append(effects, effect{fmt.Sprintf("worker pool %s: the machines of %s would be replaced: their machine class is %s, and would be %s",
				wanted.PoolName, wanted.Name, has, wanted.ClassName), true})
			continue
		}
		if differing := differencesOf(d.existing.Classes[wanted.ClassName], pool.classes[i]); len(differing) > 0 {
			effects = append(effects, effect{fmt.Sprintf("worker pool %s: machine class %s would change, without effect on existing machines: %s",
				wanted.PoolName, wanted.ClassName, strings.Join(differing, ", ")), false})
		}
	}
	return effects
}

// differencesOf names the differences between a machine class and the desired one.
func differencesOf(has, wanted *machinev1alpha1.MachineClass) []string {
	if has == nil {
		return []string{"it is not there"}
	}
	var differing []string
	for name, value := range wanted.Labels {
		if has.Labels[name] != value {
			differing = append(differing, "label "+name)
		}
	}
	if !equality.Semantic.DeepEqual(has.NodeTemplate, wanted.NodeTemplate) {
		differing = append(differing, "nodeTemplate")
	}
	if !equality.Semantic.DeepEqual(has.CredentialsSecretRef, wanted.CredentialsSecretRef) {
		differing = append(differing, "credentialsSecretRef")
	}
	var before, after struct{ Spec map[string]any }
	_, _ = json.Unmarshal(has.ProviderSpec.Raw, &before), json.Unmarshal(wanted.ProviderSpec.Raw, &after)
	for _, fields := range []map[string]any{before.Spec, after.Spec} {
		for name := range fields {
			if text := "providerSpec.spec." + name; !reflect.DeepEqual(before.Spec[name], after.Spec[name]) && !slices.Contains(differing, text) {
				differing = append(differing, text)
			}
		}
	}
	slices.Sort(differing)
	return differing
}
