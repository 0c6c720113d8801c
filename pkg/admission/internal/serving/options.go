// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gardener/gardener/extensions/pkg/webhook/certificates"
	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Options configure how webhooks are served: TLS versions, shutdown, and the longest silence of the API server. Create them with
// [NewOptions], add their flags, and complete them before use.
type Options struct {
	tls                       tlsOptions
	shutdownDelay, maxSilence time.Duration
	certificateSyncPeriod     time.Duration
}

// NewOptions returns options with the defaults of the flags.
func NewOptions() *Options {
	return &Options{
		shutdownDelay: 5 * time.Second, certificateSyncPeriod: certificates.DefaultSyncPeriod, maxSilence: defaultMaxSilence,
	}
}

// AddFlags adds the flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.tls.addFlags(flags)
	flags.DurationVar(&o.shutdownDelay, "shutdown-delay-duration", o.shutdownDelay,
		"How long to go on serving after the signal to stop, while /readyz already fails, "+
			"so that nobody sends requests any more when the server closes.")
	flags.DurationVar(&o.certificateSyncPeriod, "webhook-certificate-sync-period", o.certificateSyncPeriod,
		"How often the certificates are checked for renewal and reloaded.")
	flags.DurationVar(&o.maxSilence, "max-silence", o.maxSilence,
		"How long the served API server may be silent; pings ask it for an answer. After that, "+
			"/readyz fails and requests are refused until it is heard again: what was stored meanwhile is not known.")
}

// Complete checks the values. The error names the first flag with an invalid value, and the valid ones.
func (o *Options) Complete() error {
	if err := o.tls.complete(); err != nil {
		return err
	}
	switch {
	case o.shutdownDelay < 0 || o.certificateSyncPeriod <= 0:
		return errors.New("--shutdown-delay-duration must not be negative, " +
			"and --webhook-certificate-sync-period must be positive")
	case o.maxSilence < minMaxSilence:
		return fmt.Errorf("--max-silence must be at least %s", minMaxSilence)
	}
	return nil
}

// CertificateSyncPeriod returns the interval at which the certificates are checked for renewal.
func (o *Options) CertificateSyncPeriod() time.Duration { return o.certificateSyncPeriod }

// Hear observes the watches of all clients that are made from config, which it modifies. It also sets the environment variables
// HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS of the process. Call it before you create the manager.
func (o *Options) Hear(log logr.Logger, config *rest.Config) (*Hearing, error) {
	h := newHearing(log, o.maxSilence)
	return h, h.listen(config)
}

// Run starts a manager, and stops it after --shutdown-delay-duration once ctx is done. It returns when the manager has stopped.
func (o *Options) Run(ctx context.Context, mgr manager.Manager) error {
	return mgr.Start(delayed(ctx, o.shutdownDelay))
}

// delayed returns a context that is done the delay after ctx.
func delayed(ctx context.Context, delay time.Duration) context.Context {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(delay, cancel) })
	return later
}
