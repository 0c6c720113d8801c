// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/cluster/fakegarden"
	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/test/garden"
)

const (
	// shoots and pools are the size of a landscape, and memory is the limit for a command on it in KiB.
	shoots = 20_000
	pools  = 3
	memory = 500 << 10
)

func init() { drawn = 1000 }

// landscape returns an API server with a profile whose provider config has a megabyte, and with realistic Shoots. They have managed
// fields, a status, and three worker pools each, all of which boot.
func landscape() *fakegarden.API {
	GinkgoHelper()
	r := rand.New(rand.NewPCG(18, shoots))
	object := v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "openstack"}, Spec: *largeSpec()}
	compiled, report := profile.Compile(openstack.Provider{}, &object.Spec, field.NewPath("spec"))
	Expect(report.Errors).To(BeEmpty())
	text, err := os.ReadFile(root + "/example/shoot.yaml")
	Expect(err).NotTo(HaveOccurred())
	var like v1beta1.Shoot
	Expect(yaml.Unmarshal(text, &like)).To(Succeed())
	fields := strings.Repeat(`"f:cloudProfileName":{},`, 200)
	managed := metav1.ManagedFieldsEntry{
		Manager: "gardenlet", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(`{"f:spec":{%s}}`, strings.TrimSuffix(fields, ","))),
	}
	api := &fakegarden.API{CloudProfiles: []v1beta1.CloudProfile{object}}
	for i := range shoots {
		shoot := like.DeepCopy()
		shoot.Namespace, shoot.Name = fmt.Sprintf("garden-p%03d", i/20), fmt.Sprintf("shoot%05d", i)
		shoot.ManagedFields = []metav1.ManagedFieldsEntry{managed, managed}
		shoot.Spec.Region = object.Spec.Regions[r.IntN(len(object.Spec.Regions))].Name
		shoot.Status.Conditions = make([]v1beta1.Condition, 8)
		for k := range shoot.Status.Conditions {
			shoot.Status.Conditions[k] = v1beta1.Condition{
				Type: v1beta1.ConditionType(fmt.Sprint("Condition", k)), Status: "True", Message: strings.Repeat("all is well ", 20),
			}
		}
		first := shoot.Spec.Provider.Workers[0]
		shoot.Spec.Provider.Workers = nil
		for k := range pools {
			worker := first.DeepCopy()
			worker.Name = fmt.Sprint("pool", k)
			choose(r, &object.Spec, compiled, shoot.Spec.Region, worker)
			shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, *worker)
		}
		api.Shoots = append(api.Shoots, *shoot)
	}
	return api
}

// largeSpec returns the spec of the landscape's profile, whose versions Gardener's maintenance can choose.
func largeSpec() *v1beta1.CloudProfileSpec {
	spec := generate.OpenStack(1 << 20)
	spec.Kubernetes.Versions = []v1beta1.ExpirableVersion{{Version: "1.33.2"}, {Version: "1.33.3"}}
	for i := range spec.MachineImages {
		for k := range spec.MachineImages[i].Versions {
			spec.MachineImages[i].Versions[k].CRI = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}
		}
	}
	return spec
}

// changedProfile returns a file with the landscape's profile in which every hundredth image ID is changed.
func changedProfile() string {
	GinkgoHelper()
	spec, n := largeSpec(), 0
	spec.ProviderConfig.Raw = regexp.MustCompile(`"id":"`).ReplaceAllFunc(spec.ProviderConfig.Raw, func(id []byte) []byte {
		if n++; n%100 == 0 {
			return append(id, "changed-"...)
		}
		return id
	})
	text, err := json.Marshal(v1beta1.CloudProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "CloudProfile"},
		ObjectMeta: metav1.ObjectMeta{Name: "openstack"}, Spec: *spec,
	})
	Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(GinkgoT().TempDir(), "changed.json")
	Expect(os.WriteFile(path, text, 0o600)).To(Succeed())
	return path
}

// choose gives a worker a random image and machine type that fit together.
func choose(
	r *rand.Rand, spec *v1beta1.CloudProfileSpec, p *profile.Profile[openstack.Image], region string, worker *v1beta1.Worker,
) {
	for {
		image := &spec.MachineImages[r.IntN(len(spec.MachineImages))]
		version := image.Versions[r.IntN(len(image.Versions))].Version
		machine := spec.MachineTypes[r.IntN(len(spec.MachineTypes))].Name
		pool := provider.Pool{Region: region, MachineType: machine}
		if resolve.Boots(p, pool)(image.Name, version) {
			worker.Machine = v1beta1.Machine{Type: machine, Image: &v1beta1.ShootMachineImage{Name: image.Name, Version: &version}}
			return
		}
	}
}

// measured is the resource usage of a run of the command.
type measured struct {
	CPU    time.Duration
	Memory int64 // KiB
	Status int
}

// measuring in the environment makes a process of this test run another program, and print its usage as JSON on standard error. The kernel
// charges a child for the memory of its parent at the start, so the command's parent must be smaller than this test.
const measuring = "CAPKIT_MEASURE"

func TestMain(m *testing.M) {
	if os.Getenv(measuring) == "" {
		os.Exit(m.Run())
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout = os.Stdout
	_ = cmd.Run()
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	_ = json.NewEncoder(os.Stderr).Encode(measured{
		cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), usage.Maxrss, cmd.ProcessState.ExitCode(),
	})
}

// measure runs the command on a cluster, and returns its usage and its output.
func measure(ctx context.Context, capkit, kubeconfig string, args ...string) (m measured, output []byte) {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.CommandContext(ctx, self, append(append([]string{capkit}, args...), "-A", "--kubeconfig", kubeconfig)...)
	cmd.Env = append(os.Environ(), measuring+"=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	Expect(cmd.Run()).To(Succeed(), stderr.String())
	Expect(json.Unmarshal(stderr.Bytes(), &m)).To(Succeed())
	Expect(m.Status).To(BeElementOf(0, 1))
	return m, stdout.Bytes()
}

var _ = Describe("A landscape", Label("slow"), func() {
	It("of 20,000 Shoots is read within 500 MB", func(ctx SpecContext) {
		capkit, err := garden.Compile(ctx, GinkgoWriter, "./cmd/capkit", "capkit-live")
		Expect(err).NotTo(HaveOccurred())
		api := landscape().Start(GinkgoTB())
		for _, args := range [][]string{
			{"select", "-o", "json"}, {"lint", "-o", "json"}, {"maintenance", "-o", "json"}, {"plan", "-o", "json", changedProfile()}, {"report"},
		} {
			all, output := measure(ctx, capkit, api, args...)
			for range 2 { // on a busy machine, garbage is collected later
				if all.Memory >= memory {
					all, output = measure(ctx, capkit, api, args...)
				}
			}
			AddReportEntry(fmt.Sprintf("%s: %v, %d MiB", args[0], all.CPU, all.Memory>>10))
			Expect(all.Memory).To(BeNumerically("<", memory), args[0])
			if len(args) == 1 {
				Expect(len(output)).To(BeNumerically("<", 5_000_000), "the page")
				data := dataOf(string(output))
				Expect(data.Maintenance).NotTo(BeEmpty())
				Expect(data.Findings).NotTo(BeEmpty())
				continue
			}
			var answer struct {
				Pools   []json.RawMessage
				Changes []struct{ Count int }
				Summary struct{ Objects int }
			}
			Expect(json.Unmarshal(output, &answer)).To(Succeed())
			switch args[0] {
			case "lint":
				Expect(answer.Summary.Objects).To(Equal(shoots + 1))
			case "plan":
				Expect(answer.Changes).To(ContainElement(HaveField("Count", BeNumerically(">", 0))))
			default:
				Expect(answer.Pools).To(HaveLen(shoots * pools))
			}
		}
	})
})
