#!/bin/sh
# run.sh SCRIPT CLEAVE FOLDER […]: fetches into FOLDER, then runs SCRIPT.mjs; exits with 77, saying why, where it cannot.
set -eu
script=$(cd "$(dirname "$0")" && pwd)/$1.mjs
shift
command -v node >/dev/null || { echo 'SKIP: node is not installed'; exit 77; }
"$(dirname "$script")/fetch.sh" "$2" ${3:+"$3"}
exec node "$script" "$@"
