// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Created returns the time in the environment variable SOURCE_DATE_EPOCH, or else the time of the commit, so that builds of a commit are
// reproducible. It returns an error if both are unknown.
func Created(ctx context.Context) (time.Time, error) {
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		var err error
		if seconds, err = git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit; without git, set SOURCE_DATE_EPOCH to seconds since 1970: %w", err)
		}
	}
	number, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(number, 0), nil
}

// Revision returns the commit, followed by -dirty if there are uncommitted changes. It is empty if it is unknown, as in a source archive
// without git.
func Revision(ctx context.Context) string {
	revision, _ := git(ctx, "describe", "--always", "--dirty", "--match=", "--abbrev=40")
	return revision
}

func git(ctx context.Context, args ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "git", args...).Output()
	return strings.TrimSpace(string(output)), err
}
