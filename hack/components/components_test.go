// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package components_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/capkit/capkit/hack/components"
)

func TestNames(t *testing.T) {
	if c, found := components.Of("openstack"); !found || c != components.OpenStack {
		t.Errorf("%+v", c)
	}
	if c, found := components.Of("local"); found {
		t.Errorf("%+v", c)
	}
	own := components.OpenStack
	if got := fmt.Sprintf("%s, %s, %s, the %s", own.Program(), own.Name(), own.Release(), own.Short()); got !=
		"gardener-extension-admission-openstack, gardener-extension-admission-openstack, admission-openstack, the admission component of the OpenStack extension" {
		t.Error(got)
	}
	beside := components.Component{Type: "acme", Title: "Acme", Beside: true}
	if got := fmt.Sprintf("%s, %s, %s, the %s", beside.Program(), beside.Name(), beside.Release(), beside.Short()); got !=
		"gardener-extension-admission-capkit-acme, gardener-extension-admission-capkit-acme, admission-capkit-acme, "+
			"the admission component beside that of the Acme extension" {
		t.Error(got)
	}
}

// One program serves all described clouds; the other names contain the cloud.
func TestNamesOfDescribed(t *testing.T) {
	c, found := components.Of("ironcore-metal")
	if got := fmt.Sprintf("%t, %s, %s, %s, the %s", found, c.Program(), c.Name(), c.Release(), c.Short()); got !=
		"true, gardener-extension-admission-capkit, gardener-extension-admission-capkit-ironcore-metal, admission-capkit-ironcore-metal, "+
			"the admission component beside that of the IronCore on bare metal extension" {
		t.Error(got)
	}
}

// Names that must be unique in a seed differ from provider-openstack's.
func TestNamesOfControllers(t *testing.T) {
	c := components.Component{Type: "acme", Title: "Acme", Worker: true}
	if got := fmt.Sprintf("%s, %s, %s, the %s", c.Program(), c.Release(), c.Name(), c.Short()); got !=
		"gardener-extension-provider-acme, provider-acme-worker, gardener-extension-provider-acme-worker, the worker controller of the Acme extension" {
		t.Error(got)
	}
}

// Components and their commands correspond one to one.
func TestCommands(t *testing.T) {
	folders, err := filepath.Glob("../../cmd/gardener-extension-*")
	if err != nil {
		t.Fatal(err)
	}
	var commands, names []string
	for _, folder := range folders {
		main, err := os.ReadFile(filepath.Join(folder, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(folder)
		commands = append(commands, name)
		want := "admission.NewCommand("
		switch {
		case strings.Contains(name, "-provider-"):
			want = "command.New("
		case strings.HasSuffix(name, "-capkit"):
			want = "admission.NewCommandDescribed("
		case strings.Contains(name, "-capkit-"):
			want = "admission.NewCommandBeside("
		}
		if !strings.Contains(string(main), want) {
			t.Errorf("%s does not have the command of that name", folder)
		}
	}
	for _, c := range components.Programs() {
		names = append(names, c.Program())
	}
	slices.Sort(names)
	if !slices.Equal(commands, names) {
		t.Errorf("there are the commands %v, and the components %v", commands, names)
	}
}
