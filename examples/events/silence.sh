#!/bin/sh
# An on_event of wanderd: silences the alerts of this host in Alertmanager for the time of a run.
set -eu
: "${ALERTMANAGER:?name its address, as in http://alerts.example.org:9093}"
host=${INSTANCE:-$WANDERD_EVENT_HOST}
note=${STATE:-/run/wanderd-silences}/$WANDERD_EVENT_GATE

at() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }
# Status 75 lets wanderd try again later.
api() { curl -sSf --max-time 10 -H 'Content-Type: application/json' "$@" || exit 75; }

case $WANDERD_EVENT in
started)
	now=$(date +%s)
	mkdir -p "${note%/*}"
	answer=$(api "$ALERTMANAGER/api/v2/silences" -d "{
		\"matchers\": [{\"name\": \"instance\", \"value\": \"$host\", \"isRegex\": false}],
		\"startsAt\": \"$(at "$now")\", \"endsAt\": \"$(at $((now + ${SILENCE:-3600})))\",
		\"createdBy\": \"wanderd\", \"comment\": \"gate $WANDERD_EVENT_GATE, number $WANDERD_EVENT_SEQ\"}")
	echo "$answer" | sed -n 's/.*"silenceID": *"\([0-9a-f-]*\)".*/\1/p' >"$note"
	;;
ended | failed)
	[ -s "$note" ] || exit 0
	api -X DELETE "$ALERTMANAGER/api/v2/silence/$(cat "$note")"
	rm -f "$note"
	;;
esac
