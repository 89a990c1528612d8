#!/bin/sh
# After an installation or an upgrade. A running agent is restarted: it passes its token on first, and a run that has begun is stopped.
set -e
systemd-sysusers wanderd.conf
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
systemctl try-restart wanderd.service
# deb says "configure" with the version of before, rpm how many versions are installed.
case "$1 $2" in
"configure " | "1 ")
	cat <<-'TEXT'
	wanderd is installed, and does nothing yet:
	  1. wanderd keygen --secret /etc/wanderd/fleet-secret   (on one host; copy the file to the others)
	  2. edit /etc/wanderd/wanderd.toml                      (hook, join)
	  3. systemctl enable --now wanderd
	TEXT
	;;
esac
