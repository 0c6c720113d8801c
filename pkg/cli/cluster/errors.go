// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// refusal is an error about one list, beside which there may be others.
type refusal struct{ message string }

func (r *refusal) Error() string { return r.message }

// explain says why a list cannot be read, of a resource in a namespace, which may be empty. It is a *refusal if the other
// lists may be read, or refused for other reasons.
func (r *Reader) explain(err error, resource, namespace string) error {
	where := "in all namespaces"
	switch {
	case namespace != "":
		where = "in namespace " + namespace
	case resource == "cloudprofiles":
		where = "which have no namespace"
	}
	name := resource + "." + v1beta1.SchemeGroupVersion.Group
	var unreached *url.Error
	switch {
	case apierrors.IsForbidden(err):
		return &refusal{fmt.Sprintf("the right to list %s, %s, is missing in %s: ask for it%s (%s)",
			name, where, r, instead(resource, namespace), status(err))}
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s does not accept the credentials, which may have expired: log in again, or get a new kubeconfig", r)
	case apierrors.IsNotFound(err):
		return &refusal{fmt.Sprintf("%s does not serve %s in %s: is it a garden?", r, resource, v1beta1.SchemeGroupVersion)}
	case apierrors.IsServiceUnavailable(err):
		return fmt.Errorf("%s cannot serve %s now, perhaps because Gardener's API server is not there: try again later (%s)",
			r, name, status(err))
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		return &refusal{fmt.Sprintf("%s changes or answers so slowly that %s could not be read to the end, %d times: try again, or "+
			"read a namespace at a time", r, name, attempts)}
	case errors.As(err, &unreached):
		return fmt.Errorf("%s cannot be reached: %w", r, unreached.Err)
	}
	return fmt.Errorf("%s cannot be read from %s: %w", name, r, err)
}

// instead says what to do without a right.
func instead(resource, namespace string) string {
	if resource != "cloudprofiles" && namespace == "" {
		return ", or name one namespace"
	}
	return ""
}

// status is what an API server says.
func status(err error) string { return strings.TrimSuffix(strings.TrimSpace(err.Error()), ".") }

// lineOf matches where a file cannot be read. What else the parser says may quote a secret.
var lineOf = regexp.MustCompile(`\bline \d+\b`)

// kubeconfigError is about files that cannot be read.
func kubeconfigError(loading *clientcmd.ClientConfigLoadingRules) error {
	files := loading.GetLoadingPrecedence()
	if loading.ExplicitPath != "" {
		files = []string{loading.ExplicitPath}
	}
	var errs []error
	for _, file := range files {
		_, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) && loading.ExplicitPath == "" {
			continue // as with kubectl
		}
		if err == nil {
			if _, broken := clientcmd.LoadFromFile(file); broken != nil {
				err = fmt.Errorf("%s is no kubeconfig that can be read", file)
				if line := lineOf.FindString(broken.Error()); line != "" {
					err = fmt.Errorf("%w: look at %s", err, line)
				}
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("kubeconfig: %w", err))
		}
	}
	if len(errs) == 0 { // it can be read now
		return errors.New("kubeconfig: it changes while it is read, try again")
	}
	return errors.Join(errs...)
}

// noContext is about a context that does not exist.
func noContext(name string, raw *clientcmdapi.Config) error {
	names := slices.Sorted(maps.Keys(raw.Contexts))
	if len(names) == 0 {
		return fmt.Errorf("context %s is not in the kubeconfig, which has none", name)
	}
	return fmt.Errorf("context %s is not in the kubeconfig, which has %s", name, strings.Join(names, ", "))
}

// configError is about a kubeconfig that is read, and does not lead to a cluster. name is that of the context; it may be
// empty.
func configError(name string, raw *clientcmdapi.Config, err error) error {
	context := raw.Contexts[name]
	switch {
	case len(raw.Contexts) == 0 && len(raw.Clusters) == 0:
		return errors.New("no kubeconfig: name one with --kubeconfig, or in KUBECONFIG")
	case name == "":
		return errors.New("the kubeconfig has no current context: name one with --context")
	case context == nil:
		return noContext(name, raw)
	case raw.Clusters[context.Cluster] == nil:
		return fmt.Errorf("context %s is of cluster %q, which is not in the kubeconfig", name, context.Cluster)
	}
	return fmt.Errorf("context %s does not lead to a cluster: %w", name, err)
}
