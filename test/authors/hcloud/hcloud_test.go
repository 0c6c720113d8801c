// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package hcloud_test

import (
	"testing"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
	"github.com/capkit/capkit/test/authors/answers"
	"github.com/capkit/capkit/test/authors/hcloud"
)

func TestLaws(t *testing.T) {
	configs := providertest.Configs(t, hcloud.Kind, ".")
	providertest.Laws(t, hcloud.Provider{}, configs...)
	providertest.Laws(t, provider.Untyped(hcloud.Provider{}), configs...)
}

func TestAnswers(t *testing.T) {
	answers.Run(t, "answers.txtar", func(*cases.Case) provider.Provider[hcloud.Image] { return hcloud.Provider{} })
}
