#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# options.py SOURCE CLEAVE: checks that every option of every command is in its table, its help and the man page.
# Checks that no text names an option that does not exist, and that no option is accepted and ignored.
# Checks that the man page has every environment variable, and every word that an option accepts as its value.
# (completion.py checks the completions of shells.)

import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import unittest

import command
from onnx_bytes import floats

SOURCE = os.path.abspath(sys.argv.pop())
CLEAVE = command.CLEAVE


def output(*args):
    return subprocess.run([CLEAVE, *args], capture_output=True, check=True).stdout.decode()


# Returns the options of each command: long name, letter or '', value or '', description.
def read_tables():
    tables = {}
    for line in output('--list-commands').splitlines():
        rows = [row.split('\t') for row in output(line.split('\t')[0], '--list-options').splitlines()]
        tables[line.split('\t')[0]] = {row[0]: (row[1].strip('- '), row[2], row[3]) for row in rows}
    return tables


TABLES = read_tables()


# Returns the options of each section of the man page: the lines after a .TP, without troff markup.
def read_man():
    sections, name, after_tp = {}, None, False
    with open(os.path.join(SOURCE, 'tools', 'cleave.1'), encoding='utf-8') as file:
        for line in file:
            line = line.rstrip('\n')
            if line.startswith('.SH '):
                name = line[4:]
                sections[name] = {'text': '', 'heads': []}
            elif name is not None:
                plain = re.sub(r'\\f[A-Z]|"', '', re.sub(r'^\.[A-Z]+ ?', '', line)).replace('\\-', '-').replace('\\&', '')
                sections[name]['text'] += plain + '\n'
                if after_tp:
                    sections[name]['heads'].append(plain)
            after_tp = line == '.TP'
    return sections


MAN = read_man()


# Returns a map from the old names of options to the new names, from the table `renamed` in tools/arguments.c.
def read_renamed():
    with open(os.path.join(SOURCE, 'tools', 'arguments.c'), encoding='utf-8') as file:
        table = re.search(r'\brenamed\[\] = \{(.*?)\n\};', file.read(), re.S)[1]
    return {f'--{old}': f'--{new}' for old, new in re.findall(r'\{ "([a-z-]+)", "([a-z-]+)" \}', table)}


RENAMED = read_renamed()
OPTION = re.compile(r'(?<![\w-])--[a-z]+(?:-[a-z]+)*(?![\w-])')
COMMON = {'--shape', '--fix', '--force', '--json', '--bytes', '--threads'}


def options_of(texts):
    return {option for text in texts for option in OPTION.findall(text)}


class Everywhere(unittest.TestCase):
    def test_help_is_the_table(self):
        for name, table in TABLES.items():
            # A long description continues on the next lines.
            text = re.sub(r'\n {12,}(?=\S)', ' ', output(name, '--help'))
            lines = [line for line in text.splitlines() if re.match(r' {2}(-., )?--', line)]
            found = {OPTION.search(line)[0]: line for line in lines}
            self.assertEqual(set(found) - {'--help'}, set(table), name)
            for option, (letter, value, text) in table.items():
                self.assertTrue(text, f'{name} {option} has no description')
                self.assertIn(text, found[option])
                self.assertIn(f'{option}={value}' if value else option, found[option])
                self.assertEqual(f'-{letter}, ' in found[option], letter != '', f'{name} {option}')

    # Descriptions begin with a verb in lower case and show the default. No line has more than 100 columns.
    def test_help_has_one_form(self):
        for name, table in TABLES.items():
            self.assertEqual([line for line in output(name, '--help').splitlines() if len(line) > 100], [], name)
            for option, (_, _, text) in table.items():
                self.assertRegex(text, r'^(split: |fit: )?[a-z].*[^.]$', f'{name} {option}')
                self.assertNotRegex(text, r'\((?!default\b)[^)]*\)$', f'{name} {option}: write (default: …)')
        self.assertEqual([line for line in output('--help').splitlines() if len(line) > 100], [])

    # A section of the man page has the options of its command. Common options are in a section of their own.
    # The section of `report` leaves out the options of `split` and `fit`, which the command `report` accepts, too.
    def test_man_page_has_each_option(self):
        for name, table in TABLES.items():
            section = f'OPTIONS OF {name.upper()}'
            self.assertIn(section, MAN)
            documented = options_of(MAN[section]['heads'])
            if name == 'report':
                documented |= options_of(MAN['OPTIONS OF SPLIT']['heads'] + MAN['OPTIONS OF FIT']['heads']) & set(table)
            self.assertEqual(sorted(set(table) - documented - COMMON), [], f'not in the man page of {name}')
            self.assertEqual(sorted(documented - set(table)), [], f'only in the man page of {name}')

    def test_man_page_says_which_commands_have_a_common_option(self):
        heads = MAN['COMMON OPTIONS']['heads']
        self.assertEqual(options_of(heads), COMMON)
        paragraphs = re.split(r'(?m)^(?=--)', MAN['COMMON OPTIONS']['text'])
        for option in COMMON:
            text = next(p for p in paragraphs if p.startswith(option))
            said = {name for name in TABLES if re.search(rf'(?<![\w-]){name}(?![\w-])', text)}
            if 'Every command that reads a model takes this option' in text:
                said = set(TABLES) - {'demo'}
            self.assertEqual(said, {name for name, table in TABLES.items() if option in table}, option)

    # The man page, the guide, the help and the messages name no option that does not exist.
    def test_no_other_option_is_named(self):
        known = {option for table in TABLES.values() for option in table} | {'--help', '--help-all', '--version', '--list-options',
                                                                             '--list-commands'}
        for section in MAN.values():
            self.assertEqual(sorted(options_of([section['text']]) - known), [])
        for name in TABLES:
            self.assertEqual(sorted(options_of([output(name, '--help')]) - known), [])
        for path in glob.glob(os.path.join(SOURCE, 'tools', '*.c')):
            with open(path, encoding='utf-8') as file:
                strings = re.findall(r'"((?:[^"\\]|\\.)*)"', file.read())
            self.assertEqual(sorted(options_of(strings) - known), [], path)

    def test_the_head_of_the_manual_has_the_version(self):
        with open(os.path.join(SOURCE, 'tools', 'cleave.1'), encoding='utf-8') as file:
            self.assertRegex(file.read(), rf'(?m)^\.TH CLEAVE 1 "\d{{4}}-\d\d-\d\d" "{output("--version").strip()}" "User Commands"$')

    # A command line in the guide uses options of its command.
    def test_guide_has_options_of_its_commands(self):
        n = 0
        for path in [*glob.glob(os.path.join(SOURCE, 'docs', '*.md')), os.path.join(SOURCE, 'README.md'),
                     os.path.join(SOURCE, 'tools', 'cleave.1')]:
            with open(path, encoding='utf-8') as file:
                text = file.read().replace('\\-', '-').replace('\\\n', ' ')
            for name, rest in re.findall(r'\bcleave ([a-z]+)((?: [^`\n|;&#>]*)?)', text):
                if name in TABLES:
                    n += 1
                    self.assertEqual(sorted(options_of([rest]) - set(TABLES[name]) - set(RENAMED) - {'--help'}), [], f'{path}: cleave {name}{rest}')
        self.assertGreater(n, 100)

    # A command accepts the old name of an option, and prints a note with the new name. No help text contains the old name.
    # If the old name of a renamed option is also the name of a current option of the command, the command prints no note.
    def test_old_names_are_hidden(self):
        for old, new in RENAMED.items():
            owners = [name for name, table in TABLES.items() if new in table]
            self.assertTrue(owners, new)
            for name in owners:
                note = f'cleave: note: {old} is now {new}\n'
                run = subprocess.run([CLEAVE, name, f'{old}=1', '/none'], capture_output=True, check=False)
                self.assertEqual(run.returncode, 2)
                self.assertEqual(note in run.stderr.decode(), old not in TABLES[name], (name, old))
            if not any(old in table for table in TABLES.values()):
                self.assertNotIn(old, ''.join(output(name, '--help') for name in TABLES) + ''.join(s['text'] for s in MAN.values()))

    # Checks that the man page has exactly the environment variables that the program and its library read.
    def test_environment(self):
        read, words = set(), set()
        for folder in 'lib', 'passes', 'tools':
            for path in glob.glob(os.path.join(SOURCE, folder, '**', '*.c'), recursive=True):
                with open(path, encoding='utf-8') as file:
                    text = file.read()
                read |= set(re.findall(r'"(CLEAVE_[A-Z_]+)"', text)) if 'getenv' in text else set()
                if 'CLEAVE_DEBUG' in text and 'getenv' in text:
                    words |= set(re.findall(r'\{ "([a-z]+)", ', text))
        documented = set(re.findall(r'(?m)^(CLEAVE_[A-Z_]+)', '\n'.join(MAN['ENVIRONMENT']['heads'])))
        self.assertEqual(documented, read)
        for word in words:
            self.assertRegex(MAN['ENVIRONMENT']['text'], rf'(?<!\w){word}(?!\w)')


class Effects(command.CommandTest):
    # The required arguments of each command.
    BARE = {
        'info': ['chain.onnx'],
        'dot': ['chain.onnx', '-o', 'a.dot'],
        'split': ['chain.onnx', '--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--json'],
        'fit': ['chain.onnx'],
        'compile': ['chain.onnx', '-o', 'a.plan'],
        'bundle': ['pool.cleave', '-o', 'c'],
        'run': ['chain.onnx'],
        'diff': ['chain.onnx', 'other.onnx'],
        'memory': ['chain.onnx'],
        'opt': ['chain.onnx', '-p', 'split{node=pool1 dims=H num-chunks=2}'],
        'partition': ['chain.onnx', '-d', 'parts'],
        'extract': ['chain.onnx', '--from', 'c', '-o', 'a.onnx'],
        'simulate': ['chain.onnx'],
        'report': ['chain.onnx', '--no-times', '-o', 'a.html'],
        'demo': ['--repeat', '1'],
    }
    VALUES = {
        '--after': 'other.onnx', '--align': '3', '--around': 'pool1', '--at': 'c', '--bandwidth': '1', '--bisect': '0', '--chunk-size': '3',
        '--chunk-sizes': '3,5', '--chunk-weights': '1,3', '--depth': '2', '--dims': 'W', '--distance': '1', '--fix': 'x=x.npy',
        '--for': 'ort', '--for-threads': '2', '--halo': 'carry', '--in-flight': '3', '--input': 'x.npy', '--io-type': 'float', '--kernels': 'c', '--latency': '1000',
        '--max-added-latency': '5', '--max-added-macs': '5', '--max-bytes': '7kB', '--max-memory': '3000', '--max-piece-memory': '3000',
        '--max-pieces': '2', '--max-schedule-memory': '8000',
        '--max-subgraph-memory': '8000', '--memory': 'fast=1KiB', '--mean': '1', '--min-chunk': '5', '--node': 'relu1', '--num-chunks': '4', '--parts': '2',
        '--passes': 'clean-up', '--ranks': '3', '--reduce': 'true', '--repeat': '2', '--scale': '2',
        '--search-budget': '10', '--seed': '1', '--shape': '2,3,16,16', '--slice-ranges': '0:1,0:4,0:3,0:8/0:1,0:4,3:8,0:8',
        '--state': 'all', '--stop-after': 'split', '--stream': '2', '--strips-per-band': '2', '--threads': '3', '--to': 'r', '--tolerance': '100', '--weights': 'object',
    }
    # Options that do not change the output of the command line in BARE, each with the reason.
    # An option that is not in this table changes the output, or the command refuses the option.
    HOLDS = {
        ('dot', '--around'): 'the whole model is near',
        ('simulate', '--bandwidth'): 'nothing is sent',
        ('simulate', '--latency'): 'nothing is sent',
        ('split', '--small-first'): 'both chunks are of one size',
        ('split', '--bytes'): 'JSON has bytes anyway',
        ('split', '--dry-run'): 'writes no file without -o',
        ('split', '--verbose'): 'few lines are listed anyway',
        ('fit', '--verbose'): 'few lines are listed anyway',
        ('fit', '--max-added-macs'): 'adds none, 5 % are allowed',
        ('compile', '--force'): 'no file is replaced',
        ('compile', '--threads'): 'so small a model runs on one thread',
        ('bundle', '--force'): 'no file is replaced',
        ('bundle', '--max-added-macs'): 'a pooling has none',
        ('bundle', '--max-memory'): 'the arena is smaller',
        ('bundle', '--state'): 'no input is a state',
        ('dot', '--force'): 'no file is replaced',
        ('dot', '--no-clusters'): 'nothing is parallel',
        ('partition', '--force'): 'no file is replaced',
        ('extract', '--force'): 'no file is replaced',
        ('opt', '--verify-each'): 'the graph is valid',
        ('opt', '--stop-after'): 'the pipeline has one pass',
        ('report', '--force'): 'no file is replaced',
    }

    # Runs a command. Returns status, text and files, without times and without the bytes of a saved program.
    def outcome(self, name, args):
        folder = self.path('work')
        os.mkdir(folder)
        self.addCleanup(shutil.rmtree, folder, True)
        for file, data in self.files.items():
            with open(os.path.join(folder, file), 'wb') as to:
                to.write(data)
        run = subprocess.run([CLEAVE, name, *args], capture_output=True, cwd=folder, timeout=120, check=False)
        sums = {}
        for path in glob.glob(os.path.join(folder, '**', '*'), recursive=True):
            if os.path.isfile(path) and not path.endswith('.plan'):
                with open(path, 'rb') as file:
                    data = re.sub(rb'"command":"[^"]*"', b'', file.read())
                sums[os.path.relpath(path, folder)] = hashlib.sha256(data).hexdigest()
        shutil.rmtree(folder)
        text = run.stdout.decode() + run.stderr.decode()
        if name in ('run', 'demo'):
            text = re.sub(r'(latency.*|\d+\.\d+ ms)', lambda times: re.sub(r'\d+\.\d+', '#', times[0]), text)
        return run.returncode, text, sums

    def setUp(self):
        super().setUp()
        self.files = {'chain.onnx': command.chain(), 'other.onnx': command.chain(seed=2),
                      'x.npy': command.npy('<f4', '(1, 3, 16, 16)', floats(768, 5)), 'passes': b'clean-up',
                      'pool.cleave': b'%x = Input : int8 1x2x8x8\n%y = MaxPool %x kernel_shape=2,2\noutput %y\n'}

    def test_no_option_is_ignored(self):
        ignored, seen = [], set()
        for name, table in TABLES.items():
            bare = self.outcome(name, self.BARE[name])
            if name == 'report' and 'libcleave-render' in bare[1]:
                self.HOLDS.pop(('report', '--force'))
                continue # the build has no pictures
            self.assertIn(bare[0], (0, 1), bare)
            for option, (letter, value, _) in table.items():
                if option in self.BARE[name] or letter and '-' + letter in self.BARE[name]:
                    continue
                args = [option] if not value else [option, self.VALUES.get(option, 'out' + ''.join(re.findall(r'(\.\w+)$', value)))]
                with_option = self.outcome(name, [*self.BARE[name], *args])
                self.assertIn(with_option[0], (0, 1, 2), (name, args, with_option))
                self.assertNotIn('there is no option', with_option[1])
                if with_option == bare and (name, option) not in self.HOLDS:
                    ignored.append((name, *args))
                if with_option == bare:
                    seen.add((name, option))
        self.assertEqual(ignored, [])
        self.assertEqual(set(self.HOLDS) - seen, set(), 'these have an effect')

    def test_options_without_effect_are_refused(self):
        for needs, name, *args in (
                ('--program', 'info', '--threads', '2'), ('--program', 'info', '--as-is'), ('--threads', 'info', '--program', '--as-is'),
                ('--threads', 'run', '--as-is'), ('--threads', 'compile', '-o', 'a.plan', '--as-is'), ('--ranks', 'dot', '--threads', '2'),
                ('--around', 'dot', '--distance', '2'), ('--output', 'split', '--force'), ('--output', 'split', '--keep-going'),
                ('--keep-going', 'split', '--keep-going', '--dry-run', '-o', 'o.onnx'), ('--frontier', 'fit', '--plot', 'a.svg'),
                ('--output', 'fit', '--force'), ('--output-dir', 'run', '--force'), ('--stream', 'run', '--in-flight', '2'),
                ('--ranks', 'run', '--stream', '2'), ('--input', 'run', '--mean', '1'), ('--input', 'diff', '--scale', '1'),
                ('--output', 'memory', '--force'), ('--output', 'opt', '--force'), ('--reduce', 'opt', '--reduce', 'true', '--print-changed'),
                ('--list-passes', 'opt', '--list-passes'), ('--no-times', 'report', '--threads', '2'), ('of split', 'report', '--check'),
                ('makes it a split', 'report', '--node', 'x', '--exclude-inputs'),
                ('--frontier', 'fit', '--frontier', '--dry-run'), ('--frontier', 'fit', '--frontier', '--verbose'), ('--frontier', 'fit', '--frontier', '--plan', 'p.json'),
                ('--from-plan', 'fit', '--from-plan', 'p.json', '--threads', '2')):
            status, text, _ = self.outcome(name, [*self.BARE[name], *args])
            self.assertEqual(status, 2, (name, args, text))
            self.assertIn(needs, text)
        for name in 'info', 'diff', 'simulate', 'demo':
            self.assertNotIn('--force', TABLES[name])

    # The command `report` accepts the options of the commands `split` and `fit`.
    def test_report_does_what_its_options_say(self):
        for options in (['--max-schedule-memory', '1MiB'], ['--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--check'],
                        ['--max-memory', '1MiB', '--threads', '2'], ['--exclude-inputs'], ['--all', '--max-piece-memory', '3000', '--keep-going']):
            status, text, files = self.outcome('report', [*self.BARE['report'], *options])
            if 'libcleave-render' in text:
                self.skipTest('built without pictures')
            self.assertIn(status, (0, 1), (options, text))
            self.assertIn('a.html', files)

    # All choices of an option are in its help, in the man page, and in the message about a wrong choice.
    def test_choices(self):
        for name, option in (('split', '--halo'), ('fit', '--for'), ('bundle', '--kernels'), ('bundle', '--io-type'),
                             ('bundle', '--weights')):
            args = [arg for arg in self.BARE[name] if arg != '--json']
            status, text, _ = self.outcome(name, [*args, option, 'wrong'])
            self.assertEqual(status, 2)
            choices = re.split(r', | or ', re.search(r"expects ([a-z0-9, -]+), not 'wrong'", text)[1])
            self.assertGreater(len(choices), 1)
            for choice in choices:
                self.assertRegex(TABLES[name][option][2], rf'(?<![\w-]){choice}(?![\w-])', option)
                self.assertRegex(MAN[f'OPTIONS OF {name.upper()}']['text'], rf'(?<![\w-]){choice}(?![\w-])', option)


if __name__ == '__main__':
    unittest.main(verbosity=1)
