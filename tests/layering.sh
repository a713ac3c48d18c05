#!/bin/sh
# Who may include or mention what.  A rule that is not checked is not a rule.
cd "$(dirname "$0")/.." || exit 2
complaints=$(mktemp)
trap 'rm -f "$complaints"' EXIT

# complain RULE: reads offending lines.  Into a file: the end of a pipeline is a shell of its own,
# whose variables die.
complain ()
{
  lines=$(cat)
  [ -z "$lines" ] || printf '%s:\n%s\n' "$1" "$lines" >>"$complaints"
}

# no_include FOLDER PATTERN: no file in FOLDER includes a path that matches.
no_include ()
{
  grep -rnE "^ *# *include +[\"<]([^\">]*/)?($2)" "$1" --include='*.[ch]' | complain "$1 must not include $2"
}

# Dependencies point one way: include ← lib/ir ← lib/ops ← {lib/onnx, lib/dot, lib/runtime} ← passes ← tools.
no_include include '\.\.|ir/|ops/|onnx/|dot/|runtime/|passes/'
no_include lib/ir 'ops/|onnx/|dot/|runtime/|passes/|tools/'
no_include lib/ops 'onnx/|dot/|runtime/|passes/|tools/'
no_include lib/onnx 'dot/|runtime/|passes/|tools/'
no_include lib/dot 'onnx/|runtime/|passes/|tools/'
no_include lib/runtime 'onnx/|dot/|passes/|tools/'
no_include passes 'ops/|onnx/|dot/|runtime/|tools/'
no_include tools 'ir/|ops/|onnx/|dot/|runtime/|passes/|lib/'

# Nor by a header's bare name, which a list of include folders might find.
no_header ()
{
  folder=$1
  shift
  names=$(find "$@" -name '*.h' -printf '%f\n' | sort -u | sed 's/\./\\./' | paste -sd '|')
  [ -z "$names" ] || grep -rnE "^ *# *include +\"($names)\"" "$folder" --include='*.[ch]' |
    complain "$folder must not include a header of $*"
}
no_header lib/ir lib/ops lib/onnx lib/dot lib/runtime passes tools
no_header lib/ops lib/onnx lib/dot lib/runtime passes tools
no_header lib/onnx lib/dot lib/runtime passes tools
no_header lib/dot lib/onnx lib/runtime passes tools
no_header lib/runtime lib/onnx lib/dot passes tools
no_header passes lib/ops lib/onnx lib/dot lib/runtime tools
no_header tools lib passes

# only WHERE PATTERN: nobody else mentions it.
only ()
{
  grep -rnE "$2" lib passes tools include --include='*.[ch]' | grep -vE "^($1)" | complain "only $1 may have $2"
}

only 'lib/ir/topology\.c' '# *include +<igraph'
only 'lib/onnx/' '# *include +(<protobuf-c|"onnx\.pb-c)'
only 'lib/dot/' '# *include +<(graphviz|gvc|cgraph)'
only 'lib/runtime/kernels/brgemm-product\.c' '# *include +<libxsmm'
only 'lib/runtime/run\.c' '# *pragma +omp|_Pragma *\("omp|# *include +<omp'
only 'tools/' '# *include +<json-glib'

# One parallel region in the whole library.
regions=$(grep -rcE '# *pragma +omp +parallel' lib passes --include='*.c' | awk -F: '{ n += $2 } END { print n }')
[ "$regions" -le 1 ] || echo "$regions regions" | complain 'one parallel region'

# No algorithm asks which op a node is by its name, and none is chosen by a switch over ops.
grep -rnE '(strcmp0?|g_str_equal|g_str_has_prefix) *\([^;]*(op->name|op_get_name|get_op_name)' lib/ir lib/dot lib/runtime \
  passes tools --include='*.c' | complain 'nobody compares op names'

grep -rnE '[!=]= *&cleave_op_' lib/dot lib/runtime passes --include='*.[ch]' | complain 'nobody asks which op a node is'

# Never.
grep -rnE '\bgoto\b|ffast-math|target_clones' lib passes tools --include='*.[ch]' --include=meson.build |
  grep -v 'no-fast-math' | complain 'never'

# The test that no pass undoes a split runs every pass but the one that splits.
grep -oE '\bcleave_pass_[a-z_]+' include/cleave/cleave-pass.h | sort -u | grep -v split_for_threads |
  while read -r pass; do grep -q "$pass," tests/test-split-properties.c || echo "$pass"; done |
  complain 'passes that are not tried on a split graph'

# A file's name is unique among the library's files.
find lib passes tools -name '*.c' -printf '%f\n' | sort | uniq -d | complain 'file names that are not unique'

cat "$complaints"
[ ! -s "$complaints" ] || exit 1
echo 'layering: good'
