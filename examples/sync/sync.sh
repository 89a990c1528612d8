#!/bin/sh
# A hook for wanderd: mirrors a tree with rsync.
#
#   SYNC_FROM  the source: an rsync URL or a folder. Unset: a temporary rsync daemon on loopback with a generated tree,
#              so that the example runs alone.
#   SYNC_TO    the destination. Unset: this member's own folder in the cache directory of the agent's user.
#
# A run with a lower WANDERD_SEQ than the destination has already seen has been overtaken, and changes nothing. In a gate with
# several slots, the numbers are compared for each slot.
set -eu

say() { echo "sync: $*"; }
fail() {
	say "$*" >&2
	exit 1
}

if [ -z "${SYNC_FROM-}" ]; then
	exec "$(dirname "$0")/origin.sh" "$0"
fi

seq=${WANDERD_SEQ:-0}
who=${WANDERD_NAME:-nobody}
to=${SYNC_TO:-${XDG_CACHE_HOME:-${HOME:?sync: set SYNC_TO or HOME}/.cache}/wanderd-example/${WANDERD_MEMBER:-by-hand}}
mkdir -p "$to/tree"

# A lock cannot exclude a process that was paused, but the resource can: it remembers the highest number. The file lock makes
# "compare and record" one step; without flock(1) the step has a gap of a millisecond.
exec 9>>"$to/.lock"
if command -v flock >/dev/null; then
	flock -w 10 9 || fail "another sync has been writing to $to for 10 s"
fi
last="$to/.last-seq-${WANDERD_SLOT:-0}"
seen=0
[ ! -e "$last" ] || read -r seen <"$last" || true
case $seen in
'' | *[!0-9]*) fail "$last should contain a number, but contains \"$seen\": remove it if you know why" ;;
esac
if [ "$seq" -lt "$seen" ]; then
	fail "$who comes with number $seq, but $to has seen $seen: overtaken, nothing is changed." \
		"If the fleet was set up again, remove $last"
fi
echo "$seq" >"$last.new"
mv "$last.new" "$last"

say "$who ($seq of token ${WANDERD_TOKEN:-none}): $SYNC_FROM to $to"
if command -v rsync >/dev/null; then
	rsync --archive --delete --delay-updates --timeout=30 "$SYNC_FROM/" "$to/tree/"
elif [ -d "$SYNC_FROM" ]; then
	say "rsync is not installed: copying with cp instead"
	rm -rf "$to/tree.new"
	cp -R "$SYNC_FROM" "$to/tree.new"
	rm -rf "$to/tree"
	mv "$to/tree.new" "$to/tree"
else
	fail "rsync is not installed, and $SYNC_FROM is not a folder: install rsync"
fi
say "$who: done"
