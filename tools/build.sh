#!/bin/sh
# build.sh DIR [MESON-OPTION…]: sets up (once) and builds in DIR, below the checkout.  A warning is an error.
set -eu
cd "$(dirname "$0")/.."
# The test programs are 200, each linked with the whole library: a quarter of the time.
! command -v ld.gold >/dev/null || export CC_LD="${CC_LD:-gold}"
dir=$1
shift
[ -e "$dir/build.ninja" ] || meson setup "$dir" -Dwerror=true "$@" >&2
meson compile -C "$dir" >&2
