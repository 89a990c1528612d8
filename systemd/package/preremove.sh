#!/bin/sh
# Before a removal, but not before an upgrade: deb says "remove", rpm 0.
set -e
case "$1" in
remove | 0) [ ! -d /run/systemd/system ] || systemctl disable --now wanderd.service ;;
esac
