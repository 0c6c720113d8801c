// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package command makes the program of a worker controller: its flags, the clusters that it talks to, its leader election,
// heartbeat, metrics and health checks. What the controller does is its own affair.
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

// These are the controllers of the program, as the flag --disable-controllers knows them.
const (
	workerController    = extensionsworker.ControllerName
	heartbeatController = heartbeat.ControllerName
)

// Controller is a worker controller that a program runs. All fields are required but Check, Conditions and DryRun.
type Controller struct {
	// Program is the name of the program.
	Program string
	// Component is the name of what is installed: the holder of the heartbeat, and with the suffix -leader-election the lease.
	// In a namespace with another extension it has to be another one than that extension's.
	Component string
	// Type is the provider type of the Workers.
	Type string
	// Add adds the controller to the manager of a seed, and to the manager's scheme what it needs besides the kinds of
	// Kubernetes and of Gardener's extensions.
	Add func(context.Context, manager.Manager, Options) error
	// Check returns an error if the controller must not run in the seed that the reader reads, which does not answer from a cache: the
	// program ends with that error before it does anything. It is not called if the controller is disabled. Nil: it may run in any.
	Check func(ctx context.Context, reader client.Reader) error
	// Conditions is the ControllerRegistration of the extension that writes the conditions of Workers, if that is another one. The
	// heartbeat is no newer than that extension's then: gardenlet is to notice that nobody looks after the conditions. Empty: the
	// program does so itself.
	Conditions string
	// DryRun says what the controller would do in the seed of a config, and writes nothing there. It is what the program does with
	// --dry-run, instead of anything else. Nil: there is no such flag.
	DryRun func(ctx context.Context, config *rest.Config, out io.Writer) error
}

// Options are what flags and environment say about the controller.
type Options struct {
	// Controller has the number of Workers that are reconciled at once.
	Controller controller.Options
	// IgnoreOperationAnnotation reports whether Workers are reconciled after every change, and not only when gardenlet says so.
	IgnoreOperationAnnotation bool
	// GardenCluster is the garden; nil if the program was not told how to reach it. Its cache watches nothing by itself.
	GardenCluster cluster.Cluster
	// ExtensionClasses are those of the Workers: shoot alone.
	ExtensionClasses []extensionsv1alpha1.ExtensionClass
	// SelfHostedShootCluster reports whether the cluster is a Shoot that hosts itself, and no seed.
	SelfHostedShootCluster bool
}

// New returns the command of a worker controller, with the flags and environment variables of Gardener's extensions. It
// runs until its context is done, gives up its lease, and returns nil.
//
// It reconciles Workers in the cluster that --kubeconfig, KUBECONFIG or the pod that it runs in leads to. The garden is
// optional: the kubeconfig at GARDEN_KUBECONFIG. LEADER_ELECTION_NAMESPACE is where its leases are, unless flags say so.
//
// All that is wrong with its flags and kubeconfigs is one error, unless a flag cannot be read at all.
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

// addGarden adds the garden to the manager; it returns nil if the program does not know any. Nothing is asked of the
// garden at once, so that it may be away.
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

// addChecks adds what /healthz and /readyz ask.
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
