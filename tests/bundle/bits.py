#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# bits.py [--compiler=gcc,clang] [--places=arena,apart,rows] CLEAVE MODEL…: writes bundles of models for five budgets,
# from the smallest arena to whole layers, and for each place of the input. Compiles them without warnings and with the
# address and undefined behavior sanitizers, and runs their test programs, which compare the bits with the bits of
# `cleave run`. Prints a line for each model, and fails if one bundle differs. A model that a bundle cannot compute is
# skipped by name.
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

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


def check(cleave, model, compiler, options, folder):
    """Writes, compiles and runs a bundle. Returns an error message, or None if the test program of the bundle
    succeeds."""
    out = os.path.join(folder, 'bundle')
    result = run([cleave, 'bundle', model, '--force', '-o', out, *options])
    if result.returncode != 0:
        return result.stdout
    program = os.path.join(folder, 'test')
    result = run([compiler, *FLAGS, *glob.glob(os.path.join(out, '*.c')), '-lm', '-o', program])
    if result.returncode == 0:
        result = run([program])
    for path in glob.glob(os.path.join(out, '*')):
        os.unlink(path)
    return None if result.returncode == 0 else f'exit status {result.returncode}\n{result.stdout}'


def check_model(cleave, model, arguments):
    """Makes several bundles of a model, with different options. Returns whether the test programs of all bundles
    succeed."""
    name, checked = os.path.basename(model), 0
    for place in arguments.places.split(','):
        figures = plan(cleave, model, '--input', place)
        if isinstance(figures, str):
            print(f'{name:44} skipped: {figures}')
            return True
        least, whole = figures['arena_bytes'], max(figures['arena_bytes'], figures['unsplit_arena_bytes'])
        for budget in sorted({least + (whole - least) * i // (BUDGETS - 1) for i in range(BUDGETS)}):
            options = ['--input', place, '--max-memory', str(budget)]
            for compiler in arguments.compiler.split(','):
                with tempfile.TemporaryDirectory() as folder:
                    error = check(cleave, model, compiler, options, folder)
                if error is not None:
                    print(f'{name:44} {compiler} {" ".join(options)}: {error}')
                    return False
                checked += 1
    print(f'{name:44} {checked} bundles have the bits of cleave run')
    sys.stdout.flush()
    return True


def main():
    parser = argparse.ArgumentParser(description='Check the bits of bundles on this machine.')
    parser.add_argument('--compiler', default='gcc,clang', help='compilers, separated by commas (default: gcc,clang)')
    parser.add_argument('--places', default='arena,apart,rows', help='places of the inputs (default: all)')
    parser.add_argument('cleave', metavar='CLEAVE', help='the command')
    parser.add_argument('models', nargs='+', metavar='MODEL')
    arguments = parser.parse_args()
    results = [check_model(arguments.cleave, model, arguments) for model in arguments.models]
    sys.exit(0 if all(results) else 1)


if __name__ == '__main__':
    main()
