#!/bin/sh
# outside.sh BUILD SOURCE PREFIX: installs BUILD into PREFIX, compiles SOURCE with the flags of pkg-config, and runs it.
set -eu
build=$1 source=$2 prefix=$3
command -v pkg-config >/dev/null || { echo 'SKIP: no pkg-config'; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
pc=$(find "$root" -name cleave.pc)
sed -i "s|^prefix=.*|prefix=$root$prefix|" "$pc"
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -std=gnu11 -Wall -Wextra -Werror "$source" -o "$root/program" $(pkg-config --cflags --libs cleave)
lib=$(pkg-config --variable=libdir cleave)
unset CLEAVE_MODULE_DIR
cd "$root"
LD_LIBRARY_PATH=$lib ./program before.dot after.dot >/dev/null
[ -s after.dot ]
if [ -e "$lib/cleave/libcleave-render.so" ]; then
  LD_LIBRARY_PATH=$lib ./program before.svg after.svg >/dev/null
  [ -s after.svg ]
fi
# Types in the public headers, and GCancellable.
others=$(pkg-config --print-requires cleave | sort | tr '\n' ' ')
[ "$others" = 'gio-2.0 gobject-2.0 ' ] || { echo "cleave.pc requires $others"; exit 1; }
echo 'outside: good'
