#!/bin/sh
# The secret and the state stay: if the package is installed again, the host is the same member. "apt purge" removes them.
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
[ "$1" != purge ] || rm -rf /var/lib/wanderd /etc/wanderd
