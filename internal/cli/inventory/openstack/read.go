// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/capkit/capkit/pkg/inventory"
)

// Unread has lists of a region that could not be read, and the reason.
type Unread struct {
	Region string
	Lists  []string
	// Why is the reason in words, as in "Cinder answers 403: ...".
	Why string
}

// Result is the content of a region. Unread is in the order of the lists, with lists of the same reason together.
type Result struct {
	Region inventory.Region
	Unread []Unread
}

// atOnce is the maximum number of regions that are being read, or wait until earlier regions have been yielded.
const atOnce = 4

// Read reads regions, several concurrently, and yields them in the given order. If the loop ends early, Read cancels the remaining
// requests. It calls done for each region as soon as that is read, before it is yielded; done must be safe for concurrent use. It yields an
// error only if the context ends, and then stops.
func (s *Session) Read(ctx context.Context, regions []string, done func()) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		results := make(chan chan Result, atOnce-1) // atOnce, less the one that the loop waits for
		go func() {
			defer close(results)
			for _, region := range regions {
				result := make(chan Result, 1)
				select {
				case results <- result:
				case <-ctx.Done():
					return
				}
				go func() {
					r := s.region(ctx, region)
					done()
					result <- r
				}()
			}
		}()
		for result := range results {
			r := <-result
			if err := context.Cause(ctx); err != nil {
				yield(Result{}, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// list is a list of a region, with its service and the function that reads it.
type list struct {
	name    string
	service service
	read    func(s *Session, ctx context.Context, url string, into *inventory.Region) error
}

// lists are in the order of [inventory.Lists]. Each sets a different field, so that they can be read concurrently.
var lists = []list{
	{"images", images, (*Session).images},
	{"machineTypes", compute, (*Session).machineTypes},
	{"zones", compute, (*Session).zones},
	{"volumeTypes", volumes, (*Session).volumeTypes},
	{"networks", networking, (*Session).networks},
	{"loadBalancerProviders", loadBalancers, (*Session).loadBalancerProviders},
	{"serverGroupPolicies", compute, (*Session).policies},
}

// region reads one region.
func (s *Session) region(ctx context.Context, name string) Result {
	result := Result{Region: inventory.Region{Name: name}}
	errs := make([]error, len(lists))
	var all sync.WaitGroup
	for i, l := range lists {
		address := s.urls[name][l.service.name]
		if address == "" {
			errs[i] = fmt.Errorf("is not in the catalogue: there is no %s endpoint of type %s", s.cloud.endpoints, l.service.types[0])
			continue
		}
		all.Go(func() { errs[i] = l.read(s, ctx, address, &result.Region) })
	}
	all.Wait()
	result.Region.Sort() // duplicates are removed, not reported
	for _, f := range result.Region.Check() {
		i := slices.IndexFunc(lists, func(l list) bool { return strings.HasPrefix(f.Field, l.name+"[") })
		errs[i] = cmp.Or(errs[i], fmt.Errorf("answers with what no inventory can have: %s: %s", f.Field, f.Detail))
	}
	for i, l := range lists {
		if errs[i] != nil {
			result.Region.Forget(l.name)
			result.unread(l.name, l.service.name+" "+s.why(errs[i]))
		}
	}
	return result
}

// unread records the reason why a list could not be read.
func (r *Result) unread(list, why string) {
	same := slices.IndexFunc(r.Unread, func(u Unread) bool { return u.Why == why })
	if same < 0 {
		same = len(r.Unread)
		r.Unread = append(r.Unread, Unread{Region: r.Region.Name, Why: why})
	}
	r.Unread[same].Lists = append(r.Unread[same].Lists, list)
}

// all returns the converted items of a list that convert wants. If there are none, it returns an empty slice, not nil.
func all[T, I any](
	ctx context.Context, s *Session, address, key string, query url.Values, header map[string]string, convert func(*T) (I, bool),
) ([]I, error) {
	items := []I{}
	err := each(ctx, s, address, key, query, header, func(t *T) {
		if item, wanted := convert(t); wanted {
			items = append(items, item)
		}
	})
	if err != nil {
		return nil, err // a part would look like the whole list
	}
	return items, nil
}

func (s *Session) volumeTypes(ctx context.Context, address string, into *inventory.Region) (err error) {
	// As for flavors: without is_public, Cinder lists only public volume types to users who may see all.
	into.VolumeTypes, err = all(ctx, s, address+"/types", "volume_types", url.Values{"limit": {pageSize}, "is_public": {"None"}}, nil,
		func(t *struct{ Name string }) (inventory.VolumeType, bool) {
			return inventory.VolumeType{Name: t.Name}, true
		})
	return err
}

func (s *Session) loadBalancerProviders(ctx context.Context, address string, into *inventory.Region) (err error) {
	into.LoadBalancerProviders, err = all(ctx, s, address+"/lbaas/providers", "providers", nil, nil,
		func(t *struct{ Name string }) (inventory.LoadBalancerProvider, bool) {
			return inventory.LoadBalancerProvider{Name: t.Name}, true
		})
	return err
}

// network is a network in Neutron's API.
type network struct {
	Name     string
	Shared   *bool
	External *bool `json:"router:external"`
}

func (s *Session) networks(ctx context.Context, address string, into *inventory.Region) (err error) {
	query := url.Values{"limit": {pageSize}, "fields": {"id", "name", "shared", "router:external"}}
	into.Networks, err = all(ctx, s, address+"/networks", "networks", query, nil, func(t *network) (inventory.Network, bool) {
		return inventory.Network{Name: t.Name, External: t.External, Shared: t.Shared}, t.Name != ""
	})
	return err
}
