// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capkit/capkit/internal/cli/cluster"
	"github.com/capkit/capkit/internal/cli/cluster/fakegarden"
)

// meta returns the metadata of an object as stored by an API server.
func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}
}

// filled returns an API server with five Shoots in each of two namespaces.
func filled() *fakegarden.API {
	a := &fakegarden.API{Page: 3}
	for _, name := range []string{"a", "b"} {
		a.CloudProfiles = append(a.CloudProfiles, v1beta1.CloudProfile{ObjectMeta: meta("", name), Spec: v1beta1.CloudProfileSpec{Type: "openstack"}})
	}
	for namespace, parent := range map[string]string{"garden-here": "a", "garden-there": "gone"} {
		a.NamespacedCloudProfiles = append(a.NamespacedCloudProfiles, v1beta1.NamespacedCloudProfile{
			ObjectMeta: meta(namespace, "team"), Spec: v1beta1.NamespacedCloudProfileSpec{Parent: v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: parent}},
			Status: v1beta1.NamespacedCloudProfileStatus{CloudProfileSpec: v1beta1.CloudProfileSpec{Type: "openstack"}},
		})
	}
	slices.SortFunc(a.NamespacedCloudProfiles, func(x, y v1beta1.NamespacedCloudProfile) int { return strings.Compare(x.Namespace, y.Namespace) })
	for _, namespace := range []string{"garden-here", "garden-there"} {
		for i := range 5 {
			a.Shoots = append(a.Shoots, v1beta1.Shoot{
				ObjectMeta: meta(namespace, fmt.Sprint("shoot", i)), Spec: v1beta1.ShootSpec{Region: "europe"},
				Status: v1beta1.ShootStatus{TechnicalID: "x"},
			})
		}
	}
	return a
}

func open(t *testing.T, o cluster.Options) *cluster.Reader {
	t.Helper()
	o.UserAgent = "capkit/test"
	r, err := cluster.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// everything requests the objects of all namespaces.
var everything = cluster.Wanted{NamespacedCloudProfiles: []string{metav1.NamespaceAll}, Shoots: []string{metav1.NamespaceAll}}

// names returns the names of the objects read, and whether they have more than the spec.
func names(o *cluster.Objects) (names []string) {
	add := func(kind string, meta *metav1.ObjectMeta, status bool) {
		name := kind + " " + meta.Namespace + "/" + meta.Name
		if len(meta.ManagedFields) > 0 || len(meta.Annotations) != 1 {
			name += " with what is not needed"
		}
		if status {
			name += " with status"
		}
		names = append(names, name)
	}
	for _, p := range o.CloudProfiles {
		add(p.Spec.Type, &p.ObjectMeta, false)
	}
	for _, p := range o.NamespacedCloudProfiles {
		add("of "+p.Spec.Parent.Name, &p.ObjectMeta, p.Status.CloudProfileSpec.Type != "")
	}
	for _, s := range o.Shoots {
		add(s.Spec.Region, &s.ObjectMeta, s.Status.TechnicalID != "")
	}
	return names
}

func TestReadsInPages(t *testing.T) {
	a := filled()
	read, err := open(t, cluster.Options{Kubeconfig: a.Start(t)}).Read(t.Context(), everything)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"openstack /a", "openstack /b", "of a garden-here/team", "of gone garden-there/team with status"}
	for _, namespace := range []string{"garden-here", "garden-there"} {
		for i := range 5 {
			want = append(want, fmt.Sprintf("europe %s/shoot%d", namespace, i))
		}
	}
	if diff := cmp.Diff(want, names(read)); diff != "" {
		t.Error(diff)
	}
	const all = "GET /apis/core.gardener.cloud/v1beta1/"
	if diff := cmp.Diff([]string{
		all + "cloudprofiles", all + "namespacedcloudprofiles", all + "shoots", all + "shoots?3", all + "shoots?6", all + "shoots?9",
	}, a.Requests()); diff != "" {
		t.Error(diff)
	}
}

func TestReadsNamespaces(t *testing.T) {
	a := filled()
	r := open(t, cluster.Options{Kubeconfig: a.Start(t), Context: "there"})
	if r.Namespace() != "garden-there" || !strings.HasPrefix(r.String(), "context there (https://127.0.0.1:") {
		t.Errorf("%s, namespace %s", r, r.Namespace())
	}
	read, err := r.Read(t.Context(), cluster.Wanted{Shoots: []string{"garden-there"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(read.CloudProfiles) != 2 || len(read.NamespacedCloudProfiles) != 0 || len(read.Shoots) != 5 || read.Shoots[4].Namespace != "garden-there" {
		t.Error(names(read))
	}
}

func TestNamespaceThatIsMeant(t *testing.T) {
	path := filled().Start(t)
	for want, o := range map[string]cluster.Options{
		"default": {}, "garden-there": {Context: "there"}, "garden-here": {Context: "there", Namespace: "garden-here"},
	} {
		o.Kubeconfig = path
		if got := open(t, o).Namespace(); got != want {
			t.Errorf("%+v: %s", o, got)
		}
	}
	t.Setenv("KUBECONFIG", path)
	if got := open(t, cluster.Options{Context: "there"}).Namespace(); got != "garden-there" {
		t.Error(got)
	}
}

// refused returns the error of Read if the API server refuses requests to a path, with a continue token if there is one.
func refused(t *testing.T, refuse func(path, token string) *apierrors.StatusError) (a *fakegarden.API, message string) {
	t.Helper()
	a = filled()
	a.Refuse = refuse
	path := a.Start(t)
	read, err := open(t, cluster.Options{Kubeconfig: path}).Read(t.Context(), everything)
	if read != nil || err == nil || strings.Contains(err.Error(), fakegarden.Secret) {
		t.Fatal(read, err)
	}
	return a, err.Error()
}

func TestSaysWhyNot(t *testing.T) {
	forbidden := func(path string) *apierrors.StatusError {
		resource := path[strings.LastIndexByte(path, '/')+1:]
		return apierrors.NewForbidden(schema.GroupResource{Group: "core.gardener.cloud", Resource: resource}, "", fmt.Errorf("User %q may not", "me"))
	}
	for name, tc := range map[string]struct {
		refuse   func(path, token string) *apierrors.StatusError
		want     []string // one for each line
		requests int
	}{
		"no right at all": {
			func(path, _ string) *apierrors.StatusError { return forbidden(path) }, []string{
				"the right to list cloudprofiles.core.gardener.cloud, which have no namespace, is missing in context here (",
				"the right to list namespacedcloudprofiles.core.gardener.cloud, in all namespaces, is missing in context here (",
				"the right to list shoots.core.gardener.cloud, in all namespaces, is missing in context here (",
			}, 3,
		},
		"no right for Shoots": {
			func(path, _ string) *apierrors.StatusError {
				if strings.HasSuffix(path, "/shoots") {
					return forbidden(path)
				}
				return nil
			}, []string{`ask for it, or name one namespace (shoots.core.gardener.cloud is forbidden: User "me" may not)`}, 3,
		},
		"no right for CloudProfiles": { // one page of Shoots is read, to find out whether other errors occur
			func(path, _ string) *apierrors.StatusError {
				if strings.HasSuffix(path, "/cloudprofiles") {
					return forbidden(path)
				}
				return nil
			}, []string{`: ask for it (cloudprofiles.core.gardener.cloud is forbidden: User "me" may not)`}, 3,
		},
		"expired credentials": {
			func(string, string) *apierrors.StatusError { return apierrors.NewUnauthorized("no") },
			[]string{"does not accept the credentials, which may have expired: log in again"}, 1,
		},
		"expired credentials between pages": {
			func(_, token string) *apierrors.StatusError {
				if token == "" {
					return nil
				}
				return apierrors.NewUnauthorized("no")
			},
			[]string{"does not accept the credentials, which may have expired: log in again"}, 4,
		},
		"no garden": {
			func(string, string) *apierrors.StatusError {
				return &apierrors.StatusError{ErrStatus: metav1.Status{Status: "Failure", Code: 404, Reason: metav1.StatusReasonNotFound}}
			}, []string{
				"does not serve cloudprofiles in core.gardener.cloud/v1beta1: is it a garden?",
				"does not serve namespacedcloudprofiles in core.gardener.cloud/v1beta1: is it a garden?",
				"does not serve shoots in core.gardener.cloud/v1beta1: is it a garden?",
			}, 3,
		},
		"no API server of Gardener": {
			func(string, string) *apierrors.StatusError { return apierrors.NewServiceUnavailable("it is away") },
			[]string{"try again later (it is away)"}, 1,
		},
		"what nobody expects": {
			func(string, string) *apierrors.StatusError { return apierrors.NewBadRequest("teapot") },
			[]string{"cloudprofiles.core.gardener.cloud cannot be read from context here (https://127.0.0.1:"}, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, message := refused(t, tc.refuse)
			lines := strings.Split(message, "\n")
			if len(lines) != len(tc.want) || len(a.Requests()) != tc.requests {
				t.Fatalf("%d requests: %s", len(a.Requests()), message)
			}
			for i, want := range tc.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("%q is not in %s", want, lines[i])
				}
			}
		})
	}
}

// If the next page has expired, the list is read again from the beginning, without duplicates.
func TestBeginsAgain(t *testing.T) {
	a := filled()
	expired := 2
	a.Refuse = func(_, token string) *apierrors.StatusError {
		if token != "6" || expired == 0 {
			return nil
		}
		expired--
		return apierrors.NewResourceExpired("the continue parameter is too old")
	}
	read, err := open(t, cluster.Options{Kubeconfig: a.Start(t)}).Read(t.Context(), everything)
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Shoots) != 10 || len(a.Requests()) != 2+3+3+4 {
		t.Error(names(read), a.Requests())
	}
	_, message := refused(t, func(_, token string) *apierrors.StatusError {
		if token == "" {
			return nil
		}
		return apierrors.NewResourceExpired("the continue parameter is too old")
	})
	if want := "shoots.core.gardener.cloud could not be read to the end, 4 times: try again, or read a namespace at a time"; !strings.Contains(message, want) {
		t.Error(message)
	}
}

// A server whose pages form a cycle does not cause an endless loop.
func TestEndsWithoutAnEnd(t *testing.T) {
	a := filled()
	a.Endless = true
	_, err := open(t, cluster.Options{Kubeconfig: a.Start(t)}).Read(t.Context(), everything)
	if err == nil || !strings.Contains(err.Error(), "never ends the list of cloudprofiles.core.gardener.cloud, as it leads to the same page again: look at") {
		t.Error(err)
	}
	if requests := a.Requests(); len(requests) != 2 {
		t.Error(requests)
	}
}

// The mutating webhooks of all configurations are listed, each with its provider and whether it handles CloudProfiles.
func TestMutating(t *testing.T) {
	type webhook = admissionregistrationv1.MutatingWebhook
	asks := func(group, resource string) []admissionregistrationv1.RuleWithOperations {
		return []admissionregistrationv1.RuleWithOperations{
			{Rule: admissionregistrationv1.Rule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}}},
			{Rule: admissionregistrationv1.Rule{APIGroups: []string{group}, Resources: []string{"other", resource}}},
		}
	}
	of := func(labels ...string) *metav1.LabelSelector {
		selector := &metav1.LabelSelector{MatchLabels: map[string]string{}}
		for _, label := range labels {
			selector.MatchLabels[label] = "true"
		}
		return selector
	}
	const openstack, gardener = "provider.extensions.gardener.cloud/openstack", "core.gardener.cloud"
	a := &fakegarden.API{Mutating: []admissionregistrationv1.MutatingWebhookConfiguration{
		{Webhooks: []webhook{
			{Name: "shoots", ObjectSelector: of("a", openstack), Rules: asks(gardener, "shoots")},
			{Name: "profiles", ObjectSelector: of("provider.extensions.gardener.cloud/aws"), Rules: asks(gardener, "cloudprofiles")},
		}},
		{},
		{Webhooks: []webhook{
			{Name: "no selector", Rules: asks(gardener, "*")},
			{Name: "other labels", ObjectSelector: of("b"), Rules: asks("*", "*/*")},
			{Name: "no labels", ObjectSelector: of(), Rules: asks("core", "cloudprofiles")},
			{Name: "no rules"},
		}},
	}}
	found, err := open(t, cluster.Options{Kubeconfig: a.Start(t)}).Mutating(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]cluster.Webhook{
		{Name: "shoots", Provider: "openstack"}, {Name: "profiles", Provider: "aws", CloudProfiles: true},
		{Name: "no selector", CloudProfiles: true}, {Name: "other labels", CloudProfiles: true}, {Name: "no labels"}, {Name: "no rules"},
	}, found); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"GET /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"}, a.Requests()); diff != "" {
		t.Error(diff)
	}
	if found, err := open(t, cluster.Options{Kubeconfig: (&fakegarden.API{}).Start(t)}).Mutating(t.Context()); len(found) != 0 || err != nil {
		t.Error(found, err)
	}
}

// If the list is refused, the error names the missing right, or contains the API server's message.
func TestMutatingThatIsRefused(t *testing.T) {
	const resource = "mutatingwebhookconfigurations"
	for want, refusal := range map[string]*apierrors.StatusError{
		"the right to list " + resource + ".admissionregistration.k8s.io is missing in context here (https://127.0.0.1:": apierrors.NewForbidden(
			schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: resource}, "", fmt.Errorf("User %q may not", "me")),
		resource + ".admissionregistration.k8s.io cannot be read from context here (https://127.0.0.1:": apierrors.NewBadRequest("teapot"),
	} {
		a := &fakegarden.API{Refuse: func(path, _ string) *apierrors.StatusError {
			if !strings.HasSuffix(path, "/"+resource) {
				t.Error(path)
			}
			return refusal
		}}
		found, err := open(t, cluster.Options{Kubeconfig: a.Start(t)}).Mutating(t.Context())
		if found != nil || err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), fakegarden.Secret) {
			t.Error(found, err)
		}
	}
}

func TestClusterThatIsAway(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	path := fakegarden.Kubeconfig(t, server)
	server.Close()
	_, err := open(t, cluster.Options{Kubeconfig: path}).Read(t.Context(), everything)
	if err == nil || !strings.HasPrefix(err.Error(), "context here ("+server.URL+") cannot be reached: dial tcp") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

func TestKubeconfigs(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	const contexts = "contexts: [{name: b, context: {cluster: c}}, {name: a, context: {cluster: c}}]\n"
	for name, tc := range map[string]struct{ text, context, want string }{
		"missing":            {"", "", "kubeconfig: open missing: no such file or directory"},
		"no YAML":            {"users:\n- {name: a, user: {token: *" + fakegarden.Secret + "}}\n", "", "kubeconfig: no YAML is not a readable kubeconfig"},
		"broken":             {"a: [\nb: {", "", "kubeconfig: broken is not a readable kubeconfig: look at line "},
		"no such context":    {contexts, "x", "context x is not in the kubeconfig, which has a, b"},
		"no context":         {"apiVersion: v1\nkind: Config\n", "x", "context x cannot be found: kubeconfig: no context has no context: name another"},
		"nothing":            {"apiVersion: v1\nkind: Config\n", "", "kubeconfig: nothing has no context: name another with --kubeconfig, or in KUBECONFIG"},
		"empty":              {"\n", "x", "context x cannot be found: kubeconfig: empty is empty: name another with --kubeconfig, or in KUBECONFIG"},
		"no current context": {contexts, "", "the kubeconfig has no current context: name one with --context"},
		"no cluster":         {contexts, "a", `context a is of cluster "c", which is not in the kubeconfig`},
		"no server":          {contexts + "clusters: [{name: c, cluster: {}}]\n", "a", "context a does not lead to a cluster: "},
		"no address":         {contexts + "clusters: [{name: c, cluster: {server: \"https://%\"}}]\n", "a", "context a does not lead to a cluster: "},
		"secret, no address": {
			contexts + "clusters: [{name: c, cluster: {server: \"https://me:" + fakegarden.Secret + "@%\"}}]\n", "a",
			"context a does not lead to a cluster: the server of its cluster is not a URL",
		},
		"secret, no proxy": {
			contexts + "clusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\", proxy-url: \"ftp://me:" + fakegarden.Secret + "@proxy\"}}]\n", "a",
			`context a does not lead to a cluster: the proxy-url of cluster "c" is not a URL of a proxy: write one that begins with http://, https:// or socks5://`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.text != "" {
				if err := os.WriteFile(name, []byte(tc.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := cluster.Open(cluster.Options{Kubeconfig: name, Context: tc.context})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), fakegarden.Secret) || strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
		})
	}
	for paths, want := range map[string]string{
		"":              "no kubeconfig: name one with --kubeconfig, or in KUBECONFIG",
		"gone:empty":    "kubeconfig: gone does not exist, empty is empty: name another with --kubeconfig, or in KUBECONFIG",
		"nothing:empty": "kubeconfig: nothing has no context, empty is empty: name another with --kubeconfig, or in KUBECONFIG",
	} {
		t.Setenv("KUBECONFIG", paths)
		if _, err := cluster.Open(cluster.Options{}); err == nil || err.Error() != want {
			t.Error(err)
		}
	}
}

// No message contains a password from an address.
func TestPasswordInAddress(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	text := "contexts: [{name: a, context: {cluster: c}}, {name: b, context: {cluster: d}}]\nclusters: [{name: c, cluster: {server: \"https://me:" +
		fakegarden.Secret + "@127.0.0.1:1/garden\"}}, {name: d, cluster: {server: \"127.0.0.1:1\"}}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a": "context a (https://127.0.0.1:1/garden)", "b": "context b (http://127.0.0.1:1)",
	} {
		r, err := cluster.Open(cluster.Options{Kubeconfig: config, Context: name})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Gardener's version is read from a ConfigMap that every user may read.
func TestGardenerVersion(t *testing.T) {
	a := &fakegarden.API{GardenerInfo: "version: v1.146.0\nworkloadIdentityIssuerURL: https://issuer.example.com\n"}
	version, err := open(t, cluster.Options{Kubeconfig: a.Start(t)}).GardenerVersion(t.Context())
	if version != "v1.146.0" || err != nil {
		t.Error(version, err)
	}
	const path = "/api/v1/namespaces/gardener-system-public/configmaps/gardener-info"
	if diff := cmp.Diff([]string{"GET " + path}, a.Requests()); diff != "" {
		t.Error(diff)
	}
	resource := schema.GroupResource{Resource: "configmaps"}
	for want, a := range map[string]*fakegarden.API{
		" names no version":         {GardenerInfo: "issuer: none"},
		"of context here (https://": {GardenerInfo: "version: [1"},
		" has no ConfigMap ":        {Refuse: func(string, string) *apierrors.StatusError { return apierrors.NewNotFound(resource, "gardener-info") }},
		"the right to get ConfigMap": {Refuse: func(string, string) *apierrors.StatusError {
			return apierrors.NewForbidden(resource, "gardener-info", nil)
		}},
		" cannot be read from ": {Refuse: func(string, string) *apierrors.StatusError { return apierrors.NewBadRequest("teapot") }},
	} {
		version, err := open(t, cluster.Options{Kubeconfig: a.Start(t)}).GardenerVersion(t.Context())
		if version != "" || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), fakegarden.Secret) {
			t.Errorf("%s: %s, %v", want, version, err)
		}
	}
}
