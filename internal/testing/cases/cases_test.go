// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

func TestRun(t *testing.T) {
	var order []string
	Run(t, "testdata/fruit.txtar", func(c *Case) string {
		var fruit struct {
			Name  string
			Sizes []int
		}
		c.Decode("fruit.yaml", &fruit)
		order = append(order, c.Name)
		if c.Has("note") {
			return fmt.Sprint(fruit, "\n", c.Text("note"))
		}
		return fmt.Sprint(fruit)
	})
	if diff := cmp.Diff([]string{"as it is", "merged", "patched", "of its own"}, order); diff != "" {
		t.Error(diff)
	}
}

func TestUpdate(t *testing.T) {
	archive := txtar.Parse([]byte("about\n-- a --\n-- x/a --\n1\n-- x/want --\nold\n-- y/want --\nold\n-- z/a --\n2\n-- w/a --\n3\n-- w/want --\nold\n"))
	got := string(txtar.Format(updated(archive, map[string]string{"x": "new", "y": "", "z": "first", "w": ""})))
	want := "about\n-- a --\n-- x/a --\n1\n-- x/want --\nnew\n-- y/want --\n-- z/a --\n2\n-- z/want --\nfirst\n-- w/a --\n3\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
