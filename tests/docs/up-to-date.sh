#!/bin/sh
# up-to-date.sh FILE COMMAND...: checks that FILE is equal to the output of COMMAND.
file=$1
shift
made=$(mktemp) || exit 1
trap 'rm -f "$made"' EXIT
"$@" >"$made" || { echo "failed: $*"; exit 1; }
diff -u "$file" "$made" || { echo "regenerate it: $* > $file"; exit 1; }
