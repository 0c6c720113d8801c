// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// Credentials is the name of the Secret with the credentials of the cloud.
	Credentials = "cloudprovider"
	// UserData is the name of the Secret with the user data of the pools.
	UserData = "userdata"
	// UserDataKey is the key in it.
	UserDataKey = "cloud_config"

	failures = "cloud-failures"
)

// Shoot is a shoot as a worker controller sees it: a namespace of the seed. Its methods may be called from several
// goroutines, but not those that change the same object.
type Shoot struct {
	seed *Seed
	// Name is the technical ID, which is the name of the namespace and of the Cluster.
	Name string

	mu sync.Mutex
	// caches are what the controllers of this process read, by their managers.
	caches map[manager.Manager]client.Reader
}

// ShootOptions say what is special about a shoot.
type ShootOptions struct {
	// Profile is what the Cluster has as the CloudProfile. It is left as it is.
	Profile *v1beta1.CloudProfile
	// Change changes the Shoot of the Cluster. Nil: it has a technical ID, a UID, Kubernetes 1.33.2 and pods in
	// 100.96.0.0/11.
	Change func(*v1beta1.Shoot)
	// Credentials is the content of the Secret of the cloud's credentials. Nil: some.
	Credentials map[string][]byte
	// UserData is what machines are started with. Empty: something.
	UserData string
}

// NewShoot creates the namespace of a shoot and what the gardenlet puts there before a Worker: the Cluster, the Secrets, and
// the Deployment of machine-controller-manager, by which there are machines. Use a name only once.
func (s *Seed) NewShoot(ctx context.Context, name string, o ShootOptions) (*Shoot, error) {
	project, _ := strings.CutPrefix(name, "shoot--")
	project, short, _ := strings.Cut(project, "--")
	shoot := &v1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Name: short, Namespace: "garden-" + project, UID: uid(name)},
		Spec: v1beta1.ShootSpec{
			Kubernetes: v1beta1.Kubernetes{Version: "1.33.2"},
			Networking: &v1beta1.Networking{Pods: ptr.To("100.96.0.0/11")},
		},
		Status: v1beta1.ShootStatus{TechnicalID: name, UID: uid(name)},
	}
	if o.Change != nil {
		o.Change(shoot)
	}
	cluster := &extensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	var err error
	for _, part := range []struct {
		to     *runtime.RawExtension
		object runtime.Object
	}{
		{&cluster.Spec.Shoot, shoot}, {&cluster.Spec.CloudProfile, o.Profile},
	} {
		if part.to.Raw, err = encode(part.object); err != nil {
			return nil, err
		}
	}
	seed, err := encode(&v1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "seed"}})
	if err != nil {
		return nil, err
	}
	cluster.Spec.Seed = &runtime.RawExtension{Raw: seed}
	credentials := o.Credentials
	if credentials == nil {
		credentials = map[string][]byte{
			"authURL": []byte("https://keystone.example.com/v3"), "domainName": []byte("domain"), "tenantName": []byte("tenant"),
			"username": []byte("user"), "password": []byte("password-of-" + name),
		}
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: cluster.Name, Name: name} }
	manager := meta(v1beta1constants.DeploymentNameMachineControllerManager)
	pod := map[string]string{"role": manager.Name}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		cluster,
		&corev1.Secret{ObjectMeta: meta(Credentials), Data: credentials},
		&corev1.Secret{ObjectMeta: meta(UserData), Data: map[string][]byte{UserDataKey: []byte(cmp.Or(o.UserData, "#cloud-config of "+name))}},
		&appsv1.Deployment{ObjectMeta: manager, Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: pod},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: pod},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: manager.Name, Image: manager.Name}}},
			},
		}},
	} {
		if err := s.client.Create(ctx, object); err != nil {
			return nil, err
		}
	}
	return &Shoot{seed: s, Name: name}, nil
}

// uid returns the UID of a shoot.
func uid(name string) types.UID {
	sum := sha256.Sum256([]byte(name))
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
}

// encode writes an object with its kind, as it is in a Cluster.
func encode(object runtime.Object) ([]byte, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return nil, err
	}
	object = object.DeepCopyObject()
	object.GetObjectKind().SetGroupVersionKind(kind)
	return json.Marshal(object)
}

// ChangeProfile changes the CloudProfile in the Cluster. No controller notices that before the next Reconcile. Those of [Shoot.Run]
// notice it then; for others there is [Shoot.ReconcileChange].
func (s *Shoot) ChangeProfile(ctx context.Context, change func(*v1beta1.CloudProfile)) error {
	return s.changeCluster(ctx, func(c *extensionsv1alpha1.Cluster) error {
		return recode(&c.Spec.CloudProfile, &v1beta1.CloudProfile{}, change)
	})
}

// ChangeShoot changes the Shoot in the Cluster, as ChangeProfile does with the profile.
func (s *Shoot) ChangeShoot(ctx context.Context, change func(*v1beta1.Shoot)) error {
	return s.changeCluster(ctx, func(c *extensionsv1alpha1.Cluster) error {
		return recode(&c.Spec.Shoot, &v1beta1.Shoot{}, change)
	})
}

func (s *Shoot) changeCluster(ctx context.Context, change func(*extensionsv1alpha1.Cluster) error) error {
	cluster := &extensionsv1alpha1.Cluster{}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cluster = &extensionsv1alpha1.Cluster{}
		if err := s.seed.client.Get(ctx, client.ObjectKey{Name: s.Name}, cluster); err != nil {
			return err
		}
		if err := change(cluster); err != nil {
			return err
		}
		return s.seed.client.Update(ctx, cluster)
	})
	if err != nil {
		return err
	}
	return s.untilNoticed(ctx, cluster)
}

// untilNoticed waits until the controllers of this process have a Cluster in their caches: a watch may tell of the Cluster later
// than that of the Workers tells of what is asked for next.
func (s *Shoot) untilNoticed(ctx context.Context, cluster *extensionsv1alpha1.Cluster) error {
	s.mu.Lock()
	caches := slices.Collect(maps.Values(s.caches))
	s.mu.Unlock()
	for _, reader := range caches {
		err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			noticed := &extensionsv1alpha1.Cluster{}
			err := reader.Get(ctx, client.ObjectKeyFromObject(cluster), noticed)
			return err == nil && noticed.ResourceVersion == cluster.ResourceVersion, client.IgnoreNotFound(err)
		})
		if err != nil {
			return fmt.Errorf("a controller does not notice that the Cluster %s has changed: %w", cluster.Name, err)
		}
	}
	return nil
}

func recode[O runtime.Object](raw *runtime.RawExtension, object O, change func(O)) (err error) {
	if err := json.Unmarshal(raw.Raw, object); err != nil {
		return err
	}
	change(object)
	raw.Raw, err = encode(object)
	return err
}

// Hibernate hibernates or wakes up the shoot, in the Cluster: as it is when the gardenlet comes to the Worker, which is when
// machine-controller-manager runs.
func (s *Shoot) Hibernate(ctx context.Context, enabled bool) error {
	if err := s.ScaleManager(ctx, 1); err != nil {
		return err
	}
	return s.ChangeShoot(ctx, func(shoot *v1beta1.Shoot) {
		shoot.Spec.Hibernation = &v1beta1.Hibernation{Enabled: &enabled}
	})
}

// ScaleManager scales machine-controller-manager: with 0 nothing happens to machines.
func (s *Shoot) ScaleManager(ctx context.Context, replicas int) error {
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = s.Name, v1beta1constants.DeploymentNameMachineControllerManager
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
	return s.seed.client.Patch(ctx, deployment, patch)
}

// Failures are what the cloud of a shoot refuses.
type Failures struct {
	// Images by ID or name, and what the cloud says of each.
	Images map[string]string
	// VolumeTypes by name, and what the cloud says of each; empty: the default.
	VolumeTypes map[string]string
	// Quota is how many servers there may be. Nil: any number.
	Quota *int
}

// Fail makes the cloud refuse servers from now on. The zero value makes it work again.
func (s *Shoot) Fail(ctx context.Context, f Failures) error {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: failures}, Data: map[string]string{}}
	for image, message := range f.Images {
		config.Data["image."+image] = message
	}
	for kind, message := range f.VolumeTypes {
		config.Data["volumeType."+kind] = message
	}
	if f.Quota != nil {
		config.Data["quota"] = fmt.Sprint(*f.Quota)
	}
	err := s.seed.client.Update(ctx, config)
	if client.IgnoreNotFound(err) == nil && err != nil {
		return s.seed.client.Create(ctx, config)
	}
	return err
}
