#!/bin/sh
# Stands in for a backup to a server that can take one client at a time. BACKUP_TO is that server: a folder in which a second client is noticed.
set -eu
to=${BACKUP_TO:?BACKUP_TO is the folder to write to}

if ! mkdir "$to/busy" 2>/dev/null; then
	echo "${WANDERD_NAME-nobody} comes while another one is at work" >>"$to/collisions"
	exit 1
fi
trap 'rmdir "$to/busy"' EXIT
sleep "${BACKUP_TAKES:-0.3}"
echo "${WANDERD_NAME-nobody} ${WANDERD_SEQ-without a number}" >>"$to/backups"
