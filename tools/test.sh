#!/bin/sh
# test.sh [TEST…]: installs what build and tests need, builds, and runs the tests.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build python test
tools/build.sh build
# Limits are those of a machine that does nothing else: four times as long, for meson's limits and those of Check.
export CK_TIMEOUT_MULTIPLIER=4
exec meson test -C build --print-errorlogs -t 4 "$@"
