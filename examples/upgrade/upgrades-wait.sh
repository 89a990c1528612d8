#!/bin/sh
# wanderd asks (ready = …): has this host anything to upgrade? 0 is yes, 75 is "not needed now", anything else is an error.
set -eu

# A simulation installs nothing, and needs no root. Its lines "Inst PACKAGE …" are what an upgrade would install.
plan=$(apt-get --simulate --quiet upgrade)
if printf '%s\n' "$plan" | grep -q '^Inst '; then
	exit 0
fi
exit 75
