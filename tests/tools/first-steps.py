#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# first-steps.py CLEAVE: tests messages for mistakes that new users make, such as an output file with a wrong ending.
# Also tests the advice that commands print, such as the next command to run.

import re
import shlex
import unittest

import command
from onnx_bytes import model, node, value_info


class FirstSteps(command.CommandTest):
    # Commands that write a file: the option for the file, and the endings that its name may have.
    OUTPUTS = [
        (('fit', '--max-memory', '1MB', '-o'), '.onnx or .cleave'), (('fit', '--max-memory', '1MB', '--dot-before'), '.dot, .svg or .png'),
        (('fit', '--max-memory', '1MB', '--dot-after'), '.dot, .svg or .png'), (('fit', '--frontier', '--plot'), '.svg'),
        (('split', '--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '-o'), '.onnx or .cleave'),
        (('split', '--for-threads', '2', '--dot-after'), '.dot, .svg or .png'), (('extract', '--to', 'r', '-o'), '.onnx or .cleave'),
        (('opt', '-p', 'clean-up', '-o'), '.onnx or .cleave'), (('compile', '-o'), '.plan'), (('report', '-o'), '.html or .htm'),
    ]

    # The command checks the name of the output before the work. So a wrong name is an error even if the model does not exist.
    def test_a_wrong_ending_is_named_before_the_work(self):
        for (name, *options), endings in self.OUTPUTS:
            for file in ('out.txt', 'out'):
                self.bad(f"to '{file}': its ending must be {endings}", name, 'missing.onnx', *options, file)

    def test_a_missing_folder_is_named_before_the_work(self):
        for (name, *options), endings in self.OUTPUTS:
            file = 'a folder/out' + endings.split(' ')[0].rstrip(',')
            self.bad(f"cannot write '{file}': there is no folder 'a folder'", name, 'missing.onnx', *options, file)

    def test_a_command_that_writes_nothing_says_so(self):
        split = ('split', self.chain, '--node', 'pool1', '--dims', 'H', '--num-chunks', '2')
        for args in (split, ('fit', self.chain, '--max-memory', '1MB')):
            self.assertIn('written     nothing; -o OUT.onnx writes the model\n', self.good(*args))
            for more in (('-o', 'o.onnx'), ('--dry-run',), ('--json',), ('--dot-after', 'o.dot'), ('--save-json', 'o.json')):
                self.assertNotIn('written', self.good(*args, *more))

    # The command `memory` gives advice: a command that can be run as it is printed.
    def test_the_advice_of_memory_is_a_command(self):
        free = model([node('Relu', ['x'], ['a'], 'a'), node('Exp', ['a'], ['y'], 'y')], [value_info('x', ['n', 64])], [value_info('y', ['n', 64])])
        self.write("it's free.onnx", free)
        given = ("it's free.onnx", '--shape', 'n=32', '--threads', '2')
        advice = re.findall('To lower the peak, choose a plan of: cleave (.*)\n', self.good('memory', *given))
        self.assertEqual([shlex.split(line) for line in advice], [['fit', *given, '--frontier']])
        self.good(*shlex.split(advice[0]))
        run = self.cleave('memory', self.chain, '--max-memory', '7167')
        advice = re.findall(r'To meet it, run: cleave (.*)\n', run.stdout.decode())
        self.assertEqual([shlex.split(line) for line in advice], [['fit', self.chain, '--max-memory', '7167', '-o', 'OUT.onnx']])
        self.assertNotIn('run:', self.good('memory', self.chain, '--max-memory', '7168'))

    FOLDERS = [('run', '--output-dir'), ('run', '--save-inputs'), ('partition', '-d'), ('bundle', '-o')]

    # The message has the reason, and comes before the command runs the model.
    def test_a_folder_that_cannot_be_made_is_named_before_the_work(self):
        self.write('file', b'')
        for name, option in self.FOLDERS:
            for folder in ('file', 'file/below/it'):
                self.bad(f"cannot make the folder '{folder}': 'file' is a file", name, 'missing.onnx', option, folder)
        self.bad("cannot make the folder 'file': ", 'demo', '--repeat', '1', '-d', 'file')
        self.bad("cannot make the folder 'file': ", 'opt', self.chain, '-p', 'clean-up', '--dot-after-each', 'file')
        self.bad("cannot write 'none/t.json': there is no folder 'none'", 'run', 'missing.onnx', '--trace', 'none/t.json')
        self.bad("-o names the folder of the C files, not 'net.c'", 'bundle', self.chain, '-o', 'net.c')

    def test_files_that_cannot_be_read_are_named_in_the_same_words(self):
        for args in (('info', 'none'), ('run', self.chain, '--input', 'none.npy'), ('run', self.chain, '--input', 'none.npz'),
                     ('opt', self.chain, '--passes-file', 'none'), ('memory', 'none', '--offline-plan', '-o', 'o.tflite')):
            self.bad("cannot read 'none", *args)
            self.bad('No such file or directory', *args)
        self.bad("cannot read '.': Is a directory", 'opt', self.chain, '--passes-file', '.')

    def test_a_missing_file_and_a_letter_are_explained(self):
        self.bad('MODEL.onnx is missing; cleave fit --help shows the usage', 'fit')
        self.bad("there is no option '-t'; did you mean '--threads'?", 'info', self.chain, '-t', '2')
        self.bad("there is no option '-x'; cleave info --help lists the options", 'info', self.chain, '-x')

    def test_a_bundle_of_a_split_model_is_explained(self):
        self.good('split', self.chain, '--node', 'pool1', '--dims', 'H,W', '--num-chunks', '2,2', '--depth', '3', '--halo', 'carry', '-o', 'tiles.onnx')
        self.bad('the model was split before; bundle the unsplit model, which cleave bundle cuts itself: Assemble', 'bundle', 'tiles.onnx', '-o', 'c')
        self.good('bundle', self.chain, '-o', 'c')

    def test_a_list_of_nodes_is_explained(self):
        for name in ('conv1,pool1', 'conv*'):
            self.bad(f"the graph has no node '{name}'", 'split', self.chain, '--node', name, '--dims', 'H', '--num-chunks', '2')
            self.bad('; --node takes one name, and may be given again', 'split', self.chain, '--node', name, '--dims', 'H', '--num-chunks', '2')

    def test_one_thing_is_singular(self):
        one = self.write('one.onnx', model([node('Relu', ['x'], ['y'], 'r')], [value_info('x', [4, 4])], [value_info('y', [4, 4])]))
        texts = [self.good('partition', one, '-d', 'p'), self.good('info', one, '--program'), self.good('run', one), self.good('simulate', one, '--ranks', '1'),
                 self.good('demo', '--repeat', '1'), self.good('partition', self.chain, '-d', 'p', '--parts', '1'),
                 self.good('run', one, '--max-memory', '1GB'), self.good('split', one, '--node', 'r', '--dims', '0', '--num-chunks', '1')]
        for text in texts:
            self.assertNotRegex(text, r'\b1 (parts|nodes|steps|runs|subgraphs|messages|threads|strips|elements)\b')
        self.assertRegex(texts[0], r'\b1 part\b')


if __name__ == '__main__':
    unittest.main(verbosity=1)
