#!/bin/sh
# Runs a command beside a temporary rsync daemon: origin.sh command [argument…]
#
# The daemon needs no privileges, serves a generated tree on a free port of loopback, and accepts one client at a time. The
# command gets its URL in SYNC_FROM, and the path of its log in ORIGIN_LOG. When the command ends, the script stops the daemon
# and removes its files. Without rsync, SYNC_FROM is the tree itself.
set -eu

work=$(mktemp -d "${TMPDIR:-/tmp}/wanderd-origin.XXXXXX")
daemon=
stop() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
	[ -z "$daemon" ] || wait "$daemon" 2>/dev/null || true
	daemon=
}
clean_up() {
	stop
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# The tree: 8 folders of 8 files, 2 MiB.
for folder in 1 2 3 4 5 6 7 8; do
	mkdir -p "$work/tree/$folder"
	for file in 1 2 3 4 5 6 7 8; do
		head -c 32768 /dev/urandom >"$work/tree/$folder/$file"
	done
done

# serve port: starts the daemon and waits until it answers; false if the port is not free. With "uid" the daemon keeps its user:
# started by root, it would become nobody, who may not read the tree.
serve() {
	cat >"$work/rsyncd.conf" <<-CONF
		address = 127.0.0.1
		port = $1
		use chroot = no
		uid = $(id -u)
		log file = $work/log
		lock file = $work/lock
		[tree-$$]
		path = $work/tree
		max connections = 1
	CONF
	rsync --daemon --no-detach --config="$work/rsyncd.conf" >/dev/null 2>&1 &
	daemon=$!
	SYNC_FROM="rsync://127.0.0.1:$1/tree-$$"
	tries=50
	while [ "$tries" -gt 0 ]; do
		kill -0 "$daemon" 2>/dev/null || break
		rsync --contimeout=5 "rsync://127.0.0.1:$1/" 2>/dev/null | grep -q "^tree-$$" && return 0
		sleep 0.1
		tries=$((tries - 1))
	done
	stop
	return 1
}

if command -v rsync >/dev/null; then
	# Only the daemon can find out whether a port is free.
	port=$((20000 + $$ % 10000))
	last=$((port + 20))
	until serve "$port"; do
		port=$((port + 1))
		if [ "$port" -gt "$last" ]; then
			echo "origin: no rsync daemon starts on ports $((last - 20)) to $last of 127.0.0.1; its log:" >&2
			cat "$work/log" >&2 2>/dev/null || true
			exit 1
		fi
	done
else
	SYNC_FROM="$work/tree"
fi
export SYNC_FROM
ORIGIN_LOG="$work/log"
export ORIGIN_LOG
# From here on the command handles signals.
trap : HUP INT TERM
"$@"
