// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package command makes the program of a worker controller: its flags, its clusters, leader election, heartbeat, metrics and health checks.
// The controller itself is passed in.
//
// Start reading at [New].
package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gardener/gardener/extensions/pkg/controller/heartbeat"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	gardenerhealthz "github.com/gardener/gardener/pkg/healthz"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/version/verflag"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/gardenerlib/logging"
)

// These are the controllers of the program, by their names in the flag --disable-controllers.
const (
	workerController    = extensionsworker.ControllerName
	heartbeatController = heartbeat.ControllerName
)

// Controller is a worker controller that a program runs. All fields are required except Check, Conditions and DryRun.
type Controller struct {
	// Program is the name of the program.
	Program string
	// Component is the name of the installation: the holder of the heartbeat and, with the suffix -leader-election, the name of the lease.
	// It must differ from the names of other extensions in the same namespace.
	Component string
	// Type is the provider type of the Workers.
	Type string
	// Add adds the controller to the manager of a seed. It also adds the kinds that the controller needs to the manager's scheme, except
	// those of Kubernetes and of Gardener's extensions.
	Add func(context.Context, manager.Manager, Options) error
	// Check returns an error if the controller must not run in the seed; the program then ends with it before it does anything. The reader
	// does not answer from a cache. Check is not called if the controller is disabled. Nil: it may run in any seed.
	Check func(ctx context.Context, reader client.Reader) error
	// Conditions is the ControllerRegistration of the extension that writes the conditions of Workers, if that is another one. The
	// program's heartbeat is then no newer than that extension's, so that gardenlet notices when the conditions are no longer maintained.
	// Empty: the program writes them itself.
	Conditions string
	// DryRun prints what the controller would do in the seed of a config, and writes nothing there. With --dry-run the program only calls
	// it. Nil: there is no such flag.
	DryRun func(ctx context.Context, config *rest.Config, out io.Writer) error
}

// Options are the controller's settings from flags and the environment.
type Options struct {
	// Controller has the number of Workers that are reconciled concurrently.
	Controller controller.Options
	// IgnoreOperationAnnotation reports whether Workers are reconciled after every change, and not only when gardenlet requests it.
	IgnoreOperationAnnotation bool
	// GardenCluster is the garden; nil if the program has no kubeconfig for it. Its cache watches nothing by itself.
	GardenCluster cluster.Cluster
	// ExtensionClasses are the classes of Workers to reconcile: only shoot.
	ExtensionClasses []extensionsv1alpha1.ExtensionClass
	// SelfHostedShootCluster reports whether the cluster is a self-hosted Shoot instead of a seed.
	SelfHostedShootCluster bool
}

// New returns the command of a worker controller, with the flags and environment variables of Gardener's extensions. It runs until its
// context is done, then gives up its lease and returns nil.
//
// It reconciles Workers in the cluster of --kubeconfig, KUBECONFIG or its pod. The garden is optional; GARDEN_KUBECONFIG is the path of its
// kubeconfig. LEADER_ELECTION_NAMESPACE is the default namespace of its leases.
//
// All problems of flags and kubeconfigs are reported in one error, unless a flag cannot be parsed.
func New(c Controller) *cobra.Command {
	o := newOptions(c)
	cmd := &cobra.Command{
		Use:           c.Program,
		Short:         "Worker controller of the Gardener extension for " + c.Type,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			if err := o.complete(); err != nil {
				return err
			}
			logger := o.manager.Completed().Logger
			logging.SetLoggers(logger)
			if o.dryRun {
				return c.DryRun(logf.IntoContext(cmd.Context(), logger), o.rest.Completed().Config, cmd.OutOrStdout())
			}
			logging.Announce(logger, c.Type, cmd.Flags())
			return o.run(cmd.Context(), c)
		},
	}
	verflag.AddFlags(cmd.Flags())
	o.addFlags(cmd.Flags())
	if c.DryRun != nil {
		cmd.Flags().BoolVar(&o.dryRun, "dry-run", false,
			"Show what the controller would do to the Workers of the seed, write nothing, and exit. The exit status is 1 if machines would be "+
				"replaced or deleted, or if a Worker could not be reconciled.")
	}
	return cmd
}

// run runs the controllers until ctx is done.
func (o *options) run(ctx context.Context, c Controller) error {
	config := o.rest.Completed().Config
	managerOptions, err := o.managerOptions()
	if err != nil {
		return err
	}
	mgr, err := manager.New(config, managerOptions)
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	garden, err := o.addGarden(mgr)
	if err != nil {
		return fmt.Errorf("the garden: %w", err)
	}
	if err := errors.Join(addChecks(mgr), o.addControllers(ctx, mgr, c, garden)); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// addGarden adds the garden to the manager. It returns nil if the garden is not configured. It sends no request yet, so the garden may be
// unreachable.
func (o *options) addGarden(mgr manager.Manager) (cluster.Cluster, error) {
	if o.garden == nil {
		mgr.GetLogger().Info("GARDEN_KUBECONFIG is not set: the garden is not known")
		return nil, nil
	}
	garden, err := cluster.New(o.garden, func(options *cluster.Options) {
		options.Scheme, options.Logger = kubernetes.GardenScheme, mgr.GetLogger()
	})
	if err != nil {
		return nil, err
	}
	return garden, mgr.Add(garden)
}

// addChecks adds the checks of /healthz and /readyz.
func addChecks(mgr manager.Manager) error {
	synced := gardenerhealthz.NewCacheSyncHealthzWithDeadline(
		mgr.GetLogger(), clock.RealClock{}, mgr.GetCache(), gardenerhealthz.DefaultCacheSyncDeadline,
	)
	return errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddHealthzCheck("informer-sync", synced),
		mgr.AddReadyzCheck("informer-sync", gardenerhealthz.NewCacheSyncHealthz(mgr.GetCache())),
	)
}

// clockOf returns the clock of the heartbeat.
func clockOf(mgr manager.Manager, c Controller) clock.Clock {
	if c.Conditions == "" {
		return clock.RealClock{}
	}
	return &heart{reader: mgr.GetClient(), log: mgr.GetLogger(), extension: c.Conditions}
}

// addControllers adds the controllers that are not disabled.
func (o *options) addControllers(ctx context.Context, mgr manager.Manager, c Controller, garden cluster.Cluster) error {
	if o.enabled(workerController) {
		if c.Check != nil {
			if err := c.Check(logf.IntoContext(ctx, mgr.GetLogger()), mgr.GetAPIReader()); err != nil {
				return err
			}
		}
		if err := c.Add(ctx, mgr, o.worker(garden)); err != nil {
			return fmt.Errorf("adding the worker controller: %w", err)
		}
	}
	if o.enabled(heartbeatController) {
		completed := o.heartbeat.Completed()
		if err := heartbeat.Add(mgr, heartbeat.AddArgs{
			ExtensionName: completed.ExtensionName, Namespace: completed.Namespace,
			RenewIntervalSeconds: completed.RenewIntervalSeconds, Clock: clockOf(mgr, c),
		}); err != nil {
			return fmt.Errorf("adding the heartbeat: %w", err)
		}
	}
	return nil
}
