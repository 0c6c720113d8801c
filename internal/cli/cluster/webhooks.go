// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Webhook is a registered mutating webhook.
type Webhook struct {
	Name string
	// Provider is the provider type whose objects the webhook receives; empty for all, and for selection by other labels.
	Provider string
	// CloudProfiles reports whether it receives CloudProfiles.
	CloudProfiles bool
}

// Mutating returns the registered mutating webhooks, in the order of the API server. The error says why they cannot be read.
func (r *Reader) Mutating(ctx context.Context) ([]Webhook, error) {
	list, err := r.admission.MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		const name = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
		if apierrors.IsForbidden(err) {
			return nil, fmt.Errorf("the right to list %s is missing in %s", name, r)
		}
		return nil, fmt.Errorf("%s cannot be read from %s: %w", name, r, err)
	}
	var found []Webhook
	for _, configuration := range list.Items {
		for _, w := range configuration.Webhooks {
			found = append(found, Webhook{w.Name, providerOf(w.ObjectSelector), slices.ContainsFunc(w.Rules, asksForCloudProfiles)})
		}
	}
	return found, nil
}

// providerOf returns the provider type in a selector; empty if it has none.
func providerOf(selector *metav1.LabelSelector) string {
	if selector == nil {
		return ""
	}
	for label := range selector.MatchLabels {
		if provider, found := strings.CutPrefix(label, v1beta1constants.LabelExtensionProviderTypePrefix); found {
			return provider
		}
	}
	return ""
}

func asksForCloudProfiles(r admissionregistrationv1.RuleWithOperations) bool {
	return slices.ContainsFunc(r.APIGroups, func(group string) bool { return group == v1beta1.GroupName || group == "*" }) &&
		slices.ContainsFunc(r.Resources, func(resource string) bool { return resource == "cloudprofiles" || resource == "*" || resource == "*/*" })
}
