#!/bin/sh
# Runs the example: three agents on this machine refresh their caches from one origin, which counts simultaneous downloads.
# run.sh [seconds], 20 by default; Ctrl-C ends it earlier. ORIGIN is the origin program; if unset, it is built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d "${TMPDIR:-/tmp}/wanderd-cache.XXXXXX")
origin=
stop() {
	[ -z "$origin" ] || kill "$origin" 2>/dev/null || true
	[ -z "$origin" ] || wait "$origin" 2>/dev/null || true
	rm -rf "$work"
}
trap stop EXIT
trap : INT TERM

if [ -z "${ORIGIN-}" ]; then
	ORIGIN="$work/origin"
	(cd "$here/../.." && go build -o "$ORIGIN" ./examples/cache-refresh/origin)
fi
"$ORIGIN" serve >"$work/url" &
origin=$!
tries=50
until [ -s "$work/url" ]; do
	tries=$((tries - 1))
	if [ "$tries" -eq 0 ] || ! kill -0 "$origin" 2>/dev/null; then
		echo "run: the origin did not start" >&2
		exit 1
	fi
	sleep 0.1
done
url=$(cat "$work/url")

export CACHE_FROM="$url/artifact" CACHE_FETCH="$ORIGIN"
"$here/../fleet.sh" "$here/refresh.sh" "${1:-20}" || echo "the fleet did not end well" >&2

"$ORIGIN" fetch "$url/stats" "$work/stats"
cat "$work/stats"
