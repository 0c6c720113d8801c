// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package alerts

import (
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Table rows in docs/operators/metrics.md.
var (
	metricOfLibrary = regexp.MustCompile("`((?:controller_runtime|leader_election|rest_client|process|workqueue)_[a-z_]+)`")
	query           = regexp.MustCompile("(?m)^\\| [^|]*\\? \\| `([^`]*)` \\|$")
	alertRow        = regexp.MustCompile("(?m)^\\| `(Capkit[A-Za-z]+)` \\| ([a-z]+) \\| [^|]+ \\|$")
)

var _ = Describe("docs/operators/metrics.md", func() {
	var text string

	BeforeEach(func() { text = read("../../docs/operators/metrics.md") })

	It("has queries for metrics that the component has", func() {
		queries := query.FindAllStringSubmatch(text, -1)
		Expect(len(queries)).To(BeNumerically(">=", 5))
		for _, match := range queries {
			Expect(unknown(match[1])).To(BeEmpty(), match[1])
		}
	})

	It("mentions metrics of libraries that the component has", func() {
		foreign := metricOfLibrary.FindAllStringSubmatch(text, -1)
		Expect(len(foreign)).To(BeNumerically(">=", 5))
		names := registered()
		for _, match := range foreign {
			Expect(names).To(HaveKey(match[1]))
		}
	})

	It("lists every alert with its severity", func() {
		var documented, defined []string
		for _, match := range alertRow.FindAllStringSubmatch(text, -1) {
			documented = append(documented, match[1]+", "+match[2])
		}
		for _, alert := range alerts() {
			defined = append(defined, alert.Alert+", "+alert.Labels["severity"])
		}
		Expect(documented).To(ConsistOf(defined))
	})
})
