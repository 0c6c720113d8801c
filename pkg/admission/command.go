// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	controllercmd "github.com/gardener/gardener/extensions/pkg/controller/cmd"
	"github.com/gardener/gardener/extensions/pkg/util"
	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	"github.com/gardener/gardener/extensions/pkg/webhook/certificates"
	webhookcmd "github.com/gardener/gardener/extensions/pkg/webhook/cmd"
	gardencoreinstall "github.com/gardener/gardener/pkg/apis/core/install"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	"github.com/gardener/gardener/pkg/controllerutils/routes"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	componentbaseconfigv1alpha1 "k8s.io/component-base/config/v1alpha1"
	"k8s.io/component-base/version/verflag"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/capkit/capkit/pkg/provider"
)

// NewCommand returns the command of the admission component for a provider: gardener-extension-admission-TYPE, with the
// flags and environment variables of Gardener's extensions. It serves the webhooks of this package until its context is
// done, finishes the requests that are running, and returns nil. It registers the webhooks itself.
//
// The certificates of the server are managed in the namespace given by --webhook-config-namespace: in the cluster that
// is served or, if the environment variable SOURCE_CLUSTER is set, in the one that SOURCE_KUBECONFIG leads to, by default
// the one that the process runs in.
//
// A provider that [provider.Check] finds something wrong with is refused when the command is run.
//
// further are webhooks of the extension's own. Their names and paths must not be those of this package.
func NewCommand[R any](cloud provider.Provider[R], further ...webhookcmd.NameToFactory) *cobra.Command {
	name := component(cloud.Type())
	o := &options{
		rest: &controllercmd.RESTOptions{},
		manager: &controllercmd.ManagerOptions{
			LeaderElection:          true,
			LeaderElectionID:        controllercmd.LeaderElectionNameID("gardener-extension-" + name),
			LeaderElectionNamespace: os.Getenv("LEADER_ELECTION_NAMESPACE"),
			WebhookServerPort:       10250,
			WebhookCertDir:          "/tmp/" + name + "-cert",
		},
		server: serverOptions{shutdownDelay: 5 * time.Second, certificateSyncPeriod: certificates.DefaultSyncPeriod},
	}
	o.webhooks = webhookcmd.NewAddToManagerOptions(name, "", nil, &controllercmd.GeneralOptions{},
		&webhookcmd.ServerOptions{Namespace: os.Getenv("WEBHOOK_CONFIG_NAMESPACE")}, webhookcmd.NewSwitchOptions(append(Switches(cloud), measuredFurther(further)...)...))
	all := controllercmd.NewOptionAggregator(o.rest, o.manager, o.webhooks, &o.server)

	cmd := &cobra.Command{
		Use:           "gardener-extension-" + name,
		Short:         "Admission webhooks of the Gardener extension for " + cloud.Type(),
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			if err := provider.Check(cloud); err != nil {
				return err
			}
			if kubeconfig := os.Getenv("GARDEN_KUBECONFIG"); kubeconfig != "" {
				o.rest.Kubeconfig = kubeconfig
			}
			if err := all.Complete(); err != nil {
				return fmt.Errorf("completing the options: %w", err)
			}
			if err := o.checkWebhookServer(); err != nil {
				return fmt.Errorf("completing the options: %w", err)
			}
			if o.server.profiling && o.manager.Completed().MetricsBindAddress == "0" {
				return fmt.Errorf("completing the options: --profiling needs a metrics server, and --%s is 0", controllercmd.MetricsBindAddressFlag)
			}
			setLoggers(o.manager.Completed().Logger)
			logStart(o.manager.Completed().Logger, cloud.Type(), cmd.Flags())
			setBuildInfo(cloud.Type())
			return o.run(cmd.Context(), cloud.Type(), table(cloud, &lookup[R]{}))
		},
	}
	verflag.AddFlags(cmd.Flags())
	all.AddFlags(cmd.Flags())
	return cmd
}

// component is the name of the component for a provider type.
func component(providerType string) string { return "admission-" + providerType }

type options struct {
	rest     *controllercmd.RESTOptions
	manager  *controllercmd.ManagerOptions
	webhooks *webhookcmd.AddToManagerOptions
	server   serverOptions
}

// serverOptions are the options that Gardener's packages do not have.
type serverOptions struct {
	shutdownDelay, certificateSyncPeriod time.Duration
	profiling                            bool
	tls                                  tlsOptions
}

// AddFlags adds the flags.
func (s *serverOptions) AddFlags(flags *pflag.FlagSet) {
	s.tls.AddFlags(flags)
	flags.DurationVar(&s.shutdownDelay, "shutdown-delay-duration", s.shutdownDelay,
		"How long to go on serving after the signal to stop, while /readyz already fails, so that nobody sends requests any more when the server closes.")
	flags.DurationVar(&s.certificateSyncPeriod, "webhook-certificate-sync-period", s.certificateSyncPeriod,
		"How often the certificates are checked for renewal and reloaded.")
	flags.BoolVar(&s.profiling, "profiling", s.profiling,
		"Whether the metrics server serves Go's profiles as well, under /debug/pprof/, to everybody who can reach it.")
}

// Complete checks the values. It overwrites certificates.DefaultSyncPeriod, a global of Gardener's library, and so for the whole
// process: what manages and reloads the certificates takes its period from nowhere else.
func (s *serverOptions) Complete() error {
	if s.shutdownDelay < 0 || s.certificateSyncPeriod <= 0 {
		return fmt.Errorf("--shutdown-delay-duration must not be negative, and --webhook-certificate-sync-period must be positive")
	}
	certificates.DefaultSyncPeriod = s.certificateSyncPeriod
	return s.tls.Complete()
}

// checkWebhookServer checks options that Gardener's packages do not check: with wrong ones a leader would make certificates
// that are of no use, also for the other replicas, before it failed to register the webhooks.
func (o *options) checkWebhookServer() error {
	server := o.webhooks.Server.Completed()
	switch server.Mode {
	case extensionswebhook.ModeService, extensionswebhook.ModeURLWithServiceName:
	case extensionswebhook.ModeURL:
		if server.URL == "" {
			return fmt.Errorf("--%s must be set if --%s is %s", webhookcmd.URLFlag, webhookcmd.ModeFlag, server.Mode)
		}
	default:
		return fmt.Errorf("invalid --%s: %s", webhookcmd.ModeFlag, server.Mode)
	}
	return nil
}

// A replica that cannot renew its lease in time ends, and with it one that serves. The leader has nothing to do that would
// not wait for minutes, so a slow API server is given time.
const (
	leaseDuration = 90 * time.Second
	renewDeadline = time.Minute
	retryPeriod   = 5 * time.Second
)

// run serves the webhooks until ctx is done; entries are those of this package, which may be disabled.
func (o *options) run(ctx context.Context, providerType string, entries []entry) error {
	config := o.rest.Completed().Config
	util.ApplyClientConnectionConfigurationToRESTConfig(&componentbaseconfigv1alpha1.ClientConnectionConfiguration{QPS: 100, Burst: 130}, config)

	managerOptions := o.manager.Completed().Options()
	managerOptions.LeaderElectionReleaseOnCancel = true
	managerOptions.LeaseDuration, managerOptions.RenewDeadline, managerOptions.RetryPeriod = new(leaseDuration), new(renewDeadline), new(retryPeriod)
	managerOptions.Scheme = runtime.NewScheme()
	utilruntime.Must(kubernetesscheme.AddToScheme(managerOptions.Scheme))
	gardencoreinstall.Install(managerOptions.Scheme)
	utilruntime.Must(securityv1alpha1.AddToScheme(managerOptions.Scheme))
	managerOptions.Cache = o.cache(providerType)
	if o.server.profiling {
		managerOptions.Metrics.ExtraHandlers = routes.ProfilingHandlers
	}
	// The one namespace that owns the webhook configurations is read, and not all of them watched.
	managerOptions.Client.Cache = &client.CacheOptions{DisableFor: []client.Object{&corev1.Namespace{}}}
	source, err := sourceConfig()
	if err != nil {
		return fmt.Errorf("the cluster of the certificates: %w", err)
	}
	managerOptions.LeaderElectionConfig = source

	mgr, err := manager.New(config, managerOptions)
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	sourceCluster, err := o.sourceCluster(mgr, source)
	if err != nil {
		return err
	}
	registered, ok := managerOptions.WebhookServer.(*webhook.DefaultServer)
	if !ok {
		return fmt.Errorf("the webhook server is a %T", managerOptions.WebhookServer)
	}
	if _, err := o.webhooks.Completed().AddToManager(ctx, persistent{registering{mgr, registered}}, sourceCluster); err != nil {
		return fmt.Errorf("adding the webhooks: %w", err)
	}
	standIn(registered, entries)
	certificate, err := trustedCertificate(ctx, mgr, registered.Options.CertDir, component(providerType), o.server.certificateSyncPeriod)
	if err != nil {
		return err
	}
	serving := &server{
		log: mgr.GetLogger().WithName("webhook-server"), registered: registered, certificate: certificate,
		tls: &o.server.tls, limits: newLimits(mgr.GetLogger()), signalled: ctx,
	}
	checks := health{mgr, sourceCluster, serving}
	if err := errors.Join(mgr.Add(serving), checks.watch(ctx, o.webhooks.Server.Completed().Namespace), checks.add()); err != nil {
		return err
	}
	return mgr.Start(delayed(ctx, o.server.shutdownDelay))
}

// cache returns what the informers read: objects of the provider, the component's own webhook configurations, the namespace
// of the certificates. Nothing in this package changes what it gets from them.
func (o *options) cache(providerType string) cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{providerLabel(providerType): "true"}), UnsafeDisableDeepCopy: ptr.To(true)}
	shoots := ours
	shoots.Transform = stripShoot
	configuration := cache.ByObject{Field: fields.OneTermEqualSelector(metav1.ObjectNameField, configurationName(component(providerType)))}
	byObject := map[client.Object]cache.ByObject{
		&v1beta1.CloudProfile{}:           ours,
		&v1beta1.NamespacedCloudProfile{}: ours,
		&v1beta1.Shoot{}:                  shoots,

		&admissionregistrationv1.ValidatingWebhookConfiguration{}: configuration,
		&admissionregistrationv1.MutatingWebhookConfiguration{}:   configuration,
	}
	if namespace := o.webhooks.Server.Completed().Namespace; namespace != "" {
		byObject[&corev1.Secret{}] = cache.ByObject{Namespaces: map[string]cache.Config{namespace: {}}}
	}
	return cache.Options{ByObject: byObject, DefaultTransform: cache.TransformStripManagedFields()}
}

// stripShoot leaves of a Shoot what says which profile it uses, and how.
func stripShoot(object any) (any, error) {
	shoot, ok := object.(*v1beta1.Shoot)
	if !ok {
		return object, nil
	}
	stripped := &v1beta1.Shoot{TypeMeta: shoot.TypeMeta}
	stripped.Name, stripped.Namespace, stripped.UID, stripped.ResourceVersion = shoot.Name, shoot.Namespace, shoot.UID, shoot.ResourceVersion
	stripped.Labels = shoot.Labels
	stripped.Spec.Region = shoot.Spec.Region
	stripped.Spec.CloudProfile, stripped.Spec.CloudProfileName = shoot.Spec.CloudProfile, shoot.Spec.CloudProfileName
	for i := range shoot.Spec.Provider.Workers {
		stripped.Spec.Provider.Workers = append(stripped.Spec.Provider.Workers, stripWorker(&shoot.Spec.Provider.Workers[i]))
	}
	return stripped, nil
}

// stripWorker leaves of a worker what says which image it boots, and what it asks for, see [provider.PoolOf].
func stripWorker(worker *v1beta1.Worker) v1beta1.Worker {
	stripped := v1beta1.Worker{
		Name: worker.Name, Machine: worker.Machine, UpdateStrategy: worker.UpdateStrategy, ProviderConfig: worker.ProviderConfig,
		Volume: worker.Volume, DataVolumes: worker.DataVolumes,
	}
	if image := worker.Machine.Image; image != nil {
		stripped.Machine.Image = &v1beta1.ShootMachineImage{Name: image.Name, Version: image.Version}
	}
	return stripped
}

// sourceConfig returns how to reach the cluster of the certificates; nil if it is the one that is served.
func sourceConfig() (*rest.Config, error) {
	if os.Getenv("SOURCE_CLUSTER") == "" {
		return nil, nil
	}
	return clientcmd.BuildConfigFromFlags("", os.Getenv("SOURCE_KUBECONFIG"))
}

// sourceCluster returns the cluster of the certificates, nil if it is the one that is served.
func (o *options) sourceCluster(mgr manager.Manager, config *rest.Config) (cluster.Cluster, error) {
	if config == nil {
		return nil, nil
	}
	source, err := cluster.New(config, func(opts *cluster.Options) {
		opts.Logger = mgr.GetLogger()
		opts.Cache.DefaultNamespaces = map[string]cache.Config{o.webhooks.Server.Completed().Namespace: {}}
	})
	if err != nil {
		return nil, fmt.Errorf("the cluster of the certificates: %w", err)
	}
	return source, mgr.Add(source)
}
