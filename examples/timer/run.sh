#!/bin/sh
# Runs the example: three agents on this machine stand in for three hosts. Three times it starts the command of the unit with its drop-in
# on all of them at the same moment. run.sh [times]. WANDERD is the binary; if unset, it is built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
times=${1:-3}

work=$(mktemp -d "${TMPDIR:-/tmp}/wanderd-timer.XXXXXX")
agents=''
stop() {
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$agents" ] || { kill $agents 2>/dev/null && wait $agents; } || true
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

if [ -z "${WANDERD-}" ]; then
	WANDERD="$work/wanderd"
	(cd "$here/../.." && go build -o "$WANDERD" ./cmd/wanderd)
fi
printf 'skip = "50ms"\n[[gate]]\nname = "backup"\n' >"$work/wanderd.toml"
"$WANDERD" keygen --secret "$work/secret" >/dev/null

# agent name [flag…]: starts an agent, and prints its address once it listens.
agent() {
	name=$1
	shift
	"$WANDERD" --config "$work/wanderd.toml" --name "$name" --bind 127.0.0.1:0 --state-dir "$work/$name" \
		--secret-file "$work/secret" --log-level warn "$@" >"$work/$name.log" 2>&1 &
	agents="$agents $!"
	tries=300
	until "$WANDERD" status --json --state-dir "$work/$name" >"$work/status" 2>/dev/null; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { cat "$work/$name.log" >&2 && exit 1; }
		sleep 0.1
	done
	address=$(sed -n 's/.*"address": *"\([^"]*\)".*/\1/p' "$work/status" | head -n 1)
}
agent host1
agent host2 --join "$address"
agent host3 --join "$address"

# What systemd would start: the last ExecStart= counts. Here the two programs lie elsewhere.
start=$(sed -n 's/^ExecStart=//p' "$here/backup.service" "$here/gated.conf" | tail -n 1 |
	sed -e "s|^/usr/bin/wanderd|\"$WANDERD\"|" -e "s|/usr/local/bin/backup.sh|\"$here/backup.sh\"|")
export BACKUP_TO="$work"
while [ "$times" -gt 0 ]; do
	units=''
	for host in host1 host2 host3; do
		WANDERD_STATE_DIR="$work/$host" sh -c "exec $start" &
		units="$units $!"
	done
	for unit in $units; do
		wait "$unit" || echo "a unit ended with $?" >>"$work/collisions"
	done
	times=$((times - 1))
done

count() { if [ -e "$1" ]; then wc -l <"$1"; else echo 0; fi; }
cat "$work/backups"
printf '%s backups, %s collisions\n' "$(($(count "$work/backups")))" "$(($(count "$work/collisions")))"
