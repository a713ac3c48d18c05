#!/bin/sh
# run.sh SCRIPT CLEAVE FOLDER [...]: downloads the models and ONNX Runtime into FOLDER, and runs SCRIPT.mjs. If that is not
# possible, prints the reason and exits with 77.
set -eu
script=$(cd "$(dirname "$0")" && pwd)/$1.mjs
shift
command -v node >/dev/null || { echo 'SKIP: node is not installed'; exit 77; }
"$(dirname "$script")/fetch.sh" "$2" ${3:+"$3"}
exec node "$script" "$@"
