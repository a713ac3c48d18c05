#!/bin/sh
# up-to-date.sh FILE COMMAND…: FILE is what COMMAND prints.
file=$1
shift
"$@" | diff -u "$file" - || { echo "make it anew: $* > $file"; exit 1; }
