#!/bin/sh
# aarch64.sh [TEST…]: builds for aarch64 in build-aarch64 and runs the compiled tests in qemu, all or TEST…, at each level
# of LEVELS (default: neon dot i8mm). A level takes half an hour on two cores. Ends with the numbers of good, failed and
# skipped tests of each level. Exits with 77 if Debian's packages cannot be installed.
# aarch64.sh --bits: compares the outputs of 40 models with the outputs of the command in `build`, at each level.
# aarch64.sh --loops: estimates the inner loops of products by llvm-mca.
# aarch64.sh --instructions ARGUMENT…: counts instructions beside ONNX Runtime (tests/bench/aarch64-instructions.py).
# aarch64.sh --wheel FOLDER: packs a wheel for aarch64. It draws no pictures.
# aarch64.sh --packages FOLDER: cross-compiles the Debian packages, without introspection data and Python. Needs root.
set -eu
cd "$(dirname "$0")/.."
levels=${LEVELS:-neon dot i8mm}
# Optimization changes no bit of a result. Without -O3, kernels compile in a third of the time.
dir=build-aarch64 optimization=1
case ${1:-} in
--loops | --instructions | --wheel) dir=build-aarch64-fast optimization=3 ;;
esac

skip() {
  echo "SKIP aarch64: $1"
  exit 77
}

# Cross-compiles the packages in a Debian of its own, since they need packages of amd64 and arm64 at the same time.
build_packages() {
  debian=${XDG_CACHE_HOME:-$HOME/.cache}/cleave-cross-debian
  tools/setup.sh aarch64 >&2
  [ -e "$debian/etc/apt/sources.list" ] || mmdebstrap --variant=apt --architectures=amd64,arm64 \
    --include=build-essential,crossbuild-essential-arm64 bookworm "$debian" >&2
  rm -rf "$debian/build"
  mkdir -p "$debian/build/cleave" "$1"
  git archive "$(git stash create | grep . || echo HEAD)" | tar -x -C "$debian/build/cleave"
  cat >"$debian/build/inside" <<'INSIDE'
set -e
cd /build/cleave
export DEBIAN_FRONTEND=noninteractive DEB_BUILD_PROFILES='cross nogir nodoc nocheck'
apt-get update -qq
# The scripts of two packages of Graphviz run programs for arm64, which write a list of plugins. The build needs no list.
apt-get build-dep -y -qq --no-install-recommends -aarm64 . || {
  for package in libgvc6 libgvc6-plugins-gtk; do
    printf '#!/bin/sh\n' >"/var/lib/dpkg/info/$package.postinst"
  done
  dpkg --configure -a
}
DEB_BUILD_OPTIONS="nocheck parallel=$(nproc) $DEB_BUILD_OPTIONS" dpkg-buildpackage -aarm64 -B -us -uc
INSIDE
  # shellcheck disable=SC2016
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && chroot "$1" sh /build/inside' \
    sh "$debian" >&2
  cp "$debian"/build/*.deb "$debian"/build/*.changes "$1"
}

case ${1:-} in
--packages)
  [ $# -eq 2 ] || { echo 'usage: aarch64.sh --packages FOLDER' >&2; exit 2; }
  build_packages "$2"
  exit
  ;;
esac

tools/setup.sh build test check aarch64 >&2 || skip 'a cross compiler or qemu cannot be installed'
# All checkouts use the same folder, since its name is an argument of the compiler, and ccache compares arguments.
root=${XDG_CACHE_HOME:-$HOME/.cache}/cleave-aarch64
# Debian's arm64 packages are unpacked, not installed, since qemu would have to run the scripts of an installation.
needs=libc6-dev,libgcc-12-dev,libstdc++6,libgomp1,libglib2.0-dev,libigraph-dev,libgraphviz-dev,libprotobuf-c-dev,libonnx-dev
if [ ! -e "$root/complete" ]; then
  rm -rf "$root"
  mkdir -p "$(dirname "$root")"
  mmdebstrap --variant=extract --architectures=arm64 --include=$needs,libjson-glib-dev,check bookworm "$root" >&2 ||
    skip "the arm64 packages of Debian cannot be had"
  # In an installation, scripts of the packages make these links.
  ln -s blas/libblas.so.3 lapack/liblapack.so.3 "$root/usr/lib/aarch64-linux-gnu/"
  touch "$root/complete"
fi
if [ ! -e $dir/build.ninja ]; then
  printf "[constants]\nroot = '%s'\n" "$root" >"$root/root.ini"
  # Introspection, Python and docs would run programs of the host in qemu. The tests do not need the other packages.
  CC_LD='' meson setup $dir --cross-file "$root/root.ini" --cross-file tools/aarch64.ini -Dlevels=dot,i8mm \
    -Doptimization=$optimization -Db_pch=true -Dintrospection=disabled -Dpython=disabled -Ddocs=disabled -Dcompletions=disabled \
    -Dmpi=disabled -Dimages=disabled -Dpictures=disabled >&2
fi

# Prints the names of the tests that are programs for aarch64. Scripts would start the command without qemu.
list_tests() {
  meson introspect --tests $dir | python3 -c '
import json, os, sys
for test in json.load(sys.stdin):
    if test["cmd"][0].startswith(os.path.join(os.getcwd(), sys.argv[1]) + os.sep) and test["name"] != "runtime/fork":
        print(test["name"])' $dir
}

case ${1:-} in
--bits)
  ninja -C $dir tools/cleave >&2
  tools/build.sh build
  exec tests/tools/same-bits.py build/tools/cleave --under "qemu-aarch64 -L $root" $dir/tools/cleave
  ;;
--loops)
  tools/setup.sh mca >&2
  kernels=lib/runtime/kernels/libkernels
  objects="$kernels-neon.a.p/gemm_direct.c.o $kernels-dot.a.p/integers_byte-dot4.c.o
    $kernels-i8mm.a.p/integers_byte-dot4.c.o"
  # shellcheck disable=SC2086
  ninja -C $dir $objects >&2
  cd $dir
  # shellcheck disable=SC2086
  exec ../tests/bench/aarch64-loops.py --cpus neoverse-n1 --top 12 --at-least 80 $objects
  ;;
--instructions)
  shift
  ninja -C $dir tools/cleave >&2
  exec tests/bench/aarch64-instructions.py --root "$root" $dir/tools/cleave "$@"
  ;;
--wheel)
  [ $# -eq 2 ] || { echo 'usage: aarch64.sh --wheel FOLDER' >&2; exit 2; }
  tools/setup.sh wheel python >&2
  ninja -C $dir tools/cleave >&2
  # The introspection data are the same for all machines.
  [ -e build/build.ninja ] || meson setup build >&2
  ninja -C build Cleave-0.1.gir >&2
  exec python/wheel/pack.py $dir "$2" --root "$root" --machine aarch64 --gir build/Cleave-0.1.gir
  ;;
esac
[ $# -gt 0 ] || ninja -C $dir >&2
export CK_TIMEOUT_MULTIPLIER=10 # as -t, for the limits of single tests
failed=0 counts=
for level in $levels; do
  echo "level $level"
  left_out=0
  # Names of tests contain no spaces.
  if [ $# -gt 0 ]; then
    tests=$*
  else
    tests=$(list_tests)
    echo 'SKIP runtime/fork: qemu 7.2 aborts if the child of a process with several threads starts a thread'
    left_out=1
  fi
  # meson builds only the targets of these tests.
  # shellcheck disable=SC2086
  CLEAVE_LEVEL=$level meson test -C $dir --print-errorlogs -t 10 --logbase "$level" $tests || failed=1
  results=$dir/meson-logs/$level.json # one line for each test
  good=$(grep -c '"result": "OK"' "$results") || :
  skipped=$(grep -c '"result": "SKIP"' "$results") || :
  counts="$counts$level: $good good, $(($(wc -l <"$results") - good - skipped)) failed, $((skipped + left_out)) skipped
"
done
printf '%s' "$counts"
exit $failed
