#!/bin/sh
# A hook for wanderd: refreshes a local cache from an origin over HTTP.
#
#   CACHE_FROM   the URL of what is cached
#   CACHE_DIR    where the cache is. Unset: a folder of this member's own under the cache directory of whoever runs the agent
#   CACHE_FETCH  the example's origin program, which fetches where there is no curl
#
# The origin is told WANDERD_SEQ, and refuses whoever comes with a lower number than it has already seen.
set -eu

say() { echo "refresh: $*"; }
fail() {
	say "$*" >&2
	exit 1
}

from=${CACHE_FROM:-}
[ -n "$from" ] || fail "set CACHE_FROM to the URL of what is to be cached; run.sh shows how"
seq=${WANDERD_SEQ:-0}
who=${WANDERD_NAME:-nobody}
dir=${CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:?refresh: set CACHE_DIR or HOME}/.cache}/wanderd-example/${WANDERD_MEMBER:-by-hand}}
mkdir -p "$dir"
new="$dir/.artifact.new"
trap 'rm -f "$new"' EXIT

# Better to give up by oneself than to be stopped.
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

# Readers of the cache see the old one or the new one, never half of it.
mv "$new" "$dir/artifact"
say "$who ($seq): $(wc -c <"$dir/artifact") bytes from $from"
