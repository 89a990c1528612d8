#!/bin/sh
# The secret and the state stay, so that a host that gets the package again is the member that it was. "apt purge" removes them.
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
[ "$1" != purge ] || rm -rf /var/lib/wanderd /etc/wanderd
