// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package openstack reads what an OpenStack has, region by region, for an inventory. It only reads: its client sends GET, HEAD and
// the POST that asks for a token, and refuses everything else. Start at [Connect].
//
//   - clouds.go, environment.go, tls.go: where the cloud is, and the credentials, as every OpenStack client finds them
//   - session.go: a token, the regions, and the services of each
//   - transport.go: one request: what is asked again, and when
//   - read.go: one region; pages.go: lists in pages
//   - images.go, compute.go: what is said of images and flavors
//   - why.go: why something could not be read, in words
package openstack
