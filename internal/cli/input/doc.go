// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package input has the objects that a command was given: in files, and in the cluster that flags name. [Given] decodes each of them
// once, knows which profile a Shoot or a flag means, and makes of each what the API server would store.
package input
