// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// tlsOptions configure the TLS versions and cipher suites of the webhook server. API servers use TLS 1.3, the default minimum. It can be
// lowered for a proxy without TLS 1.3.
type tlsOptions struct {
	minVersion   string
	cipherSuites []string

	version uint16
	// suites are for TLS 1.2; those of TLS 1.3 cannot be chosen.
	suites []uint16
}

const (
	tlsMinVersionFlag   = "tls-min-version"
	tlsCipherSuitesFlag = "tls-cipher-suites"
)

// The minimum versions that can be chosen. Older ones are insecure.
var tlsVersions = []string{"VersionTLS12", "VersionTLS13"}

// http2Suite is the suite that HTTP/2 requires. API servers use HTTP/2 for webhooks that are registered with a URL.
const http2Suite = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"

// addFlags adds the flags. Their names are those of Kubernetes.
func (o *tlsOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.minVersion, tlsMinVersionFlag, "VersionTLS13",
		"Lowest TLS version that the webhook server accepts: "+strings.Join(tlsVersions, " or ")+".")
	flags.StringSliceVar(&o.cipherSuites, tlsCipherSuitesFlag, nil,
		"Cipher suites that the webhook server accepts with TLS 1.2, separated by commas; Gardener's if there are none. "+
			"Those of TLS 1.3 cannot be chosen. Possible values: "+strings.Join(tls12Suites(), ", ")+".")
}

// tls12Suites returns the suites that can be chosen: Gardener's suites for TLS 1.2 that work with RSA keys, as Gardener's certificates
// have.
func tls12Suites() []string {
	return slices.DeleteFunc(slices.Clone(kubernetesutils.TLSCipherSuites), func(name string) bool {
		return !strings.HasPrefix(name, "TLS_ECDHE_RSA_")
	})
}

// complete checks the values.
func (o *tlsOptions) complete() (err error) {
	chosen, possible := o.cipherSuites, tls12Suites()
	if len(chosen) == 0 {
		chosen = possible
	}
	unknown := slices.IndexFunc(chosen, func(name string) bool { return !slices.Contains(possible, name) })
	o.version, err = cliflag.TLSVersion(o.minVersion)
	switch {
	case err != nil || !slices.Contains(tlsVersions, o.minVersion):
		return fmt.Errorf("invalid --%s: %q; it is one of %s",
			tlsMinVersionFlag, o.minVersion, strings.Join(tlsVersions, ", "))
	case len(o.cipherSuites) > 0 && o.version > tls.VersionTLS12:
		return fmt.Errorf("--%s is about TLS 1.2, which is not accepted; add --%s=VersionTLS12, or leave it out",
			tlsCipherSuitesFlag, tlsMinVersionFlag)
	case unknown >= 0:
		return fmt.Errorf("invalid --%s: %q; possible are %s",
			tlsCipherSuitesFlag, chosen[unknown], strings.Join(possible, ", "))
	case !slices.Contains(chosen, http2Suite):
		return fmt.Errorf("invalid --%s: %s must be among them, since HTTP/2 requires it",
			tlsCipherSuitesFlag, http2Suite)
	}
	o.suites, err = cliflag.TLSCipherSuites(chosen)
	return err
}
