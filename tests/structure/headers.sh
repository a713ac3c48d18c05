#!/bin/sh
# Checks that each public header compiles alone, as C and (if there is a compiler) as C++. Checks that no header found
# by -I hides a system header of the same name.
cd "$(dirname "$0")/../.." || exit 2
flags="$(pkg-config --cflags gobject-2.0) $(pkg-config --cflags mpi-c 2>/dev/null | sed "s,-I,-isystem ,g")"
failed=0

# One compiler process checks all headers.
for header in lib/onnx/*.h lib/ops/*.h lib/runtime/kernels/*.h passes/*.h tests/*.h tests/help/*.h; do
  [ -e "$header" ] || continue
  printf '#if __has_include(<%s>)\n#error %s hides a header of the system\n#endif\n' "${header##*/}" "$header"
done | cc -E -o /dev/null - || failed=1

for header in include/cleave/*.h; do
  case $header in */cleave-mpi.h) pkg-config --exists mpi-c || continue ;; esac
  for compiler in 'cc -x c -std=gnu11' 'c++ -x c++ -std=gnu++17'; do
    command -v "${compiler%% *}" >/dev/null || continue
    # shellcheck disable=SC2086
    echo "#include <cleave/${header##*/}>" |
      $compiler -Wall -Wextra -Werror -fsyntax-only -Iinclude $flags - || { echo "$header: $compiler"; failed=1; }
  done
done
[ "$failed" -eq 0 ] && echo 'headers: good'
exit "$failed"
