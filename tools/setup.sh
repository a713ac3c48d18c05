#!/bin/sh
# setup.sh KIND…: installs those Debian packages of packages.txt of these kinds that are missing.
# Works as root, or with sudo.
set -eu
here=$(dirname "$0")

for kind in "$@"; do
  for package in $(sed -n "s/^$kind  *//p" "$here/packages.txt"); do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="${missing:-} $package"
  done
done
[ -n "${missing:-}" ] || exit 0

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
echo "installing:$missing" >&2
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
