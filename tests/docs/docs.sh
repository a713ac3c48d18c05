#!/bin/sh
# docs.sh: makes the reference with gi-docgen into build/docs, and fails if a public function is not documented.
set -eu
cd "$(dirname "$0")/../.."
tools/build.sh build
out=build/reference
mkdir -p "$out"

# The scanner reads declarations from the headers, and nothing but comments from the sources.
g-ir-scanner --quiet --warn-all --namespace=Cleave --nsversion=0.1 --identifier-prefix=Cleave --symbol-prefix=cleave \
  --include=GObject-2.0 --include=Gio-2.0 --pkg=gobject-2.0 --pkg=gio-2.0 -Iinclude \
  --library=cleave -Lbuild --c-include=cleave/cleave.h \
  include/cleave/*.h $(grep -rl '^/\*\*' lib passes --include='*.c') -o "$out/Cleave-0.1.gir" 2>"$out/scan.log" || {
  cat "$out/scan.log"
  exit 1
}

# Every function that a header declares has a comment above its definition.
missing=
for function in $(sed -nE '/CLEAVE_API/,/;/p' include/cleave/*.h | grep -oE '\bcleave_[a-z0-9_]+ \(' | sort -u | tr -d ' ('); do
  case $function in *_get_gtype | *_quark) continue ;; esac
  grep -rqE "^ \* $function:" lib passes --include='*.c' || missing="$missing $function"
done
[ -z "$missing" ] || { echo "not documented:$missing"; exit 1; }

gi-docgen generate --quiet --config docs/cleave.toml --content-dir docs --output-dir "$out/html" "$out/Cleave-0.1.gir"
echo 'docs: good'
