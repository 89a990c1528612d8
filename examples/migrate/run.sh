#!/bin/sh
# Runs the example: three agents on this machine stand in for three hosts. A new release starts on all of them at the same moment, and
# each would migrate the database. run.sh. WANDERD is the binary; if unset, it is built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d "${TMPDIR:-/tmp}/wanderd-migrate.XXXXXX")
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
"$WANDERD" keygen --secret "$work/secret" >/dev/null

# agent name [flag…]: starts an agent, and prints its address once it listens.
agent() {
	name=$1
	shift
	"$WANDERD" --config "$here/wanderd.toml" --name "$name" --bind 127.0.0.1:0 --state-dir "$work/$name" \
		--secret-file "$work/secret" --log-level error "$@" >"$work/$name.log" 2>&1 &
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

export DB="$work/db"
mkdir "$DB"
echo 1 >"$DB/version"
releases=''
for host in host1 host2 host3; do
	"$WANDERD" exec --state-dir "$work/$host" --wait 2m -- "$here/migrate.sh" 2 &
	releases="$releases $!"
done
for release in $releases; do
	wait "$release" || echo "a release ended with $?" >>"$DB/collisions"
done

count() { if [ -e "$1" ]; then wc -l <"$1"; else echo 0; fi; }
printf '%s migrations, %s collisions\n' "$(($(count "$DB/migrations")))" "$(($(count "$DB/collisions")))"
