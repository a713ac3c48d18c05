#!/usr/bin/env python3
# layering.py: compares the table of modules in docs/architecture.md with the tree.
# Checks that texts of the table ONLY, such as an #include of igraph, are only in the files that may contain them.
# Checks that files do not call each other in cycles. Checks the lengths and the first comments of files.
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))

# Files that may depend on each other in a cycle. Each pair has its reason.
CIRCLES = {
    ('lib/ir/tensor', 'lib/ir/view'): 'a view is a tensor of a tensor',
    ('lib/ir/graph', 'lib/ir/node'): 'a graph owns its nodes, and a node leaves its graph',
    ('lib/onnx/import/body', 'lib/onnx/import/if', 'lib/onnx/import/iterations', 'lib/onnx/import/loop', 'lib/onnx/import/node-values',
     'lib/onnx/import/scan', 'lib/onnx/import/sequence-map'):
        'an If, a Loop, a Scan and a SequenceMap hold bodies, and a body may hold any of them',
}

# (files, pattern): only these files may match the pattern.
ONLY = [
    ('lib/ir/topology.c', r'# *include +<igraph'),
    ('lib/onnx/', r'# *include +(<protobuf-c|"onnx\.pb-c)'),
    ('lib/dot/', r'# *include +<(graphviz|gvc|cgraph)'),
    ('lib/runtime/kernels/gemm/xsmm.h', r'# *include +<libxsmm'),
    ('lib/runtime/run.c', r'# *pragma +omp|_Pragma *\("omp|# *include +<omp'),
    ('tools/', r'# *include +<json-glib'),
]

# (folders, pattern, rule): no file in these folders may match the pattern.
NEVER = [
    (['lib', 'passes', 'tools'], r'\bgoto\b|ffast-math|target_clones', 'never'),
    (['lib/ir', 'lib/memory', 'lib/dot', 'lib/runtime', 'passes', 'tools'],
     r'(strcmp0?|g_str_equal|g_str_has_prefix) *\([^;]*(op->name|op_get_name|get_op_name)', 'nobody compares op names'),
    (['lib/memory', 'lib/dot', 'lib/runtime', 'passes'], r'[!=]= *&cleave_op_', 'nobody asks which op a node is'),
]

# Only the files in MAY_NAME_INSTRUCTIONS may name instructions or registers of a processor, in C or in assembly.
# Kernels call the operations of the vector headers.
INTRINSICS = (r'\b_mm\d*_\w+|\b__m(128|256|512|mask)\w*|\bv\w+q?_(lane_|n_|high_)?[fsu](8|16|32|64)\b|immintrin|arm_neon|'
              r'\b__(AVX|SSE|FMA__|F16C|ARM_NEON|ARM_FEATURE)\w*|\b(u?int|float|poly)\d+x\d+(x\d)?_t\b|'
              r'__builtin_(ia32|aarch64|arm|neon)_\w+|\b(__)?asm(__)?\b( +volatile)? *\( *"[^"]')
MAY_NAME_INSTRUCTIONS = {
    'lib/ir/copy-rows.c': 'stores that bypass the cache',
    'lib/bundle/write-kernels.c': 'writes C for microcontrollers, with or without DSP instructions',
    'lib/bundle/kernels/add-s8.c': 'vectors of Helium, for microcontrollers',
    'lib/bundle/kernels/depthwise-s8.c': 'DSP instructions and Helium, for microcontrollers',
    'lib/bundle/kernels/dot-s8.h': 'DSP instructions and Helium, for microcontrollers',
    'lib/bundle/kernels/dot-separate-s8.h': 'DSP instructions and Helium, for microcontrollers',
    'lib/bundle/kernels/window-s8.h': 'DSP instructions and Helium, for microcontrollers',
    'lib/bundle/kernels/cleave-kernels.h': 'C for microcontrollers, which may have DSP instructions and Helium',
    'lib/ops/elementwise-basics.h': 'tests for an instruction that rounds',
    'lib/runtime/run.c': 'pauses a waiting thread',
    'lib/runtime/kernels/in-place.h': 'fused multiply-adds of NEON whose sum stays in its register',
    'lib/runtime/kernels/isa.h': 'names the instruction set of a level',
    'lib/runtime/kernels/vector.h': 'floats',
    'lib/runtime/kernels/vector-compare.h': 'floats',
    'lib/runtime/kernels/vector-float16.h': '16-bit floats',
    'lib/runtime/kernels/vector-moves.h': 'floats',
    'lib/runtime/kernels/eight-bytes.h': 'bytes',
    'lib/runtime/kernels/integers/int-vector.h': 'integers',
    'lib/runtime/kernels/integers/word-vector.h': '16-bit integers',
    'lib/runtime/kernels/integers/byte-depthwise.h': 'dot products of 16-bit integers',
    'lib/runtime/kernels/byte-table.h': 'looks up bytes in a table',
    'lib/runtime/kernels/integers/channel-dot4.c': 'dot products of bytes, for VNNI',
    'lib/runtime/kernels/integers/qdq-recompute.c': 'dot products of bytes, for VNNI',
    'lib/runtime/kernels/integers/qdq-blocks.c': 'dot products of bytes, for VNNI',
    'lib/runtime/kernels/integers/qdq-norms.c': 'dot products of bytes, for VNNI',
}

INCLUDE_FOLDERS = ['include', 'lib/ir', 'lib/ops', 'lib/runtime/kernels']

complaints = []


def find_files(folders, endings):
    for folder in folders:
        for path, _, names in os.walk(folder):
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.join(path, name)


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


SOURCES = {path: read(path) for path in find_files(['include', 'lib', 'passes', 'tools'], ('.c', '.h'))}


def resolve(path, name):
    for folder in [os.path.dirname(path)] + INCLUDE_FOLDERS:
        found = os.path.normpath(os.path.join(folder, name))
        if found in SOURCES:
            return found
    return None


def includes(path):
    for name in re.findall(r'^ *# *include +["<]([^">]+)[">]', SOURCES[path], re.M):
        found = resolve(path, name)
        if found:
            yield found


def read_table():
    """Returns the folders that each folder includes and calls, from the table of the page on architecture."""
    rows = re.findall(r'^\| `([a-z/-]+)` \|([^|]*)\|([^|]*)\|[^|]*\|$', read('docs/architecture.md'), re.M)
    return {folder: (set(re.findall('`([^`]+)`', included)), set(re.findall('`([^`]+)`', called)))
            for folder, included, called in rows}


def find_uses():
    """Returns the folders that each folder includes and calls. A folder includes another folder if one of its files
    includes a private header of the other folder. A folder calls another folder if one of its files calls a function
    that is defined there, and no file includes a private header of the other folder."""
    included, called, homes = {}, {}, {}
    for path, text in SOURCES.items():
        included.setdefault(os.path.dirname(path), set())
        called.setdefault(os.path.dirname(path), set())
        for name in defines(text) if path.endswith('.c') else []:
            homes.setdefault(name, set()).add(os.path.dirname(path))
    for path, text in SOURCES.items():
        here = os.path.dirname(path)
        included[here] |= {os.path.dirname(found) for found in includes(path)} - {here, 'include/cleave'}
        for name in set(re.findall(r'\b(cleave_[a-z0-9_]+) \(', re.sub(r'/\*.*?\*/', '', text, flags=re.S))):
            if here != 'include/cleave' and here not in homes.get(name, {here}):
                called[here] |= homes[name]
    return {folder: (included[folder], called[folder] - included[folder]) for folder in included}


def check_table():
    """Checks that each folder has a row with exactly the folders that it uses, and that no modules use each other in a
    cycle.
    """
    table, uses = read_table(), find_uses()
    for folder in sorted(set(table) | set(uses)):
        if folder not in uses or folder not in table:
            complaints.append(f'docs/architecture.md: {folder} ' + ('has no row' if folder in uses else 'has no files'))
            continue
        for word, said, found in zip(('includes', 'calls'), table[folder], uses[folder]):
            complaints.extend(f'docs/architecture.md: {folder} {word} {other}, but the row does not say so' for other in sorted(found - said))
            complaints.extend(f'docs/architecture.md: {folder} {word} nothing of {other}' for other in sorted(said - found))
    module = {folder: folder if folder == 'include/cleave' else re.match(r'lib/[a-z]+|[a-z]+', folder)[0] for folder in uses}
    edges = {module[folder]: set() for folder in uses}
    for folder, (included, called) in uses.items():
        edges[module[folder]] |= {module[other] for other in included | called} - {module[folder]}
    for circle in find_circles(edges):
        complaints.append('modules that use each other in a circle: ' + ' '.join(circle))


def find_circles(edges):
    """Returns the strongly connected components (Tarjan's algorithm) with more than one vertex. The vertices of the
    graph are files or folders."""
    index, low, stack, circles = {}, {}, [], []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        for other in sorted(edges[unit]):
            if other not in index:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], index[other])
        if low[unit] == index[unit]:
            circle = stack[stack.index(unit):]
            del stack[stack.index(unit):]
            if len(circle) > 1:
                circles.append(sorted(circle))

    for unit in sorted(edges):
        if unit not in index:
            visit(unit)
    return circles


def defines(text):
    """Returns the names of the non-static functions that a source defines."""
    counted = re.findall(r'^CLEAVE_DEFINE_COUNTED \(\w+, (\w+),', text, re.M)
    return re.findall(r'^(cleave_[a-z0-9_]+) \(', text, re.M) + [f'cleave_{word}_{end}' for word in counted for end in ('ref', 'unref')]


def defined_in():
    """Returns the unit (a source with its header) that defines each non-static function of the library."""
    return {name: path[:-2] for path, text in SOURCES.items() if path.endswith('.c') for name in defines(text)}


def check_circles():
    """Checks for cycles of units. A unit is a source with its header. A unit needs the units whose functions it
    calls."""
    where = defined_in()
    edges = {}
    for path, text in SOURCES.items():
        unit = path[:-2]
        called = {where[name] for name in re.findall(r'\b(cleave_[a-z0-9_]+) \(', text) if name in where}
        if path.endswith('.c'):
            edges.setdefault(unit, set()).update(called - {unit})
    for unit, needed in edges.items():
        edges[unit] = {n for n in needed if n in edges}
    circles = find_circles(edges)
    for circle in circles:
        if tuple(circle) not in CIRCLES:
            complaints.append('files that call each other in a circle: ' + ' '.join(circle))
    if len(CIRCLES) > 4:
        complaints.append(f'more than four circles of files: {len(CIRCLES)}')
    for circle in CIRCLES:
        if list(circle) not in circles:
            complaints.append('no longer a circle: ' + ' '.join(circle))


def check_mentions():
    for path in find_files(['lib', 'passes', 'tools', 'include'], ('.c', '.h', 'meson.build')):
        text = SOURCES[path] if path in SOURCES else read(path)
        for number, line in enumerate(text.splitlines(), 1):
            where = f'{path}:{number}'
            for owner, pattern in ONLY:
                if not path.startswith(owner) and path in SOURCES and re.search(pattern, line):
                    complaints.append(f'only {owner} may have this: {where}: {line.strip()}')
            for folders, pattern, rule in NEVER:
                if path.startswith(tuple(f + '/' for f in folders)) and 'no-fast-math' not in line and re.search(pattern, line):
                    complaints.append(f'{rule}: {where}: {line.strip()}')


def check_intrinsics():
    for path, text in SOURCES.items():
        if path in MAY_NAME_INSTRUCTIONS:
            continue
        for number, line in enumerate(text.split('\n'), 1):
            found = re.search(INTRINSICS, line)
            if found:
                complaints.append(f'{path}:{number}: {found.group()}: call an operation of vector.h or int-vector.h')
    for path in MAY_NAME_INSTRUCTIONS:
        if not re.search(INTRINSICS, SOURCES.get(path, '')):
            complaints.append(f'{path} names no instructions: remove it from the list')


def check_counts():
    regions = [p for p, text in SOURCES.items() for _ in re.findall(r'# *pragma +omp +parallel', text)]
    if len(regions) > 1:
        complaints.append('more than one parallel region: ' + ' '.join(regions))
    # tests/passes/split/properties.c tests that no pass undoes a split.
    # This test must contain the name of every pass, except the passes whose names contain split_for_.
    tried = read('tests/passes/split/properties.c')
    for name in sorted(set(re.findall(r'\b(cleave_pass_[a-z_]+) \(CleaveGraph \*graph,', SOURCES['include/cleave/cleave-pass.h']))):
        if 'split_for_' not in name and f'{name},' not in tried:
            complaints.append(f'not tried on a split graph: {name}')


def check_sizes():
    """Checks that a file of more than 400 lines gives the reason in its head."""
    for path, text in SOURCES.items():
        n = text.count('\n')
        head = re.match(r'(?:\s*/\*.*?\*/|#pragma once|\s)*', text, re.S).group(0)
        says = re.search(r'Over 400 lines: \w', head) is not None
        if path.startswith(('lib/', 'passes/', 'tools/')) and n > 400 and not says:
            complaints.append(f'{path} has {n} lines: split it by its ideas, or say "Over 400 lines: why" in its head')
        if says and n <= 400:
            complaints.append(f'{path} has {n} lines, no more than 400: it needs no reason')


def check_heads():
    """Checks that a C file begins with a comment about the whole file, between empty lines. Checks that a script begins
    with #! and its interpreter. Files of lib/bundle/kernels are exempt: each file has one function, and bundles contain
    its text."""
    for path in find_files(['lib', 'passes', 'tools', 'tests'], '.c'):
        if not path.startswith('lib/bundle/kernels/') and \
                not re.match(r'/\* SPDX[^\n]*\*/\n\n/\*(?!\*)(?:(?!\*/).)*\*/\n\n', read(path), re.S):
            complaints.append(f'{path} does not begin with a comment that says what the file does, set off by empty lines')
    for path in find_files(['tests', 'tools', 'python', '.ci'], ''):
        if os.access(path, os.X_OK) and not open(path, 'rb').read(2) == b'#!':
            complaints.append(f'{path} is executable and does not begin with #!')


def check_types():
    """Checks that no two types have the same name."""
    seen = {}
    for path, text in SOURCES.items():
        if path.startswith('lib/bundle/kernels/'):
            continue  # files of bundles never include a file of the library, so equal names do no harm
        for name in re.findall(r'^\} (Cleave\w+);', text, re.M) + re.findall(r'^struct (_Cleave\w+)\n\{', text, re.M):
            if name in seen:
                complaints.append(f'{name} is defined twice: {seen[name]} and {path}')
            seen[name] = path


check_table()
check_circles()
check_mentions()
check_intrinsics()
check_counts()
check_types()
check_sizes()
check_heads()
print('\n'.join(complaints) or 'layering: good')
sys.exit(1 if complaints else 0)
