// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/inventory"
)

// listings are the queries for images: images that the project may boot, community images, and the hidden images of both, because hidden
// images boot, too. A service that does not know the last three queries has no such images.
var listings = []url.Values{
	{"limit": {pageSize}, "member_status": {"all"}},
	{"limit": {pageSize}, "visibility": {"community"}},
	{"limit": {pageSize}, "member_status": {"all"}, "os_hidden": {"true"}},
	{"limit": {pageSize}, "visibility": {"community"}, "os_hidden": {"true"}},
}

func (s *Session) images(ctx context.Context, address string, into *inventory.Region) error {
	found := []inventory.Image{}
	seen := map[string]bool{}
	for i, query := range listings {
		err := each(ctx, s, address+"/images", "images", query, nil, func(t *map[string]any) {
			if image := imageOf(*t); !seen[image.ID] {
				seen[image.ID] = true
				found = append(found, image)
			}
		})
		if err != nil && (i == 0 || statusOf(err) != http.StatusBadRequest) {
			return err
		}
	}
	into.Images = found
	return nil
}

// ofGlance are an image's members that belong to Glance. All other members with string values are properties.
var ofGlance = map[string]bool{
	"id": true, "name": true, "status": true, "visibility": true, "checksum": true, "os_hash_algo": true, "os_hash_value": true, "os_hidden": true,
	"created_at": true, "updated_at": true, "disk_format": true, "container_format": true, "owner": true, "file": true, "schema": true, "self": true,
	"locations": true, "direct_url": true, // may contain credentials of a store
	"stores": true, "min_disk": true, "min_ram": true, "size": true, "virtual_size": true, "protected": true, "tags": true,
}

func imageOf(written map[string]any) inventory.Image {
	text := func(name string) string { value, _ := written[name].(string); return value }
	image := inventory.Image{
		ID: text("id"), Name: text("name"), Status: text("status"), Visibility: text("visibility"),
		Checksum: Checksum(text("os_hash_algo"), text("os_hash_value"), text("checksum")), Properties: map[string]string{},
	}
	for name, value := range written {
		if value, isText := value.(string); isText && !ofGlance[name] {
			image.Properties[name] = value
		}
	}
	image.Architecture = ImageArchitecture(image.Properties)
	number := func(name string) int64 { value, _ := written[name].(float64); return int64(value) }
	image.MinDiskGiB = MinDisk(number("min_disk"), max(number("size"), number("virtual_size")))
	return image
}

// Checksum returns an image's checksum with its algorithm, as in "sha512:...". It prefers the hash to MD5, and is empty if there is
// neither.
func Checksum(algorithm, value, md5 string) string {
	switch {
	case algorithm != "" && value != "":
		return strings.ToLower(algorithm) + ":" + value
	case md5 != "":
		return "md5:" + md5
	}
	return ""
}

// MinDisk returns the smallest disk size in GiB for an image with a minimum disk and a size in bytes, as Nova computes it.
func MinDisk(minDiskGiB, bytes int64) *int64 {
	const gib = 1 << 30
	size := max(minDiskGiB, (bytes+gib-1)/gib)
	return &size
}

// ImageArchitecture returns the architecture in an image's properties; empty if they have none.
func ImageArchitecture(properties map[string]string) string {
	return inventory.Architecture(cmp.Or(properties["hw_architecture"], properties["architecture"]))
}

// message returns the error text of a service's answer: the first string named message or faultstring, in depth-first order of the sorted
// members; empty if there is none.
func message(body []byte) string {
	var content any
	if json.Unmarshal(body, &content) != nil {
		return ""
	}
	return messageIn(content)
}

func messageIn(content any) string {
	members, _ := content.(map[string]any)
	for _, name := range []string{"message", "faultstring"} {
		if text, isText := members[name].(string); isText && text != "" {
			return text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if text := messageIn(members[name]); text != "" {
			return text
		}
	}
	return ""
}
