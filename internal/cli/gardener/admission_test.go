// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/pkg/gardenerrules/releases"
)

// example reads an object of the examples.
func example[T any](t *testing.T, file string) *T {
	t.Helper()
	text, err := os.ReadFile("../../../example/" + file)
	if err != nil {
		t.Fatal(err)
	}
	object := new(T)
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// judged returns the errors of a Shoot with the profile of the examples.
func judged(t *testing.T, server *gardener.Server, shoot *v1beta1.Shoot, beside gardener.Beside) field.ErrorList {
	t.Helper()
	profile := gardener.SyncArchitectures(example[v1beta1.CloudProfile](t, "cloudprofile.yaml"))
	gardener.SetDefaults(profile)
	return server.ValidateShoot(shoot, &profile.Spec, beside)
}

// Objects that are missing in the inputs are synthesized, and never cause an error. Given objects are used.
func TestBeside(t *testing.T) {
	project := func(name string) *v1beta1.Project {
		return &v1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.ProjectSpec{Namespace: ptr.To("garden-demo")}}
	}
	seed := func(taints ...string) *v1beta1.Seed {
		s := &v1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "seed"}}
		s.Spec.Networks = v1beta1.SeedNetworks{Pods: "10.1.0.0/16", Services: "10.2.0.0/16"}
		s.Spec.Networks.ShootDefaults = &v1beta1.ShootNetworks{Pods: ptr.To("100.96.0.0/11"), Services: ptr.To("100.64.0.0/13")}
		for _, taint := range taints {
			s.Spec.Taints = append(s.Spec.Taints, v1beta1.SeedTaint{Key: taint})
		}
		return s
	}
	onSeed := func(s *v1beta1.Shoot) { s.Spec.SeedName = ptr.To("seed") }
	binding := func(provider string) *securityv1alpha1.CredentialsBinding {
		return &securityv1alpha1.CredentialsBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "openstack", Namespace: "garden-demo"}, Provider: securityv1alpha1.CredentialsBindingProvider{Type: provider},
		}
	}
	secret := func(provider string) *v1beta1.SecretBinding {
		return &v1beta1.SecretBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "openstack", Namespace: "garden-demo"}, Provider: &v1beta1.SecretBindingProvider{Type: provider},
		}
	}
	dns := func(provider v1beta1.DNSProvider) *v1beta1.DNS {
		provider.Type, provider.Primary = ptr.To("openstack-designate"), ptr.To(true)                       //nolint:staticcheck // as people write it
		return &v1beta1.DNS{Domain: ptr.To("shop.example.org"), Providers: []v1beta1.DNSProvider{provider}} //nolint:staticcheck // as people write it
	}
	bySecret := func(s *v1beta1.Shoot) {
		s.Spec.SecretBindingName, s.Spec.CredentialsBindingName = ptr.To("openstack"), nil
	}
	for name, tc := range map[string]struct {
		change func(*v1beta1.Shoot)
		beside gardener.Beside
		want   string // the beginning of the only error; empty if there is none
	}{
		"nothing":   {},
		"a project": {beside: gardener.Beside{Project: project("demo")}},
		"a project with a long name": {beside: gardener.Beside{Project: project("a-project-of-18-xx")},
			want: "metadata.name: Invalid value: \"shop\": the length of the shoot name and the project name must not exceed 21"},
		"a seed that is not known": {change: onSeed},
		"a seed":                   {change: onSeed, beside: gardener.Beside{Seed: seed()}},
		"a seed with a taint": {change: onSeed, beside: gardener.Beside{Seed: seed("reserved")},
			want: "spec: forbidden to use a seed whose taints are not tolerated"},
		"a seed that nobody asks for": {beside: gardener.Beside{Seed: seed("reserved")}},
		"credentials":                 {beside: gardener.Beside{CredentialsBinding: binding("openstack")}},
		"credentials of another cloud": {beside: gardener.Beside{CredentialsBinding: binding("aws")},
			want: "spec.provider.type: Invalid value: \"openstack\": provider type in shoot must match provider type of referenced CredentialsBinding"},
		"a secret that is not known": {change: bySecret},
		"a secret":                   {change: bySecret, beside: gardener.Beside{SecretBinding: secret("openstack")}},
		"a secret of another cloud": {change: bySecret, beside: gardener.Beside{SecretBinding: secret("aws")},
			want: "spec.provider.type: Invalid value: \"openstack\": provider type in shoot must match provider type of referenced SecretBinding"},
		"a kubeconfig of an admission plugin": {change: func(s *v1beta1.Shoot) {
			s.Spec.Kubernetes.KubeAPIServer = &v1beta1.KubeAPIServerConfig{AdmissionPlugins: []v1beta1.AdmissionPlugin{{
				Name: "ImagePolicyWebhook", KubeconfigSecretName: ptr.To("policy"),
			}}}
			s.Spec.Resources = []v1beta1.NamedResourceReference{{Name: "policy"}}
			s.Spec.Resources[0].ResourceRef.Kind, s.Spec.Resources[0].ResourceRef.APIVersion, s.Spec.Resources[0].ResourceRef.Name = "Secret", "v1", "policy"
		}},
		"the Secret of a DNS provider, by its older field": {change: func(s *v1beta1.Shoot) {
			s.Spec.DNS = dns(v1beta1.DNSProvider{SecretName: ptr.To("designate")}) //nolint:staticcheck // as people write it
		}},
		"the Secret of a DNS provider, by its newer field": {change: func(s *v1beta1.Shoot) {
			s.Spec.DNS = dns(v1beta1.DNSProvider{CredentialsRef: &autoscalingv1.CrossVersionObjectReference{
				APIVersion: "v1", Kind: "Secret", Name: "designate",
			}})
		}},
		"a status, which no new Shoot has": {change: func(s *v1beta1.Shoot) {
			s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)}
			s.Status.Constraints = []v1beta1.Condition{{Type: v1beta1.ShootHibernationPossible, Status: v1beta1.ConditionFalse}}
			s.Status.LastOperation = &v1beta1.LastOperation{Type: v1beta1.LastOperationTypeMigrate}
		}},
		"a managed issuer": {change: func(s *v1beta1.Shoot) {
			s.Annotations = map[string]string{"authentication.gardener.cloud/issuer": "managed"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			shoot := example[v1beta1.Shoot](t, "shoot.yaml")
			if tc.change != nil {
				tc.change(shoot)
			}
			before := shoot.DeepCopy()
			errs := judged(t, &gardener.Server{}, shoot, tc.beside)
			switch {
			case tc.want == "" && len(errs) > 0, tc.want != "" && (len(errs) != 1 || !strings.HasPrefix(errs[0].Field+": "+errs[0].Detail, tc.want)):
				t.Errorf("%v, want %q", errs, tc.want)
			case tc.want != "" && errs[0].Origin != gardener.RuleAdmission:
				t.Error(errs[0].Origin)
			}
			if text, was := must(t, shoot), must(t, before); text != was {
				t.Errorf("changed:\n%s", text)
			}
		})
	}
}

func must(t *testing.T, object any) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// An existing Shoot may keep its settings. Gardener's plugin panics if its machine type is removed, which is reported.
func TestShootsThatExist(t *testing.T) {
	shoot := example[v1beta1.Shoot](t, "shoot.yaml")
	shoot.Spec.Region = "mars"
	isRegion := func(err *field.Error) bool { return err.Field == "spec.region" }
	if errs := judged(t, &gardener.Server{}, shoot, gardener.Beside{}); !slices.ContainsFunc(errs, isRegion) {
		t.Errorf("a new one: %v", errs)
	}
	shoot.UID = "it exists"
	if errs := judged(t, &gardener.Server{}, shoot, gardener.Beside{}); len(errs) > 0 {
		t.Errorf("one that exists: %v", errs)
	}
	shoot = example[v1beta1.Shoot](t, "shoot.yaml")
	shoot.UID = "it exists"
	shoot.Spec.Provider.Workers[1].Machine.Type = "gone"
	errs := judged(t, &gardener.Server{}, shoot, gardener.Beside{})
	if len(errs) != 1 || errs[0].Field != "spec.provider.workers[1].machine.type" ||
		!strings.Contains(errs[0].Detail, "answers every update of this Shoot with 503") {
		t.Errorf("without its machine type: %v", errs)
	}
	// Other Shoots are judged as before.
	if errs := judged(t, &gardener.Server{}, example[v1beta1.Shoot](t, "shoot.yaml"), gardener.Beside{}); len(errs) > 0 {
		t.Error(errs)
	}
}

// Gardener fills in an image that is left out, also in an existing Shoot whose pool is updated in place.
func TestImagesOfUpdatesInPlaceMayBeLeftOut(t *testing.T) {
	for _, image := range []*v1beta1.ShootMachineImage{nil, {Name: "gardenlinux"}} {
		shoot := example[v1beta1.Shoot](t, "shoot-in-place.yaml")
		shoot.UID = "it exists"
		shoot.Spec.Provider.Workers[0].Machine.Image = image
		for _, err := range (&gardener.Server{}).ValidateShoot(shoot, nil, gardener.Beside{}) {
			if strings.Contains(err.Field, "machine") {
				t.Error(err)
			}
		}
	}
}

// An existing Shoot is judged by an update without changes: it may keep settings that new Shoots cannot have, and its Seed may be in
// deletion.
func TestShootsMayKeepWhatTheyHave(t *testing.T) {
	shoot := example[v1beta1.Shoot](t, "shoot.yaml")
	shoot.Spec.Kubernetes.KubeAPIServer = &v1beta1.KubeAPIServerConfig{ServiceAccountConfig: &v1beta1.ServiceAccountConfig{
		AcceptedIssuers: []string{"an issuer of before"},
	}}
	const at = "spec.kubernetes.kubeAPIServer.serviceAccountConfig.acceptedIssuers[0]"
	if errs := judged(t, &gardener.Server{}, shoot, gardener.Beside{}); len(errs) == 0 || errs[0].Field != at {
		t.Errorf("a new one: %v", errs)
	}
	shoot.UID, shoot.Spec.SeedName = "it exists", ptr.To("seed")
	seed := &v1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "seed", DeletionTimestamp: &metav1.Time{}}}
	seed.Spec.Networks.ShootDefaults = &v1beta1.ShootNetworks{Pods: ptr.To("100.96.0.0/11"), Services: ptr.To("100.64.0.0/13")}
	if errs := judged(t, &gardener.Server{}, shoot, gardener.Beside{Seed: seed}); len(errs) > 0 {
		t.Errorf("one that exists: %v", errs)
	}
	shoot.Spec.Kubernetes.Version = ""
	if errs := judged(t, &gardener.Server{}, shoot, gardener.Beside{}); len(errs) > 0 {
		t.Errorf("one that exists, without a Kubernetes version: %v", errs)
	}
}

// Whether an operation may start or complete depends on the status, which is not read for an existing Shoot. A new one has none.
func TestOperationsOfShoots(t *testing.T) {
	for _, annotation := range []string{"gardener.cloud/operation", "maintenance.gardener.cloud/operation"} {
		for operation, exists := range map[string]int{
			"rotate-credentials-start": 0, "rotate-credentials-complete": 0, "rotate-ca-start": 0, "rotate-serviceaccount-key-complete": 0,
			"rotate-etcd-encryption-key": 0, "rotate-rollout-workers=web": 0, "rotate-rollout-workers=none": 1, "rotate-all": 1,
		} {
			shoot := example[v1beta1.Shoot](t, "shoot.yaml")
			shoot.Annotations = map[string]string{annotation: operation}
			shoot.Spec.Kubernetes.KubeAPIServer = &v1beta1.KubeAPIServerConfig{EncryptionConfig: &v1beta1.EncryptionConfig{Resources: []string{"configmaps"}}}
			if errs := judged(t, &gardener.Server{}, shoot, gardener.Beside{}); len(errs) == 0 {
				t.Errorf("%s of a new one", operation)
			}
			shoot.UID = "it exists"
			if errs := judged(t, &gardener.Server{}, shoot, gardener.Beside{}); len(errs) != exists {
				t.Errorf("%s of one that exists: %v", operation, errs)
			}
		}
	}
}

// A new Shoot cannot be created with force deletion.
func TestForceDeletionOfANewShoot(t *testing.T) {
	shoot := example[v1beta1.Shoot](t, "shoot.yaml")
	shoot.Annotations = map[string]string{"confirmation.gardener.cloud/force-deletion": "true"}
	errs := judged(t, &gardener.Server{}, shoot, gardener.Beside{})
	if len(errs) != 2 || errs[0].Field != "metadata.annotations[confirmation.gardener.cloud/force-deletion]" || errs[0].Origin != gardener.RuleCore {
		t.Error(errs)
	}
	shoot.UID = "it exists"
	if errs := judged(t, &gardener.Server{}, shoot, gardener.Beside{}); len(errs) > 0 {
		t.Errorf("one that exists: %v", errs)
	}
}

// What the mutating plugin cannot fill in hides nothing else, and is reported once.
func TestWhatCannotBeFilledInHidesNothing(t *testing.T) {
	const pool = "spec.provider.workers[0]"
	for name, tc := range map[string]struct {
		change func(*v1beta1.Shoot, *v1beta1.CloudProfileSpec)
		want   []string // fields
	}{
		"nothing": {func(*v1beta1.Shoot, *v1beta1.CloudProfileSpec) {}, nil},
		"an unknown image": {func(s *v1beta1.Shoot, _ *v1beta1.CloudProfileSpec) {
			s.Spec.Provider.Workers[0].Machine.Image.Name = "debian"
		}, []string{pool}},
		"an unknown image without a version": {func(s *v1beta1.Shoot, _ *v1beta1.CloudProfileSpec) {
			s.Spec.Provider.Workers[0].Machine.Image = &v1beta1.ShootMachineImage{Name: "debian"}
		}, []string{pool}},
		"a version of which no image is": {func(s *v1beta1.Shoot, _ *v1beta1.CloudProfileSpec) {
			s.Spec.Provider.Workers[0].Machine.Image.Version = ptr.To("3")
		}, []string{pool}},
		"no image, and none in the profile that could be filled in": {func(s *v1beta1.Shoot, p *v1beta1.CloudProfileSpec) {
			s.Spec.Provider.Workers[0].Machine.Image, s.Spec.Provider.Workers[1].Machine.Image = nil, nil
			p.MachineImages[0].Versions = nil
		}, []string{pool, "spec.provider.workers[1]"}},
		"a Kubernetes version of which none is": {func(s *v1beta1.Shoot, p *v1beta1.CloudProfileSpec) {
			s.Spec.Kubernetes.Version = "1.99"
			for i := range p.MachineImages[0].Versions {
				p.MachineImages[0].Versions[i].KubeletVersionConstraint = ptr.To("< 1.90")
			}
		}, []string{"spec.kubernetes.version"}},
		"one of a worker pool before one that could be completed": {func(s *v1beta1.Shoot, _ *v1beta1.CloudProfileSpec) {
			s.Spec.Provider.Workers[0].Kubernetes = &v1beta1.WorkerKubernetes{Version: ptr.To("1.99")}
			s.Spec.Provider.Workers[1].Kubernetes = &v1beta1.WorkerKubernetes{Version: ptr.To("1.33")}
		}, []string{pool + ".kubernetes.version"}},
	} {
		shoot, profile := example[v1beta1.Shoot](t, "shoot.yaml"), gardener.SyncArchitectures(example[v1beta1.CloudProfile](t, "cloudprofile.yaml"))
		gardener.SetDefaults(profile)
		tc.change(shoot, &profile.Spec)
		for _, wrong := range []bool{false, true} {
			want := slices.Clone(tc.want)
			if wrong {
				shoot.Spec.Region = "mars"
				shoot.Spec.Provider.Workers[0].Volume.Type = ptr.To("ssd")
				want = append(want, "spec.region", pool+".volume.type", pool+".zones[0]", "spec.provider.workers[1].zones[0]")
			}
			var fields []string
			for _, err := range (&gardener.Server{}).ValidateShoot(shoot, &profile.Spec, gardener.Beside{}) {
				if err.Origin == gardener.RuleAdmission {
					fields = append(fields, err.Field)
				}
			}
			if !slices.Equal(fields, want) {
				t.Errorf("%s, with something else %t: %v, want %v", name, wrong, fields, want)
			}
		}
	}
}

// Servers of several releases can be used concurrently.
func TestServersAreIndependent(t *testing.T) {
	inPlace := example[v1beta1.Shoot](t, "shoot-in-place.yaml")
	profile := gardener.SyncArchitectures(example[v1beta1.CloudProfile](t, "cloudprofile-trusted-launch.yaml"))
	gardener.SetDefaults(profile)
	with, err := gardener.NewServer(releases.Newest, map[string]bool{"InPlaceNodeUpdates": true})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 20 {
		for server, want := range map[*gardener.Server]int{{}: 1, &with: 0} {
			group.Go(func() {
				if errs := server.ValidateShoot(inPlace, &profile.Spec, gardener.Beside{}); len(errs) != want {
					t.Errorf("%d errors expected: %v", want, errs)
				}
			})
		}
	}
	group.Wait()
}
