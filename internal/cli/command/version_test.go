// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"runtime/debug"
	"testing"
)

func TestVersionOfAProgramThatIsInstalledAsAModule(t *testing.T) {
	for _, tc := range []struct {
		main          debug.Module
		revision      string
		version, hash string
	}{
		{debug.Module{Path: module, Version: "v0.1.0"}, "", "0.1.0", ""},
		{debug.Module{Path: module, Version: "v0.1.1-pre+dirty"}, "0123456789abcdef", "0.1.1-pre+dirty", "0123456789ab-dirty"},
		{debug.Module{Path: module, Version: "(devel)"}, "", Unversioned, ""},
		{debug.Module{Path: module}, "", Unversioned, ""},
		{debug.Module{Path: "example.com/extension", Version: "v7.0.0"}, "", Unversioned, ""}, // a command that sets its own cli.Version
	} {
		info := &debug.BuildInfo{Main: tc.main}
		if tc.revision != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: tc.revision}, {Key: "vcs.modified", Value: "true"}}
		}
		if version, commit := versionOf(info); version != tc.version || commit != tc.hash {
			t.Errorf("%v: %s, commit %s", tc.main, version, commit)
		}
	}
}
