#!/bin/sh
# Runs a hook on a fleet of three agents on this machine: fleet.sh hook [seconds]
#
# The agents choose free ports, share a new secret, and stop after the given seconds (20 by default) or at Ctrl-C. Each line of
# their logs begins with the agent's name. WANDERD is the binary; if unset, it is built. FLEET_CACHE is the hooks' cache folder;
# if unset, a temporary folder is used and removed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
hook=${1:?fleet.sh hook [seconds]}
seconds=${2:-20}

work=$(mktemp -d "${TMPDIR:-/tmp}/wanderd-fleet.XXXXXX")
agents='' timer=''
stop() {
	trap '' INT TERM
	[ -z "$timer" ] || kill "$timer" 2>/dev/null || true
	for pid in "$work"/*.pid; do
		[ ! -e "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || true
	done
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$agents" ] || wait $agents || true
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 0' INT TERM

if [ -z "${WANDERD-}" ]; then
	WANDERD="$work/wanderd"
	echo "fleet: building wanderd; set WANDERD to a binary to skip this" >&2
	(cd "$here/.." && go build -o "$WANDERD" ./cmd/wanderd)
fi
"$WANDERD" keygen --secret "$work/secret" >/dev/null

# agent name [flag…]: starts an agent in the background. The constants are short, so that the demonstration is.
agent() {
	name=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	XDG_CACHE_HOME="${FLEET_CACHE:-$work/cache}" sh -c 'echo $$ >"$0" && exec "$@"' "$work/$name.pid" "$WANDERD" --name "$name" --bind 127.0.0.1:0 \
		--state-dir "$work/$name" --secret-file "$work/secret" --hook "$hook" \
		--skip 50ms --op 300ms --min-interval 2s --log-format console "$@" 2>&1 |
		while IFS= read -r line; do printf '%s: %s\n' "$name" "$line"; done &
	agents="$agents $!"
}

# address name: waits until an agent listens, and prints its address.
address() {
	tries=300
	until "$WANDERD" status --json --state-dir "$work/$1" >"$work/status" 2>/dev/null; do
		tries=$((tries - 1))
		if [ "$tries" -eq 0 ]; then
			echo "fleet: agent $1 did not start" >&2
			return 1
		fi
		sleep 0.1
	done
	sed -n 's/.*"address": *"\([^"]*\)".*/\1/p' "$work/status" | head -n 1
}

agent a
first=$(address a)
agent b --join "$first"
agent c --join "$first"

# A signal interrupts wait, but not a foreground command.
sleep "$seconds" &
timer=$!
wait "$timer"
