// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/capkit/capkit/pkg/words"
)

// Options are the options of [Connect]. The zero value is ready for use.
type Options struct {
	// Timeout is the timeout of each request; 0 means [Timeout].
	Timeout time.Duration
	// Sleep waits before a request is repeated; nil waits on the real clock. It returns an error if the context ends.
	Sleep func(context.Context, time.Duration) error
}

// Timeout is the default timeout of a request.
const Timeout = 30 * time.Second

// Session is an authenticated connection to a cloud. Its methods are safe for concurrent use.
type Session struct {
	cloud  *Cloud
	client *gophercloud.ProviderClient
	// urls are the URLs of the services, by region and by the service's name in messages.
	urls map[string]map[string]string
}

// Connect requests a token from a cloud. The error has the reason if that fails, and contains no secrets.
func Connect(ctx context.Context, cloud *Cloud, options Options) (*Session, error) {
	client, err := openstack.NewClient(cloud.auth.IdentityEndpoint)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cloud, err)
	}
	client.UseTokenLock()
	client.HTTPClient = httpClient(cloud, options)
	s := &Session{cloud: cloud, client: client}
	auth := cloud.auth
	if err := openstack.AuthenticateV3(ctx, client, &auth, gophercloud.EndpointOpts{}); err != nil {
		return nil, fmt.Errorf("%v: Keystone at %s %s", cloud, cloud.auth.IdentityEndpoint, s.why(err))
	}
	result, catalogued := client.GetAuthResult().(interface {
		ExtractServiceCatalog() (*tokens.ServiceCatalog, error)
	})
	if !catalogued {
		return nil, fmt.Errorf("%v: Keystone has given no catalogue of services", cloud)
	}
	catalog, err := result.ExtractServiceCatalog()
	if err != nil {
		return nil, fmt.Errorf("%v: the catalogue of services cannot be read: %w", cloud, err)
	}
	if s.urls = locate(catalog, cloud.endpoints); len(s.urls) == 0 {
		return nil, fmt.Errorf("%v: the catalogue has no %s endpoint of any service that an inventory is about; is the token for a project?",
			cloud, cloud.endpoints)
	}
	return s, nil
}

func httpClient(cloud *Cloud, options Options) http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.TLSClientConfig = cloud.tls
	base.MaxIdleConnsPerHost = 16
	wait := options.Sleep
	if wait == nil {
		wait = sleep
	}
	return http.Client{
		Transport: &transport{RoundTripper: base, timeout: cmp.Or(options.Timeout, Timeout), largest: largest, sleep: wait},
		// Send the token only to the services of the catalogue, not to other hosts that they redirect to.
		CheckRedirect: func(request *http.Request, before []*http.Request) error {
			switch first := before[0].URL; {
			case request.URL.Host != first.Host:
				return fmt.Errorf("it sends the token to another host, %s", request.URL.Host)
			case first.Scheme == "https" && request.URL.Scheme != first.Scheme: // would expose the token
				return fmt.Errorf("it redirects from https to %s", request.URL.Scheme)
			case len(before) > 3:
				return errors.New("it redirects again and again")
			}
			return nil
		},
	}
}

// service is a service that an inventory covers.
type service struct {
	name string
	// types are the service's types in catalogues. The first one that exists wins.
	types []string
	// version is the API version in the URL, used if the catalogue's URL has none.
	version string
}

var (
	images        = service{"Glance", []string{"image"}, "v2"}
	compute       = service{"Nova", []string{"compute"}, "v2.1"}
	networking    = service{"Neutron", []string{"network"}, "v2.0"}
	volumes       = service{"Cinder", []string{"block-storage", "volumev3", "volume"}, "v3"}
	loadBalancers = service{"Octavia", []string{"load-balancer"}, "v2.0"}

	services = []service{images, compute, networking, volumes, loadBalancers}
)

// versioned matches the URL of an API with a version, and perhaps a project after it.
var versioned = regexp.MustCompile(`/v\d+(\.\d+)?(/[^/]+)?/?$`)

// url returns the URL of an API with its version.
func (s *service) url(endpoint string) string {
	endpoint = strings.TrimSuffix(endpoint, "/")
	if !versioned.MatchString(endpoint) {
		endpoint += "/" + s.version
	}
	return endpoint
}

// locate returns the URLs of the services by region and service name.
func locate(catalog *tokens.ServiceCatalog, whose string) map[string]map[string]string {
	urls := map[string]map[string]string{}
	for _, s := range services {
		for _, kind := range s.types {
			for region, address := range endpoints(catalog, kind, whose) {
				if urls[region] == nil {
					urls[region] = map[string]string{}
				}
				if urls[region][s.name] == "" {
					urls[region][s.name] = s.url(address)
				}
			}
		}
	}
	return urls
}

// endpoints yields the regions and URLs of the endpoints of a service type, in the order of the catalogue.
func endpoints(catalog *tokens.ServiceCatalog, kind, whose string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, entry := range catalog.Entries {
			for _, e := range entry.Endpoints {
				region := cmp.Or(e.RegionID, e.Region)
				if entry.Type == kind && e.Interface == whose && region != "" && !yield(region, e.URL) {
					return
				}
			}
		}
	}
}

// Regions returns the cloud's regions in alphabetical order: all that have one of the services, or only the given ones. The error lists
// each name that is not a region.
func (s *Session) Regions(only []string) ([]string, error) {
	all := slices.Sorted(maps.Keys(s.urls))
	if len(only) == 0 {
		return all, nil
	}
	var errs []error
	for _, name := range only {
		if s.urls[name] == nil {
			errs = append(errs, fmt.Errorf("%v: there is no region %s; its regions are %s%s", s.cloud, words.Quoted(name), words.And(all),
				words.DidYouMean(words.Choice(name, all))))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(only))), errors.Join(errs...)
}
