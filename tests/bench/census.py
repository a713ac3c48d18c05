#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""census.py BUILD [--json FILE] [--flagged] [WORD]: runs a node of each op, element type and layout on one thread.
Compares the times with the peak rates of the core. Prints a table in Markdown. With WORD, the table has only ops whose
names contain WORD. With --flagged, the table has only lines with a cell below half of the core's limit.

A cell has GFLOP/s, or GB/s read and written for ops without multiplications. The share of the core's limit is in
brackets. The limit is the longer of two times: the time of a memcpy of the op's bytes, and the time of the fewest
instructions that can compute the op. A bold cell is below half of the limit, and the last column gives the reason
(census_reasons.py). "ref": the reference kernel runs the node. "-": ONNX does not allow the node. A node that is a view
takes no time. The cell of a view is the slowest of "load", "store" and "copy", which move the value of the view in and
out. The time of a step is the least of many runs. Needs python3-onnx; exits with 77 without it."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
except ImportError:
    # Debian's Python has python3-onnx. PATH may begin with another Python.
    if sys.executable != '/usr/bin/python3' and os.path.exists('/usr/bin/python3'):
        os.execv('/usr/bin/python3', ['/usr/bin/python3'] + sys.argv)
    print('SKIP census: python3-onnx is not installed')
    sys.exit(77)

from census_cases import Operand, Work, cases
from census_reasons import reason

ELEMENTS = ['float32', 'float16', 'uint8', 'int8', 'int32', 'int64', 'bool']
TENSOR = {'float32': ('float', 1), 'float16': ('float16', 10), 'uint8': ('uint8', 2), 'int8': ('int8', 3), 'int32': ('int32', 6),
          'int64': ('int64', 7), 'bool': ('bool', 9)}
CONV_INPUTS = 8
OPSET, NODE, BORDERS = 17, 'node', ('load', 'store', 'copy')
# Each node runs for about RUN_MS milliseconds, at least MIN_RUNS and at most MAX_RUNS times.
# With this number of runs, the smallest time of a step is nearly the same in repeated measurements.
RUN_MS, MIN_RUNS, MAX_RUNS = 100, 2, 50
# Each cell of the table is measured TRIES times. The table shows the best measurement.
TRIES = 3
# The roofline of a node is the shortest time in which this machine can move the bytes of the node.
# If a node runs more than IN_PLACE times as fast as its roofline, the node moves no bytes: it is a view.
IN_PLACE = 5
# Ops without a line in the table: they run when the program is made, exist only in Cleave, or take no time in networks.
WITHOUT_LINE = {'constant_of_shape', 'range', 'shape', 'input', 'constant', 'assemble', 'custom', 'eye_like', 'hann_window',
                'hamming_window', 'blackman_window', 'mel_weight_matrix', 'tfidf_vectorizer', 'det', 'dft', 'stft', 'max_roi_pool', 'max_unpool'}


def legal(op, operands, element):
    """Returns whether ONNX's schema allows this type for all operands of the tested type. Returns False if the op is newer
    than this python3-onnx."""
    if not onnx.defs.has(op):
        return False
    schema = onnx.defs.get_schema(op, OPSET)
    allowed = {constraint.type_param_str: constraint.allowed_type_strs for constraint in schema.type_constraints}
    for i, operand in enumerate(operands):
        if operand.kind == 'conv' and 'float' not in element:
            return False
        if operand.kind != 'absent':
            kind = schema.inputs[min(i, len(schema.inputs) - 1)].typeStr
            if f'tensor({TENSOR[operand.element or element][0]})' not in allowed.get(kind, [kind]):
                return False
    return any(operand.element is None for operand in operands if operand.kind != 'absent') or element == 'float32'


def constant_of(name, operand, element):
    if operand.values is None:
        values = np.random.default_rng(1).uniform(0.1, 1, operand.shape) * (4 if element[0] in 'ui' else 1)
    else:
        values = np.array(operand.values).reshape(operand.shape)
    return numpy_helper.from_array(values.astype(element), name)


def make_model(op, operands, attrs, element, path):
    names, inputs, constants, nodes = [], [], [], []
    for i, operand in enumerate(operands):
        name, kind = f'x{i}', operand.element or element
        names.append('' if operand.kind == 'absent' else name)
        if operand.kind == 'conv':
            inputs.append(helper.make_tensor_value_info(f'before{i}', TENSOR[kind][1], [1, CONV_INPUTS, *operand.shape[2:]]))
            constants.append(constant_of(f'w{i}', Operand('constant', [operand.shape[1], CONV_INPUTS, 1, 1]), kind))
            nodes.append(helper.make_node('Conv', [f'before{i}', f'w{i}'], [name], f'conv{i}'))
        if operand.kind == 'input':
            inputs.append(helper.make_tensor_value_info(name, TENSOR[kind][1], operand.shape))
        elif operand.kind == 'constant':
            constants.append(constant_of(name, operand, kind))
    results = [f'y{i}' for i in range({'Split': 2, 'TopK': 2, 'DynamicQuantizeLinear': 3}.get(op, 1))]
    nodes.append(helper.make_node(op, names, results, NODE, **attrs))
    graph = helper.make_graph(nodes, op, inputs, [helper.make_empty_tensor_value_info(result) for result in results], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)], ir_version=8), path)


def measure_limits(program):
    """Returns the peak rates of one core (GFLOP/s of float32, GB/s of copies): the best of four measurements, since other
    processes may use the machine."""
    found = [json.loads(subprocess.run([program], capture_output=True, text=True, check=True).stdout) for _ in range(4)]
    best = [[size, max(one['copy_gbps'][i][1] for one in found)] for i, (size, _) in enumerate(found[0]['copy_gbps'])]
    return dict(found[0], float32_gflops=max(one['float32_gflops'] for one in found), copy_gbps=best)


def copy_rate(limits, n_bytes):
    """Returns bytes per nanosecond of memcpy, interpolated between the two nearest measured sizes."""
    points = limits['copy_gbps']
    return float(np.interp(np.log(max(n_bytes, 1)), [np.log(size) for size, _ in points], [rate for _, rate in points]))


def instructions(limits, work, element, counts):
    """Returns the work in vector instructions on float32 lanes. `counts` has three numbers of elements: of the
    first operand, of the result, and of float16 values that are converted."""
    lanes = {'float32': 1, 'int32': 1, 'float16': 1, 'int64': 0.5}.get(element, 4)
    operand, result, halves = counts
    div, sqrt, half = (limits['units'][unit] for unit in ('div', 'sqrt', 'half'))
    # Kernels divide 32-bit integers as doubles. A register holds half as many doubles as float32 numbers.
    div *= 2 if element == 'int32' else 1
    return operand * work.each / lanes + result * (work.plain / lanes + work.wide + work.div * div + work.sqrt * sqrt) + halves * half / 2


def cell(limits, step, element, work=Work(), counts=(0, 0, 0)):
    ns = max(step['nanoseconds'], 1)
    # A product and a sum of 32-bit or 64-bit integers are two instructions.
    # A register holds half as many 64-bit integers as float32 numbers.
    factor = {'uint8': limits['bytes_factor'], 'int8': limits['bytes_factor'], 'int32': 0.5, 'int64': 0.25}.get(element, 1)
    arithmetic = 2 * (step['macs'] / factor + instructions(limits, work, element, counts)) / limits['float32_gflops']
    memory = (step['bytes'] + work.reads) / copy_rate(limits, step['bytes'])
    share = max(arithmetic, memory) / ns
    rate = (2 * step['macs'] if step['macs'] else step['bytes']) / ns
    flagged = share < 0.5
    kind = f'{step["what"]} ' if step['what'] in BORDERS else ''
    text = f'{kind}{rate:.3g} ({100 * share:.0f} %{" ref" if step["reference"] else ""})'
    return dict(text=f'**{text}**' if flagged else text, flagged=flagged, share=share, rate=rate, **step)


def run(command, path, repeat):
    arguments = ['run', path, '--threads', '1', '--repeat', str(repeat), '--profile', '--json']
    found = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    return json.loads(found.stdout) if found.returncode == 0 else found.stderr.strip()


def census_cell(command, limits, path, case, element):
    measured = run(command, path, 1)
    if isinstance(measured, str):
        return dict(text='refused', flagged=True, message=measured)
    measured = run(command, path, max(MIN_RUNS, min(MAX_RUNS, int(RUN_MS / max(measured['latency_ms']['min'], 0.001)))))
    steps = [step for step in measured['steps'] if step['name'] == NODE]
    if not steps:  # the node is a view: measures the steps that move its value in and out
        steps = [step for step in measured['steps'] if step['what'] in BORDERS and not step['name'].startswith('before')]
        slowest = min((cell(limits, step, element) for step in steps), key=lambda one: one['share'])
        return dict(slowest, text='view') if slowest['share'] > IN_PLACE else slowest
    operands = [int(np.prod(operand.shape)) for operand in case.operands if operand.element is None and operand.kind != 'absent']
    results = [int(np.prod(output['shape'])) for output in measured['outputs']]
    halves = 0
    if case.widens and element == 'float16':
        halves = sum(operands) + sum(n for n, output in zip(results, measured['outputs']) if output['type'] == 'float16')
    return cell(limits, steps[0], element, case.work, ((operands or [0])[0], results[0], halves))


def census_line(command, limits, folder, case):
    path, cells = os.path.join(folder, 'node.onnx'), {}
    for element in ELEMENTS:
        if legal(case.op, case.operands, element):
            make_model(case.op, case.operands, case.attrs, element, path)
            tries = (census_cell(command, limits, path, case, element) for _ in range(TRIES))
            cells[element] = next((one for one in tries if not one['flagged']), None) or census_cell(command, limits, path, case, element)
            cells[element]['why'] = reason(case, element) if cells[element]['flagged'] else None
    return dict(op=case.op, where=case.where, cells=cells)


def reasons_of(row):
    """Returns a dict from each reason for slow cells to their element types. A slow cell is below half of the core's
    limit. The element types of slow cells without a reason have the key None."""
    reasons = {}
    for element, cell_ in row['cells'].items():
        if cell_['flagged']:
            reasons.setdefault(cell_['why'], []).append(element)
    return reasons


def reasons_text(row):
    reasons, flagged = reasons_of(row), sum(cell_['flagged'] for cell_ in row['cells'].values())
    return '; '.join((why or '**no reason**') + ('' if len(elements) == flagged else f' ({", ".join(elements)})')
                     for why, elements in reasons.items())


def words_of_ops(root):
    with open(os.path.join(root, 'lib', 'ops', 'meson.build'), encoding='utf-8') as f:
        listed = f.read().split('ops = {')[1].split('\n}')[0]
    return {word for words in re.findall(r'\[([^]]*)\]', listed) for word in re.findall(r"'(\w+)'", words)}


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument('build')
    arguments.add_argument('word', nargs='?', default='')
    arguments.add_argument('--json')
    arguments.add_argument('--flagged', action='store_true')
    options = arguments.parse_args()
    limits = measure_limits(os.path.join(options.build, 'tests/bench/bench-limits'))
    rates = ', '.join(f'{rate:.0f} at {size / 1e6:.3g} MB' for size, rate in limits['copy_gbps'])
    print(f'Limits of one core: {limits["float32_gflops"]:.0f} GFLOP/s of float32, {limits["bytes_factor"]} times that of bytes;')
    print(f'memcpy, GB/s: {rates}.\n')
    print(f'| op | of | {" | ".join(ELEMENTS)} | why not half |\n|---|---|{"---|" * len(ELEMENTS)}---|')
    rows, done = [], set()
    with tempfile.TemporaryDirectory() as folder:
        for line in cases():
            done.add(line[0].replace('_', '').lower())
            if options.word.lower() not in line[0].lower():
                continue
            row = census_line(os.path.join(options.build, 'tools/cleave'), limits, folder, line)
            rows.append(row)
            if not options.flagged or any(cell['flagged'] for cell in row['cells'].values()):
                texts = [row['cells'].get(element, {}).get('text', '-') for element in ELEMENTS]
                print(f'| {row["op"]} | {row["where"]} | {" | ".join(texts)} | {reasons_text(row)} |', flush=True)
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
    missing = sorted(word for word in words_of_ops(root) - WITHOUT_LINE if word.replace('_', '') not in done)
    cells = [cell for row in rows for cell in row['cells'].values()]
    slow = [one for one in cells if one['flagged']]
    reference, silent = sum(one.get('reference', False) for one in cells), sum(one['why'] is None for one in slow)
    print(f'\nOf {len(cells)} cells {reference} by the reference kernel, {len(slow)} below half of the limit, {silent} of them without a reason.')
    print(f'Ops without a line: {", ".join(missing) or "none"}.')
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as f:
            json.dump(dict(limits=limits, rows=rows), f, indent=1)


main()
