#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# bits.py [--compiler=gcc,clang] [--places=arena,apart,rows] [--boards=M0,M4…] [--max-added-macs=50] [--jobs=N] CLEAVE
# MODEL…: writes bundles of models, compiles them and runs their test programs.
# Each model has five budgets for the arena, from the smallest possible arena to the arena of the unsplit network.
# Neighboring budgets often give the same plan: beyond some budget, more memory saves no MACs.
# The smallest arenas need --max-added-macs, since the bundles compute some columns twice.
# A model has a bundle for each different plan, and for each place of the model's input in --places.
# If --places is empty, no bundle runs on this machine.
# The compiler must give no warning. The test programs run with the address and undefined behavior sanitizers.
# A test program compares every bit of the bundle's outputs with the outputs of `cleave run`.
# If several bundles contain files with the same text, the script compiles this text once.
# With --boards, also runs the bundle with the smallest arena on emulated boards (emulate.py).
# Prints a line for each model. Fails if an output of a bundle differs from `cleave run`. With --jobs, checks N models at once.
# If a bundle cannot compute a model, the script prints the name of the model and skips the model.
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading

import emulate

BUDGETS = 5
FLAGS = ('-std=c99 -pedantic -Wall -Wextra -Wconversion -Werror -O1 -ffp-contract=off -fsanitize=address,undefined '
         '-fno-sanitize-recover=all').split()


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def plan(cleave, model, *options):
    """Returns the JSON report of `cleave bundle` with these options, or its error message."""
    result = subprocess.run([cleave, 'bundle', model, '--json', *options], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    return json.loads(result.stdout) if result.returncode == 0 else result.stderr.strip()


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def compile_object(compiler, source, objects):
    """Compiles a file of a bundle, unless `objects` has the object of a file with the same text and headers. Returns the
    path of the object, and the message of the compiler, which is empty if it succeeds."""
    headers = sorted(glob.glob(os.path.join(os.path.dirname(source), '*.h')))
    texts = [compiler.encode(), *(read(path) for path in [source, *headers])]
    target = os.path.join(objects, hashlib.sha256(b'\0'.join(texts)).hexdigest() + '.o')
    if os.path.exists(target):
        return target, ''
    part = f'{target}.{threading.get_ident()}'  # a name of its own: another job may compile the same text
    result = run([compiler, *FLAGS, '-c', source, '-o', part])
    if result.returncode != 0:
        return target, result.stdout
    os.replace(part, target)
    return target, ''


def check(cleave, model, compiler, options, folder, objects):
    """Writes, compiles and runs a bundle. Returns an error message, or None if the test program of the bundle
    succeeds."""
    out = os.path.join(folder, 'bundle')
    result = run([cleave, 'bundle', model, '--force', '-o', out, *options])
    if result.returncode != 0:
        return result.stdout
    parts = [compile_object(compiler, source, objects) for source in glob.glob(os.path.join(out, '*.c'))]
    if any(message for _, message in parts):
        return '\n'.join(message for _, message in parts)
    program = os.path.join(folder, 'test')
    result = run([compiler, *FLAGS, *(path for path, _ in parts), '-lm', '-o', program])
    if result.returncode == 0:
        result = run([program])
    return None if result.returncode == 0 else f'exit status {result.returncode}\n{result.stdout}'


def check_boards(cleave, model, boards):
    """Runs the bundle with the smallest arena on emulated boards. Returns whether the bits are right."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'bundle')
        result = run([cleave, 'bundle', model, '--input', 'apart', '--weights', 'object', '-o', out])
        if result.returncode != 0:
            print(result.stdout)
            return False
        return all([emulate.emulate(out, board, ['-O2']) for board in boards])


def check_model(cleave, model, arguments, objects):
    """Makes several bundles of a model, with different options. Returns whether the test programs of all bundles
    succeed."""
    name, checked = os.path.basename(model), 0
    more = ['--max-added-macs', arguments.max_added_macs]
    for place in filter(None, arguments.places.split(',')):
        figures = plan(cleave, model, '--input', place, *more)
        if isinstance(figures, str):
            print(f'{name:44} skipped: {figures}')
            return True
        least, whole = figures['arena_bytes'], max(figures['arena_bytes'], figures['unsplit_arena_bytes'])
        plans = {}  # for each plan, the largest budget for which the planner finds this plan
        for budget in sorted({least + (whole - least) * i // (BUDGETS - 1) for i in range(BUDGETS)}):
            figures = plan(cleave, model, '--input', place, '--max-memory', str(budget), *more)
            plans[figures['arena_bytes'], figures['macs'], figures['loops']] = budget
        for budget in plans.values():
            options = ['--input', place, '--max-memory', str(budget), *more]
            for compiler in arguments.compiler.split(','):
                with tempfile.TemporaryDirectory() as folder:
                    error = check(cleave, model, compiler, options, folder, objects)
                if error is not None:
                    print(f'{name:44} {compiler} {" ".join(options)}: {error}')
                    return False
                checked += 1
    print(f'{name:44} {checked} bundles have the bits of cleave run')
    sys.stdout.flush()
    return check_boards(cleave, model, arguments.boards.split(',')) if arguments.boards else True


def main():
    parser = argparse.ArgumentParser(description='Check the bits of bundles on this machine.')
    parser.add_argument('--compiler', default='gcc,clang', help='compilers, separated by commas (default: gcc,clang)')
    parser.add_argument('--places', default='arena,apart,rows', help='places of the inputs (default: all)')
    parser.add_argument('--max-added-macs', default='50', help='MACs that a plan may add, in per cent (default: 50)')
    parser.add_argument('--boards', default='', help=f'boards, separated by commas: {",".join(emulate.BOARDS)}')
    parser.add_argument('--jobs', type=int, default=1, help='number of models that are checked at once (default: 1)')
    parser.add_argument('cleave', metavar='CLEAVE', help='the command')
    parser.add_argument('models', nargs='+', metavar='MODEL')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as objects:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            results = list(pool.map(lambda model: check_model(arguments.cleave, model, arguments, objects),
                                    arguments.models))
    sys.exit(0 if all(results) else 1)


if __name__ == '__main__':
    main()
