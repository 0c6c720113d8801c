// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
)

var flavorQuestion = []string{"--image=gardenlinux", "--version=1877.5.0", "--machine-type=medium_4_8", "--region=europe"}

// asking returns the arguments of a command that ask about a flavor.
func asking(args ...string) []string { return append(args, flavorQuestion...) }

// variables are the values of $name in the commands of tables.
var variables = map[string]string{
	"examples": examples,
	"broken":   broken,
	"profiles": strings.Join(profilesIn(examples), " "),
	"profile":  examples + "/cloudprofile.yaml",
	"child":    examples + "/namespacedcloudprofile.yaml",
	"shoot":    examples + "/shoot.yaml " + examples + "/cloudprofile.yaml",
	"local":    examples + "/cloudprofile-local.yaml --image=local --version=1.0.0 --machine-type=arm-medium",
	"flags":    strings.Join(flavorQuestion, " "),
	"worker":   strings.Join(ofWorker("1.0.0", "medium"), " "),
	"config":   workerConfig,
	"empty":    os.DevNull,
}

// profilesIn returns the files with profiles directly in a folder that lint accepts.
func profilesIn(folder string) []string {
	files, _ := filepath.Glob(folder + "/*cloudprofile*.yaml")
	return slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == "cloudprofile-guide.yaml" })
}

// Each command ends with a status and a reason on standard error. Standard output is empty if nothing was done.
func TestExitStatus(t *testing.T) {
	for _, tc := range []struct {
		command string
		status  int
		stderr  string
	}{
		{"lint $profile", 0, "1 object checked: no errors, no warnings"},
		{"lint $broken/provider-flavor-missing.yaml", 1, "1 error"},
		{"lint $broken/provider-image-unused.yaml", 0, "1 warning"},
		{"lint --fail-on=warning $broken/provider-image-unused.yaml", 1, "1 warning"},
		{"lint", 2, "no FILE given"},
		{"lint nowhere.yaml nowhere.json", 2, "nowhere.json"},
		{"lint --colour $profile", 2, "--colour"},
		{"lint -o xml $profile", 2, "json, junit, sarif, text, yaml"},
		{"lint --fail-on=info $profile", 2, "error, warning or skipped"},
		{"lint --domain= $profile", 2, "--domain is empty: name the domain, or leave the flag out"},
		{"lint --domain demo $profile", 0, "no errors, no warnings"},
		{"lint --allow-empty -", 0, "no objects checked"},
		{
			"lint -", 2, "no CloudProfile, NamespacedCloudProfile or Shoot among the inputs; standard input is empty, perhaps because " +
				"the command before the pipe failed: to allow this, use --allow-empty",
		},
		{"lint $empty", 2, "or Shoot among the inputs; /dev/null is empty: to allow this, use --allow-empty"},
		{"maintenance - $profile", 2, "no Shoot among the inputs; standard input is empty"},
		{"select - $flags", 2, "no CloudProfile among the inputs; standard input is empty"},
		{"render -", 2, "no NamespacedCloudProfile among the inputs; standard input is empty"},
		{"migrate -", 1, "no CloudProfile or NamespacedCloudProfile among the files; standard input is empty"},
		{"lint --namespace= $profile", 2, "--namespace is empty"},
		{"lint --context= $profile", 2, "--context is empty"},
		{"lint --kubeconfig= $profile", 2, "--kubeconfig is empty"},
		{"lint --gardener-version= $profile", 2, "--gardener-version is empty"},
		{"lint --feature-gates= $profile", 2, "--feature-gates is empty"},
		{"lint -A -n garden-demo", 2, "--namespace and --all-namespaces: use only one of them"},
		{"maintenance --allow-empty $profile", 0, ""},
		{"plan --order=best $profile $profile", 2, "gep33 or gardener"},
		{"select --allow-empty $profile", 0, ""},
		{"select $profile $flags", 0, ""},
		{"explain $profile $flags", 0, ""},
		{"select $profile $flags --version=1", 1, ""},
		{"select -o sarif $profile $flags", 2, `unknown output format "sarif": use one of csv, json, table, text, yaml`},
		{"select --domain=demo $profile $flags", 2, "unknown flag: --domain"},
		{"select --order=best $profile $flags", 2, "gep33 or gardener"},
		{"selct $profile", 2, `capkit: unknown command "selct": did you mean select?`},
		{"select --image=gardenlinux --region=europe $profile", 0, ""},
		{"select --image=gardenlinux --version=1592.9.0 --machine-type=medium_4_8_arm $profile", 1, ""},
		{"select --image=gardenlinx $profile", 2, "the profile has no image gardenlinx; did you mean gardenlinux?"},
		{"select --region=europe $profile", 2, "--image missing"},
		{"select --image=gardenlinux --shoot=shop $profile", 2, "--shoot and --pool choose among the Shoots"},
		{"select --shoot=shop --pool=web $shoot $profile", 0, ""},
		{"select --shoot=garden-demo/shup $shoot $profile", 2, "no Shoot among the inputs matches --shoot garden-demo/shup; did you mean garden-demo/shop?"},
		{"select --shoot=garden/shop $shoot $profile", 2, "no Shoot among the inputs matches --shoot garden/shop; there is garden-demo/shop"},
		{"select --profile=garden/team $examples/shoot-namespaced.yaml $child $profile", 2, "matches --profile garden/team; there is garden-demo/team"},
		{"select --shoot=garden-dmo/shop $shoot $profile", 2, "no Shoot among the inputs matches --shoot garden-dmo/shop; did you mean garden-demo/shop?"},
		{"select --region=eurpe $shoot $profile", 2, "no Shoot among the inputs matches --region eurpe; did you mean europe?"},
		{"select --profile=openstak $shoot $profile", 2, "no Shoot among the inputs matches --profile openstak; did you mean openstack?"},
		{"select --machine-type=medium_4 $shoot $profile", 2, "no worker pool among the inputs matches --machine-type medium_4; did you mean medium_4_8?"},
		{"select --pool=wb --version=9 $shoot $profile", 2, "matches --pool wb --version 9; did you mean web?; there is 1877.5.0"},
		{"explain --pool=wb $shoot $profile", 2, "no worker pool among the inputs matches --pool wb; did you mean web?"},
		{"select --shoot= $shoot $profile", 2, "--shoot is empty: give it a value, or leave it out"},
		{"maintenance --pool= $shoot $profile", 2, "--pool is empty"},
		{"select --image=gardenlinux --version= $profile", 2, "--version is empty"},
		{"lint --stdin-name= -", 2, "--stdin-name is empty"},
		{"lint --stdin-name=a.yaml $profile", 2, "--stdin-name names standard input, which is not read"},
		{"plan --stdin-name=a.yaml $profile $profile", 2, "--stdin-name names standard input, which is not read"},
		{"report --stdin-name=a.yaml --landscape a=$profile", 2, "--stdin-name names standard input, which is not read"},
		{"select --region=asia $shoot $profile", 2, "no Shoot among the inputs matches --region asia"},
		{"maintenance --shoot=shop --version=1 $shoot $profile", 2, "no worker pool among the inputs matches --version 1"},
		{"maintenance --until=2040-01-01 --pool=wb $shoot $profile", 2, "no worker pool among the inputs matches --pool wb; did you mean web?"},
		{"select -o json --pool=wb $shoot $profile", 2, "no worker pool among the inputs matches --pool wb; did you mean web?"},
		{"select -o csv --pool=wb $shoot $profile", 2, "no worker pool among the inputs matches --pool wb; did you mean web?"},
		{"maintenance --at=2030-01-01 --until=2029-12-31T23:00:00Z $shoot $profile", 2, "--until: 2029-12-31 is before the calendar begins, on 2030-01-01"},
		{"maintenance --at=+20d --until=+10d $shoot $profile", 2, "is before the calendar begins"}, // both are counted from now
		{"maintenance --until=soon $shoot $profile", 2, `invalid --until "soon"`},
		{"maintenance --until= $shoot $profile", 2, "capkit: --until is empty: give it a value, or leave it out"},
		{"maintenance -o ics $shoot $profile", 2, "name its last day with --until"},
		{"maintenance --webhook=maybe $shoot $profile", 2, `unknown --webhook "maybe": use true, validating or false`},
		{"maintenance --webhook=true --no-webhook $shoot $profile", 2, "--webhook and --no-webhook: use only one of them"},
		{"select $child $flags --profile=x", 2, "CloudProfile x is not among the inputs"},
		{"select $child $profile $flags --profile=openstak", 2, "openstak is not among the inputs, which have openstack, garden-demo/team; did you mean openstack?"},
		{"report $child $profile --profile=garden-demo/tem", 2, "which have openstack, garden-demo/team; did you mean garden-demo/team?"},
		{"render $child $profile --profile=taem", 2, "NamespacedCloudProfile taem is not among the inputs, which have garden-demo/team; did you mean team?"},
		{"select /dev/null $flags --profile=x", 2, "no CloudProfile among the inputs; /dev/null is empty"},
		{
			"select $profiles $flags",
			2, "--profile, one of openstack-bare-metal, openstack-full, openstack-legacy, openstack-lifecycle, local, and 5 more",
		},
		{"select $examples $flags --profile=openstack", 0, ""},
		{"select $examples $flags --profile=garden-demo/team", 0, ""},
		{"explain $examples $flags --profile=team", 0, ""},
		{"select $broken/provider-unknown.yaml $flags", 0, "provider vsphere is unknown to this command"},
		{"select $broken/field-type.yaml $flags", 1, "expected a list of strings"},
		{"select $child $flags", 1, "CloudProfile openstack is not among the inputs: give its manifest as well, or correct the name [profile-missing]"},
		{"select $child $profile $flags --version=2000.1.0 --machine-type=large_16_32", 0, ""},
		{
			"select $child $flags --profile=garden-demo/x",
			2, "NamespacedCloudProfile garden-demo/x is not among the inputs, which have garden-demo/team",
		},
		{
			"select $broken/provider-flavor-missing.yaml $flags",
			0, "note: CloudProfile provider-flavor-missing has 1 error",
		},
		{"select $local --region=mars", 0, "note: region mars is not in the profile, which has local"},
		{"render $child $profile", 0, ""},
		{"render --profile=garden-demo/team $examples", 0, ""},
		{"render --profile=team $examples", 0, ""},
		{"render $profile", 2, "no NamespacedCloudProfile among the inputs"},
		{
			"render --profile=x $child",
			2, "NamespacedCloudProfile x is not among the inputs, which have garden-demo/team",
		},
		{
			"render $broken/namespaced-format.yaml $child",
			2, "use --profile, one of garden-demo/namespaced-format, garden-demo/team",
		},
		{"render $child", 1, "CloudProfile openstack is not among the inputs"},
		{"render $broken/namespaced-format.yaml", 1, "[namespaced-format]"},
		{"render -o sarif $child", 2, "json, text, yaml"},
		{"capabilities file.yaml", 2, "capabilities takes no arguments"},
		{"capabilities -o sarif", 2, "json, text, yaml"},
		{"rules now", 2, "rules takes no arguments"},
		{"rules -o sarif", 2, "json, text, yaml"},
		{"explain-rule", 2, "no RULE given"},
		{"explain-rule gardener-core syntax", 0, ""},
		{"explain-rule regon-unknown", 2, "there is no rule regon-unknown; did you mean region-unknown?"},
		{"explain-rule misspelt", 2, "there is no rule misspelt; did you mean worker-capability-misspelt?"},
		{"explain-rule Node", 2, "there is no rule Node; did you mean node-template?"},
		{"explain-rule machine xx", 2, "there is no rule xx; capkit rules lists all"},
		{"migrate", 2, "no FILE given"},
		{"migrate -w -", 1, "no CloudProfile or NamespacedCloudProfile among the files"},
		{"migrate nowhere.yaml", 2, "nowhere.yaml"},
		{"migrate $shoot", 0, ""},
		{"migrate --back --provider-config $profile", 2, "--back takes none of --provider-config, --core-flavors, --fold and --machine-types"},
		{"migrate --machine-types=a $profile", 2, "give that as well"},
		{"migrate --fold=-metal=host:metal --machine-types=[ $profile", 2, `--machine-types "[" is not a pattern`},
		{"migrate --fold=-metal $profile", 2, `--fold "-metal": write SUFFIX=CAPABILITY:VALUE`},
		{"migrate --fold=-metal=host:metal --fold=-gen2=host:gen2 $profile", 2, "--fold is given twice: fold one suffix"},
		{"migrate --fold=-metal=host:metal $profile", 2, "--fold: no version ends in -metal; no version has a suffix"},
		{"migrate --fold=-baremetall=host:metal ../../docs/examples/suffixes.yaml", 2, "--fold: no version ends in -baremetall; did you mean -baremetal?"},
		{"migrate --fold=-gen2=host:metal ../../docs/examples/suffixes.yaml", 2, "--fold: no version ends in -gen2; versions end in -baremetal"},
		{"migrate --fold=-metal=host:metal --machine-types= $profile", 2, "--machine-types is empty"},
		{
			"migrate --fold=-baremetal=host:metal --machine-types=bare_*,bar_* ../../docs/examples/suffixes.yaml", 2,
			`--machine-types: "bar_*" matches no machine type; there are medium_4_8, bare_8_16`,
		},
		{"migrate --fold=-metal=host $profile", 2, "write SUFFIX=CAPABILITY:VALUE"},
		{"migrate --fold=-metal=host:a,a $profile", 2, "the two values must differ"},
		{"migrate --fold=-metal=architecture:arm64 $profile", 2, "another capability than the architecture"},
		{"migrate -o sarif $profile", 2, "json, text, yaml"},
		{"migrate --accept-changes $profile", 2, "--accept-changes goes with --reserved only: no other migration changes what a worker pool boots"},
		{"migrate --reserved --lifecycle $profile", 2, "--reserved and --lifecycle have nothing to do with each other: run the command once for each"},
		{"migrate --reserved --provider-config $profile", 2, "--reserved takes none of --provider-config, --core-flavors, --fold and --machine-types"},
		{"migrate --reserved --fold=-a=b:c $profile", 2, "to fold a suffix, run the command with --fold first"},
		{"migrate --fold=-a=gardener-host:baremetal $profile", 2, "Gardener has no capability gardener-host; it has gardener-boot-type, gardener-update-type and"},
		{"migrate --fold=-a=gardener-updatetype:in-place $profile", 2, "did you mean gardener-update-type?"},
		{"migrate --fold=-a=gardener-updateType:inPlace $profile", 2, "by another name now: write gardener-update-type (rolling, in-place)"},
		{"migrate --fold=-a=gardener-update-type:inPlace $profile", 2, `has no value "inPlace", but rolling and in-place; did you mean in-place?`},
		{"migrate --fold=-a=gardener-boot-type:secure,normal $profile", 2, `gardener-boot-type has no value "normal", but standard and secure`},
		{"migrate --fold=-a=gardener-boot-type:standard $profile", 2, "the two values must differ"},
		{"migrate --fold=-a=gardener-boot-type:secure --machine-types=m $profile", 2, "--machine-types does not go with gardener-boot-type"},
		{"migrate --fold=-a=gardener-boot-type:secure $profile", 2, "--fold: no version ends in -a; no version has a suffix"},
		{"migrate $child", 1, "CloudProfile openstack is not among the inputs"},
		{"maintenance $shoot", 0, ""},
		{"maintenance -o sarif $shoot", 2, `unknown output format "sarif": use one of csv, ics, json, table, text, yaml`},
		{"maintenance", 2, "no FILE given"},
		{"maintenance $profile", 2, "no Shoot among the inputs"},
		{"maintenance --at=tomorrow $shoot", 2, `invalid --at "tomorrow": use a date like 2027-01-31`},
		{"maintenance --at=+x7d $shoot", 2, "invalid --at"},
		{"maintenance --at=2027-01-31 $shoot", 0, ""},
		{"maintenance --at=+7d $shoot", 0, ""},
		{"maintenance $examples/shoot.yaml", 1, "CloudProfile openstack is not among the inputs"},
		{"plan $profile", 2, "OLD and NEW are two files"},
		{"plan", 2, "OLD and NEW are two files"},
		{"plan $profile nowhere.yaml", 2, "nowhere.yaml"},
		{"plan $profile $profile nowhere.yaml", 2, "nowhere.yaml"},
		{"plan $profile $examples/shoot.yaml", 2, "and plan does not compare Shoots (lint checks a changed one, and select"},
		{"plan $examples/shoot.yaml $profile", 2, "OLD has no profile, and NEW has CloudProfile openstack: give two versions"},
		{
			"plan $profile $examples/cloudprofile-legacy.yaml",
			2, "and NEW has CloudProfile openstack-legacy: give two versions of the same object, or compare two landscapes, by --compare",
		},
		{"plan $profile $examples", 2, "NEW has several profiles, "},
		{"plan $examples $profile", 0, ""},
		{"plan $profile $profile $examples", 0, ""},
		{"plan - -", 2, "standard input is given twice"},
		{"plan - $profile", 2, "OLD has no profile, and NEW has CloudProfile openstack; standard input is empty"},
		{"plan $profile -", 2, "NEW has no CloudProfile or NamespacedCloudProfile; standard input is empty"},
		{"plan --fail-on=warning $profile $profile", 2, "use breaking or change"},
		{"plan --fail-on=change $profile $profile", 0, ""},
		{"plan --pool=web $profile $profile", 2, "there is no Shoot among the inputs to choose by --pool web: name a file with Shoots, or a cluster, or choose none"},
		{"plan --shoot=shup $profile $profile $shoot", 2, "no Shoot among the inputs matches --shoot shup; did you mean shop?"},
		{"plan --region=europe --pool=wb $profile $profile $shoot", 2, "nobody who uses CloudProfile openstack matches --region europe --pool wb; did you mean web?"},
		{"plan --machine-type= $profile $profile $shoot", 2, "--machine-type is empty"},
		{"plan --compare --shoot=shop $profile $profile", 2, "--compare looks at no Shoots: leave --shoot shop out"},
		{"report --pool=wb $shoot", 2, "no worker pool among the inputs matches --pool wb; did you mean web?"},
		{"report --shoot=shup $shoot", 2, "no Shoot among the inputs matches --shoot shup; did you mean shop?"},
		{"report --version=1 $profile", 2, "there is no Shoot among the inputs to choose by --version 1"},
		{"report --landscape dev=", 2, "--landscape \"dev=\": the source of dev is missing: write NAME=PATH, or NAME=context:NAME for a cluster"},
		{"report --region= $shoot", 2, "--region is empty"},
		{"report -o json --pool=web $shoot", 2, "-o json is about what can be asked, and not about worker pools: leave --pool web out"},
		{"plan -o sarif $profile $profile", 2, "json, markdown, text, yaml"},
		{"plan --git= $profile", 2, "--git is empty"},
		{"plan --git=main", 2, "no NEW given"},
		{"plan --git=--all $profile", 2, "is not a revision"},
		{"plan --git=main -", 2, "--git needs a file, not standard input"},
		{"plan --git=main $examples", 2, "is a directory"},
		{"plan --git=main nowhere.yaml", 2, "nowhere.yaml: no such file"},
		{"completion bash", 0, ""},
		{"completion", 0, ""},
		{"completion tcsh", 2, `unknown shell "tcsh": there are bash, fish, powershell, zsh`},
		{"select $worker --secure-boot=maybe", 2, "capkit: --secure-boot=maybe: use true or false"},
		{"lint $profile -o", 2, "capkit: --output needs a value: FORMAT of the output: github, gitlab, json, "},
		{"import --keep=three $profile", 2, "capkit: --keep=three: use a number"},
		{"inventory openstack --timeout=5", 2, "capkit: --timeout=5: use a duration like 30s"},
		{"inventory openstack --os-cloud=", 2, "capkit: --os-cloud is empty: give it a value, or leave it out"},
		{"inventory openstack --region=", 2, "capkit: --region is empty: give it a value, or leave it out"},
		{"verify --at= --inventory=nowhere.yaml $profile", 2, "capkit: --at is empty: give it a value, or leave it out"},
		{"help lint", 0, ""},
		{"help exit-statuses", 0, ""},
		{"help lnt", 2, `unknown command or topic "lnt": did you mean lint?`},
		{"help lint explain", 2, "help explains one command or topic: capkit help lint"},
		{"$profile", 2, "which is a file or folder: did you mean capkit lint "},
		{"lint -f $profile", 2, "unknown shorthand flag: 'f' in -f: files need no flag: capkit lint FILE"},
		{"report --output-file=r.html $profile", 2, "unknown flag: --output-file: the result is on standard output: capkit report ... > FILE"},
		{"report -o html=r.html $profile", 2, `unknown output format "html=r.html": use one of html, json; to write into a file, use -o html > r.html`},
		{"lint --recursive $profile", 2, "folders need no flag: capkit lint FOLDER reads all that is below it"},
		{"explain provider-flavor-missing", 2, "no such file or directory; that is a rule: capkit explain-rule provider-flavor-missing"},
		{"lint /nowhere/*.yaml", 2, "/nowhere/*.yaml: no such file or directory; patterns are not expanded here, and a shell leaves one as it is if no file "},
		{"lint https://example.com/a.yaml", 2, "no such file or directory; URLs are not read: pipe what is there, as in curl -s URL | capkit lint -"},
		{"lint -o JSON $profile", 2, `unknown output format "JSON": use one of github, gitlab, json, junit, sarif, text, yaml; did you mean json?`},
		{"lint --fail-on=warn $profile", 2, `unknown --fail-on "warn": use error, warning or skipped; did you mean warning?`},
		{"diff a.yaml b.yaml", 2, `unknown command "diff": did you mean plan?`},
		{"validate .", 2, `unknown command "validate": did you mean lint?`},
		{"everything", 2, `unknown command "everything": capkit help lists what there is`},
		{"lint --domian=x $profile", 2, "unknown flag: --domian: did you mean --domain?"},
		{"select -region=x $profile", 2, `unknown shorthand flag: 'r' in -region=x: did you mean --region?`},
		{"lint --sideways $profile", 2, "unknown flag: --sideways: capkit lint --help lists what there is"},
		{"select $examples/shoot.yaml", 1, "CloudProfile openstack is not among the inputs"},
		{"explain --pool=web $examples/shoot.yaml", 1, "CloudProfile openstack is not among the inputs"},
		{"select $shoot $profile --profile=openstack", 0, ""},
		{"select $shoot $profile --profile=aws", 2, "no Shoot among the inputs matches --profile aws"},
		{"select $shoot --architecture=arm64", 2, "--architecture goes with a question by flags: a Shoot's"},
		{"select $profile --architecture=arm64", 2, "--image missing"},
		{"select $shoot --worker-config=$config", 2, "--worker-config goes with a question by flags: a Shoot's"},
		{"select $shoot --secure-boot", 2, "--secure-boot goes with a question by flags: a Shoot's"},
		{"select $shoot --secure-boot=false", 2, "--secure-boot goes with a question by flags: a Shoot's"},
		{
			"select $shoot --update-strategy=AutoRollingUpdate",
			2, "--update-strategy goes with a question by flags: a Shoot's",
		},
		{"select $shoot --gpu=amd", 2, "--gpu goes with a question by flags: a Shoot's"},
		{"select $profile --secure-boot", 2, "--image missing"},
		{"select $worker --update-strategy=Auto", 2, "use AutoRollingUpdate, AutoInPlaceUpdate or ManualInPlaceUpdate"},
		{"select $worker --update-strategy=", 2, `unknown --update-strategy ""`},
		{"select $worker --gpu=", 2, "--gpu is empty"},
		{
			"select $worker --gpu= --volume=3 --update-strategy=x --shoot= --pool=", 2,
			"capkit: --shoot is empty: give it a value, or leave it out\ncapkit: --pool is empty: give it a value, or leave it out\n" +
				"capkit: unknown --update-strategy \"x\": use AutoRollingUpdate, AutoInPlaceUpdate or ManualInPlaceUpdate\n" +
				"capkit: --gpu is empty: name the type of the GPU, or leave the flag out if the worker pool has none\n" +
				"capkit: --volume is \"3\", which is not a number of Gi: write a size such as 50Gi, or leave",
		},
		{"select $worker --worker-config=", 2, "--worker-config is empty"},
		{"select $worker --worker-config=nowhere.yaml", 2, "nowhere.yaml: no such file"},
		{"select $worker --worker-config=$examples", 2, "is a directory"},
		{"select $worker --worker-config=- -", 2, "standard input is a FILE already"},
		{
			"select $local --region=local --worker-config=$config",
			2, "--worker-config changes nothing: worker pools of provider local ask",
		},
	} {
		t.Run(tc.command, func(t *testing.T) {
			r := run(t, "", strings.Fields(os.Expand(tc.command, func(name string) string { return variables[name] }))...)
			if r.status != tc.status || !strings.Contains(r.stderr, tc.stderr) || r.status == 2 && r.stdout != "" {
				t.Errorf("status %d, want %d\nstdout: %s\nstderr: %s", r.status, tc.status, r.stdout, r.stderr)
			}
		})
	}
}

// The program of a test does not contain the version of Gardener.
func TestVersion(t *testing.T) {
	line, platform := "capkit version dev\n", runtime.GOOS+"/"+runtime.GOARCH
	for args, want := range map[string]string{
		"--version": line, "version": line + "  gardener: v1.144 to v1.150\n  built by: " + runtime.Version() + "\n  platform: " + platform + "\n",
		"version -o yaml": "goVersion: " + runtime.Version() + "\nkubernetes:\n- \"1.32\"\n- \"1.33\"\n- \"1.34\"\n- \"1.35\"\n- \"1.36\"\n" +
			"newestGardener: v1.150\noldestGardener: v1.144\nplatform: " + platform + "\nversion: dev\n",
		"version -o json": fmt.Sprintf("{\n  \"version\": \"dev\",\n  \"oldestGardener\": \"v1.144\",\n  \"newestGardener\": \"v1.150\",\n  \"kubernetes\": [\n"+
			"    \"1.32\",\n    \"1.33\",\n    \"1.34\",\n    \"1.35\",\n    \"1.36\"\n  ],\n"+
			"  \"goVersion\": %q,\n  \"platform\": %q\n}\n", runtime.Version(), platform),
		"version -o sarif": "", "version now": "",
	} {
		if r := run(t, "", strings.Fields(args)...); r.stdout != want || (r.status == 2) != (want == "") {
			t.Errorf("%s: status %d: %q", args, r.status, r.stdout)
		}
	}
}

func TestKubectlPlugin(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := cli.Run([]string{"/usr/local/bin/kubectl-capkit", "lint"}, nil, &stdout, &stderr); status != 2 {
		t.Error(status)
	}
	if want := "kubectl capkit: no FILE given"; !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("%q", stderr.String())
	}
	stdout.Reset()
	cli.Run([]string{"kubectl-capkit", "lint", "--help"}, nil, &stdout, &stderr)
	contains(t, stdout.String(), "  kubectl capkit lint cloudprofile.yaml")
}

// Colour is only for terminals, not for files.
func TestNoColourInFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var stderr bytes.Buffer
	cli.Run([]string{"capkit", "lint", guide + "openstack-new.yaml"}, nil, file, &stderr, cli.For(local.Provider{}))
	if text := read(t, path); !strings.Contains(text, ": error: ") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}

// Gardener's validation ranges over maps, so several unknown names would appear in random order.
func TestOutputIsTheSameOnEveryRun(t *testing.T) {
	manifest := patched(t, cloudProfile(t), `
- {op: replace, path: /spec/machineImages/0/versions/0/capabilityFlavors/1, value: {architecture: [arm64], a: [x], b: [x], c: [x], d: [x]}}
- {op: replace, path: /spec/machineTypes/0/capabilities, value: {architecture: [x86], a: [x], b: [x], c: [x]}}
- {op: add, path: /spec/machineCapabilities/0/values/-, value: riscv64}
- {op: add, path: /spec/machineCapabilities/-, value: {name: e/, values: [""]}}
- {op: add, path: /spec/machineCapabilities/-, value: {name: f/, values: []}}
`)
	for _, tc := range []struct {
		runs int
		args []string
	}{
		{4, []string{"lint", "-o", "json", broken}},
		{20, []string{"lint", "-o", "json", "-"}},
		{20, []string{"lint", "-o", "json", "--reserved-in-core", "-"}},
	} {
		first := run(t, manifest, tc.args...)
		if first.status != 1 {
			t.Errorf("status %d", first.status)
		}
		for range tc.runs {
			if again := run(t, manifest, tc.args...); again != first {
				t.Fatal(cmp.Diff(first.stdout, again.stdout))
			}
		}
	}
}

// faulty is a provider with a mistake in its workers' requests.
type faulty struct{ local.Provider }

type faultyConfig struct{ metav1.TypeMeta }

func (faulty) Workers() provider.Workers {
	return provider.WorkersOf(provider.WorkerConfig[faultyConfig]{
		Kind: schema.GroupVersionKind{Group: "local", Version: "v1", Kind: "WorkerConfig"},
		Capabilities: []capability.Definition{
			{Name: "aws-secureEnclave", Values: []string{"on"}}, {Name: "gardener-boot-type", Values: []string{"secure"}},
		},
	})
}

func TestFaultyProviderIsFoundAtTheStart(t *testing.T) {
	for _, args := range [][]string{{"kubectl-capkit", "lint", workerProfile}, {"kubectl-capkit", "--help"}, {"kubectl-capkit"}} {
		var stdout, stderr bytes.Buffer
		status := cli.Run(args, nil, &stdout, &stderr, cli.For(faulty{}))
		lines := strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")
		if status != 2 || stdout.Len() > 0 || len(lines) != 2 {
			t.Errorf("status %d: %s%s", status, stdout.String(), stderr.String())
		}
		for _, line := range lines {
			if !strings.HasPrefix(line, "kubectl capkit: provider local: worker capability ") {
				t.Error(line)
			}
		}
	}
}
