#!/bin/sh
# linked.sh LIBRARY: checks that the libraries for drawing are not loaded in processes that only split and run.
found=$(ldd "$1" | grep -E 'lib(gvc|cairo|pango|gd|X11|Xext|rsvg|harfbuzz|fontconfig|freetype)[^a-z]')
[ -z "$found" ] || { printf '%s links\n%s\n' "$1" "$found"; exit 1; }
ldd "$1" | grep -q libcgraph || { echo "ldd tells nothing of $1"; exit 1; }
echo 'linked: good'
