// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// expectRefusal starts the component with an invalid configuration, and expects it to end with a reason in one line.
func expectRefusal(ctx context.Context, reason string, env []string, args ...string) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	program := newReplica().Program()
	cmd := exec.CommandContext(ctx, program.Path, append(program.Args, args...)...)
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+g.Kubeconfig()), env...)
	output, err := cmd.CombinedOutput()
	Expect(err).To(HaveField("ExitCode()", 1), string(output))
	var lines []string
	for line := range strings.Lines(string(output)) {
		if !strings.HasPrefix(line, "{") { // JSON lines are logs
			lines = append(lines, line)
		}
	}
	Expect(lines).To(HaveExactElements(ContainSubstring(reason)), string(output))
}

const kubeconfigs = "testdata/kubeconfigs/"

var _ = DescribeTable("The component does not start", func(ctx SpecContext, reason string, env []string, args ...string) {
	expectRefusal(ctx, reason, env, args...)
},
	Entry("if the API server cannot be reached", `Get "https://127.0.0.1:1/api`, nil, "--kubeconfig="+kubeconfigs+"unreachable.yaml"),
	Entry("without its kubeconfig", "/none: no such file or directory", nil, "--kubeconfig="+kubeconfigs+"none"),
	Entry("without the kubeconfig that Gardener names", "/none: no such file or directory", []string{"GARDEN_KUBECONFIG=" + kubeconfigs + "none"}),
	Entry("without the kubeconfig of the cluster of the certificates",
		"the cluster of the certificates: stat "+kubeconfigs+"none", []string{"SOURCE_CLUSTER=enabled", "SOURCE_KUBECONFIG=" + kubeconfigs + "none"}),
	Entry("with a kubeconfig that is broken", "error loading config file", nil, "--kubeconfig="+kubeconfigs+"broken"),
	Entry("with a kubeconfig that is empty", "no configuration has been provided", nil, "--kubeconfig="+kubeconfigs+"empty"),
	Entry("with an unknown flag", "unknown flag: --nonsense", nil, "--nonsense"),
	Entry("with an argument", `unknown command "nonsense"`, nil, "nonsense"),
	Entry("with a negative delay", "--shutdown-delay-duration must not be negative", nil, "--shutdown-delay-duration=-1s"),
	Entry("with a delay that is no duration", `invalid argument "soon"`, nil, "--shutdown-delay-duration=soon"),
	Entry("with a period of zero", "--webhook-certificate-sync-period must be positive", nil, "--webhook-certificate-sync-period=0s"),
	Entry("with a silence that is too short to ask for an answer", "--max-silence must be at least 3s", nil, "--max-silence=2s"),
	Entry("with a TLS version that is too low", `invalid --tls-min-version: "VersionTLS11"; it is one of VersionTLS12, VersionTLS13`, nil,
		"--tls-min-version=VersionTLS11"),
	Entry("with an unknown log level", "invalid --log-level: loud", nil, "--log-level=loud"),
	Entry("with an unknown webhook", `cannot disable unknown webhook "validate-everything"`, nil, "--disable-webhooks=validate-everything"),
	Entry("with an unknown mode", "invalid --webhook-config-mode: magic", nil, "--webhook-config-mode=magic"),
	Entry("without a URL", "--webhook-config-url", nil, "--webhook-config-url="),
)

var _ = It("The component does not start on a port that is taken", func(ctx SpecContext) {
	_, port, err := net.SplitHostPort(entrance.address())
	Expect(err).NotTo(HaveOccurred())
	expectRefusal(ctx, "address already in use", nil, "--webhook-config-server-port="+port)
})
