// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/capkit/capkit/test/seed"
)

// requests counts a controller's writes to the API server by method and resource.
type requests struct {
	mu     sync.Mutex
	writes map[string]int
}

// counting is a transport that counts requests.
type counting struct {
	http.RoundTripper

	requests *requests
}

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	for _, resource := range []string{"machinedeployments", "machineclasses", "secrets", "configmaps"} {
		if request.Method != http.MethodGet && slices.Contains(strings.Split(request.URL.Path, "/"), resource) {
			c.requests.mu.Lock()
			c.requests.writes[request.Method+" "+resource]++
			c.requests.mu.Unlock()
		}
	}
	return c.RoundTripper.RoundTrip(request)
}

// Without a change nothing is written, whatever the number of pools and zones. The count includes the library's writes.
func TestWithoutAChangeNothingIsWritten(t *testing.T) {
	t.Parallel()
	shoot, counted := newShoot(t, nil), &requests{writes: map[string]int{}}
	api := theSeed(t).RESTConfig()
	api.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next, counted} })
	runAt(t, api, shoot, ours)
	worker := shoot.Worker()
	for i := range 4 {
		worker.Spec.Pools = append(worker.Spec.Pools, pool(fmt.Sprint("pool-", i), "virt", "1.0.0", seed.Size(0, 3), zoned("europe-1a", "europe-1b", "europe-1c")))
	}
	create(t, shoot, worker.Spec.Pools...)
	reconcile(t, shoot, nil)
	take := func() map[string]int {
		counted.mu.Lock()
		defer counted.mu.Unlock()
		taken := counted.writes
		counted.writes = map[string]int{}
		return taken
	}
	if created := take(); created["POST machinedeployments"] != 12 || created["POST machineclasses"] != 12 {
		t.Errorf("these were counted: %v", created)
	}
	reconcile(t, shoot, nil)
	if writes := take(); len(writes) > 0 {
		t.Errorf("without a change there are %v", writes)
	}
}
