// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/aws"
	"github.com/capkit/capkit/pkg/openstack"
)

// If another worker controller reconciles the Shoots, no Shoot may get a setting that only capkit's reads. A Shoot that has one can still
// be updated.
func TestSettingsOfOurWorkerController(t *testing.T) {
	_, bank := trusted(t)
	objects := garden(t)
	c := componentFor(openstack.Provider{}, objects)
	judge := func(object, old *v1beta1.Shoot) (errs, warnings string) {
		t.Helper()
		report, err := c.checkShoot(t.Context(), object, old)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Errors {
			errs += f.Field + ": " + f.Detail + "\n"
		}
		for _, f := range report.Warnings {
			warnings += f.Field + ": " + f.Detail + "\n"
		}
		return errs, warnings
	}
	if errs, _ := judge(bank, nil); errs != "" {
		t.Errorf("with capkit's worker controller: %s", errs)
	}
	*c.worker = false
	const at, says = "spec.provider.workers[0].providerConfig.trustedLaunch: ", "could neither reconcile nor delete the Shoot; remove it"
	for _, setting := range []string{`{"enabled":true}`, `{"enabled":false}`, `{}`, `null`} {
		shoot := bank.DeepCopy()
		shoot.Spec.Provider.Workers[0].ProviderConfig = &runtime.RawExtension{Raw: []byte(
			`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","trustedLaunch":` + setting + `}`)}
		if errs, _ := judge(shoot, nil); !strings.HasPrefix(errs, at) || !strings.Contains(errs, says) {
			t.Errorf("%s: %q", setting, errs)
		}
		updated := shoot.DeepCopy()
		updated.Spec.Provider.Workers[0].Maximum++
		if errs, warnings := judge(updated, shoot); errs != "" || !strings.Contains(warnings, says) {
			t.Errorf("%s, that the Shoot had before: %q; %q", setting, errs, warnings)
		}
		without := shoot.DeepCopy()
		without.Spec.Provider.Workers[0].ProviderConfig = nil
		if errs, _ := judge(without, shoot); errs != "" {
			t.Errorf("%s, that is removed: %q", setting, errs)
		}
		if errs, _ := judge(shoot, without); errs == "" {
			t.Errorf("%s, that is added, is not refused", setting)
		}
	}
}

// Only clouds with their own settings have the flag.
func TestFlagOfTheWorkerController(t *testing.T) {
	if flag := NewCommand(openstack.Provider{}).Flag("worker-controller"); flag == nil || flag.DefValue != "false" {
		t.Errorf("%+v", flag)
	}
	if flag := NewCommandBeside(aws.Provider{}).Flag("worker-controller"); flag != nil {
		t.Errorf("%+v", flag)
	}
}
