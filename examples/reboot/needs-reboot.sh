#!/bin/sh
# Exits with 0 if this host needs a reboot, and with 75 if it does not now.
set -eu
root=${ROOT:-}

# Debian and Ubuntu: packages say so.
if [ -e "$root/run/reboot-required" ]; then
	exit 0
fi
if command -v needrestart >/dev/null; then
	# 2 and 3: the running kernel is not the newest.
	if needrestart -b -k 2>/dev/null | grep -q '^NEEDRESTART-KSTA: [23]'; then
		exit 0
	fi
	exit 75
fi
# Fedora and its relatives.
if command -v needs-restarting >/dev/null; then
	if needs-restarting -r >/dev/null; then
		exit 75
	fi
	exit 0
fi
exit 75
