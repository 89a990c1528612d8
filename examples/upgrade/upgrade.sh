#!/bin/sh
# The hook: one host at a time.
set -eu
export DEBIAN_FRONTEND=noninteractive
exec apt-get --quiet --yes upgrade
