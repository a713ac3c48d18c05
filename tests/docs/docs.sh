#!/bin/sh
# docs.sh: builds the reference with gi-docgen into build/reference, and fails if a public function is not documented.
set -eu
cd "$(dirname "$0")/../.."
tools/build.sh build

# Every function that a header declares must have a comment above its definition. Modules define
# cleave_register_passes ().
missing=
for function in $(sed -nE '/CLEAVE_API/,/;/p' include/cleave/*.h | grep -oE '\bcleave_[a-z0-9_]+ \(' | sort -u | tr -d ' ('); do
  case $function in *_get_gtype | *_quark | cleave_register_passes) continue ;; esac
  grep -rqE "^ \* $function:" lib passes --include='*.c' || missing="$missing $function"
done
[ -z "$missing" ] || { echo "not documented:$missing"; exit 1; }

tests/docs/documented.py build/Cleave-0.1.gir
docs/reference.py gi-docgen docs/cleave.toml docs build/Cleave-0.1.gir build/reference
tests/docs/console.sh "$PWD/build/reference/guide.html" "$PWD/build/reference/guide.html?q=halo" "$PWD/build/reference/index.html"
echo 'docs: good'
