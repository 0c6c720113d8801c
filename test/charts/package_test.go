// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
)

var _ = Describe("The packages of make charts", func() {
	DescribeTable("are not made for what no registry has", func(o chart.Options, want string) {
		_, err := chart.Load(root, openstack, o)
		Expect(err).To(MatchError(ContainSubstring(want)))
	},
		Entry("an URL", chart.Options{Version: "1.2.3", Registry: "https://registry.example.com/capkit"}, "write it without https://"),
		Entry("no registry", chart.Options{Version: "1.2.3"}, `registry "": write a host`),
		Entry("a blank", chart.Options{Version: "1.2.3", Registry: "a b"}, `registry "a b": write`),
		Entry("no host", chart.Options{Version: "1.2.3", Registry: "capkit"}, `registry "capkit": write`),
		Entry("a plus in the version", chart.Options{Version: "1.2.3+x", Registry: chart.Registry}, `version "1.2.3+x"`),
	)

	It("are not made of charts in which a value of the component's own does not stand once", func() {
		copied := GinkgoT().TempDir()
		Expect(os.CopyFS(filepath.Join(copied, "charts"), os.DirFS(filepath.Join(root, "charts")))).To(Succeed())
		file := filepath.Join(copied, "charts/admission/runtime/values.yaml")
		Expect(os.WriteFile(file, bytes.Replace(read(file), []byte("  title:"), []byte("  titel:"), 1), 0o600)).To(Succeed())
		_, err := chart.Load(copied, openstack, chart.Options{Version: "1.2.3", Registry: chart.Registry})
		Expect(err).To(MatchError(ContainSubstring(`values.yaml: "title:" is 0 times in the file, and not once`)))
	})

	DescribeTable("are the same, artifacts and manifests too, if they are made of copies from another time", func(c components.Component) {
		o := chart.Options{Version: "1.2.3", Registry: chart.Registry}
		copied := GinkgoT().TempDir()
		Expect(os.CopyFS(filepath.Join(copied, "charts"), os.DirFS(filepath.Join(root, "charts")))).To(Succeed())
		one := written(root, c, o)
		Expect(len(one)).To(BeNumerically(">=", 2*5))
		Expect(written(copied, c, o)).To(Equal(one))
	}, each())

	DescribeTable("have version, registry and names that they are made for, and everything that is in the folder", func(c components.Component) {
		packages, err := chart.Load(root, c, chart.Options{Version: "1.2.3", Registry: "registry.example.com/mirror"})
		Expect(err).NotTo(HaveOccurred())
		for i, p := range packages {
			loaded, err := loader.LoadArchive(bytes.NewReader(p.Archive))
			Expect(err).NotTo(HaveOccurred())
			Expect(loaded.Metadata).To(HaveValue(And(HaveField("Version", "1.2.3"), HaveField("AppVersion", "v1.2.3"))), p.Name)
			Expect(loaded.Schema).NotTo(BeNil(), p.Name)
			Expect(loaded.Templates).NotTo(BeEmpty(), p.Name)
			var text strings.Builder
			for _, file := range loaded.Raw {
				text.Write(file.Data)
			}
			Expect(strings.Contains(strings.ToLower(text.String()), "openstack")).To(Equal(c == openstack), p.Name)
			Expect(loaded.Values["component"]).To(Equal(map[string]any{
				"type": c.Type, "title": c.Title, "beside": c.Beside, "credentials": c.Credentials, "described": c.Described, "description": "",
				"workerSettings": c.WorkerSettings,
			}), p.Name)
			Expect(loaded.Metadata.Description).To(ContainSubstring(c.Short()), p.Name)
			if i == 0 {
				Expect(loaded.Values["image"]).To(HaveKeyWithValue("repository", "registry.example.com/mirror/"+c.Program()))
			}
		}
	}, each())
})

// written returns the files that make charts writes.
func written(root string, c components.Component, o chart.Options) map[string][]byte {
	GinkgoHelper()
	packages, err := chart.Load(root, c, o)
	Expect(err).NotTo(HaveOccurred())
	files, err := chart.Manifests(c, packages, o)
	Expect(err).NotTo(HaveOccurred())
	folder := GinkgoT().TempDir()
	for _, p := range packages {
		Expect(p.Write(folder)).To(Succeed())
	}
	Expect(filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		files[name], err = os.ReadFile(path)
		return err
	})).To(Succeed())
	return files
}
