// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/hack/program"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
	"github.com/capkit/capkit/test/suite"
)

var _ = Describe("The program in an image", func() {
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

	DescribeTable("is static: the kernel can run it without anything else in the image", func(m *made, platform v1.Platform) {
		program, err := elf.NewFile(bytes.NewReader(file(m.read(platform), m.Name)))
		Expect(err).NotTo(HaveOccurred())
		Expect(program.Machine).To(Equal(machines[platform.Architecture]))
		Expect(program.Type).To(Equal(elf.ET_EXEC))
		for _, segment := range program.Progs {
			Expect(segment.Type).NotTo(BeElementOf(elf.PT_INTERP, elf.PT_DYNAMIC))
		}
		Expect(program.Section(".symtab")).To(BeNil(), "a symbol table")
	}, each)

	DescribeTable("is the same if the compiler finds its sources elsewhere", func(ctx SpecContext, m *made, platform v1.Platform) {
		clone := GinkgoT().TempDir()
		for _, name := range m.sources {
			Expect(exec.CommandContext(ctx, "cp", "-R", filepath.Join(m.root, name), clone).Run()).To(Succeed(), name)
		}
		programs := GinkgoT().TempDir()
		Expect(m.compile(ctx, clone, platform, programs)).To(Succeed())
		elsewhere, err := os.ReadFile(program.Path(programs, platform, m.Name))
		Expect(err).NotTo(HaveOccurred())
		Expect(bytes.Equal(elsewhere, file(m.read(platform), m.Name))).To(BeTrue(), "the program is another one")
	},
		Entry("(component)", Label("slow"), component, here),
		Entry("(tiny program, amd64)", tiny, amd),
		Entry("(tiny program, arm64)", tiny, arm),
	)

	It("is the same whatever a user has set for other builds, or is not made", func(ctx SpecContext) {
		settings := filepath.Join(GinkgoT().TempDir(), "env") // the file of go env -w
		GinkgoT().Setenv("GOENV", settings)
		set := func(text string) string {
			Expect(os.WriteFile(settings, []byte(text), 0o600)).To(Succeed())
			programs := GinkgoT().TempDir()
			Expect(tiny.compile(ctx, tiny.root, here, programs)).To(Succeed())
			return program.Path(programs, here, tiny.Name)
		}
		content, err := os.ReadFile(set("GOFLAGS=-tags=other\nGOFIPS140=latest\nGOAMD64=v3\n"))
		Expect(err).NotTo(HaveOccurred())
		Expect(bytes.Equal(content, file(tiny.read(here), tiny.Name))).To(BeTrue(), "the program is another one")
		_, err = program.Read(set("GOEXPERIMENT=cgocheck2\n"), here)
		Expect(err).To(MatchError(ContainSubstring("is built with GOEXPERIMENT=cgocheck2, not without")))
	})

	Describe("for this machine", func() {
		var program string

		BeforeEach(func() {
			program = filepath.Join(GinkgoT().TempDir(), component.Name)
			Expect(os.WriteFile(program, file(component.read(here), component.Name), 0o700)).To(Succeed())
		})

		It("knows its version", func(ctx SpecContext) {
			command := exec.CommandContext(ctx, program, "--version")
			command.Env = []string{} // like in an image
			output, err := command.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(output))
			Expect(strings.TrimSpace(string(output))).To(HaveSuffix(" v1.2.3+0123456789ab"))
		})

		It("does its work beside a real Gardener API", Label("slow"), func(ctx SpecContext) {
			_, err := extension.OpenStack.Run(ctx, suite.StartGarden(ctx, garden.Options{}), program)
			Expect(err).NotTo(HaveOccurred())
		})
	})

	It("of the command checks manifests, with nothing of a machine but them", func(ctx SpecContext) {
		folder, err := filepath.Abs(filepath.Join(root, "example"))
		Expect(err).NotTo(HaveOccurred())
		name := filepath.Join(GinkgoT().TempDir(), command.Name)
		Expect(os.WriteFile(name, file(command.read(here), command.Name), 0o700)).To(Succeed())
		for args, want := range map[string]string{
			"--version":                           "capkit version 1.2.3+0123456789ab (with the rules of Gardener v1.",
			"lint .":                              " objects checked: no errors, no warnings",
			"select shoot.yaml cloudprofile.yaml": "garden-demo/shop, worker pool web: ",
		} {
			capkit := exec.CommandContext(ctx, name, strings.Fields(args)...)
			capkit.Dir, capkit.Env = folder, []string{} // like in an image
			output, err := capkit.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(output))
			Expect(string(output)).To(ContainSubstring(want))
		}
	})
})
