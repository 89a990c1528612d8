#!/bin/sh
# A hook for wanderd: refreshes a local cache from an origin over HTTP.
#
#   CACHE_FROM   the URL of the artifact
#   CACHE_DIR    the folder of the cache. Unset: this member's own folder in the cache directory of the agent's user
#   CACHE_FETCH  the example's origin program, which downloads if curl is not installed
#
# The hook sends WANDERD_SEQ to the origin, which refuses a lower number than it has already seen.
set -eu

say() { echo "refresh: $*"; }
fail() {
	say "$*" >&2
	exit 1
}

from=${CACHE_FROM:-}
[ -n "$from" ] || fail "set CACHE_FROM to the URL of the artifact, as run.sh does"
seq=${WANDERD_SEQ:-0}
who=${WANDERD_NAME:-nobody}
dir=${CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:?refresh: set CACHE_DIR or HOME}/.cache}/wanderd-example/${WANDERD_MEMBER:-by-hand}}
mkdir -p "$dir"
new="$dir/.artifact.new"
trap 'rm -f "$new"' EXIT

# It is better to fail before the timeout than to be stopped by it.
left=60
[ -z "${WANDERD_DEADLINE-}" ] || left=$((WANDERD_DEADLINE - $(date +%s)))
[ "$left" -gt 0 ] || fail "no time is left before the deadline"

if command -v curl >/dev/null; then
	curl --fail --silent --show-error --max-time "$left" --header "Wanderd-Seq: $seq" --output "$new" "$from"
elif [ -n "${CACHE_FETCH-}" ]; then
	"$CACHE_FETCH" fetch --within "${left}s" --seq "$seq" "$from" "$new"
else
	fail "curl is not installed: install it, or set CACHE_FETCH to the example's origin program"
fi

# Readers of the cache see the old or the new artifact, never a part.
mv "$new" "$dir/artifact"
say "$who ($seq): $(wc -c <"$dir/artifact") bytes from $from"
