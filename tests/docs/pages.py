#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the commands of a page, in the order of the page, in a folder of its own.

    pages.py PAGE CLEAVE BUILD MPI IMAGES [--write]    MPI, IMAGES: whether the build has them, true or false
    pages.py --list ROOT PAGE...                       checks that the list has every page with commands

| block | what happens |
|---|---|
| `sh` | runs; it must end with status 0 |
| `console` | a transcript: lines that begin with `$` run, and print lines that begin with the same words. `--write` renews it |
| `text` | must be the output of the block before it; … stands for anything. `--write` renews texts without a … |
| `python` | runs; the blocks of a page share their variables |
| `c` | a program becomes program.c; a fragment is compiled, and runs if it declares all that it uses |
| `graph FILE` | is written to that file |

The lines between .nf and .fi of a manual page are a block of `sh`.

A block after a line `<!-- not run: REASON -->` does not run. The folder has the files of `add_files ()`; the commands of a
page make all others.
"""

import contextlib
import importlib.util
import io
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

from page_models import quantized_net, sequence_net, tflite_net

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r'^(?:<!-- not run: ([^\n]+) -->\n)?```([^\n]*)\n(.*?)^```$', re.S | re.M)
# With these settings, Open MPI runs four processes on any machine.
MPI_ENVIRONMENT = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_mpi_yield_when_idle': '1',
                   'OMPI_MCA_rmaps_base_oversubscribe': '1', 'OMPI_MCA_hwloc_base_binding_policy': 'none'}
# Declarations and the head of a function, which are put before a C fragment of a page so that it compiles.
PRELUDE = '''#include <cleave/cleave.h>
gboolean pass_single_relu (CleaveGraph *graph, gconstpointer options, gboolean *changed, GError **error);
void fragment (CleaveGraph *graph, CleaveProgram *program, CleaveTensor **inputs, guint n_inputs, CleaveTensor **outputs,
               guint n_outputs, gboolean changed, GError *error);
void fragment (CleaveGraph *graph, CleaveProgram *program, CleaveTensor **inputs, guint n_inputs, CleaveTensor **outputs,
               guint n_outputs, gboolean changed, GError *error)
'''


# The functions below make the files that the pages assume.

def picture(width, height):
    """Returns the bytes of a PNG file: a ramp of gray."""
    def part(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    rows = b''.join(b'\0' + bytes((x + y) % 256 for x in range(width)) for y in range(height))
    return (b'\x89PNG\r\n\x1a\n' + part(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 0, 0, 0, 0)) +
            part(b'IDAT', zlib.compress(rows)) + part(b'IEND', b''))


def add_files(folder, build):
    """Writes the files that the pages assume: three networks, a picture, the examples, and the library for pkg-config.
    """
    (folder / 'net.onnx').write_bytes(quantized_net())
    (folder / 'sequence.onnx').write_bytes(sequence_net())
    (folder / 'net.tflite').write_bytes(tflite_net())
    (folder / 'cat.png').write_bytes(picture(320, 200))
    shutil.copytree(ROOT / 'docs' / 'examples', folder / 'docs' / 'examples')
    (folder / 'cleave.pc').write_text(f'Name: cleave\nDescription: .\nVersion: 0\nRequires: gobject-2.0, gio-2.0\n'
                                      f'Libs: -L{build} -lcleave\nCflags: -I{ROOT}/include\n')


# The class below runs the blocks of a page.

class Page:
    def __init__(self, path, cleave, build, features):
        self.path, self.features, self.printed, self.variables = path, features, None, {}
        self.typelib = pathlib.Path(build, 'Cleave-0.1.typelib')
        self.n_run, self.wrong, self.written, self.text = 0, [], [], read(path)
        os.environ.update(MPI_ENVIRONMENT)
        os.environ.update(PATH=os.path.dirname(cleave) + ':' + os.environ['PATH'], LD_LIBRARY_PATH=f'{build}:{build}/lib/mpi',
                          GI_TYPELIB_PATH=build, PKG_CONFIG_PATH='.')

    def line_of(self, found):
        return self.text.count('\n', 0, found.start()) + 1

    def complain(self, found, words):
        self.wrong.append(f'{self.path.name}:{self.line_of(found)}: {words}')

    def find_missing(self, kind, text):
        """Returns the program, module or feature that the block needs and this machine lacks, or None."""
        programs = {'mpirun': 'mpirun', 'gjs': 'gjs', '$(pkg-config': 'pkg-config', 'make ': 'make', 'net-c" run': 'qemu-system-arm',
                    'arm-none-eabi-size': 'arm-none-eabi-gcc'}
        needs = ['arm-none-eabi-gcc'] if 'net-c" run' in text else []
        needs += [program for word, program in programs.items() if kind == 'sh' and word in text]
        needs += ['cc'] * (kind == 'c' or '$(pkg-config' in text)
        missing = [f'no {program}' for program in needs if shutil.which(program) is None]
        if kind == 'python':
            missing += [f'no module {m}' for m in ('gi', 'numpy') if importlib.util.find_spec(m) is None]
        if (kind == 'python' or 'gjs' in text) and not self.typelib.exists():
            missing.append('built without introspection')
        for word, feature in (('mpirun', 'mpi'), ('.png --mean', 'images')):
            if word in text and feature not in self.features:
                missing.append(f'built without {feature}')
        return ', '.join(missing) or None

    def run_shell(self, found, text):
        run = subprocess.run(['sh', '-e', '-x', '-c', text], capture_output=True, text=True, timeout=240)
        if run.returncode != 0:
            self.complain(found, f'status {run.returncode} of\n{text}{run.stdout}{run.stderr}')
        return run.stdout

    def run_python(self, found, text):
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(text, str(self.path), 'exec'), self.variables)  # noqa: S102
        except Exception as error:  # any exception means that the page is wrong
            self.complain(found, f'{type(error).__name__}: {error}, in\n{text}')
        return printed.getvalue()

    def run_c(self, found, text):
        if 'main (' in text:
            pathlib.Path('program.c').write_text(text)
            return ''
        check = 'cc -std=gnu11 -Werror=implicit-function-declaration -fsyntax-only fragment.c $(pkg-config --cflags cleave)'
        pathlib.Path('fragment.c').write_text(f'#include <cleave/cleave.h>\nint main (void)\n{{\n{text}}}\n')
        if subprocess.run(['sh', '-c', check], capture_output=True).returncode == 0:
            return self.run_shell(found, 'cc -std=gnu11 -o fragment fragment.c $(pkg-config --cflags --libs cleave)\n'
                                         './fragment 2>errors || echo status $? >>errors\n'
                                         '! grep . errors >&2\n')
        pathlib.Path('fragment.c').write_text(f'{PRELUDE}{{\n{{\n{text}}}\n}}\n')
        return self.run_shell(found, check)

    def run_console(self, found, text):
        printed = ''
        for command in re.findall(r'^\$ (.*)$', text, re.M):
            printed += f'$ {command}\n{self.run_shell(found, command)}'
        if words_of(printed) != words_of(text):
            self.complain(found, f'expected\n{text}but got\n{printed}')
        self.written.append((found.span(3), printed))
        return printed

    def compare(self, found, text):
        pattern = re.escape(text).replace('…', '(?s:.*)')
        if self.printed is not None and re.fullmatch(pattern, self.printed) is None:
            self.complain(found, f'expected\n{text}but got\n{self.printed}')
            if '…' not in text:
                self.written.append((found.span(3), self.printed))

    def run_block(self, found):
        reason, kind, text = found.groups()
        if kind == 'text':
            self.compare(found, text)
            return
        if kind.startswith('graph '):
            pathlib.Path(kind.split()[1]).write_text(text)
            return
        run = {'sh': self.run_shell, 'console': self.run_console, 'python': self.run_python, 'c': self.run_c}.get(kind)
        reason = reason or run and self.find_missing(kind, text)
        self.printed = None
        if run and reason:
            print(f'{self.path.name}:{self.line_of(found)}: SKIP: {reason}')
        elif run:
            self.printed, self.n_run = run(found, text), self.n_run + 1

    def run(self):
        for found in BLOCK.finditer(self.text):
            self.run_block(found)

    def write(self):
        for (begin, end), printed in reversed(self.written):
            self.text = self.text[:begin] + printed + self.text[end:]
        self.path.write_text(self.text)


def words_of(text):
    """Returns the first word of each line of a transcript. The other words may differ from run to run."""
    return {line.split()[0] for line in text.splitlines() if line.strip()}


# The functions below read pages and manual pages.

def read(path):
    """Returns the text of a page. The examples of a manual page become blocks."""
    text = path.read_text()
    return text if path.suffix == '.md' else re.sub(r'^\.nf\n(.*?)^\.fi$', example_block, text, flags=re.S | re.M)


def example_block(found):
    return '```sh\n' + found[1].replace('\\-', '-') + '```'


def has_commands(text):
    return any(kind in ('sh', 'python', 'c') for _, kind, _ in BLOCK.findall(text))


def list_stray_commands(text):
    """Returns the lines of a page that look like a command outside of any block, where no test runs them."""
    rest = BLOCK.sub(lambda found: '' if found[2] else found[3], text)
    return [line for line in rest.split('\n') if re.match(r' *\$ | *cleave [a-z]+ \S+\.onnx| {4,}cleave ', line)]


def check_list(root, listed):
    found = [path for pattern in ('*.md', 'docs/*.md', 'tools/*.1') for path in sorted(root.glob(pattern))]
    wrong = []
    for path in found:
        text = read(path)
        if has_commands(text) != (str(path.relative_to(root)) in listed):
            wrong.append(f'{path.name}: tests/docs/meson.build must list exactly the pages that have commands')
        wrong += [f'{path.name}: not in a block of the kind sh: {line}' for line in list_stray_commands(text)]
    return wrong


def main(page, cleave, build, mpi, images, *options):
    path, home, build = pathlib.Path(page).resolve(), os.getcwd(), os.path.abspath(build)
    features = [name for name, has in (('mpi', mpi), ('images', images)) if has == 'true']
    with tempfile.TemporaryDirectory() as scratch:
        run = Page(path, os.path.abspath(cleave), build, features)
        os.chdir(scratch)
        add_files(pathlib.Path(scratch), build)
        run.run()
        os.chdir(home)
    if '--write' in options:
        run.write()
    print(f'{path.name}: {run.n_run} blocks ran')
    if run.n_run == 0 and not run.wrong:
        sys.exit(77)
    return run.wrong


if sys.argv[1] == '--list':
    complaints = check_list(pathlib.Path(sys.argv[2]), sys.argv[3:])
else:
    complaints = main(*sys.argv[1:])
print('\n'.join(complaints) or 'pages: good')
sys.exit(1 if complaints else 0)
