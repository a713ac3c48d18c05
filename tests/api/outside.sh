#!/bin/sh
# outside.sh BUILD DOCS PREFIX TYPELIB: installs BUILD into PREFIX. With the flags of pkg-config, it compiles a program
# and a module with a pass, and runs them with the installed library and command. Then it runs a Python script with the
# installed TYPELIB, true or false.
set -eu
build=$1 docs=$2 prefix=$3 typelib=$4
command -v pkg-config >/dev/null || { echo 'SKIP: no pkg-config'; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
pc=$(find "$root" -name cleave.pc)
sed -i "s|^prefix=.*|prefix=$root$prefix|" "$pc"
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs cleave)
lib=$(pkg-config --variable=libdir cleave)
LD_LIBRARY_PATH=$lib
export LD_LIBRARY_PATH
unset CLEAVE_MODULE_DIR CLEAVE_DEBUG
cd "$root"

# Compiles and runs a program.
# shellcheck disable=SC2086
cc -std=gnu11 -Wall -Wextra -Werror "$docs/example.c" -o program $flags
./program before.dot after.dot >/dev/null
[ -s after.dot ]
if [ -e "$lib/cleave/libcleave-render.so" ]; then
  ./program before.svg after.svg >/dev/null
  [ -s after.svg ]
fi
# The public headers use types of GObject, and GCancellable of GIO.
others=$(pkg-config --print-requires cleave | sort | tr '\n' ' ')
[ "$others" = 'gio-2.0 gobject-2.0 ' ] || { echo "cleave.pc requires $others"; exit 1; }

# Compiles a module with a pass that creates nodes. The command names, lists, checks, prints and bisects the pass like a
# pass of the library.
# shellcheck disable=SC2086
cc -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -shared -fPIC "$docs/examples/lower-sub.c" -o my-pass.so $flags
cat >model.cleave <<'END'
%a = Input : float32 4  # a
%b = Input : float32 4  # b
%c = Sub %a, %b  # c
%d = Sub %c, %b  # d
output %d  # d
END
command=$root$prefix/bin/cleave
if [ -x "$command" ]; then
  opt () { "$command" opt --load my-pass.so "$@"; }
  opt --list-passes | grep -A 2 -x 'lower-sub' | grep -q 'except=NODE'
  opt model.cleave -p 'lower-sub{except=c},clean-up' --verify-each --print-changed -o one.cleave 2>changes
  grep -q '^+neg = Neg b' changes
  [ "$(grep -c ' = Sub ' one.cleave)" -eq 1 ]
  opt model.cleave -p 'repeat(lower-sub,remove-dead)' -o all.cleave
  if grep ' = Sub ' all.cleave; then exit 1; fi
  "$command" diff model.cleave all.cleave | grep -q 'equal, bit for bit'
  # With --bisect N, passes run until N of them have changed the graph. With 0, the module's pass must not run. With 1
  # it runs, and remove-dead does not.
  opt model.cleave -p lower-sub,remove-dead --bisect 0 -o none.cleave
  if grep ' = Neg ' none.cleave; then exit 1; fi
  opt model.cleave -p lower-sub,remove-dead --bisect 1 -o first.cleave
  grep -q ' = Neg ' first.cleave
  grep -q ' = Sub ' first.cleave
  opt model.cleave -p lower-sub --stop-after lower-sub --time-passes 2>&1 | grep -q 'lower-sub'
  CLEAVE_DEBUG=validate,print opt model.cleave -p lower-sub 2>&1 | grep -q '^after lower-sub:$'
  opt model.cleave -p lower-sub --reduce 'grep -q "= Sub" "$1" && test "$2" = lower-sub' -o small.cleave 2>/dev/null
  [ "$(grep -c ' = Sub ' small.cleave)" -eq 1 ]
fi

# Runs a Python script, if Python has PyGObject.
[ "$typelib" = true ] || { echo 'outside: good, without Python'; exit; }
cat >script.py <<'END'
import gi
gi.require_version('Cleave', '0.1')
from gi.repository import Cleave

Cleave.pass_load('my-pass.so')
graph = Cleave.Graph.load_text('model.cleave')
Cleave.Pipeline.parse('lower-sub,remove-dead').run(graph, None)
ops = sorted(node.get_op().get_name() for node in graph.get_order())
assert ops == ['Add', 'Add', 'Input', 'Input', 'Neg', 'Neg'], ops
print('script: good')
END
for python in python3 /usr/bin/python3; do
  "$python" -c 'import gi' 2>/dev/null || continue
  GI_TYPELIB_PATH=$lib/girepository-1.0 "$python" script.py
  break
done
echo 'outside: good'
