#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command-usage.py CLEAVE: tests arguments, help, standard streams and messages, and models that every command refuses.

import os
import re
import subprocess
import unittest

import page_models
from command import CLEAVE, CommandTest, chain, npy
from onnx_bytes import floats, model, node, tensor, value_info


class Usage(CommandTest):
    def test_help_and_version(self):
        self.assertIn('Commands:', self.good('--help'))
        self.assertRegex(self.good('--version'), r'^cleave \d')
        for command in ['info', 'dot', 'split', 'fit', 'run', 'diff', 'memory', 'opt', 'demo']:
            self.assertIn(command, self.good('--help'))
            self.assertIn(f'cleave {command}', self.good(command, '--help'))

    def test_help_of_a_command(self):
        for command in ('info', 'split', 'demo'):
            self.assertEqual(self.good('help', command), self.good(command, '--help'))
            self.assertEqual(self.good(command, '-h'), self.good(command, '--help'))
        self.bad("no command 'fly'", 'help', 'fly')
        for option in ('--version', '--list-commands'):
            self.bad(f"'info' is not expected after '{option}'", option, 'info')

    def test_a_size_of_0_is_refused(self):
        for option, args in (('--max-memory', ('memory', self.chain)), ('--max-memory', ('bundle', self.chain, '--json')),
                             ('--max-memory', ('run', self.chain)), ('--max-memory', ('fit', self.chain)),
                             ('--max-piece-memory', ('split', self.chain, '--node', 'conv1')),
                             ('--max-bytes', ('partition', self.chain, '-d', 'parts'))):
            self.bad(f'{option} must be more than 0', *args, option, '0')
        self.bad('--memory must be more than 0', 'bundle', self.chain, '--json', '--memory', 'fast=0KiB')

    def test_an_unmet_limit_has_status_1_and_names_a_limit_that_is_met(self):
        bundle, apart = ('bundle', self.chain, '--json'), ('--input', 'apart', '--output', 'apart')
        for args, says in ((('run', self.chain, '--max-memory'), r'try --max-memory (\d+), or split the largest node'),
                           ((*bundle, '--max-memory'), r'try --max-memory (\d+); --input apart keeps'),
                           ((*bundle, *apart, '--max-memory'), r'try --max-memory (\d+)\b'),
                           (('fit', self.chain, '--max-memory'), r'try --max-memory (\d+)\b'),
                           (('partition', self.chain, '-d', 'parts', '--max-bytes'), r'alone needs (\d+) bytes')):
            self.unmet_limit('', *args, '1')
            self.good(*args, re.search(says, self.cleave(*args, '1').stderr.decode())[1])
        self.unmet_limit('no plan fits into the memories', *bundle, '--memory', 'fast=1')
        self.unmet_limit('fit: the budget is 1 bytes', 'opt', self.chain, '-p', 'fit{max-memory=1}')

    # A message names an option of a bundle only if the option makes the arena smaller.
    def test_an_unmet_limit_of_a_bundle_names_options_that_help(self):
        net, apart = self.write('net.onnx', page_models.quantized_net()), ('--input', 'apart', '--output', 'apart')
        found = self.cleave('bundle', net, '--json', *apart, '--max-memory', '900').stderr.decode()
        macs, arena = re.search(r'; with --max-added-macs ([\d.]+), the arena has (\d+) bytes\n', found).groups()
        self.assertNotIn('keeps', found)
        report = self.json('bundle', net, '--json', *apart, '--max-memory', arena, '--max-added-macs', macs)
        self.assertEqual(report['arena_bytes'], int(arena))
        found = self.cleave('bundle', net, '--json', *apart, '--max-memory', '1', '--max-added-macs', '1000').stderr.decode()
        self.assertNotIn('--max-added-macs', found)

    # In memory, the environment variables follow the arguments. If a file name is missing, the command must not read an environment variable in its place.
    def test_a_dash_is_not_an_option(self):
        run = subprocess.run([CLEAVE, 'diff', '-'], capture_output=True, env={'SECRET': 'hello'}, check=False)
        self.assertEqual((run.returncode, run.stderr), (2, b"cleave: expected A.onnx B.onnx, found 1 file: '-'\n"))
        self.write('-', chain())
        self.good('info', './-')
        self.bad('standard input is empty', 'info', '-')

    # In place of the file of a model, a dash stands for standard input, in every format.
    # In place of a file that a command writes, a dash stands for standard output.
    def test_a_dash_is_a_standard_stream(self):
        relu = model([node('Relu', ['x'], ['y'], 'relu')], [value_info('x', [1, 4])], [value_info('y', [1, 4])], [])
        self.good('opt', self.write('relu.onnx', relu), '-p', 'clean-up', '-o', 'relu.cleave')
        for file in ('chain.onnx', 'relu.onnx', 'relu.cleave'):
            run = self.cleave('info', '-', given=self.read(file))
            self.assertEqual((run.returncode, run.stderr), (0, b''))
            self.assertEqual(run.stdout.decode(), self.good('info', file))
        rows = ('--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3')
        self.good('split', self.chain, *rows, '-o', 'split.onnx')
        self.good('dot', self.chain, '-o', 'chain.dot')
        for args, file in (([*rows, '-o', '-'], 'split.onnx'), ([*rows, '-o', '-', '--json'], 'split.onnx')):
            run = self.cleave('split', '-', *args, given=chain())
            self.assertEqual((run.returncode, run.stdout), (0, self.read(file)))
            self.assertIn(b'nodes', run.stderr)
        self.assertEqual(self.cleave('dot', '-', '-o', '-', given=chain()).stdout, self.read('chain.dot'))
        run = self.cleave('diff', self.chain, '-', given=self.read('split.onnx'))
        self.assertEqual((run.returncode, run.stdout), (0, b'y: equal, bit for bit\n'))

    def test_a_stream_is_used_once(self):
        self.assertIn(b"'-' is given twice", self.cleave('diff', '-', '-', given=chain()).stderr)
        run = self.cleave('split', self.chain, '--all', '--dims', 'H', '--num-chunks', '2', '-o', '-', '--dot-after', '-')
        self.assertEqual((run.returncode, run.stdout), (2, b''))
        self.assertIn(b'only one output can go to standard output', run.stderr)

    # If a later output fails, nothing is written to standard output, and no temporary file stays.
    def test_standard_output_is_whole_or_empty(self):
        folder = self.path('temporary')
        os.mkdir(folder)
        for args, status in ((['-o', '-', '--dot-after', '/nowhere/a.dot'], 2), (['-o', '-'], 0)):
            run = subprocess.run([CLEAVE, 'split', self.chain, '--all', '--dims', 'H', '--num-chunks', '2', *args],
                                 capture_output=True, env={**os.environ, 'TMPDIR': folder}, check=False)
            self.assertEqual((run.returncode, run.stdout == b''), (status, status != 0))
            self.assertEqual(os.listdir(folder), [])

    def test_a_broken_model_from_standard_input_is_named(self):
        run = self.cleave('info', '-', given=b'junk')
        self.assertEqual((run.returncode, run.stdout), (2, b''))
        self.assertRegex(run.stderr.decode(), r'\Acleave: standard input: [^/\n]*\n\Z')

    def test_no_command_prints_the_help(self):
        run = self.cleave()
        self.assertEqual((run.returncode, run.stdout.decode(), run.stderr), (2, self.good('--help'), b''))

    def test_dot_is_also_called_draw(self):
        self.good('draw', self.chain, '-o', 'a.dot')
        self.good('dot', self.chain, '-o', 'b.dot')
        self.assertEqual(self.read('a.dot'), self.read('b.dot'))

    # For any bytes in an argument, a message must be a line of text without control characters.
    def test_messages_are_text(self):
        for argument in ('\x1b[31m', '\x9b31m', '\udcff', 'a\nb', '\x7f', 'x' * 100000):
            for args in (['info', argument], ['info', '--' + argument], ['info', '-' + argument], ['info', 'm', '--shape', argument],
                         [argument], ['dot', self.chain, '-o', argument]):
                run = self.cleave(*args)
                message = run.stderr.decode()
                self.assertEqual(run.returncode, 2, args)
                self.assertTrue(message.endswith('\n') and message[:-1].isprintable(), f'{args}: {message!r}')
                self.assertLess(len(message), 5000)

    def test_values(self):
        self.bad('--json takes no value', 'info', self.chain, '--json=no')
        self.bad('--shape needs a value: NAME=1,3,224,224', 'info', self.chain, '--shape')
        self.bad('-o FILE is missing', 'dot', self.chain)
        self.bad("no option '-x' in '-nx'", 'split', self.chain, '-nx')
        self.bad("value of --around is not UTF-8", 'dot', self.chain, '-o', 'a.dot', '--around', '\udcff')
        # The value of an option may look like an option.
        self.good('split', self.chain, '--node', 'pool1', '--dims', '-2', '--num-chunks', '2', '-noa.onnx')
        self.assertNotIn('a.onnx', os.listdir(self.folder))
        self.bad("no node '-oa'", 'split', self.chain, '--node', '-oa', '--dims', '-2', '--num-chunks', '2')

    def test_wrong_usage(self):
        self.bad("no command 'fly'", 'fly')
        self.bad('MODEL.onnx is missing', 'info')
        self.bad('expected MODEL.onnx', 'info', self.chain, self.chain)
        self.bad('--wings', 'info', self.chain, '--wings')
        self.bad('expected A.onnx B.onnx', 'diff', self.chain)
        self.bad('-o FILE is missing', 'dot', self.chain)


class Models(CommandTest):
    # Every command that reads a model refuses the same models.
    def refuse(self, says, name, data):
        path = self.write(name, data) if data is not None else self.path(name)
        for args in (['info', path], ['dot', path, '-o', 'out.dot'], ['run', path, '--output-dir', 'out'],
                     ['split', path, '-o', 'out.onnx', '--all', '--dims', '2', '--num-chunks', '2'],
                     ['diff', self.chain, path]):
            self.bad(says, *args)

    def test_a_range_plans_for_the_largest_and_lists_smaller_extents(self):
        path = self.write('sequence.onnx', page_models.sequence_net())
        text = self.good('info', path, '--shape', 'batch=1,length=3..96')
        self.assertIn('1x96x64', text)
        sizes = [int(n) for n in re.findall(r'batch=1,length=(\d+): ', text)]
        self.assertEqual(sizes, [48, 24, 12, 6, 3])
        for n in sizes:
            alone = self.good('info', path, '--shape', f'batch=1,length={n}')
            peak = re.search(r'peak +(.*) of', alone)[1]
            self.assertIn(f'length={n}: {n * 4096} MACs, peak {peak}\n', text)
        self.bad('must not be above', 'info', path, '--shape', 'batch=1,length=5..2')
        self.bad('whole number', 'info', path, '--shape', 'batch=1,length=1..x')

    def test_a_run_takes_the_extents_of_its_files_up_to_the_range(self):
        path = self.write('sequence.onnx', page_models.sequence_net())
        for n in (1, 7, 96):
            x = self.write('tokens.npy', npy('<f4', f'(1, {n}, 64)', floats(64 * n, 3)))
            ranged = self.good('run', path, '--shape', 'batch=1,length=1..96', '--input', f'tokens={x}')
            exact = self.good('run', path, '--shape', f'batch=1,length={n}', '--input', x)
            outputs = [re.findall(r'^output .*', text, re.M) for text in (ranged, exact)]
            self.assertEqual(*outputs)
            self.assertIn(f'1x{n}x', outputs[0][0])
        x = self.write('tokens.npy', npy('<f4', '(1, 97, 64)', floats(64 * 97, 3)))
        self.bad("--input 'tokens' has 97 in dimension 1, and --shape allows at most 96",
                 'run', path, '--shape', 'batch=1,length=1..96', '--input', x)

    def test_missing(self):
        self.refuse('nowhere.onnx', 'nowhere.onnx', None)

    def test_empty(self):
        self.refuse('empty.onnx', 'empty.onnx', b'')

    def test_no_onnx(self):
        self.refuse('text.onnx', 'text.onnx', b'This is not a model.\n' * 20)
        self.refuse('zero.onnx', 'zero.onnx', bytes(1000))

    def test_truncated(self):
        data = chain()
        for n in (1, 7, len(data) // 3, len(data) // 2, len(data) - 1):
            self.refuse('cut.onnx', 'cut.onnx', data[:n])

    def test_unsupported_op(self):
        self.refuse('Wobble', 'wobble.onnx', chain(second='Wobble'))

    def test_free_dimensions(self):
        self.refuse("'x'", 'free.onnx', chain(batch='batch'))
        free = self.path('free.onnx')
        self.assertEqual(self.json('info', free, '--shape', 'x=2,3,16,16')['inputs'][0]['shape'], [2, 3, 16, 16])
        self.assertEqual(self.json('info', free, '--shape', '2,3,16,16')['outputs'][0]['shape'], [2, 4, 8, 8])
        self.bad('--shape', 'info', free, '--shape', 'x=2,3,a')
        self.bad('--shape', 'info', free, '--shape', 'x=2,3,-1,16')
        self.bad('--shape', 'info', free, '--shape', '1,1,1,1,1,1,1,1,1')
        self.bad('z', 'info', free, '--shape', 'z=2,3,16,16')
        self.bad("'x'", 'info', free, '--shape', 'x=2,3,16')

    # --shape fixes one or several dimensions by name. If an input has that name, the option gives its shape.
    def test_dimensions_by_name(self):
        data = model([node('Add', ['x', 'seq'], ['t'], 'add'), node('Relu', ['z'], ['u'], 'relu')],
                     [value_info('x', ['batch', 'len', 4]), value_info('seq', ['seq']), value_info('z', ['batch', 'seq'])],
                     [value_info('t', ['batch', 'len', 4]), value_info('u', ['batch', 'seq'])])
        path = self.write('names.onnx', data)

        def shapes(*args):
            return [value['shape'] for value in self.json('info', path, *args)['inputs']]

        self.assertEqual(shapes('--shape', 'batch=2,len=5', '--shape', 'seq=4'), [[2, 5, 4], [4], [2, 4]])
        self.assertEqual(shapes('--shape', 'x=2,5,4', '--shape', 'seq=1', '--shape', 'z=2,3'), [[2, 5, 4], [1], [2, 3]])
        self.assertEqual(shapes('--shape', 'batch=2', '--shape', 'len=5', '--fix', 'seq=4'), [[2, 5, 4], [4], [2, 4]])
        self.bad("'length', which is not an input of the model or a dimension of one", 'info', path, '--shape', 'batch=2,length=5')
        self.bad('--shape', 'info', path, '--shape', 'batch=2,len=a')
        self.bad('--shape', 'info', path, '--shape', 'batch=2,len')

    def test_cycle(self):
        nodes = [node('Add', ['x', 'b'], ['a'], 'one'), node('Relu', ['a'], ['b'], 'two')]
        self.refuse('cycle', 'cycle.onnx', model(nodes, [value_info('x', [4])], [value_info('b', [4])]))

    def test_dangling(self):
        nodes = [node('Add', ['x', 'ghost'], ['y'], 'one')]
        self.refuse('ghost', 'dangling.onnx', model(nodes, [value_info('x', [4])], [value_info('y', [4])]))

    def test_external_data(self):
        self.write('weights.bin', floats(108))
        data = chain(weights=tensor('w', [4, 3, 3, 3], external='weights.bin'))
        self.json('info', self.write('external.onnx', data))
        self.assertEqual(self.good('diff', self.path('external.onnx'), self.chain), 'y: equal, bit for bit\n')
        os.mkdir(self.path('inner'))
        for location in ('../weights.bin', os.path.join(self.folder, 'weights.bin'), 'a/../../weights.bin'):
            data = chain(weights=tensor('w', [4, 3, 3, 3], external=location))
            self.refuse('', 'inner/outside.onnx', data)
        os.symlink('../weights.bin', self.path('inner/link.bin'))
        self.refuse('', 'inner/linked.onnx', chain(weights=tensor('w', [4, 3, 3, 3], external='link.bin')))
        os.symlink('..', self.path('inner/up'))
        self.refuse('', 'inner/linked.onnx', chain(weights=tensor('w', [4, 3, 3, 3], external='up/weights.bin')))
        self.refuse('', 'inner/none.onnx', chain(weights=tensor('w', [4, 3, 3, 3], external='none.bin')))


if __name__ == '__main__':
    unittest.main(verbosity=1)
