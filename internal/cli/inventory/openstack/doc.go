// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package openstack reads the contents of an OpenStack, region by region, for an inventory. It only reads: its client sends GET, HEAD and
// the POST that requests a token, and refuses all other requests. Start at [Connect].
//
//   - clouds.go, environment.go, tls.go: the cloud's URL and credentials, from the places where every OpenStack client finds them
//   - session.go: the token, the regions, and the services of each region
//   - transport.go: one request, and when it is repeated
//   - read.go: one region; pages.go: lists in pages
//   - images.go, compute.go: the conversion of images and flavors
//   - why.go: the reason why a list could not be read, in words
package openstack
