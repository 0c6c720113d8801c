// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/samples"
	"github.com/capkit/capkit/test/suite"
)

// gardener is a version of Gardener in the comparison.
type gardener struct {
	version string
	gates   map[string]bool
	objects int
	// reserved selects the Gardener that accepts its own capabilities of GEP-0054. Its profiles register them.
	reserved bool
}

// world is a garden with its stored objects.
type world struct {
	gardener
	garden *garden.Garden
	// client does not retry: the objects that a request refers to have existed for long, or never will.
	client client.Client
	// profile and child are the profiles that Shoots use, as manifests.
	profile, child *unstructured.Unstructured
	folder         string
}

// legacy reports whether profiles have no capabilities.
func (a *gardener) legacy() bool {
	enabled, said := a.gates["CloudProfileCapabilities"]
	return said && !enabled
}

// profile returns the example CloudProfile for this Gardener. Expired entries expired at the given time.
func (a *gardener) profile(expired time.Time) *unstructured.Unstructured {
	GinkgoHelper()
	profile := profileOf(a.legacy(), expired)
	if a.reserved {
		register(profile)
	}
	return profile
}

func (a *gardener) start(ctx context.Context) *world {
	GinkgoHelper()
	w := &world{gardener: *a, folder: GinkgoT().TempDir()}
	o := garden.Options{FeatureGates: a.gates, Version: a.version}
	if a.version == "v1.150.0" { // the version in go.mod
		o.Version = ""
	}
	o.AcceptsReserved = a.reserved
	w.garden = suite.StartGarden(ctx, o)
	config, err := clientcmd.BuildConfigFromFlags("", w.garden.Kubeconfig())
	Expect(err).NotTo(HaveOccurred())
	config.QPS = -1 // no limit
	w.client, err = client.New(config, client.Options{Scheme: w.garden.Client().Scheme()})
	Expect(err).NotTo(HaveOccurred())
	_, err = w.garden.NewProject(ctx, "demo")
	Expect(err).NotTo(HaveOccurred())
	Expect(w.garden.NewRegistration(ctx, "samples", "openstack", "cilium", "gardenlinux", "coreos", "other")).To(Succeed())
	further := &v1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "further"}}
	further.Spec.Resources = []v1beta1.ControllerResource{{Kind: "ContainerRuntime", Type: "gvisor"}, {Kind: "Network", Type: "calico"}}
	Expect(w.garden.Client().Create(ctx, further)).To(Succeed())
	made, err := samples.Of(root, components.OpenStack)
	Expect(err).NotTo(HaveOccurred())
	Expect(samples.Apply(ctx, w.garden.Client(), made.Credentials()...)).To(Succeed())

	// Expired versions would be left out on creation, so the dates follow in an update.
	w.profile, w.child = a.profile(time.Now().Add(-time.Hour)), childOf(a.legacy())
	Expect(samples.Apply(ctx, w.garden.Client(), a.profile(time.Now().Add(time.Hour)), w.child)).To(Succeed())
	Expect(samples.Apply(ctx, w.garden.Client(), w.profile)).To(Succeed())
	shoot := shootOf()
	set(shoot.Object, "spec.kubernetes.version", "1.32.9")
	Eventually(ctx, func() error { return w.create(ctx, shoot) }).
		Should(MatchError(ContainSubstring("spec.kubernetes.version")), "once the API server has seen that it has expired")
	Eventually(ctx, func(g Gomega) {
		child := &v1beta1.NamespacedCloudProfile{}
		g.Expect(w.garden.Client().Get(ctx, client.ObjectKeyFromObject(w.child), child)).To(Succeed())
		g.Expect(child.Status.CloudProfileSpec.MachineTypes).NotTo(BeEmpty())
	}).Should(Succeed())
	return w
}

func shootOf() *unstructured.Unstructured {
	GinkgoHelper()
	shoot := &unstructured.Unstructured{}
	readFile("example/shoot.yaml", &shoot.Object)
	return shoot
}

// projectOf returns the relevant part of the Shoots' Project.
func projectOf() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project", "metadata": map[string]any{"name": "demo"},
		"spec": map[string]any{"namespace": "garden-demo"},
	}}
}

// create creates an object as a dry run.
func (w *world) create(ctx context.Context, object *unstructured.Unstructured) error {
	return w.client.Create(ctx, object.DeepCopy(), client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

// path matches the paths of fields in a message.
var path = regexp.MustCompile(`\b(?:spec|metadata)(?:\.[\w/]+(?:-[\w/]+)*|\[\d+\])*`)

// instead replaces Gardener's other names for fields by their paths.
var instead = strings.NewReplacer(
	"is invalid: name: ", "is invalid: metadata.name: ",
	`"operatingsystemconfig.extensions.gardener.cloud/"`, "spec.provider.workers", // a label, with the name of an image
)

// fieldsOf returns the fields in an error of the API server.
func fieldsOf(err error) []string { return path.FindAllString(instead.Replace(err.Error()), -1) }

// indices matches the indices in a path.
var indices = regexp.MustCompile(`\[\d+\]`)

// within reports whether two paths are equal, or one is a parent of the other.
func within(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return strings.HasPrefix(b, a) && (len(a) == len(b) || strings.ContainsRune(".[", rune(b[len(a)])))
}

// found is a finding of lint.
type found struct{ Severity, Rule, Field, Message, File string }

// refuses reports whether a finding means that the object cannot be created.
func (f found) refuses() bool { return f.Severity == "error" || f.Rule == "no-longer-offered" }

// lint returns the findings about objects by number. The command does not know the provider, so that only Gardener's rules apply.
func (w *world) lint(all []*drawn) map[int][]found {
	GinkgoHelper()
	args, numbers := []string{"capkit", "lint", "-o", "json", "--webhook", "false", "--gardener-version", w.version}, map[string]int{}
	for _, gate := range slices.Sorted(maps.Keys(w.gates)) {
		args = append(args, fmt.Sprintf("--feature-gates=%s=%t", gate, w.gates[gate]))
	}
	if w.reserved {
		args = append(args, "--reserved-in-core")
	}
	write := func(name string, object *unstructured.Unstructured) string {
		text, err := yaml.Marshal(object.Object)
		Expect(err).NotTo(HaveOccurred())
		file := filepath.Join(w.folder, name+".yaml")
		Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
		args = append(args, file)
		return file
	}
	write("profile", w.profile)
	write("child", w.child)
	write("project", projectOf())
	for i, d := range all {
		numbers[write(fmt.Sprint("object", i), d.object)] = i
	}
	var stdout, stderr bytes.Buffer
	cli.Run(args, nil, &stdout, &stderr)
	var report struct{ Findings []found }
	Expect(json.Unmarshal(stdout.Bytes(), &report)).To(Succeed(), stderr.String())
	findings := map[int][]found{}
	for _, f := range report.Findings {
		i, known := numbers[f.File]
		if !known {
			Expect(f.refuses()).To(BeFalse(), "what Shoots choose from: %v", f)
			continue
		}
		findings[i] = append(findings[i], f)
	}
	return findings
}

// differs describes the difference between the findings and the API server's answer. It returns an empty string if they agree.
func differs(findings []found, answer error) string {
	refusals := slices.DeleteFunc(slices.Clone(findings), func(f found) bool { return !f.refuses() })
	switch {
	case answer == nil && len(refusals) == 0:
		return ""
	case answer == nil:
		return fmt.Sprintf("accepted, but lint says %v", refusals)
	case len(refusals) == 0:
		return fmt.Sprintf("refused, but lint says nothing: %v", answer)
	}
	fields := fieldsOf(answer)
	if len(fields) == 0 || slices.ContainsFunc(refusals, func(f found) bool {
		at := f.Field
		switch {
		case strings.Contains(answer.Error(), ": json: "): // decoding errors have paths without indices
			at = indices.ReplaceAllString(at, "")
		case f.Rule == "pool-architecture-mismatch": // Gardener reports the other one of the two fields that do not match
			at = strings.TrimSuffix(at, ".architecture")
		case strings.HasPrefix(at, "spec.machineCapabilities["): // Gardener names the capability, and lint its place
			at = "spec.machineCapabilities"
		}
		return slices.ContainsFunc(fields, func(field string) bool { return within(field, at) })
	}) {
		return ""
	}
	return fmt.Sprintf("refused because of %v, but lint says %v: %v", fields, refusals, answer)
}

const claim = "lint says what the API server says of objects that are created"

func saysTheSame(ctx SpecContext, a gardener) {
	w := a.start(ctx)
	r := rand.New(rand.NewPCG(146, 149))
	profile := a.profile(time.Now().Add(time.Hour))
	var all []*drawn
	if a.reserved {
		all = slices.Concat(draw(r, profile, "reserved-", a.objects*6/10), draw(r, w.child, "reserved-", a.objects*4/10))
	} else {
		all = slices.Concat(draw(r, shootOf(), "", a.objects*6/10), draw(r, profile, "", a.objects*2/10), draw(r, w.child, "", a.objects*2/10))
	}
	findings := w.lint(all)
	var differences []string
	refused, elsewhere := 0, 0
	for i, d := range all {
		answer := w.create(ctx, d.object)
		if answer != nil {
			refused++
			if len(fieldsOf(answer)) == 0 {
				elsewhere++
			}
		}
		if difference := differs(findings[i], answer); difference != "" {
			differences = append(differences, fmt.Sprintf("%s\n\t%s", d, difference))
		}
	}
	AddReportEntry(fmt.Sprintf("%d objects, of which %d are refused, %d of these without a field", len(all), refused, elsewhere))
	if len(differences) > 0 {
		Fail(fmt.Sprintf("%d differences:\n%s", len(differences), strings.Join(differences, "\n")))
	}
	Expect(len(all)).To(BeNumerically(">=", a.objects))
	Expect(min(refused, len(all)-refused)).To(BeNumerically(">", len(all)/8))
}

// The oldest version that the checks support, and the newest. The others are in long_test.go.
var _ = DescribeTable(claim, saysTheSame,
	Entry("v1.146.0", gardener{version: "v1.146.0", objects: 1000}),
	Entry("v1.150.0", gardener{version: "v1.150.0", objects: 1000}),
	Entry("v1.150.0 that accepts reserved capabilities", gardener{version: "v1.150.0", objects: 600, reserved: true}),
	Entry("v1.146.0 with other feature gates", gardener{version: "v1.146.0", objects: 500, gates: map[string]bool{
		"CloudProfileCapabilities": false, "InPlaceNodeUpdates": true, "DisableNginxIngressInShoot": true,
	}}),
)
