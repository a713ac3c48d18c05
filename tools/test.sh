#!/bin/sh
# test.sh [TEST…]: installs the packages that build and tests need, builds, and runs the tests.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build python test
tools/build.sh build
# The time limits of tests are for a machine without other load. Meson's limits and Check's are multiplied by four here.
export CK_TIMEOUT_MULTIPLIER=4
exec meson test -C build --print-errorlogs -t 4 "$@"
