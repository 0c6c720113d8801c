// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package logging sets up the logs of this module's programs that run in clusters.
package logging

import (
	"log/slog"
	"runtime"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// SetLoggers makes all libraries in the process log through one logger: controller-runtime, client-go and, with the standard library's
// loggers, the HTTP servers, which report failed handshakes.
func SetLoggers(logger logr.Logger) {
	logf.SetLogger(logger)
	klog.SetLogger(logger)
	slog.SetDefault(slog.New(logr.ToSlogHandler(logger.WithName("standard-library"))))
}

// Announce logs the program's version, the provider type and the flags that are set. Flags are names, addresses and paths, never secrets.
func Announce(logger logr.Logger, providerType string, flags *pflag.FlagSet) {
	set := map[string]string{}
	flags.Visit(func(flag *pflag.Flag) { set[flag.Name] = flag.Value.String() })
	logger.Info("Starting", "version", version.Get().GitVersion, "goVersion", runtime.Version(), "provider", providerType, "flags", set)
}
