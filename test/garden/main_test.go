// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// childEnv makes this test binary start a garden in folder childFolderEnv, and end in the way that it names.
	childEnv       = "GARDEN_TEST_CHILD"
	childFolderEnv = "GARDEN_TEST_FOLDER"
)

// child is a program that uses a garden without stopping it.
func child(how string) {
	ctx, folder := context.Background(), os.Getenv(childFolderEnv)
	if how == "killed while starting" {
		fmt.Println("starting")
	}
	g, err := Start(ctx, Options{Folder: folder})
	if err == nil {
		// A process beside the garden that does not end by itself.
		_, err = g.StartProcess(ctx, ProcessOptions{Path: "sleep", Args: []string{"1000"}, LogFile: filepath.Join(folder, "sleep.log")})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	if how == "panic" {
		panic("as the test wants")
	}
	select {}
}

func TestMain(m *testing.M) {
	if how, ok := os.LookupEnv(childEnv); ok {
		child(how)
	}
	os.Exit(m.Run())
}

// start starts a garden for a test, in a temporary folder.
func start(t *testing.T) *Garden {
	t.Helper()
	g, err := Start(t.Context(), Options{Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// waitFor waits for at most two minutes.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		return condition(), nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
