// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNotStarting starts the component in ways in which it cannot run: it ends, and says why in one line.
func TestNotStarting(t *testing.T) {
	folder := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	occupied, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = occupied.Close() }()
	_, port, _ := net.SplitHostPort(occupied.Addr().String())
	unreachable := file("unreachable", `{"apiVersion": "v1", "kind": "Config", "current-context": "a",
		"contexts": [{"name": "a", "context": {"cluster": "a"}}], "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}]}`)

	for _, test := range []struct {
		name string
		args []string
		env  string
		want string
	}{
		{"API server not reachable", []string{"--kubeconfig=" + unreachable}, "", `Get "https://127.0.0.1:1/api`},
		{"kubeconfig missing", []string{"--kubeconfig=" + folder + "/none"}, "", "/none: no such file or directory"},
		{"kubeconfig of the environment missing", nil, "GARDEN_KUBECONFIG=" + folder + "/none", "/none: no such file or directory"},
		{"kubeconfig of the certificates missing", nil, "SOURCE_KUBECONFIG=" + folder + "/none", "the cluster of the certificates: stat " + folder + "/none"},
		{"kubeconfig unreadable", []string{"--kubeconfig=" + file("broken", "clusters: [")}, "", "error loading config file"},
		{"kubeconfig empty", []string{"--kubeconfig=" + file("empty", "")}, "", "no configuration has been provided"},
		{"flag unknown", []string{"--nonsense"}, "", "unknown flag: --nonsense"},
		{"argument", []string{"nonsense"}, "", `unknown command "nonsense"`},
		{"delay negative", []string{"--shutdown-delay-duration=-1s"}, "", "--shutdown-delay-duration must not be negative"},
		{"delay not a duration", []string{"--shutdown-delay-duration=soon"}, "", `invalid argument "soon"`},
		{"period zero", []string{"--webhook-certificate-sync-period=0s"}, "", "--webhook-certificate-sync-period must be positive"},
		{"TLS version too low", []string{"--tls-min-version=VersionTLS11"}, "", `invalid --tls-min-version: "VersionTLS11"; it is one of VersionTLS12, VersionTLS13`},
		{"cipher suites that are not used", []string{"--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}, "", "--tls-cipher-suites is about TLS 1.2"},
		{"cipher suite unknown", []string{"--tls-min-version=VersionTLS12", "--tls-cipher-suites=NONE"}, "", `invalid --tls-cipher-suites: "NONE"`},
		{"log level unknown", []string{"--log-level=loud"}, "", "invalid --log-level: loud"},
		{"webhook unknown", []string{"--disable-webhooks=validate-everything"}, "", `cannot disable unknown webhook "validate-everything"`},
		{"mode unknown", []string{"--webhook-config-mode=magic"}, "", `invalid --webhook-config-mode: magic`},
		{"URL missing", []string{"--webhook-config-url="}, "", `--webhook-config-url`},
		{"port occupied", []string{"--webhook-config-server-port=" + port}, "", "address already in use"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newReplica(t)
			p := r.Program()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, p.Path, append(p.Args, test.args...)...)
			cmd.Env = append(os.Environ(), "KUBECONFIG="+g.Kubeconfig(), test.env)
			if strings.HasPrefix(test.env, "SOURCE") {
				cmd.Env = append(cmd.Env, "SOURCE_CLUSTER=enabled")
			}
			var output bytes.Buffer
			cmd.Stdout, cmd.Stderr = &output, &output
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("it ended with %v", err)
			}
			var lines []string
			for line := range strings.Lines(output.String()) {
				if !strings.HasPrefix(line, "{") { // JSON: a log
					lines = append(lines, line)
				}
			}
			if len(lines) != 1 || !strings.Contains(lines[0], test.want) {
				t.Errorf("%q is not the only line:\n%s", test.want, output.String())
			}
		})
	}
}
