// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// root is that of the repository.
const root = "../.."

// follow runs the commands of the only block of docs/operations.md in which there is a text, as somebody would who follows it.
func follow(t *testing.T, text string) {
	t.Helper()
	document, err := os.ReadFile(filepath.Join(root, "docs/operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(document), -1) {
		if strings.Contains(block[1], text) {
			found = append(found, block[1])
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d blocks have %q", len(found), text)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", found[0])
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "KUBECONFIG="+g.Kubeconfig(), fmt.Sprintf("PATH=%s:%s", filepath.Dir(g.Binary("kubectl")), os.Getenv("PATH")))
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, found[0], output)
	}
}

// waitUntilRefused waits until the API server has the component judge CloudProfiles.
func waitUntilRefused(t *testing.T, bad client.Object) {
	t.Helper()
	waitFor(t, bad.GetName()+" is refused", func() bool {
		return apierrors.IsInvalid(writing.Create(t.Context(), bad.DeepCopyObject().(client.Object), client.DryRunAll))
	})
}

func spoilt(name string) client.Object {
	profile := profiles.fresh(name)
	profiles.spoil(profile)
	return profile
}

func TestAnObjectIsExempted(t *testing.T) {
	r := newReplica(t)
	serve(t, r)
	waitFor(t, "it leads, and does not look at its configurations for the next minutes", func() bool {
		return strings.Contains(r.log(t), "Registered the webhooks") && strings.Count(r.log(t), "Updated source webhook config") >= 2
	})
	follow(t, "matchConditions")
	exempted := &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "provider-flavor-missing"}}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(g.Client().Delete(context.Background(), exempted)); err != nil {
			t.Error(err)
		}
	})
	if err := g.Client().Get(t.Context(), client.ObjectKeyFromObject(exempted), exempted); err != nil {
		t.Error(err)
	}
	if err := writing.Create(t.Context(), spoilt("other")); !apierrors.IsInvalid(err) {
		t.Errorf("another one that is not right: %v", err)
	}
	stop(t, r)
	r.start(t)
	waitUntilRefused(t, spoilt("provider-flavor-missing"))
}

// TestAllWebhooksAreDisabled: what is registered stays so, and everything passes nevertheless.
func TestAllWebhooksAreDisabled(t *testing.T) {
	r := newReplica(t)
	serve(t, r)
	stop(t, r)
	without := newReplica(t, "--disable-webhooks=*")
	entrance.lead(without)
	without.start(t)
	for _, k := range []*kind{&profiles, &shoots} {
		bad := k.fresh("disabled")
		k.spoil(bad)
		if err := writing.Create(t.Context(), bad, client.DryRunAll); err != nil {
			t.Errorf("a %s: %v", k.name, err)
		}
	}
	configurations(t)
}

func TestAPIServersDoNotInsist(t *testing.T) {
	t.Cleanup(func() { removeLease(t) })
	r := newReplica(t)
	serve(t, r)
	stop(t, r)
	follow(t, `"failurePolicy": "Ignore"`)
	for _, k := range []*kind{&profiles, &shoots} {
		bad := k.fresh("insist")
		k.spoil(bad)
		waitFor(t, "a "+k.name+" passes unchecked", func() bool { return writing.Create(t.Context(), bad, client.DryRunAll) == nil })
	}
	r.start(t)
	waitUntilRefused(t, spoilt("insist"))
}
