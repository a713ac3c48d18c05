#!/bin/sh
# run.sh SCRIPT CLEAVE FOLDER [...]: downloads into FOLDER, then runs SCRIPT.mjs. Exits with 77 and the reason if it
# cannot.
set -eu
script=$(cd "$(dirname "$0")" && pwd)/$1.mjs
shift
command -v node >/dev/null || { echo 'SKIP: node is not installed'; exit 77; }
"$(dirname "$script")/fetch.sh" "$2" ${3:+"$3"}
exec node "$script" "$@"
