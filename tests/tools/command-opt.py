#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command-opt.py CLEAVE: tests `cleave opt`, `cleave partition` and `cleave extract`.

import json
import os
import re
import unittest

from command import CommandTest, npy
from onnx_bytes import floats, model, node, tensor, value_info


class Opt(CommandTest):
    SPLIT = 'split{node=pool1 dims=H num-chunks=2 depth=3},clean-up'

    def opt(self, *args):
        run = self.cleave('opt', self.chain, *args)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.decode(), run.stderr.decode()

    # The command `opt` with the pass `split` writes the same file as the command `split` with the same options.
    def test_split(self):
        self.good('split', self.chain, '--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3', '-o', 'a.onnx')
        self.good('opt', self.chain, '-p', 'split{node=pool1 dims=H num-chunks=2 depth=3}', '-o', 'b.onnx')
        self.assertEqual(self.read('a.onnx'), self.read('b.onnx'))
        self.assertEqual(self.good('diff', self.chain, 'b.onnx').strip().split(': ')[1], 'equal, bit for bit')

    # Each list of options of the command `split` has an equal list for the pass `split` of `opt`.
    # The command and the pass write the same file.
    def test_options_of_split_as_text(self):
        forms = [
            ['--node', 'conv1', '--dims', 'H', '--chunk-size', '5', '--small-first'],
            ['--node', 'conv1', '--dims', 'C,W', '--chunk-sizes', '1,3/-1,4'],
            ['--node', 'pool1', '--dims', 'H', '--chunk-weights', '1,3', '--depth', '2', '--halo', 'carry', '--strips-per-band', '2'],
            ['--node', 'pool1', '--max-piece-memory', '4KiB', '--depth', '3', '--max-added-macs', '50'],
            ['--all', '--dims', 'H', '--num-chunks', '2'],
        ]
        for form in forms:
            text, options = [], list(form)
            while options:
                name = options.pop(0)[2:].replace('piece-memory', 'memory')
                text.append(name if not options or options[0].startswith('--') else f'{name}={options.pop(0)}')
            self.good('split', self.chain, *form, '-o', 'a.onnx', '--force')
            self.good('opt', self.chain, '-p', 'split{' + ' '.join(text) + '}', '-o', 'b.onnx', '--force')
            self.assertEqual(self.read('a.onnx'), self.read('b.onnx'), form)
            self.assertNotEqual(self.read('a.onnx'), self.read('chain.onnx'), form)

    def test_file_and_dump(self):
        self.write('passes', b'# cut it\n' + self.SPLIT.replace(',', ',\n').encode())
        by_file, _ = self.opt('--passes-file', 'passes')
        by_text, _ = self.opt('-p', self.SPLIT)
        self.assertEqual(by_file, by_text)
        self.assertIn('Assemble', by_text)
        self.write('passes', b'\n\nclean')
        self.bad("'passes': pipeline, line 3, column 1: there is no pass 'clean'", 'opt', self.chain, '--passes-file', 'passes')

    # A graph that is written as text and read again computes the same bits and prints the same text.
    def test_text(self):
        self.good('opt', self.chain, '-p', self.SPLIT, '-o', 'a.onnx')
        self.good('opt', self.chain, '-p', self.SPLIT, '-o', 'a.cleave')
        self.assertEqual(self.good('diff', 'a.onnx', 'a.cleave').strip().split(': ')[1], 'equal, bit for bit')
        printed = self.good('opt', 'a.cleave', '-p', 'remove-dead')
        self.assertEqual(printed, self.good('opt', self.chain, '-p', self.SPLIT))
        self.write('b.cleave', printed.encode())
        self.assertEqual(printed, self.good('opt', 'b.cleave', '-p', 'remove-dead'))
        self.write('c.cleave', b'%x = Input : float32 4\n%y = Relu %z\n')
        self.bad("'c.cleave', line 2, column 11: there is no value %z before this line", 'info', 'c.cleave')
        self.bad('--shape and --fix are for ONNX models', 'info', 'c.cleave', '--shape', 'x=4')

    # A failing graph is reduced as far as possible. In this test, each graph with a convolution fails.
    def test_reduce(self):
        report = self.cleave('opt', self.chain, '--reduce', 'grep -q Conv "$1" && test "${2#*split}" != "$2"',
                           '-p', 'clean-up,' + self.SPLIT, '-o', 'small.cleave')
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertRegex(report.stderr.decode(), r'^1 of \d+ nodes are left after \d+ runs; passes: split\{[^}]*\}\n$')
        self.assertIn(' = Conv ', self.good('opt', 'small.cleave', '-p', 'remove-dead'))
        self.assertIn(' = Constant value=', self.cleave('opt', self.chain, '--reduce', 'grep -q Conv "$1"').stdout.decode())
        self.bad('the test is false for the graph itself, so there is nothing to reduce', 'opt', self.chain, '--reduce', 'false')
        self.bad("there is no pass 'x'", 'opt', self.chain, '--reduce', 'false', '-p', 'x')

    def test_list(self):
        text = self.good('opt', '--list-passes')
        for part in ('remove-dead\n', '    = repeat(', '      num-chunks=K,…', '      small-first ', 'may be given again'):
            self.assertIn(part, text)

    def test_prints(self):
        _, changed = self.opt('-p', self.SPLIT, '--print-changed', '--verify-each')
        self.assertIn('; split{node=pool1 dims=H num-chunks=2 depth=3}\n-c = Conv x, w', changed.replace('conv1 = ', 'c = '))
        self.assertIn('+pool1 = Assemble pool1.0, pool1.1', changed)
        self.assertNotIn('remove-dead', changed)
        _, everything = self.opt('-p', 'remove-dead,' + self.SPLIT, '--print-after-all')
        self.assertIn('; after remove-dead, which changed nothing\n%0 = Input', everything)
        _, times = self.opt('-p', self.SPLIT, '--time-passes')
        self.assertRegex(times, r'1 +1  split\{')

    def test_part_of_a_pipeline(self):
        whole, _ = self.opt('-p', self.SPLIT)
        none, _ = self.opt('-p', self.SPLIT, '--bisect', '0')
        self.assertNotIn('Assemble', none)
        self.assertEqual(self.opt('-p', self.SPLIT, '--bisect', '1')[0], whole)
        self.assertEqual(self.opt('-p', 'remove-dead,' + self.SPLIT, '--stop-after', 'remove-dead')[0], none)

    def test_drawings(self):
        self.opt('-p', self.SPLIT, '--dot-after-each', 'steps')
        self.assertEqual(os.listdir(self.path('steps')), ['001-split.dot'])
        with open(self.path('steps/001-split.dot'), encoding='utf-8') as file:
            self.assertIn('Assemble', file.read())

    def test_wrong_usage(self):
        self.bad('expected either --passes or --passes-file', 'opt', self.chain)
        self.bad("column 1: there is no pass 'x'", 'opt', self.chain, '-p', 'x')
        self.bad("split: the graph has no node 'nothere'", 'opt', self.chain, '-p', 'split{node=nothere dims=H num-chunks=2}', '-o', 'b.onnx')
        self.bad("there is no pass 'x'", 'opt', self.chain, '-p', 'clean-up', '--stop-after', 'x')
        self.bad("does not run 'split'", 'opt', self.chain, '-p', 'clean-up', '--stop-after', 'split')
        self.bad('--bisect expects', 'opt', self.chain, '-p', 'clean-up', '--bisect', '-1')
        self.bad('expected one MODEL.onnx, found 2 files', 'opt', self.chain, self.chain, '-p', 'clean-up')
        self.bad('nothere', 'opt', self.chain, '--passes-file', 'nothere')


class Partition(CommandTest):
    # The parts are two adjacent strips, the nodes before them and the nodes after them. Each part runs alone.
    def test_strips(self):
        self.good('split', self.chain, '--node', 'pool1', '--dims', 'H', '--num-chunks', '2', '--depth', '3', '-o', 's.onnx')
        self.good('partition', 's.onnx', '-d', 'parts')
        with open(self.path('parts/schedule.json')) as file:
            schedule = json.load(file)
        self.assertEqual([value['name'] for value in schedule['inputs']], ['x'])
        self.assertEqual([value['name'] for value in schedule['outputs']], ['y'])
        parts = schedule['parts']
        self.assertEqual(sorted(part['subgraph'] for part in parts if part['subgraph'] >= 0), [0, 1])
        self.assertEqual(sum(part['macs'] for part in parts), self.json('info', 's.onnx')['macs'])
        written = {'x'}
        for i, part in enumerate(parts):
            self.assertEqual(self.json('info', 'parts/' + part['file'])['nodes'], part['nodes'])
            self.assertTrue(all(k < i for k in part['after']))
            self.assertLessEqual({value['name'] for value in part['reads']}, written)
            written |= {value['name'] for value in part['writes']}
        self.assertIn(schedule['outputs'][0]['value'], written)
        self.bad('-d DIR is missing', 'partition', 's.onnx')

    # Runs the models that `cleave partition` wrote to `folder`, one after the other, with `cleave run`.
    # Each value that a model passes to a later model is in an .npy file with the name of the value.
    # Returns the schedule and the paths of the outputs.
    def run_parts(self, folder, inputs):
        with open(self.path(f'{folder}/schedule.json')) as file:
            schedule = json.load(file)
        values = dict(inputs)
        for i, part in enumerate(schedule['parts']):
            args = [arg for value in part['reads'] for arg in ('--input', f"{value['name']}={values[value['name']]}")]
            self.good('run', f"{folder}/{part['file']}", *args, '--output-dir', f'{folder}/values{i}')
            values.update({value['name']: self.path(f"{folder}/values{i}/{value['name']}.npy") for value in part['writes']})
            for name in part['frees']:
                del values[name]
        self.assertEqual(set(values), {output['value'] for output in schedule['outputs']})
        return schedule, [values[output['value']] for output in schedule['outputs']]

    def test_parts_in_a_row(self):
        x = self.write('x.npy', npy('<f4', '(1, 3, 16, 16)', floats(768, 3)))
        self.good('run', self.chain, '--input', x, '--output-dir', 'whole')
        with open(self.path('whole/y.npy'), 'rb') as file:
            want = file.read()
        for args, n in (('--parts', '3'), 3), (('--parts', '1'), 1), (('--at', 'r'), 2), (('--at', 'r', '--at', 'c'), 3), \
                       (('--max-bytes', '10kB'), 1):
            text = self.good('partition', self.chain, '-d', 'row', '--dot', 'row.dot', *args)
            self.assertRegex(text, fr'(?m)^{n} parts?, ')
            schedule, (y,) = self.run_parts('row', {'x': x})
            self.assertEqual([part['level'] for part in schedule['parts']], list(range(n)))
            with open(y, 'rb') as file:
                self.assertEqual(file.read(), want)
            with open(self.path('row.dot')) as file:
                self.assertEqual(set(re.findall(r'label="?(part \d)', file.read())), {f'part {i}' for i in range(n)})
        self.bad('give one of --parts, --at and --max-bytes', 'partition', self.chain, '-d', 'row', '--parts', '2', '--at', 'r')
        self.bad("no value 'q'", 'partition', self.chain, '-d', 'row', '--at', 'q')
        self.unmet_limit("node 'conv1' alone needs", 'partition', self.chain, '-d', 'row', '--max-bytes', '1kB')
        self.bad('cannot be cut into 4 parts; ask for at most 3', 'partition', self.chain, '-d', 'row', '--parts', '4')

    # The model has three products with weights of 16,384 bytes each. No two of the weights fit into 20,000 bytes.
    def test_parts_within_bytes(self):
        values = ['x', 'a', 'b', 'y']
        nodes = [node('MatMul', [values[i], f'w{i}'], [values[i + 1]], f'product{i}') for i in range(3)]
        weights = [tensor(f'w{i}', [64, 64], floats(4096, i)) for i in range(3)]
        self.write('products.onnx', model(nodes, [value_info('x', [1, 64])], [value_info('y', [1, 64])], weights))
        x = self.write('x.npy', npy('<f4', '(1, 64)', floats(64, 3)))
        for size, n in ('20kB', 3), ('40kB', 2), ('60kB', 1):
            self.good('partition', 'products.onnx', '-d', 'products', '--max-bytes', size)
            schedule, (y,) = self.run_parts('products', {'x': x})
            self.assertEqual(len(schedule['parts']), n)
            for part in schedule['parts']:
                self.assertLessEqual(part['weight_bytes'] + part['arena_bytes'], 1000 * int(size[:2]))
        self.good('run', 'products.onnx', '--input', x, '--output-dir', 'whole')
        with open(self.path('whole/y.npy'), 'rb') as want, open(y, 'rb') as got:
            self.assertEqual(got.read(), want.read())

    # If `partition` cuts a model at the value r, its two parts are equal to the submodels that `extract` takes out before and after r.
    def test_extract(self):
        x = self.write('x.npy', npy('<f4', '(1, 3, 16, 16)', floats(768, 3)))
        self.good('partition', self.chain, '-d', 'row', '--at', 'r')
        self.good('extract', self.chain, '--to', 'r', '-o', 'r.onnx')
        self.good('extract', self.chain, '--from', 'r', '-o', 'y.onnx')
        self.good('diff', 'row/part-000.onnx', 'r.onnx')
        self.good('diff', 'row/part-001.onnx', 'y.onnx')
        self.good('run', 'r.onnx', '--input', x, '--output-dir', 'r')
        self.good('run', 'y.onnx', '--input', 'r=r/r.npy', '--output-dir', 'y')
        self.good('run', self.chain, '--input', x, '--output-dir', 'whole')
        with open(self.path('whole/y.npy'), 'rb') as want, open(self.path('y/y.npy'), 'rb') as got:
            self.assertEqual(got.read(), want.read())
        self.bad('--from VALUE or --to VALUE is missing', 'extract', self.chain, '-o', 'a.onnx')
        self.bad('-o OUT.onnx is missing', 'extract', self.chain, '--to', 'r')
        self.bad("'y' is not needed for 'c'", 'extract', self.chain, '--from', 'y', '--to', 'c', '-o', 'a.onnx')


if __name__ == '__main__':
    unittest.main(verbosity=1)
