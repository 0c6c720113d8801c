// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/testing/cases"
)

func TestValidateShootIn(t *testing.T) {
	cases.Run(t, "testdata/shoots.txtar", func(c *cases.Case) string {
		profile, shoot := &v1beta1.CloudProfileSpec{}, &v1beta1.Shoot{}
		c.Decode("profile.yaml", profile)
		c.Decode("shoot.yaml", &shoot.Spec)
		errs, warnings := gardener.ValidateShootIn(shoot, profile)
		var lines []string
		for _, err := range errs {
			lines = append(lines, fmt.Sprintf("error %s [%s]", err, err.Origin))
		}
		for _, warning := range warnings {
			lines = append(lines, fmt.Sprintf("warning %s: %s [%s]", warning.Field, warning.Detail, warning.Origin))
		}
		return strings.Join(lines, "\n")
	})
}
