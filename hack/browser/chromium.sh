#!/bin/sh
#
# SPDX-FileCopyrightText: The capkit authors
#
# SPDX-License-Identifier: Apache-2.0

# Starts the Chromium that was extracted beside this file.

here=$(cd "$(dirname "$0")" && pwd) || exit 1
for folder in "$here"/root/usr/lib/*-linux-gnu "$here"/root/usr/lib/*-linux-gnu/pulseaudio "$here"/root/lib/*-linux-gnu; do
  LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
export LD_LIBRARY_PATH
export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/root/usr/lib/chromium/chromium" "$@"
