#!/bin/sh
# test.sh [TEST…]: installs what build and tests need, builds, and runs the tests.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build python test
tools/build.sh build
# Limits of time are for a machine that does nothing else, so multiply meson's limits and Check's by four.
export CK_TIMEOUT_MULTIPLIER=4
exec meson test -C build --print-errorlogs -t 4 "$@"
