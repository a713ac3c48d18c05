#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""abi.py ROOT LIBRARY [--write]: compares the binary interface of LIBRARY with tests/api/abi.txt. With --write, writes
tests/api/abi.txt instead.

The file has a line for each public function, with its types, and for each value of an enum. A public struct has a line
with its size and the offsets of its fields. A lost or changed line breaks programs that were compiled before: raise the
version number of the shared library in the same commit, and add a line to CHANGELOG.md. An added line breaks no
program. After any change of a line, run the script with --write. The exported symbols of the library must be the
declared functions."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'help'))
from public_headers import Headers  # noqa: E402

PROGRAM = '''#include <cleave/cleave.h>
#include <stddef.h>
#include <stdio.h>
int
main (void)
{{
{}
  return 0;
}}
'''


def declare(result, name, arguments):
    return f'function {result} {name} ({", ".join(kind for kind, _ in arguments) or "void"})'


def measure(headers, root):
    """Compiles and runs a program that prints a line for each struct and each value of an enum. Returns these lines."""
    prints = []
    for name, fields in sorted(headers.structs.items()):
        prints.append(f'  printf ("struct {name}: %zu bytes", sizeof ({name}));')
        prints += [f'  printf (", {kind} {field}{array} at %zu", offsetof ({name}, {field}));' for kind, field, array in fields]
        prints.append('  printf ("\\n");')
    for name, values in sorted(headers.enums.items()):
        prints += [f'  printf ("enum {name}: {value} is %d\\n", (int) {value});' for value in values]
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, 'abi.c'), pathlib.Path(folder, 'abi')
        source.write_text(PROGRAM.format('\n'.join(prints)))
        flags = subprocess.run(['pkg-config', '--cflags', 'gobject-2.0', 'gio-2.0'], capture_output=True, text=True, check=True).stdout.split()
        subprocess.run(['cc', '-std=gnu11', f'-I{root}/include', source, '-o', program, *flags], check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def exported_symbols(library):
    table = subprocess.run(['nm', '-D', '--defined-only', library], capture_output=True, text=True, check=True).stdout
    return {re.split('@', line.split()[-1])[0] for line in table.splitlines() if line.split()[-2] == 'T'}


def main(root, library, *options):
    missing = [program for program in ('cc', 'nm', 'pkg-config') if shutil.which(program) is None]
    if missing:
        print(f'SKIP: no {missing[0]}')
        return 77
    path, headers = pathlib.Path(root, 'tests', 'api', 'abi.txt'), Headers(root)
    lines = sorted(declare(*function) for function in headers.functions if function[1] in headers.exported) + measure(headers, root)
    if '--write' in options:
        path.write_text('\n'.join(lines) + '\n')
    known, symbols = set(path.read_text().splitlines()), exported_symbols(library)
    wrong = [f'- {line}' for line in sorted(known - set(lines))] + [f'+ {line}' for line in sorted(set(lines) - known)]
    wrong += [f'declared, but not exported: {name}' for name in sorted(headers.exported - symbols)]
    wrong += [f'exported, but not declared: {name}' for name in sorted(symbols - headers.exported)]
    print('\n'.join(wrong + ['see the head of tests/api/abi.py'] if wrong else [f'abi: good, {len(lines)} lines']))
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
