// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command profile prints a realistic CloudProfile for OpenStack as JSON. The flag -size sets the approximate size of its provider config
// in bytes.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/testing/generate"
)

func main() {
	size := flag.Int("size", 1<<20, "bytes of the provider config")
	flag.Parse()
	profile := &v1beta1.CloudProfile{Spec: *generate.OpenStack(*size)}
	profile.APIVersion, profile.Kind, profile.Name = v1beta1.SchemeGroupVersion.String(), "CloudProfile", "generated"
	profile.Spec.Kubernetes.Versions = []v1beta1.ExpirableVersion{{Version: "1.33.2"}}
	if err := json.NewEncoder(os.Stdout).Encode(profile); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
