#!/bin/sh
# demo.sh [OPTION…]: installs what the build needs, builds the command alone, and runs `cleave demo`.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build
[ -e build-demo/build.ninja ] || meson setup build-demo >&2
ninja -C build-demo tools/cleave >&2
exec build-demo/tools/cleave demo "$@"
