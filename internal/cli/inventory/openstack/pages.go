// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
)

// pageSize is the page size of requests. Services with a lower limit return smaller pages.
const pageSize = "1000"

// mostPages is the largest number of pages of a list, against endless lists. Together the pages must not exceed the size limit of one
// answer.
const mostPages = 1000

// get returns the body of a service's answer.
func (s *Session) get(ctx context.Context, address string, header map[string]string) ([]byte, error) {
	response, err := s.client.Request(ctx, http.MethodGet, address, &gophercloud.RequestOpts{
		MoreHeaders: header, OkCodes: []int{http.StatusOK}, KeepResponseBody: true,
	})
	if err != nil {
		return nil, inner(err)
	}
	body, err := io.ReadAll(response.Body)
	return body, errors.Join(err, response.Body.Close())
}

// each calls take for each item of a list, page by page. The list is the member key of each page. query may be nil.
func each[T any](ctx context.Context, s *Session, address, key string, query url.Values, header map[string]string, take func(*T)) error {
	seen, size := map[string]bool{}, 0
	for page := query.Encode(); !seen[page]; {
		seen[page] = true
		body, err := s.get(ctx, strings.TrimSuffix(address+"?"+page, "?"), header)
		if err != nil {
			return err
		}
		if size += len(body); size > largest || len(seen) > mostPages {
			return fmt.Errorf("answers with more than %d pages, or %d MiB", mostPages, largest>>20)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			return fmt.Errorf("answers with something other than JSON: %w", err)
		}
		var items []T
		if list := string(members[key]); list == "" || list == "null" {
			return fmt.Errorf("answers without %q", key)
		}
		if err := json.Unmarshal(members[key], &items); err != nil {
			return fmt.Errorf("answers with %q that cannot be read: %w", key, err)
		}
		for i := range items {
			take(&items[i])
		}
		next := nextPage(members)
		if next == "" || len(items) == 0 {
			return nil
		}
		link, err := url.Parse(next)
		if err != nil {
			return errors.New("answers with a link to the next page that is not a URL")
		}
		page = link.RawQuery // ignore the rest: a service behind a proxy may not know its own address
	}
	return errors.New("answers with the same page again and again")
}

// nextPage returns a page's link to the next page; empty on the last page. Glance has it in the member next, other services among their
// links.
func nextPage(members map[string]json.RawMessage) string {
	var next string
	if json.Unmarshal(members["next"], &next) == nil && next != "" {
		return next
	}
	for name, value := range members {
		var links []struct{ Rel, Href string }
		if !strings.HasSuffix(name, "_links") || json.Unmarshal(value, &links) != nil {
			continue
		}
		for _, link := range links {
			if link.Rel == "next" {
				return link.Href
			}
		}
	}
	return ""
}
