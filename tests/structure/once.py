#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests .ci/once on a build of two sources, with a checker that rejects files with the word `bad`.

import os
import pathlib
import subprocess
import tempfile
import unittest

ONCE = pathlib.Path(__file__).resolve().parents[2] / '.ci' / 'once'
NINJA = """rule cc
  command = cc $flags -MMD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
build a.o: cc ../a.c
build b.o: cc ../b.c
"""
CHECK = """#!/bin/sh
[ "$1" != --version ] || { echo "check $VERSION"; exit; }
shift
printf '%s\\n' "$@" >>checked
[ ! -e edit ] || sh edit
! grep -q bad "$@"
"""


class Once(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / 'build').mkdir()
        for name, text in {'a.c': '#include "a.h"\n', 'a.h': 'int a;\n', 'b.c': 'int b;\n', 'c.c': 'int c;\n', 'build/build.ninja': NINJA,
                           'check': CHECK}.items():
            (self.folder / name).write_text(text)
        (self.folder / 'check').chmod(0o755)
        self.build()

    def build(self):
        subprocess.run(['ninja', '-C', 'build'], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        commands = subprocess.run(['ninja', '-C', 'build', '-t', 'compdb', 'cc'], cwd=self.folder, check=True, capture_output=True).stdout
        (self.folder / 'build' / 'compile_commands.json').write_bytes(commands)

    # Runs .ci/once. Returns the status, and the files that were checked.
    def run_once(self, files=('a.c', 'b.c'), argument='x', version='1'):
        checked = self.folder / 'checked'
        checked.write_text('')
        environment = dict(os.environ, XDG_CACHE_HOME=str(self.folder / 'cache'), VERSION=version)
        run = subprocess.run([ONCE, 'build', './check', argument], cwd=self.folder, env=environment, input='\n'.join(files), text=True,
                             stdout=subprocess.DEVNULL)
        return run.returncode, sorted(checked.read_text().split())

    def test_a_file_is_checked_once(self):
        self.assertEqual(self.run_once(), (0, ['a.c', 'b.c']))
        self.assertEqual(self.run_once(), (0, []))

    def test_a_changed_header_is_a_change_of_the_file(self):
        self.run_once()
        (self.folder / 'a.h').write_text('int other;\n')
        self.build()
        self.assertEqual(self.run_once(), (0, ['a.c']))

    def test_other_arguments_flags_and_versions_are_other_checks(self):
        self.run_once()
        self.assertEqual(self.run_once(argument='y'), (0, ['a.c', 'b.c']))
        self.assertEqual(self.run_once(version='2'), (0, ['a.c', 'b.c']))
        (self.folder / 'build' / 'build.ninja').write_text(NINJA + '  flags = -O1\n')
        self.build()
        self.assertEqual(self.run_once(), (0, ['b.c']))

    def test_a_file_that_changes_meanwhile_is_checked_again(self):
        (self.folder / 'edit').write_text('echo "int other;" >a.h')
        self.assertEqual(self.run_once(), (0, ['a.c', 'b.c']))
        (self.folder / 'edit').unlink()
        (self.folder / 'a.h').write_text('int a;\n')
        self.build()
        self.assertEqual(self.run_once(), (0, ['a.c']))

    def test_a_rejected_file_is_checked_again(self):
        (self.folder / 'b.c').write_text('int bad;\n')
        self.build()
        for _ in range(2):
            self.assertEqual(self.run_once(['b.c']), (1, ['b.c']))

    def test_a_file_that_is_not_built_is_always_checked(self):
        for _ in range(2):
            self.assertEqual(self.run_once(['c.c']), (0, ['c.c']))


unittest.main()
