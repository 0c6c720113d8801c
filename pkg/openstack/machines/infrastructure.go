// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// infrastructure lists the resources that machines are attached to.
type infrastructure struct {
	keyName       string
	networkID     string
	subnetIDs     []string
	securityGroup string
}

// infrastructureStatus has the fields of an InfrastructureStatus that this package reads. The infrastructure controller of
// provider-openstack writes it.
type infrastructureStatus struct {
	metav1.TypeMeta `json:",inline"`

	Networks struct {
		ID      string `json:"id"`
		Subnets []struct {
			ID      string `json:"id"`
			Purpose string `json:"purpose"`
		} `json:"subnets"`
	} `json:"networks"`
	Node struct {
		KeyName string `json:"keyName"`
	} `json:"node"`
	SecurityGroups []struct {
		Name    string `json:"name"`
		Purpose string `json:"purpose"`
	} `json:"securityGroups"`
}

// The purposes of resources for machines. In a dual-stack network the IPv6 subnet has its own purpose.
const (
	purposeNodes     = "nodes"
	purposeNodesIPv6 = "nodes-ipv6"
)

// infrastructureOf reads spec.infrastructureProviderStatus of a Worker. It ignores unknown fields.
func infrastructureOf(raw *runtime.RawExtension) (*infrastructure, error) {
	const field = "spec.infrastructureProviderStatus"
	if raw == nil || len(raw.Raw) == 0 || string(raw.Raw) == "null" {
		return nil, errors.New(field + " is missing: it is there once the Infrastructure of the shoot has been reconciled")
	}
	status := &infrastructureStatus{}
	if err := json.Unmarshal(raw.Raw, status); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", field, err)
	}
	const kind = "InfrastructureStatus"
	if version := v1alpha1.GroupVersion.String(); status.APIVersion != version || status.Kind != kind {
		return nil, fmt.Errorf("%s is of apiVersion %q and kind %q; only %s of %s can be read, so update this controller, or "+
			"reconcile the Infrastructure with a release that writes that", field, status.APIVersion, status.Kind, kind, version)
	}
	found := &infrastructure{keyName: status.Node.KeyName, networkID: status.Networks.ID}
	switch { // the machine controller could not even delete machines with a class without these
	case found.networkID == "":
		return nil, fmt.Errorf("%s has no networks.id", field)
	case found.keyName == "":
		return nil, fmt.Errorf("%s has no node.keyName", field)
	}
	for _, purpose := range []string{purposeNodes, purposeNodesIPv6} {
		for _, subnet := range status.Networks.Subnets {
			if subnet.Purpose == purpose && subnet.ID != "" {
				found.subnetIDs = append(found.subnetIDs, subnet.ID)
			}
		}
		if len(found.subnetIDs) == 0 {
			return nil, fmt.Errorf("%s has no subnet of purpose %s with an id", field, purposeNodes)
		}
	}
	for _, group := range status.SecurityGroups {
		if group.Purpose == purposeNodes && group.Name != "" {
			found.securityGroup = group.Name
			return found, nil
		}
	}
	return nil, fmt.Errorf("%s has no security group of purpose %s with a name", field, purposeNodes)
}
