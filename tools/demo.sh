#!/bin/sh
# demo.sh [OPTION…]: installs what the build needs, builds, and runs `cleave demo`.
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build
tools/build.sh build
exec build/tools/cleave demo "$@"
