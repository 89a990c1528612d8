#!/bin/sh
# Stands in for a migration of a database that must never run twice at once: $DB is a folder with the version of the schema. It refuses to
# write if the database has seen its number or a higher one, and notices when another migration runs.
set -eu
want=${1:-2}
seq=${WANDERD_SEQ:?run me under wanderd exec}

last=$(cat "$DB/fence" 2>/dev/null || echo 0)
[ "$seq" -gt "$last" ] || { echo "number $seq comes after $last: refused" >&2 && exit 1; }
echo "$seq" >"$DB/fence"

[ "$(cat "$DB/version")" -lt "$want" ] || { echo "$WANDERD_NAME finds version $want" && exit 0; }
mkdir "$DB/busy" || { echo "$WANDERD_NAME is not alone" >>"$DB/collisions" && exit 1; }
sleep "${WORK:-0.3}"
echo "$want" >"$DB/version"
rmdir "$DB/busy"
echo "$WANDERD_NAME migrates to version $want" | tee -a "$DB/migrations"
