// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

func TestATemporaryGarden(t *testing.T) {
	t.Parallel()
	g, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(g.Kubeconfig()); err != nil {
		t.Error(err)
	} else if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %s", info.Mode())
	}
	for _, name := range []string{"gardener.log", "kube-apiserver.log", "etcd.log"} {
		content, err := fs.ReadFile(os.DirFS(g.Logs()), name)
		if err != nil {
			t.Error(err)
		}
		if len(content) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	if err := errors.Join(g.Stop(), g.Stop()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(g.Folder()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}
