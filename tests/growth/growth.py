#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# growth.py COUNT-INSTRUCTIONS CLEAVE: checks that the work on a graph of n nodes grows in proportion to n log n.
# Checks all kinds of graphs and operations. Counts instructions, which do not depend on the load of the machine.

import os
import subprocess
import sys
import tempfile

from onnx_bytes import floats, model, node, tensor, value_info

COUNT, CLEAVE = (os.path.abspath(path) for path in sys.argv[1:3])
SHAPE = [1, 2, 16, 4]
SIZES = [1000, 2000, 4000]
# Factor by which the work may grow for twice the nodes.
# The factor is 2 for linear growth, 2.2 for n log n at these sizes, and 4 for quadratic growth.
LIMIT = 2.3
# Limit on the memory of `cleave split` when it splits a chain in two: peak bytes for each node of the chain.
# These bytes hold the node, its pieces, and its share of the read file, the plan, the report and the written file.
# The measured peak was 1,570 bytes a node in an optimized build, and up to 1,620 bytes in a build without optimization.
# At the peak, a fifth of the bytes are the table of the search for overlays.
LIMIT_BYTES = 1700
# Limit on the instructions for each node of a chain that is split in two. The measured number was 57,000.
LIMIT_INSTRUCTIONS = 63000
# The memory of a program for 64 threads is at most this many times the memory of a program for 2 threads.
LIMIT_THREADS = 1.1


def close(nodes, last, weights=(), shape=None):
    shape = shape or SHAPE
    return model(nodes + [node('Relu', [last], ['y'], 'last')], [value_info('x', shape)],
                 [value_info('y', shape)], weights)


def chain(n):
    nodes = [node('Relu', [f'v{i}' if i else 'x'], [f'v{i + 1}'], f'relu{i}') for i in range(n)]
    return close(nodes, f'v{n}')


def gated(n):
    nodes, value = [], 'x'
    for i in range(n // 2):
        nodes += [node('Sigmoid', [value], [f's{i}'], f'sigmoid{i}'), node('Add', [value, f's{i}'], [f'a{i}'], f'add{i}')]
        value = f'a{i}'
    return close(nodes, value)


def residual(n):
    nodes, value = [], 'x'
    for i in range(n // 3):
        nodes += [node('Conv', [value, 'w'], [f'c{i}'], f'conv{i}', pads=[1, 1, 1, 1]),
                  node('Relu', [f'c{i}'], [f'r{i}'], f'relu{i}'), node('Add', [value, f'r{i}'], [f'a{i}'], f'add{i}')]
        value = f'a{i}'
    return close(nodes, value, [tensor('w', [2, 2, 3, 3], floats(36))])


def dense(n):
    nodes, values = [], ['x']
    for i in range(n):
        nodes.append(node('Relu', [values[-1]], [f'r{i}'], f'relu{i}'))
        values.append(f'r{i}')
        if len(values) == 8:
            nodes.append(node('Sum', values, [f's{i}'], f'sum{i}'))
            values = [f's{i}']
    return close(nodes, values[-1])


# Returns a chain of large values between small values, so that strips reduce the memory of its segments.
def bottlenecks(n):
    nodes, value, shape = [], 'x', [1, 1, 256, 64]
    for i in range(n // 20):
        nodes += [node('Conv', [value, 'w'], [f'b{i}'], f'expand{i}', pads=[1, 1, 1, 1]),
                  node('Conv', [f'b{i}', 'v'], [f'c{i}'], f'project{i}', pads=[1, 1, 1, 1])]
        value = f'c{i}'
    return close(nodes, value, [tensor('w', [16, 1, 3, 3], floats(144)), tensor('v', [1, 16, 3, 3], floats(144))], shape)


def wide(n):
    nodes = [node('Relu', ['x'], [f'r{i}'], f'relu{i}') for i in range(n)]
    return close(nodes + [node('Sum', [f'r{i}' for i in range(n)], ['s'], 'sum')], 's')


def joined(n):
    nodes = [node('Relu', ['x'], [f'r{i}'], f'relu{i}') for i in range(n)]
    nodes.append(node('Concat', [f'r{i}' for i in range(n)], ['y'], 'last', axis=1))
    return model(nodes, [value_info('x', [1, 1, 8, 4])], [value_info('y', [1, n, 8, 4])])


# Returns a graph of n / 3 branches of three nodes each, and a Concat of their results. Each branch is a segment.
def branches(n):
    nodes, values = [], [f'm{i}' for i in range(n // 3)]
    for i in range(n // 3):
        nodes += [node('Conv', ['x', 'w'], [f'c{i}'], f'conv{i}', pads=[1, 1, 1, 1]),
                  node('Sigmoid', [f'c{i}'], [f's{i}'], f'sigmoid{i}'), node('Mul', [f'c{i}', f's{i}'], [f'm{i}'], f'mul{i}')]
    nodes.append(node('Concat', values, ['y'], 'last', axis=1))
    return model(nodes, [value_info('x', [1, 4, 16, 16])], [value_info('y', [1, 4 * len(values), 16, 16])],
                 [tensor('w', [4, 4, 3, 3], floats(144))])


def inputs(n):
    nodes = [node('Relu', [f'x{i}'], [f'r{i}'], f'relu{i}') for i in range(n)]
    nodes.append(node('Concat', [f'r{i}' for i in range(n)], ['y'], 'last', axis=1))
    return model(nodes, [value_info(f'x{i}', [1, 1, 8, 4]) for i in range(n)], [value_info('y', [1, n, 8, 4])])


def parallel(n):
    nodes = [node('Relu', ['x'], [f'y{i}'], f'relu{i}') for i in range(n - 1)] + [node('Relu', ['x'], ['y'], 'last')]
    return model(nodes, [value_info('x', SHAPE)],
                 [value_info(f'y{i}', SHAPE) for i in range(n - 1)] + [value_info('y', SHAPE)])


def pieces(n):
    return model([node('Relu', ['x'], ['y'], 'last')], [value_info('x', [1, 1, n, 2])], [value_info('y', [1, 1, n, 2])])


DEEP = ['split', 'MODEL', '--node', 'last', '--dims', '2', '--num-chunks', '2', '--depth', '1000000', '-o', 'OUT.onnx']
COMMANDS = {
    'info': ['info', 'MODEL'],
    'dot': ['dot', 'MODEL', '-o', 'OUT.dot'],
    'split all': ['split', 'MODEL', '--all', '--dims', '2', '--num-chunks', '2', '-o', 'OUT.onnx'],
    'split deep': DEEP,
    'split deep, carry': DEEP + ['--halo', 'carry'],
    'split for threads': ['split', 'MODEL', '--for-threads', '2', '-o', 'OUT.onnx'],
    'run': ['run', 'MODEL', '--threads', '2', '--repeat', '1'],
    'diff': ['diff', 'MODEL', 'MODEL'],
}


def pick(*names):
    return {name: COMMANDS[name] for name in names}


KINDS = {
    'chain': (chain, COMMANDS),
    'gated': (gated, COMMANDS),
    'residual': (residual, COMMANDS),
    'dense': (dense, COMMANDS),
    'bottlenecks': (bottlenecks, pick('info', 'split for threads')),
    'wide': (wide, COMMANDS),
    'joined': (joined, COMMANDS),
    'branches': (branches, {'fit': ['fit', 'MODEL'], **COMMANDS}),
    'inputs': (inputs, pick('info', 'dot', 'split all')),
    'parallel': (parallel, COMMANDS),
    'pieces': (pieces, {'split': ['split', 'MODEL', '--node', 'last', '--dims', '2', '--chunk-size', '1', '-o',
                                  'OUT.onnx']}),
}


def count(folder, words):
    paths = {'MODEL': 'model.onnx', 'OUT.onnx': 'out.onnx', 'OUT.dot': 'out.dot'}
    result = subprocess.run([COUNT, 'count', CLEAVE] + [paths.get(word, word) for word in words], cwd=folder,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120,
                            env={'PATH': os.environ['PATH'], 'LD_LIBRARY_PATH': os.environ.get('LD_LIBRARY_PATH', '')})
    if result.returncode == 77:
        print(result.stderr.strip())
        sys.exit(77)
    if result.returncode not in (0, 1):
        raise SystemExit(f'{" ".join(words)}: {result.stderr.strip()}')
    with open(os.path.join(folder, 'count')) as file:
        return int(file.read())


# For a model of each size, returns the number of instructions of a run minus the number of instructions for size 20.
# The instructions for size 20 stand for the work that does not depend on the size.
def measure(folder, make, words, sizes=SIZES):
    counts = []
    for n in [20] + sizes:
        with open(os.path.join(folder, 'model.onnx'), 'wb') as file:
            file.write(make(n))
        counts.append(count(folder, words))
    return [c - counts[0] for c in counts[1:]]


def peak_bytes(folder, n, make, words):
    with open(os.path.join(folder, 'model.onnx'), 'wb') as file:
        file.write(make(n))
    words = [{'MODEL': 'model.onnx', 'OUT.onnx': 'out.onnx'}.get(word, word) for word in words]
    child = subprocess.Popen([CLEAVE] + words, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    assert status == 0, status
    return usage.ru_maxrss * 1024


# Returns how many bytes each additional node of a model adds to the peak memory of `cleave compile`.
# The number is the peak at 6,020 nodes minus the peak at 20 nodes, divided by 6,000.
def compile_bytes(folder, make, threads):
    words = ['compile', 'MODEL', '--threads', str(threads), '--as-is', '-o', 'out.plan']
    return (peak_bytes(folder, 6020, make, words) - peak_bytes(folder, 20, make, words)) / 6000


def check_threads(folder):
    wrong = 0
    for kind in [dense, wide]:
        few, many = (compile_bytes(folder, kind, threads) for threads in [2, 64])
        good = many <= LIMIT_THREADS * few
        wrong += not good
        print(f'{"" if good else "TOO MANY: "}{kind.__name__}, compile: {few:.0f} bytes a node with 2 threads, '
              f'{many:.0f} with 64', flush=True)
    return wrong


def main():
    with tempfile.TemporaryDirectory() as folder:
        wrong = check_threads(folder)
        n_checked = 0
        n_bytes = (peak_bytes(folder, 20020, chain, DEEP) - peak_bytes(folder, 20, chain, DEEP)) / 20000
        print(f'split deep: {n_bytes:.0f} bytes a node of a chain, at most {LIMIT_BYTES}', flush=True)
        wrong += n_bytes > LIMIT_BYTES
        if wrong:
            # Exit with 1 before the next check, which exits with 77 (skipped) on a machine that cannot count instructions.
            sys.exit(1)
        n_instructions = measure(folder, chain, DEEP, [SIZES[-1]])[0] / (SIZES[-1] - 20)
        print(f'split deep: {n_instructions:.0f} instructions a node of a chain, at most {LIMIT_INSTRUCTIONS}', flush=True)
        wrong += n_instructions > LIMIT_INSTRUCTIONS
        for kind, (make, commands) in KINDS.items():
            for command, words in commands.items():
                counts = measure(folder, make, words)
                growth = [b / max(a, 1) for a, b in zip(counts, counts[1:])]
                good = max(growth) <= LIMIT
                wrong += not good
                n_checked += 1
                print(f'{"" if good else "TOO FAST: "}{kind}, {command}: '
                      f'{" ".join(f"{c / 1e6:.0f}" for c in counts)} million, times {" ".join(f"{g:.2f}" for g in growth)}',
                      flush=True)
    print(f'{n_checked} checked, {wrong} grow too fast')
    sys.exit(1 if wrong else 0)


main()
