#!/bin/sh
# build.sh DIR [MESON-OPTION…]: sets up DIR, a folder of the checkout, if it does not exist, and builds in it. A warning is
# an error.
set -eu
cd "$(dirname "$0")/.."
# Links with gold, if it is installed, since it is faster: linking takes a quarter of the time.
! command -v ld.gold >/dev/null || export CC_LD="${CC_LD:-gold}"
dir=$1
shift
[ -e "$dir/build.ninja" ] || meson setup "$dir" -Dwerror=true "$@" >&2
meson compile -C "$dir" >&2
