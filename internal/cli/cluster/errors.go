// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/capkit/capkit/internal/cli/manifest/folder"
)

// refusal is an error about one list. Other lists may have other errors.
type refusal struct{ message string }

func (r *refusal) Error() string { return r.message }

// explain returns an error with the reason why a list of a resource cannot be read. namespace may be empty. It is a *refusal if other lists
// may be readable, or refused for other reasons.
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
	case errors.Is(err, errEndless):
		return fmt.Errorf("%s never ends the list of %s, as it leads to the same page again: %s", r, name, lookAtAddress)
	case errors.As(err, new(apierrors.APIStatus)):
		return fmt.Errorf("%s cannot be read from %s: %w", name, r, err)
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*net.OpError)): // that means that the server is unreachable
		return fmt.Errorf("%s did not answer within %g seconds: try again later; if it never answers, %s",
			r, r.timeout.Seconds(), lookAtAddress)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s broke off in the middle of its answer: try again; if that does not help, %s", r, lookAtAddress)
	case errors.As(err, &unreached) && !strings.HasPrefix(unreached.Err.Error(), "stopped after "): // in circles, as login pages redirect
		return fmt.Errorf("%s cannot be reached: %w", r, unreached.Err)
	}
	return fmt.Errorf("%s is not a Kubernetes API server%s: %s", r, answered(err), lookAtAddress)
}

// lookAtAddress is the remedy if the server is probably the wrong one.
const lookAtAddress = "look at the server's address in the kubeconfig, and at the proxy if there is one"

// otherMedia matches client-go's error about an answer with a media type that API servers do not use.
var otherMedia = regexp.MustCompile(`^serializer for ([^\s;]+).* doesn't exist$`)

// answered describes the answer of a server that is not an API server, in a few words.
func answered(err error) string {
	var sent *url.Error
	if errors.As(err, &sent) {
		return ", because it redirects again and again"
	}
	if media := otherMedia.FindStringSubmatch(err.Error()); media != nil {
		return ", because it answers with " + media[1]
	}
	return ", because its answer is not a list of objects"
}

// instead returns the alternative to a missing right; empty if there is none.
func instead(resource, namespace string) string {
	if resource != "cloudprofiles" && namespace == "" {
		return ", or name one namespace"
	}
	return ""
}

// status returns the message of an API server.
func status(err error) string { return strings.TrimSuffix(strings.TrimSpace(err.Error()), ".") }

// lineOf matches the line in a parser's error. The rest of the error may quote a secret.
var lineOf = regexp.MustCompile(`\bline \d+\b`)

// filesOf returns the kubeconfig files.
func filesOf(loading *clientcmd.ClientConfigLoadingRules) []string {
	if loading.ExplicitPath != "" {
		return []string{loading.ExplicitPath}
	}
	return loading.GetLoadingPrecedence()
}

// tooLarge returns an error if one of the kubeconfig files is too large.
func tooLarge(loading *clientcmd.ClientConfigLoadingRules) error {
	for _, file := range filesOf(loading) {
		if text, err := folder.ReadFile(file); err != nil && len(text) > 0 {
			return fmt.Errorf("kubeconfig: %w", err)
		}
	}
	return nil
}

// kubeconfigError returns the errors of kubeconfig files that cannot be read.
func kubeconfigError(loading *clientcmd.ClientConfigLoadingRules) error {
	var errs []error
	for _, file := range filesOf(loading) {
		_, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) && loading.ExplicitPath == "" {
			continue // as with kubectl
		}
		if err == nil {
			if _, broken := clientcmd.LoadFromFile(file); broken != nil {
				err = fmt.Errorf("%s is not a readable kubeconfig", file)
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

// nothingIn returns the error for kubeconfig files without contexts and clusters.
func nothingIn(loading *clientcmd.ClientConfigLoadingRules) error {
	var all []string
	for _, file := range filesOf(loading) {
		text, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist) && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "":
			return errors.New("no kubeconfig: name one with --kubeconfig, or in KUBECONFIG")
		case errors.Is(err, fs.ErrNotExist):
			all = append(all, file+" does not exist")
		case len(bytes.TrimSpace(text)) == 0:
			all = append(all, file+" is empty")
		default:
			all = append(all, file+" has no context")
		}
	}
	return fmt.Errorf("kubeconfig: %s: name another with --kubeconfig, or in KUBECONFIG", strings.Join(all, ", "))
}

// noContext returns the error for a context that does not exist.
func noContext(name string, raw *clientcmdapi.Config, loading *clientcmd.ClientConfigLoadingRules) error {
	names := slices.Sorted(maps.Keys(raw.Contexts))
	if len(names) == 0 {
		return fmt.Errorf("context %s cannot be found: %w", name, nothingIn(loading))
	}
	return fmt.Errorf("context %s is not in the kubeconfig, which has %s", name, strings.Join(names, ", "))
}

// configError returns the error for a readable kubeconfig that does not lead to a cluster. name is the context's name; it may be empty.
func configError(name string, raw *clientcmdapi.Config, loading *clientcmd.ClientConfigLoadingRules, err error) error {
	context := raw.Contexts[name]
	switch {
	case len(raw.Contexts) == 0 && len(raw.Clusters) == 0:
		return nothingIn(loading)
	case name == "":
		return errors.New("the kubeconfig has no current context: name one with --context")
	case context == nil:
		return noContext(name, raw, loading)
	case raw.Clusters[context.Cluster] == nil:
		return fmt.Errorf("context %s is of cluster %q, which is not in the kubeconfig", name, context.Cluster)
	}
	if proxy := raw.Clusters[context.Cluster].ProxyURL; proxy != "" && strings.Contains(err.Error(), proxy) { // may have a password
		err = fmt.Errorf("the proxy-url of cluster %q is not a URL of a proxy: write one that begins with http://, https:// or socks5://", context.Cluster)
	}
	return fmt.Errorf("context %s does not lead to a cluster: %w", name, err)
}
