// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
)

// capabilities are those of a machine type, a flavor or a request.
type capabilities map[string][]string

// profile is what pictures show of a CloudProfile of OpenStack.
type profile struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		MachineCapabilities []struct {
			Name   string
			Values []string
		}
		MachineTypes  []struct{ Name string }
		MachineImages []struct {
			Name     string
			Versions []struct {
				Version           string
				CapabilityFlavors []capabilities
			}
		}
		Regions        []struct{ Name string }
		ProviderConfig struct {
			MachineImages []struct {
				Name     string
				Versions []struct {
					Version           string
					CapabilityFlavors []providerFlavor
				}
			}
		}
	}
}

// providerFlavor is a flavor of the provider config.
type providerFlavor struct {
	Capabilities capabilities
	Regions      []struct{ Name, ID string }
}

// lines returns the capabilities as they are written, in the order of the vocabulary.
func (p *profile) lines(set capabilities) []string {
	var lines []string
	for _, registered := range p.Spec.MachineCapabilities {
		if values, found := set[registered.Name]; found {
			lines = append(lines, fmt.Sprintf("%s: [%s]", registered.Name, strings.Join(values, ", ")))
		}
	}
	return lines
}

// complete is what a flavor supports: what it leaves out has all values.
func (p *profile) complete(set capabilities) string {
	var all []string
	for _, registered := range p.Spec.MachineCapabilities {
		values, found := set[registered.Name]
		if !found {
			values = registered.Values
		}
		values = slices.Sorted(slices.Values(values))
		all = append(all, registered.Name+"="+strings.Join(values, ","))
	}
	return strings.Join(all, " ")
}

// profileOf loads the CloudProfile of a manifest.
func profileOf(file string) (*profile, error) {
	documents, err := load[profile](file)
	if err != nil {
		return nil, err
	}
	for i := range documents {
		if documents[i].Kind == "CloudProfile" {
			return &documents[i], nil
		}
	}
	return nil, fmt.Errorf("%s has no CloudProfile", file)
}
