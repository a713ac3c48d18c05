#!/bin/sh
# test.sh [TEST…]: installs what build and tests need, builds, and runs the tests.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build python test
tools/build.sh build
# Limits are those of a machine that does nothing else.
exec meson test -C build --print-errorlogs -t 4 "$@"
