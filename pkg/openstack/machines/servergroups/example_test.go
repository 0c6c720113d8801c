// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups_test

import (
	"context"
	"fmt"

	"github.com/capkit/capkit/internal/testing/fakenova"
	"github.com/capkit/capkit/pkg/openstack/machines/servergroups"
)

// A worker controller ensures the groups before it writes machine classes, and cleans up once the machines are up to date. In between it
// keeps the record in the Worker's status.
func Example() {
	openstack := fakenova.Start(false)
	defer openstack.Close()
	ctx := context.Background()
	compute, err := servergroups.Connect(ctx, servergroups.Credentials{Secret: openstack.Secret()}, "europe")
	if err != nil {
		fmt.Println(err)
		return
	}
	names := servergroups.Names{TechnicalID: "shoot--garden--web", UID: "be9f9c04-7053-4bb2-9883-e28ba6ace0ea"}
	pools := []servergroups.Pool{{Name: "workers", Policy: "soft-anti-affinity"}}

	ids, record, err := servergroups.Ensure(ctx, compute, names, pools, nil)
	fmt.Println(ids["workers"] == record[0].ID, record[0].Name, err)

	pools[0].Policy = "anti-affinity"
	ids, record, err = servergroups.Ensure(ctx, compute, names, pools, record)
	fmt.Println(ids["workers"] == record[0].ID, record[0].Name, err, "and", len(record)-1, "more")

	record, err = servergroups.CleanUp(ctx, compute, names, pools, record)
	fmt.Println(len(record), "is left", err)

	record, err = servergroups.Delete(ctx, compute, names, record)
	fmt.Println(len(record), "are left", err)
	// Output:
	// true be9f9c04-7053-4bb2-28f1562b <nil>
	// true be9f9c04-7053-4bb2-ca8263f2 <nil> and 1 more
	// 1 is left <nil>
	// 0 are left <nil>
}
