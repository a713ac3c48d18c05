#!/bin/sh
# aarch64.sh [TEST…]: builds for aarch64 in build-aarch64 and runs tests in qemu, at the best level that qemu has.
# CLEAVE_LEVEL=neon, dot or generic: runs them at this level.
# aarch64.sh --bits: compares the outputs of 40 models with those of the command in `build`, at each level.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build test check aarch64
dir=build-aarch64
root=$PWD/$dir-root

# Debian's arm64 packages are unpacked, not installed: their scripts would run in qemu.
needs=libc6-dev,libgcc-12-dev,libgomp1,libglib2.0-dev,libigraph-dev,libgraphviz-dev,libprotobuf-c-dev,libonnx-dev
if [ ! -e "$root/complete" ]; then
  rm -rf "$root"
  mmdebstrap --variant=extract --architectures=arm64 --include=$needs,libjson-glib-dev,check bookworm "$root" >&2
  # Scripts of the packages would make these links.
  ln -s blas/libblas.so.3 lapack/liblapack.so.3 "$root/usr/lib/aarch64-linux-gnu/"
  touch "$root/complete"
fi
if [ ! -e $dir/build.ninja ]; then
  printf "[constants]\nroot = '%s'\n" "$root" >"$root/root.ini"
  # Introspection, Python and docs would run programs of the host in qemu. The tests do not need the other packages.
  CC_LD='' meson setup $dir --cross-file "$root/root.ini" --cross-file tools/aarch64.ini -Dlevels=dot,i8mm,generic \
    -Dintrospection=disabled -Dpython=disabled -Ddocs=disabled -Dcompletions=disabled -Dmpi=disabled -Dimages=disabled \
    -Dpictures=disabled >&2
fi
ninja -C $dir >&2
if [ "${1:-}" = --bits ]; then
  tools/build.sh build
  exec tests/tools/same-bits.py build/tools/cleave --under "qemu-aarch64 -L $root" $dir/tools/cleave
fi
exec meson test -C $dir --no-rebuild --print-errorlogs -t 40 "$@"
