#!/bin/sh
# runtime-packages.sh PREFIX: prints the Debian packages of the shared libraries that the programs and libraries below PREFIX
# need. Leaves out shared libraries that are below PREFIX themselves.
set -eu
folders=$(find "$1" -name '*.so*' -printf '%h\n' | sort -u | paste -sd :)
find "$1" -type f \( -path '*/bin/*' -o -name '*.so*' \) -exec env LD_LIBRARY_PATH="$folders" ldd {} + |
  sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | sort -u | grep -v "^$1/" |
  while read -r file; do
    # If /lib is a link to /usr/lib, ldd may print another name of the file than dpkg has.
    dpkg -S "$file" 2>/dev/null || dpkg -S "/usr$file" 2>/dev/null || dpkg -S "$(realpath "$file")"
  done | sed 's/:.*//' | sort -u
