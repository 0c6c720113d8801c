// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package lookup finds what a CloudProfileConfig has for one shoot: the identity service of its region, its floating pool,
// its load balancer providers. Admission, command and controllers look things up here, so that all of them find the same.
//
// Every function is pure, changes nothing, is safe for concurrent use, and takes configs as they are: also those that the
// validation refuses. Of two entries that are the same the first counts; apart from that the order of lists decides
// nothing.
package lookup

import (
	"cmp"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// Endpoint is an identity service.
type Endpoint struct {
	// URL of the service.
	URL string
	// CACert is the bundle of CA certificates, in PEM format, that its certificate is verified with; empty: the CAs of the
	// system.
	CACert string
}

// Keystone returns the identity service of a region: its own entry in keystoneURLs if there is one, or else keystoneURL.
// An entry without CA bundle has that of keystoneCACert. It is false if the region has no identity service.
func Keystone(config *v1alpha1.CloudProfileConfig, region string) (Endpoint, bool) {
	endpoint := Endpoint{URL: ptr.Deref(config.KeystoneURL, ""), CACert: ptr.Deref(config.KeystoneCACert, "")}
	is := func(k v1alpha1.KeystoneURL) bool { return k.Region == region }
	if i := slices.IndexFunc(config.KeystoneURLs, is); i >= 0 {
		own := &config.KeystoneURLs[i]
		endpoint.URL, endpoint.CACert = own.URL, cmp.Or(ptr.Deref(own.CACert, ""), endpoint.CACert)
	}
	return endpoint, endpoint.URL != ""
}

// LoadBalancerProviders returns the names of the load balancer providers that a shoot in a region may choose from, sorted,
// each of them once: those of the region if it has any, or else those without region. The caller owns the slice.
func LoadBalancerProviders(providers []v1alpha1.LoadBalancerProvider, region string) []string {
	var regional, general []string
	for _, p := range providers {
		switch {
		case p.Region == nil:
			general = append(general, p.Name)
		case *p.Region == region:
			regional = append(regional, p.Name)
		}
	}
	names := regional
	if len(names) == 0 {
		names = general
	}
	slices.Sort(names)
	return slices.Compact(names)
}
