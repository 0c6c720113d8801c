// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package reserved

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

var _ = Describe("capkit migrate", func() {
	It("makes one version with flavors of two, registers their capability, and takes that back, and Gardener accepts each step", func(ctx SpecContext) {
		folder := GinkgoT().TempDir()
		file, profile, shoots := filepath.Join(folder, "all.yaml"), filepath.Join(folder, "profile.yaml"), filepath.Join(folder, "shoots.yaml")
		write := func(name, text string) {
			GinkgoHelper()
			Expect(os.WriteFile(name, []byte(text), 0o600)).To(Succeed())
		}
		// split writes the CloudProfile and the Shoots of a file into separate files.
		split := func(name string) {
			GinkgoHelper()
			text, err := os.ReadFile(name)
			Expect(err).NotTo(HaveOccurred())
			first, others, _ := strings.Cut(string(text), "\n---\n")
			write(file, string(text))
			write(profile, first+"\n")
			write(shoots, others)
		}
		kubectl := func(verb, name string) {
			GinkgoHelper()
			_, err := g.Kubectl(ctx, verb, "--filename="+name)
			Expect(err).NotTo(HaveOccurred())
		}
		migrate := func(args ...string) {
			GinkgoHelper()
			var stdout, stderr bytes.Buffer
			status := cli.Run(append([]string{"capkit", "migrate", "-w", file}, args...), nil, &stdout, &stderr, clouds.All()...)
			Expect(status).To(Equal(0), stdout.String()+stderr.String())
		}

		split(root + "/docs/examples/in-place/before.yaml")
		kubectl("create", profile)
		kubectl("create", shoots)

		migrate("--fold=-inplace=gardener-update-type:in-place,rolling")
		split(file)
		kubectl("replace", profile)
		split(file + ".step-2")
		kubectl("apply", shoots) // the in-place pool moves to the version without the suffix
		kubectl("replace", profile)

		migrate("--reserved")
		split(file)
		Expect(os.ReadFile(profile)).To(ContainSubstring("name: gardener-update-type"))
		kubectl("replace", profile)
		kubectl("apply", shoots)

		migrate("--reserved", "--back")
		split(file)
		Expect(os.ReadFile(profile)).NotTo(ContainSubstring("name: gardener-update-type"))
		kubectl("replace", profile)
		kubectl("apply", shoots)
	})
})
