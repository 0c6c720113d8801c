// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package protocol says how package garden talks to the server process that it starts: one line of JSON each way, and
// the pipe between them as the sign of life.
//
// The server reads a Config from its standard input, starts, and answers with a Reply on its standard output, which it
// then closes. It stops when its input ends, which happens however its parent ends, unless it read a Detach before.
package protocol

// What the server keeps in its folder, beside temporary files of its own.
const (
	// Kubeconfig is written last, once everything is ready.
	Kubeconfig = "kubeconfig"
	// Logs is a folder with one file for each process.
	Logs = "logs"
	// ServerLog is the standard error of the server: gardener-apiserver and gardener-controller-manager, which run in it.
	ServerLog = "gardener.log"
	// AuditLog is in the folder of the logs: a line of JSON for each request.
	AuditLog = "audit.json"
	// Lock is locked as long as the server lives, see Own.
	Lock = "lock"
	// Alive is locked (flock) as long as the server lives, or one of the processes that it started: they inherit the open
	// file.
	Alive = "alive"
)

// Detach is what the parent writes, as one line, if the server shall outlive it.
type Detach struct {
	// Programs are started, in this order, and stopped before the garden.
	Programs []Program `json:"programs"`
}

// Config is what the server is asked to run.
type Config struct {
	// Folder exists and is the server's own. If it disappears the server stops.
	Folder string `json:"folder"`
	// Assets is the folder of the binaries etcd and kube-apiserver.
	Assets string `json:"assets"`
	// Remove makes the server remove its folder at the end.
	Remove bool `json:"remove,omitempty"`
	// FeatureGates of gardener-apiserver, by their names.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// APIServer is the path of a program that is gardener-apiserver; empty for the one that the server has compiled in.
	APIServer string `json:"apiServer,omitempty"`
	// CRDs are files of CustomResourceDefinitions. If there are any, nothing of Gardener is started: only etcd and
	// kube-apiserver, with these.
	CRDs []string `json:"crds,omitempty"`
	// Audit makes kube-apiserver write AuditLog.
	Audit bool `json:"audit,omitempty"`
}

// Program is a program that runs beside the garden.
type Program struct {
	// Name is the name of its log file, without .log.
	Name string `json:"name"`
	// Path is an absolute path.
	Path string   `json:"path"`
	Args []string `json:"args,omitempty"`
	// Env is added to the environment of the server.
	Env []string `json:"env,omitempty"`
}

// Reply is what the server answers once, as soon as it is ready or has failed.
type Reply struct {
	// Error is empty if the garden is ready.
	Error string `json:"error,omitempty"`
	// Running is set if there was nothing to start, since another server runs in this folder.
	Running bool `json:"running,omitempty"`
}
