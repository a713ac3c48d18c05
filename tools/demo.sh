#!/bin/sh
# demo.sh [OPTION…]: installs the tools of the build, builds the command for this processor alone, and runs the
# transcript of README.md. The demo writes a model, splits it into 4x4 tiles, and fits it into 2 MiB. OPTIONs go to
# `cleave demo`.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build

# Compiling kernels for the other levels of x86-64 would take half of the time.
flags=$(sed -n 's/^flags.*: / /p' /proc/cpuinfo | head -n 1)
case "$flags " in
  *" avx512f "*" avx512vl "*) level=v4 v1=false ;;
  *" fma "*" avx2 "*) level=v3 v1=false ;;
  *) level= v1=true ;;
esac
[ -e build-demo/build.ninja ] ||
  meson setup build-demo "-Dlevels=$level" -Dv1=$v1 -Dtests=disabled -Ddocs=disabled -Dpython=disabled -Dintrospection=disabled \
    -Dmpi=disabled -Dimages=disabled -Dcompletions=disabled >&2
ninja -C build-demo >&2

run() {
  echo
  echo "\$ cleave $*"
  "$OLDPWD/build-demo/tools/cleave" "$@"
}
mkdir -p build-demo/demo
cd build-demo/demo
run demo --model model.onnx "$@"
run fit model.onnx --max-memory 2MiB -o fitted.onnx --check
../tools/cleave memory model.onnx --after fitted.onnx --max-memory 2MiB -o memory.svg >/dev/null
echo
echo "Look at $PWD/memory.svg, demo-before.svg and demo-after.svg; the command is $OLDPWD/build-demo/tools/cleave"
