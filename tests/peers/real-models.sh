#!/bin/sh
# real-models.sh CLEAVE FOLDER [ZOO,…]: fetches, then runs real-models.mjs; exits with 77, saying why, where it cannot.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v node >/dev/null || { echo 'SKIP: node is not installed'; exit 77; }
"$here/fetch.sh" "$2"
exec node "$here/real-models.mjs" "$@"
