// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
)

// requestTimeout bounds one request to a service.
const requestTimeout = time.Minute

// Credentials are the inputs for a login.
type Credentials struct {
	// Secret is the data of the Secret in Worker.spec.secretRef, with the keys that validation.Credentials knows.
	Secret map[string][]byte
	// Keystone is the region's identity service, as lookup.Keystone finds it in the CloudProfileConfig. If the URL is empty, authURL of
	// the Secret is used. If the CA certificates are empty, caCert of the Secret is used, or else the system's. The chosen CA
	// certificates apply to all services of the region, exclusively.
	Keystone lookup.Endpoint
	// Insecure disables the verification of certificates, like keystoneForceInsecure of the CloudProfileConfig. If it is false, they are
	// verified unless the Secret sets insecure.
	Insecure bool
}

// Connect logs in to the identity service, version 3, and returns the compute service of a region. It is usable until the token expires,
// mostly after an hour, so log in for each reconciliation.
//
// An error says which service at which host failed, and what to check. It exposes Gardener's error codes with a method Codes, and
// contains neither the password nor the secret of an application credential. A request takes a minute at most, and ends with the context.
func Connect(ctx context.Context, credentials Credentials, region string) (Compute, error) {
	if err := credentials.incomplete(); err != nil {
		return nil, err
	}
	identity := service{
		name: "identity service", fields: "keystoneURL and keystoneURLs of the CloudProfile", secrets: credentials.secrets(),
	}
	provider, err := credentials.provider(&identity)
	if err != nil {
		return nil, err
	}
	options := credentials.options()
	if err := openstack.AuthenticateV3(ctx, provider, &options, gophercloud.EndpointOpts{}); err != nil {
		return nil, identity.failure("cannot log in", err)
	}
	login, ok := provider.GetAuthResult().(tokens.CreateResult)
	if !ok {
		return nil, identity.failure("cannot log in", fmt.Errorf("there is no token in its answer"))
	}
	catalog, err := login.ExtractServiceCatalog()
	if err != nil {
		return nil, identity.failure("cannot read the service catalog", err)
	}
	endpoint, err := identity.find(catalog, region)
	if err != nil {
		return nil, err
	}
	return newCompute(provider, endpoint, identity.secrets)
}

// incomplete returns an error if the Secret lacks a field, or has two ways to log in.
func (c Credentials) incomplete() error {
	_, found := validation.Credentials(c.Secret, field.NewPath("data"))
	var texts []string
	for _, e := range found {
		if e.Type == field.ErrorTypeRequired || e.Type == field.ErrorTypeForbidden {
			texts = append(texts, e.Field+": "+e.Detail)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return problem("cannot log in to OpenStack with the credentials of the Worker's Secret: " + strings.Join(texts, "; "))
}

// secrets returns the values that errors must not contain.
func (c Credentials) secrets() []string {
	var secrets []string
	for _, key := range []string{"password", "applicationCredentialSecret"} {
		if value := string(c.Secret[key]); value != "" {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// options returns the login request. An application credential is bound to a project, so it needs no scope.
func (c Credentials) options() gophercloud.AuthOptions {
	value := func(key string) string { return string(c.Secret[key]) }
	options := gophercloud.AuthOptions{Username: value("username"), DomainName: value("domainName")}
	if secret := value("applicationCredentialSecret"); secret != "" {
		options.ApplicationCredentialID = value("applicationCredentialID")
		options.ApplicationCredentialName = value("applicationCredentialName")
		options.ApplicationCredentialSecret = secret
		return options
	}
	options.Password, options.TenantName = value("password"), value("tenantName")
	return options
}

// provider returns a client that is not logged in yet, and sets the host of the identity service.
func (c Credentials) provider(identity *service) (*gophercloud.ProviderClient, error) {
	address := cmp.Or(c.Keystone.URL, string(c.Secret["authURL"]))
	if address == "" {
		return nil, problem("cannot log in to OpenStack: the CloudProfile has no identity service for the region, and the Worker's Secret " +
			"none either; add the region to keystoneURLs of the CloudProfile")
	}
	var err error
	if identity.host, err = hostOf(address); err != nil {
		return nil, problem("cannot log in to OpenStack: the URL of the identity service cannot be read; correct it in the CloudProfile, " +
			"or authURL in the Worker's Secret")
	}
	provider, err := openstack.NewClient(address)
	if err != nil {
		return nil, identity.failure("cannot use the URL", err)
	}
	tlsConfig, err := c.tls()
	if err != nil {
		return nil, err
	}
	provider.HTTPClient = http.Client{
		Timeout: requestTimeout,
		Transport: limited{&http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSClientConfig:     tlsConfig,
			TLSHandshakeTimeout: requestTimeout,
			IdleConnTimeout:     10 * time.Second, // clients live for one reconciliation
			ForceAttemptHTTP2:   true,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return provider, nil
}

// tls returns the TLS configuration for all services.
func (c Credentials) tls() (*tls.Config, error) {
	insecure, err := strconv.ParseBool(strings.TrimSpace(string(c.Secret["insecure"])))
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.Insecure || err == nil && insecure}
	bundle := cmp.Or(c.Keystone.CACert, string(c.Secret["caCert"]))
	if strings.TrimSpace(bundle) == "" {
		return config, nil
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM([]byte(bundle)) {
		return nil, problem("cannot log in to OpenStack: there is no certificate among the CA certificates for the identity service; " +
			"correct keystoneCACert of the CloudProfile, or caCert in the Worker's Secret")
	}
	return config, nil
}

// find returns the public URL of the compute service in a region.
func (s *service) find(catalog *tokens.ServiceCatalog, region string) (string, error) {
	var regions []string
	for _, entry := range catalog.Entries {
		for _, endpoint := range entry.Endpoints {
			switch {
			case entry.Type != "compute" || endpoint.Interface != string(gophercloud.AvailabilityPublic):
			case endpoint.RegionID == region || endpoint.Region == region:
				return endpoint.URL, nil
			default:
				regions = append(regions, strconv.Quote(cmp.Or(endpoint.RegionID, endpoint.Region)))
			}
		}
	}
	slices.Sort(regions)
	has := "it has none for any region"
	if regions = slices.Compact(regions); len(regions) > 0 {
		has = "it has one for " + strings.Join(regions, ", ")
	}
	return "", &failure{
		text: fmt.Sprintf("the service catalog of the identity service at %s has no public compute service for region %q; %s; "+
			"use one of these regions in the CloudProfile, or add the service to the catalog", s.host, region, has),
		codes: []v1beta1.ErrorCode{v1beta1.ErrorConfigurationProblem}, away: true,
	}
}
