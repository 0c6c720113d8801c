// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/pkg/admission"
	provider "github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/garden/charts"
)

var argument = regexp.MustCompile("^--([a-z-]+)")

// fixed lists the flags that no chart sets, with the reasons.
var fixed = map[string]string{
	"extension-classes":  "the components are for Shoots alone",
	"kubeconfig":         "it is in the environment of the pod",
	"leader-election":    "two leaders would write the same objects",
	"leader-election-id": "the Role names it",
	"master":             "the kubeconfig says it",
	"version":            "it ends the program",
}

// Each flag is set by a value of the chart, or is listed with the reason why it is not.
var _ = DescribeTable("Each flag can be set by values of the chart", func(
	c components.Component, cmd *cobra.Command, kind chart.Kind, of []string, also map[string]string,
) {
	set := map[string]bool{}
	for _, name := range of {
		_, container := podOf(renderFor(c, kind, controllerNamespace, values(name)))
		for _, arg := range container.Args {
			set[argument.FindStringSubmatch(arg)[1]] = true
		}
	}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		_, without := fixed[flag.Name]
		if _, found := also[flag.Name]; found {
			without = true
		}
		Expect(set[flag.Name]).NotTo(Equal(without), "--%s: either a value sets it, or a table here says why none does", flag.Name)
	})
	for name := range also {
		Expect(cmd.Flag(name)).NotTo(BeNil(), "there is no --%s", name)
	}
},
	Entry("of an admission component", openstack, admission.NewCommand(provider.Provider{}), charts.Runtime,
		[]string{"default", "full"}, map[string]string{
			"gardener-version":           "nothing depends on it",
			"self-hosted-shoot-cluster":  "nothing depends on it",
			"webhook-config-server-host": "the pod listens on all of its addresses",
		}),
	Entry("of the worker controller", worker, workerCommand(), charts.Worker, []string{"default", "worker-full"}, nil),
)
