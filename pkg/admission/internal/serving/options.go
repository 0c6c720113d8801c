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

// Options say how webhooks are served: by which versions of TLS, how the process ends, how old what it knows may be. Make them with
// [NewOptions], add their flags, and complete them before they are used.
type Options struct {
	tls                       tlsOptions
	shutdownDelay, maxSilence time.Duration
	certificateSyncPeriod     time.Duration
}

// NewOptions returns options with the values that the flags have by default.
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

// Complete checks the values. The error names the first flag with a wrong one, and what it may be.
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

// CertificateSyncPeriod is how often the certificates are checked for renewal.
func (o *Options) CertificateSyncPeriod() time.Duration { return o.certificateSyncPeriod }

// Hear has the watches of all clients be heard that are made by a config, which it changes. For that it sets the environment
// variables HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS of the process. Call it before the manager is made.
func (o *Options) Hear(log logr.Logger, config *rest.Config) (*Hearing, error) {
	h := newHearing(log, o.maxSilence)
	return h, h.listen(config)
}

// Run starts a manager, and stops it some time after ctx is done, which is when the process is asked to stop. It returns when the
// manager has stopped.
func (o *Options) Run(ctx context.Context, mgr manager.Manager) error {
	return mgr.Start(delayed(ctx, o.shutdownDelay))
}

// delayed returns a context that is done some time after ctx.
func delayed(ctx context.Context, delay time.Duration) context.Context {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(delay, cancel) })
	return later
}
