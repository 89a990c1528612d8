#!/bin/sh
# Runs the example: three agents on this machine mirror one tree from an rsync daemon that accepts one client at a time and turns
# away others. run.sh [seconds], 20 by default; Ctrl-C ends it earlier.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

if [ -z "${SYNC_FROM-}" ]; then
	exec "$here/origin.sh" "$0" "$@"
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/wanderd-sync.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap : INT TERM

# Each member mirrors to its own folder in there.
FLEET_CACHE="$work" "$here/../fleet.sh" "$here/sync.sh" "${1:-20}" || echo "the fleet did not end well" >&2

mirrors=$(find "$work/wanderd-example" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
if [ -e "${ORIGIN_LOG-}" ]; then
	printf '%s mirrors, %s transfers, %s turned away\n' "$((mirrors))" \
		"$(grep -c 'rsync on tree-[0-9]*/ from' "$ORIGIN_LOG")" "$(grep -c 'max connections' "$ORIGIN_LOG")"
else
	printf '%s mirrors\n' "$((mirrors))"
fi
