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

// pageSize is how many things are asked for at once. Services give less if they have a limit of their own.
const pageSize = "1000"

// mostPages is how many pages a list has at the most: more is one without an end. Together they are no longer than one answer may be.
const mostPages = 1000

// get returns what a service answers.
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

// each calls take with each item of a list, page by page. The list is the member key of each page; query may be nil.
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
		page = link.RawQuery // the rest is what the service calls itself, behind whatever stands before it
	}
	return errors.New("answers with the same page again and again")
}

// nextPage returns the link of a page to the next one: Glance's is the member next, others have it among their links.
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
