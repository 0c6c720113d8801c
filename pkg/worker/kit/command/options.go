// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	controllercmd "github.com/gardener/gardener/extensions/pkg/controller/cmd"
	heartbeatcmd "github.com/gardener/gardener/extensions/pkg/controller/heartbeat/cmd"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/logger"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// These are the environment variables of Gardener's extensions.
const (
	namespaceVariable = "LEADER_ELECTION_NAMESPACE"
	gardenVariable    = "GARDEN_KUBECONFIG"
)

// These are the prefixes of flags that several controllers have.
const (
	workerPrefix    = workerController + "-"
	heartbeatPrefix = heartbeatController + "-"
)

// options are the options of Gardener's packages, and values derived from them.
type options struct {
	rest       *controllercmd.RESTOptions
	manager    *controllercmd.ManagerOptions
	general    *controllercmd.GeneralOptions
	controller *controllercmd.ControllerOptions
	reconciler *controllercmd.ReconcilerOptions
	heartbeat  *heartbeatcmd.Options
	// disabled are the controllers not to run.
	disabled []string
	// dryRun reports whether the program only prints what it would do.
	dryRun bool

	// garden is the client config of the garden; nil if it is not configured.
	garden *rest.Config
}

func newOptions(c Controller) *options {
	namespace := os.Getenv(namespaceVariable)
	return &options{
		rest: &controllercmd.RESTOptions{},
		manager: &controllercmd.ManagerOptions{
			LeaderElection:          true,
			LeaderElectionID:        controllercmd.LeaderElectionNameID(c.Component),
			LeaderElectionNamespace: namespace,
		},
		general:    &controllercmd.GeneralOptions{ExtensionClasses: []string{string(extensionsv1alpha1.ExtensionClassShoot)}},
		controller: &controllercmd.ControllerOptions{MaxConcurrentReconciles: 5},
		reconciler: &controllercmd.ReconcilerOptions{},
		heartbeat:  &heartbeatcmd.Options{ExtensionName: c.Component, Namespace: namespace},
	}
}

// all returns the options of Gardener's packages, except rest, which reads files.
func (o *options) all() controllercmd.OptionAggregator {
	return controllercmd.NewOptionAggregator(o.manager, o.general, o.reconciler,
		controllercmd.PrefixOption(workerPrefix, o.controller), controllercmd.PrefixOption(heartbeatPrefix, o.heartbeat))
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	o.rest.AddFlags(flags)
	all := o.all()
	all.AddFlags(flags)
	flags.StringSliceVar(&o.disabled, controllercmd.DisableFlag, nil,
		"Controllers to switch off: "+strings.Join(controllers(), ", ")+".")
	for _, name := range []string{
		controllercmd.WebhookServerHostFlag, controllercmd.WebhookServerPortFlag, controllercmd.WebhookCertDirFlag,
	} {
		flags.Lookup(name).Hidden = true // there are no webhooks
	}
}

// controllers are the controllers that can be disabled.
func controllers() []string { return []string{workerController, heartbeatController} }

func (o *options) enabled(controller string) bool { return !slices.Contains(o.disabled, controller) }

// complete completes the options; for a dry run, only those that it needs. It returns all problems at once.
func (o *options) complete() error {
	if o.dryRun {
		return errors.Join(o.completeRest(), o.manager.Complete())
	}
	wrong := []error{o.completeRest()}
	if path := os.Getenv(gardenVariable); path != "" {
		var err error
		if o.garden, err = kubernetes.RESTConfigFromKubeconfigFile(path, kubernetes.AuthTokenFile); err != nil {
			wrong = append(wrong, fmt.Errorf("the kubeconfig of the garden, at the path in %s: %w", gardenVariable, err))
		}
	}
	if err := errors.Join(append(wrong, o.check()...)...); err != nil {
		return err
	}
	all := o.all()
	return all.Complete()
}

// completeRest completes the client config of the seed.
func (o *options) completeRest() error {
	if err := o.rest.Complete(); err != nil {
		return fmt.Errorf("the seed cannot be reached: %w; give a kubeconfig with --%s or KUBECONFIG, or run in a pod of it",
			err, controllercmd.KubeconfigFlag)
	}
	config := o.rest.Completed().Config
	config.QPS, config.Burst = 100, 130 // otherwise client-side throttling delays Gardener's actuator, and a dry run in a large seed
	return nil
}

// check returns the problems of flags.
func (o *options) check() []error {
	var wrong []error
	refuse := func(flag, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("--%s %s", flag, fmt.Sprintf(format, args...)))
	}
	oneOf := func(flag, value string, values []string) {
		if !slices.Contains(values, value) {
			refuse(flag, "is %q, and must be one of %s", value, strings.Join(values, ", "))
		}
	}
	oneOf(controllercmd.LogLevelFlag, o.manager.LogLevel, logger.AllLogLevels)
	oneOf(controllercmd.LogFormatFlag, o.manager.LogFormat, logger.AllLogFormats)
	for _, name := range o.disabled {
		oneOf(controllercmd.DisableFlag, name, controllers())
	}
	for _, class := range o.general.ExtensionClasses {
		oneOf(controllercmd.ExtensionClassesFlag, class, []string{string(extensionsv1alpha1.ExtensionClassShoot)})
	}
	address := func(flag, value string) {
		if _, _, err := net.SplitHostPort(value); err != nil && value != "0" {
			refuse(flag, "is %q, and must be host:port, :port, or 0 for none", value)
		}
	}
	address(controllercmd.MetricsBindAddressFlag, o.manager.MetricsBindAddress)
	address(controllercmd.HealthBindAddressFlag, o.manager.HealthBindAddress)
	if o.controller.MaxConcurrentReconciles < 1 {
		refuse(workerPrefix+controllercmd.MaxConcurrentReconcilesFlag, "is %d, and must be at least 1", o.controller.MaxConcurrentReconciles)
	}
	if o.manager.LeaderElection && o.manager.LeaderElectionNamespace == "" {
		refuse(controllercmd.LeaderElectionNamespaceFlag, "or %s must name the namespace of the lease", namespaceVariable)
	}
	if o.manager.LeaderElection && o.manager.LeaderElectionID == "" {
		refuse(controllercmd.LeaderElectionIDFlag, "must not be empty")
	}
	if o.enabled(heartbeatController) {
		if o.heartbeat.Namespace == "" {
			refuse(heartbeatPrefix+"namespace", "or %s must name the namespace of the heartbeat", namespaceVariable)
		}
		if o.heartbeat.RenewIntervalSeconds < 1 {
			refuse(heartbeatPrefix+"renew-interval-seconds", "is %d, and must be at least 1", o.heartbeat.RenewIntervalSeconds)
		}
	}
	return wrong
}

// managerOptions returns the options of the seed's manager. The lease is released on exit, so that the next leader need not wait for its
// end.
//
// A seed has very many Secrets, ConfigMaps, Pods, Deployments and Leases. The needed ones are read from the API server, and none is cached.
func (o *options) managerOptions() (manager.Options, error) {
	m := o.manager.Completed().Options()
	m.Scheme = runtime.NewScheme()
	if err := extensionscontroller.AddToScheme(m.Scheme); err != nil {
		return m, err
	}
	m.LeaderElectionReleaseOnCancel = true
	m.Cache = cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
	m.Client.Cache = &client.CacheOptions{DisableFor: []client.Object{
		&corev1.Secret{}, &corev1.ConfigMap{}, &corev1.Pod{}, &appsv1.Deployment{}, &coordinationv1.Lease{},
	}}
	return m, nil
}

// worker returns the options of the worker controller.
func (o *options) worker(garden cluster.Cluster) Options {
	return Options{
		GardenCluster:             garden,
		Controller:                o.controller.Completed().Options(),
		IgnoreOperationAnnotation: o.reconciler.Completed().IgnoreOperationAnnotation,
		ExtensionClasses:          o.general.Completed().ExtensionClasses,
		SelfHostedShootCluster:    o.general.Completed().SelfHostedShootCluster,
	}
}
