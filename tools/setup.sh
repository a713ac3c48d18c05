#!/bin/sh
# setup.sh KIND…: installs the Debian packages of these kinds in packages.txt that are missing. Runs as root, or with
# sudo.
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
