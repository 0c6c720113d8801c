// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package answers runs tables of what the command, and a worker controller, answer for a provider. They are archives of package cases
// with a cloudprofile.yaml, a namespacedcloudprofile.yaml and, in each case, a file with the name args: the words after the name of the
// command, which is asked about both. "worker IMAGE VERSION MACHINETYPE REGION" asks package worker, first for a new pool and then for
// one that boots the answer.
package answers

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/worker"
)

// Run runs the cases of an archive. of returns the provider for a case.
func Run[R comparable](t *testing.T, archive string, of func(c *cases.Case) provider.Provider[R]) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		words := strings.Fields(c.Text("args"))
		if words[0] == "worker" {
			var parent v1beta1.CloudProfile
			var own v1beta1.NamespacedCloudProfile
			c.Decode("cloudprofile.yaml", &parent)
			c.Decode("namespacedcloudprofile.yaml", &own)
			return asked(of(c), &parent, &own, provider.Pool{Name: "pool", Image: words[1], Version: words[2], MachineType: words[3], Region: words[4]})
		}
		c.T().Chdir(c.T().TempDir())
		for _, file := range []string{"cloudprofile.yaml", "namespacedcloudprofile.yaml"} {
			text, err := yaml.JSONToYAML(c.JSON(file))
			if err == nil {
				err = os.WriteFile(file, text, 0o600)
			}
			if err != nil {
				c.T().Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		status := cli.Run(append(append([]string{"capkit"}, words...), "."), strings.NewReader(""), &stdout, &stderr, cli.For(of(c)))
		return fmt.Sprintf("%s\nexit status %d", strings.TrimSpace(stdout.String()+stderr.String()), status)
	})
}

// asked returns what a worker controller boots by what a NamespacedCloudProfile and its parent result in.
func asked[R comparable](cloud provider.Provider[R], parent *v1beta1.CloudProfile, own *v1beta1.NamespacedCloudProfile, pool provider.Pool) string {
	compiled, err := namespaced.Compile(cloud, own, parent)
	if err != nil {
		return err.Error()
	}
	question := worker.Question[R]{Pool: pool, Names: []string{"class"}}
	image, err := worker.NewImages(compiled, nil).Of(question)
	if err != nil {
		return err.Error()
	}
	question.Classes = []worker.Class[R]{{Name: "class", Reference: image.Reference}}
	again, err := worker.NewImages(compiled, worker.Records([]worker.Image[R]{image})).Of(question)
	if err != nil || again.Reference != image.Reference || again.Replaced != "" {
		return fmt.Sprintf("boots %v, and once it exists %v: %s, %v", image.Reference, again.Reference, again.Replaced, err)
	}
	return fmt.Sprintf("boots %v, now and later", image.Reference)
}
