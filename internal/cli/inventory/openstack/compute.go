// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/capkit/capkit/pkg/inventory"
)

// flavor is a flavor in Nova's API.
type flavor struct {
	Name       string
	VCPUs      *int64
	RAM        *int64
	Disk       *int64
	Public     *bool             `json:"os-flavor-access:is_public"`
	Disabled   bool              `json:"OS-FLV-DISABLED:disabled"`
	ExtraSpecs map[string]string `json:"extra_specs"`
}

// withExtraSpecs requests flavors with their extra specs.
var withExtraSpecs = map[string]string{"X-OpenStack-Nova-API-Version": "2.61", "OpenStack-API-Version": "compute 2.61"}

func (s *Session) machineTypes(ctx context.Context, address string, into *inventory.Region) (err error) {
	// Without is_public, Nova lists only public flavors to users who may see all.
	query := url.Values{"limit": {pageSize}, "is_public": {"None"}}
	for _, header := range []map[string]string{withExtraSpecs, nil} {
		into.MachineTypes, err = all(ctx, s, address+"/flavors/detail", "flavors", query, header, machineTypeOf)
		if statusOf(err) != http.StatusNotAcceptable { // a Nova too old for these headers answers with it
			return err
		}
	}
	return err
}

func machineTypeOf(f *flavor) (inventory.MachineType, bool) {
	m := inventory.MachineType{
		Name: f.Name, CPU: f.VCPUs, MemoryMiB: f.RAM, DiskGiB: f.Disk, Public: f.Public, Properties: f.ExtraSpecs,
	}
	Complete(&m)
	return m, !f.Disabled
}

// Complete sets GPU and Architecture from a flavor's extra specs, which are its properties. It does nothing if Properties is nil.
func Complete(m *inventory.MachineType) {
	if m.Properties == nil {
		return
	}
	m.GPU = gpus(m.Properties)
	m.Architecture = flavorArchitecture(m.Properties)
}

var (
	// resource matches extra specs that request resources, numbered or not.
	resource = regexp.MustCompile(`^resources[^:]*:(.+)$`)
	// gpu matches the usual names of GPUs.
	gpu = regexp.MustCompile(`(?i)gpu|nvidia|tesla|\b[ahlvtb]\d{1,3}\b`)
)

// gpus returns the number of GPUs that extra specs request. It is nil if they request devices of an unknown kind, or a whole machine, or if
// a count is not a number.
func gpus(specs map[string]string) *int64 {
	var sum int64
	for name, value := range specs {
		what := ""
		if match := resource.FindStringSubmatch(name); len(match) > 1 {
			what = match[1]
		}
		switch {
		case what == "VGPU" || what == "PGPU":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil
			}
			sum += n
		case strings.HasPrefix(what, "CUSTOM_") && value != "0", name == "accel:device_profile":
			return nil
		case name == "pci_passthrough:alias":
			n, known := aliases(value)
			if !known {
				return nil
			}
			sum += n
		}
	}
	return &sum
}

// aliases returns the number of GPUs in a list of PCI device aliases such as "a100:2,t4:1". known is false if a name is not that of a GPU.
func aliases(value string) (sum int64, known bool) {
	for alias := range strings.SplitSeq(value, ",") {
		name, count, _ := strings.Cut(strings.TrimSpace(alias), ":")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || !gpu.MatchString(strings.NewReplacer("_", " ", "-", " ").Replace(name)) {
			return 0, false
		}
		sum += n
	}
	return sum, true
}

// flavorArchitecture returns the architecture that extra specs name, which may follow an operator as in "s== aarch64"; empty if there is
// none.
func flavorArchitecture(specs map[string]string) string {
	switch "required" {
	case specs["trait:HW_ARCH_X86_64"]:
		return "amd64"
	case specs["trait:HW_ARCH_AARCH64"]:
		return "arm64"
	}
	for _, name := range []string{"capabilities:cpu_arch", "cpu_arch", "capabilities:cpu_info:arch", "hw_architecture", "architecture"} {
		if fields := strings.Fields(specs[name]); len(fields) > 0 && len(fields) < 3 && fields[0] != "<or>" && fields[0] != "s!=" {
			return inventory.Architecture(fields[len(fields)-1])
		}
	}
	return ""
}

// zone is an availability zone in Nova's API.
type zone struct {
	Name  string `json:"zoneName"`
	State *struct {
		Available bool
	} `json:"zoneState"`
}

func (s *Session) zones(ctx context.Context, address string, into *inventory.Region) (err error) {
	into.Zones, err = all(ctx, s, address+"/os-availability-zone", "availabilityZoneInfo", nil, nil, func(z *zone) (inventory.Zone, bool) {
		converted := inventory.Zone{Name: z.Name}
		if z.State != nil {
			converted.Available = &z.State.Available
		}
		return converted, true
	})
	return err
}

// project matches the end of a Nova URL that includes the project, as in some catalogues.
var project = regexp.MustCompile(`(/v\d+(?:\.\d+)?)/[^/]+$`)

// policies determines the policies that server groups can have. Nova does not list them, so they follow from its API version.
func (s *Session) policies(ctx context.Context, address string, into *inventory.Region) error {
	body, err := s.get(ctx, project.ReplaceAllString(address, "$1")+"/", nil)
	if err != nil {
		return err
	}
	var answer struct{ Version struct{ ID, Version string } }
	if err := json.Unmarshal(body, &answer); err != nil || answer.Version.ID == "" {
		return fmt.Errorf("does not say which version its API has")
	}
	into.ServerGroupPolicies = []string{"affinity", "anti-affinity"}
	const soft = 15 // from 2.15 on
	if major, minor, _ := strings.Cut(answer.Version.Version, "."); major == "2" {
		if n, err := strconv.Atoi(minor); err == nil && n >= soft {
			into.ServerGroupPolicies = append(into.ServerGroupPolicies, "soft-affinity", "soft-anti-affinity")
		}
	}
	return nil
}
