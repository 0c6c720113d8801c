// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package logging is how the programs of this module that run in clusters log.
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

// SetLoggers lets everybody in the process log to the same place in the same form: controller-runtime, client-go, and
// with the standard library's loggers the HTTP servers, which report failed handshakes.
func SetLoggers(logger logr.Logger) {
	logf.SetLogger(logger)
	klog.SetLogger(logger)
	slog.SetDefault(slog.New(logr.ToSlogHandler(logger.WithName("standard-library"))))
}

// Announce says in the log what is running, for which provider type, and with which of its flags. Flags are names,
// addresses and paths, and no secrets.
func Announce(logger logr.Logger, providerType string, flags *pflag.FlagSet) {
	set := map[string]string{}
	flags.Visit(func(flag *pflag.Flag) { set[flag.Name] = flag.Value.String() })
	logger.Info("Starting", "version", version.Get().GitVersion, "goVersion", runtime.Version(), "provider", providerType, "flags", set)
}
