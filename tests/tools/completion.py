#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# completion.py FOLDER CLEAVE: tests the completion of bash, zsh and fish with the scripts in FOLDER.
# Skips shells that are not installed.

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER, CLEAVE = map(os.path.abspath, (sys.argv.pop(-2), sys.argv.pop()))

BASH = '''
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
compopt () { :; }
_cleave; printf '%s\\n' "${COMPREPLY[@]}"
'''

# Replaces _describe and _arguments by functions that print their arguments, since there is no terminal.
ZSH = '''
_describe () { print -rl -- "${(@P)2}" }
_arguments () { print -rl -- "$@" }
(( $+functions[compdef] )) || compdef () { :; }
script=$1; shift
words=("$@"); CURRENT=$#
_cleave () { source $script }
_cleave
'''


class Completion(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        for name in ('model.onnx', 'other.onnx'):
            open(os.path.join(self.scratch.name, name), 'wb').close()
        os.mkdir(os.path.join(self.scratch.name, 'made'))

    def tearDown(self):
        self.scratch.cleanup()

    def shell(self, *args):
        if not shutil.which(args[0]):
            self.skipTest(f'no {args[0]}')
        environment = {**os.environ, 'PATH': os.path.dirname(CLEAVE) + ':' + os.environ['PATH'], 'HOME': self.scratch.name,
                       'XDG_CONFIG_HOME': self.scratch.name, 'XDG_DATA_HOME': self.scratch.name}
        run = subprocess.run(args, capture_output=True, cwd=self.scratch.name, env=environment, timeout=60, check=True)
        self.assertEqual(run.stderr.decode(), '')
        return run.stdout.decode().splitlines()

    def bash(self, *words):
        return self.shell('bash', '--norc', '-c', BASH, 'bash', os.path.join(FOLDER, 'cleave'), 'cleave', *words)

    def zsh(self, *words):
        return self.shell('zsh', '-f', '-c', ZSH, 'zsh', os.path.join(FOLDER, '_cleave'), 'cleave', *words)

    def fish(self, line):
        return self.shell('fish', '-c', f'source {FOLDER}/cleave.fish; complete -C "$argv[1]"', line)

    # Returns every option in the help of a command.
    def options(self, command):
        text = subprocess.run([CLEAVE, command, '--help'], capture_output=True, check=True).stdout.decode()
        return {word.split('=')[0] for line in text.splitlines() for word in line.split()[:2]
                if word.startswith('--') and line.startswith('  -')} - {'--help'}

    def commands(self):
        text = subprocess.run([CLEAVE, '--list-commands'], capture_output=True, check=True).stdout.decode()
        return [line.split('\t')[0] for line in text.splitlines()]

    def test_tables(self):
        self.assertIn('split', self.commands())
        for command in self.commands():
            text = subprocess.run([CLEAVE, command, '--list-options'], capture_output=True, check=True).stdout.decode()
            rows = [line.split('\t') for line in text.splitlines()]
            self.assertEqual({len(row) for row in rows}, {4}, command)
            self.assertEqual({row[0] for row in rows}, self.options(command), command)

    def test_bash(self):
        self.assertEqual(self.bash('sp'), ['split'])
        self.assertEqual(set(self.bash('')), {*self.commands(), '--help', '--version'})
        self.assertEqual(self.bash('info', '--no'), ['--nodes'])
        for command in self.commands():
            self.assertEqual(set(self.bash(command, '--')), self.options(command) | {'--help'}, command)
        self.assertEqual(sorted(self.bash('split', 'm')), ['made', 'model.onnx'])
        self.assertEqual(self.bash('run', '--output-dir', 'm'), ['made'])
        self.assertEqual(self.bash('run', '--output-dir', '=', 'm'), ['made'])
        self.assertEqual(self.bash('split', '-o', 'o'), ['other.onnx'])
        self.assertEqual(self.bash('run', '--input', 'x', '=', 'o'), ['other.onnx'])
        self.assertEqual(self.bash('split', '--depth', ''), [''])
        self.assertEqual(self.bash('nothing', '--'), [''])

    def test_zsh(self):
        self.assertEqual({line.split(':')[0] for line in self.zsh('')}, set(self.commands()))
        for command in self.commands():
            specs = self.zsh(command, '--')
            found = {line[1:].split('[')[0].rstrip('=') for line in specs if line.startswith('*--')}
            self.assertEqual(found, self.options(command), command)
        specs = self.zsh('split', '--')
        self.assertTrue(any(line.startswith('*--output=[') and line.endswith(':_files') for line in specs))
        self.assertTrue(any(line.startswith('*-o+[') for line in specs))
        self.assertTrue(any(line.startswith('*--all[') for line in specs))
        self.assertTrue(any(line.endswith(':DIR:_files -/') for line in self.zsh('run', '')))
        self.assertTrue(specs[-1].startswith('*:model:'))

    def test_fish(self):
        self.assertIn('split\tsplit nodes of a model and write the result', self.fish('cleave sp'))
        for command in self.commands():
            options = [line.split('\t')[0] for line in self.fish(f'cleave {command} --')]
            self.assertEqual(set(options), self.options(command), command)
        self.assertIn('-o\twrite the split model', self.fish('cleave split -'))
        self.assertIn('model.onnx', [line.split('\t')[0] for line in self.fish('cleave info mod')])


if __name__ == '__main__':
    unittest.main(verbosity=1)
