#!/bin/sh
# build.sh DIR [MESON-OPTION…]: sets up (once) and builds in DIR, below the checkout.  A warning is an error.
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
[ -e "$dir/build.ninja" ] || meson setup "$dir" -Dwerror=true "$@" >&2
meson compile -C "$dir" >&2
