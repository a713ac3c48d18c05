#!/bin/sh
# build.sh DIR [MESON-OPTION…]: sets up (once) and builds in DIR, below the checkout.
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
[ -e "$dir/build.ninja" ] || meson setup "$dir" "$@" >&2
meson compile -C "$dir" >&2
