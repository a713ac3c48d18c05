#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# hands.py CLEAVE: what makes the command easy to use: hints, defaults, forms of options.

import os
import unittest

import command
from onnx_bytes import model, node, value_info


class Hands(command.CommandTest):
    SPLIT = ('--node', 'pool1', '--dims', 'H', '--num-chunks', '2')

    def free(self):
        nodes = [node('Add', ['a', 'b'], ['y'], 'add')]
        return self.write('free.onnx', model(nodes, [value_info('a', ['batch', 3]), value_info('b', ['batch', 3])],
                                             [value_info('y', ['batch', 3])]))

    def test_hints(self):
        self.bad("no command 'splt'; did you mean 'split'?", 'splt')
        self.bad("there is no option '--num-chunk'; did you mean '--num-chunks'?", 'split', self.chain, '--num-chunk=2')
        self.bad("there is no option '--wings'", 'info', self.chain, '--wings')
        self.bad("no node 'pol1'; did you mean 'pool1'?", 'split', self.chain, '--node', 'pol1', *self.SPLIT[2:])
        self.bad("no input of the model has a dimension 'bach'; did you mean 'batch'?", 'info', self.free(), '--fix', 'bach=2')

    def test_cures(self):
        self.bad('--shape a=1,3,224,224', 'info', self.free())
        self.bad('--fix batch=1', 'info', self.free())

    def test_fix_a_dimension(self):
        info = self.json('info', self.free(), '--fix', 'batch=7')
        self.assertEqual([value['shape'] for value in info['inputs']], [[7, 3], [7, 3]])
        self.assertEqual(self.json('info', self.path('free.onnx'), '--shape', 'a=5,3')['outputs'][0]['shape'], [5, 3])
        self.bad("'batch' cannot be -1", 'info', self.path('free.onnx'), '--fix', 'batch=-1')

    def test_fix_a_number(self):
        data = model([node('Range', ['z', 'n', 'o'], ['r'], 'range')],
                     [value_info('z', [], 7), value_info('n', [], 7), value_info('o', [], 7)],
                     [value_info('r', [5], 7)])
        self.write('range.onnx', data)
        info = self.json('info', 'range.onnx', '--fix', 'z=0', '--fix', 'n=5', '--fix', 'o=1')
        self.assertEqual((info['inputs'], info['outputs'][0]['shape']), ([], [5]))
        self.bad("two values are given for input 'n'", 'info', 'range.onnx', '--fix', 'n=5', '--fix', 'n=6')

    def test_a_fixed_shape_may_be_another(self):
        info = self.json('info', self.chain, '--shape', '3,3,8,8')
        self.assertEqual(info['outputs'][0]['shape'], [3, 4, 4, 4])
        self.bad('conv1', 'info', self.chain, '--shape', '1,5,8,8')

    def test_an_option_and_its_file_in_one_word(self):
        self.good('dot', self.chain, '-oout.dot')
        self.assertTrue(os.path.exists(self.path('out.dot')))
        self.good('split', self.chain, *self.SPLIT, '-oo.onnx')
        self.good('diff', self.chain, 'o.onnx')
        self.good('split', self.chain, '--node', 'pool1', '--dims', '-2', '--num-chunks', '2', '-o', 'o2.onnx')

    def test_a_report_alone(self):
        before = os.listdir(self.folder)
        self.assertIn('2 pieces', self.good('split', self.chain, *self.SPLIT))
        self.assertIn('2 pieces', self.good('split', self.chain, *self.SPLIT, '--dry-run', '-o', 'o.onnx', '--report', 'r.json'))
        self.assertEqual(os.listdir(self.folder), before)

    def test_the_model_is_not_replaced(self):
        os.symlink(self.chain, self.path('link.onnx'))
        for name in (self.chain, 'link.onnx', './chain.onnx'):
            self.bad('give --force', 'split', self.chain, *self.SPLIT, '-o', name)
        was = self.read('chain.onnx')
        self.assertEqual(self.read('chain.onnx'), was)
        self.good('split', self.chain, *self.SPLIT, '-o', self.chain, '--force')
        self.assertNotEqual(self.read('chain.onnx'), was)

    def test_a_tolerance(self):
        self.write('other.onnx', command.chain(seed=2))
        run = self.cleave('diff', self.chain, 'other.onnx', '--tolerance', '1e-6')
        self.assertEqual(run.returncode, 1)
        self.assertIn('elements differ', self.good('diff', self.chain, 'other.onnx', '--tolerance', '1000'))
        for text in ('x', '-1', 'nan', 'inf', ''):
            self.bad('--tolerance expects', 'diff', self.chain, 'other.onnx', '--tolerance', text)


if __name__ == '__main__':
    unittest.main(verbosity=1)
