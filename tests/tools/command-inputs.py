#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command-inputs.py CLEAVE: tests inputs: files, pictures, and inputs with default values.

import hashlib
import math
import os
import struct
import unittest
import zipfile

from command import CommandTest, npy, npz, png
from onnx_bytes import block, floats, model, node, number, tensor, value_info


class Inputs(CommandTest):
    def setUp(self):
        super().setUp()
        self.data = floats(3 * 16 * 16, 7)
        self.npy = npy('<f4', '(1, 3, 16, 16)', self.data)
        self.write('x.npy', self.npy)
        add = [node('Add', ['a', 'b'], ['y'], 'add')]
        self.two = self.write('two.onnx', model(add, [value_info('a', [2]), value_info('b', [2])], [value_info('y', [2])]))

    def sums(self, *args):
        return [output['sha256'] for output in self.json('run', *args)['outputs']]

    def test_names_with_an_equals_sign(self):
        nodes = [node('Add', ['x', 'x=1'], ['y=z'], 'add=1')]
        self.write('equals.onnx', model(nodes, [value_info('x', ['a=b', 4]), value_info('x=1', ['a=b', 4])], [value_info('y=z', ['a=b', 4])]))
        for name, seed in (('a.npy', 1), ('1=a.npy', 2), ('b.npy', 3)):
            self.write(name, npy('<f4', '(2, 4)', floats(8, seed)))
        fixed = ('--fix', 'a=b=2')
        self.assertEqual(self.json('info', 'equals.onnx', *fixed)['inputs'][1], {'name': 'x=1', 'type': 'float32', 'shape': [2, 4]})
        self.assertEqual(self.json('info', 'equals.onnx', '--shape', 'x=2,4', '--shape', 'x=1=2,4')['inputs'][0]['shape'], [2, 4])
        want = self.sums('equals.onnx', *fixed, '--input', 'x=b.npy', '--input', 'x=1=a.npy', '--save-inputs', 'in')
        self.assertEqual(self.read('in/x_1.npy')[-32:], floats(8, 1))
        # x=1=a.npy begins with the names of two inputs: x and x=1. The command uses the longer name.
        self.assertEqual(want, self.sums('equals.onnx', *fixed, '--input', 'x=1=a.npy', '--input', 'x=b.npy'))
        self.bad("'x=1' is given twice", 'run', 'equals.onnx', *fixed, '--input', 'x=1=a.npy', '--input', 'x=1=b.npy')
        os.remove(self.path('a.npy'))
        self.sums('equals.onnx', *fixed, '--input', 'x=1=a.npy', '--save-inputs', 'in')
        self.assertEqual(self.read('in/x.npy')[-32:], floats(8, 2))
        # The files of the inputs fix the free dimensions.
        self.sums('equals.onnx', '--input', 'x=b.npy', '--input', 'x=1=b.npy')
        self.assertEqual(self.json('info', 'equals.onnx', *fixed, '--fix', 'x=1=b.npy')['inputs'], [{'name': 'x', 'type': 'float32', 'shape': [2, 4]}])
        self.good('split', 'equals.onnx', *fixed, '--node', 'add=1', '--dims', '0', '--num-chunks', '2', '-o', 'out.onnx')
        self.good('opt', 'equals.onnx', *fixed, '-p', 'split{node="add=1" dims=0 num-chunks=2}', '-o', 'out2.onnx')

    # Every output has a file, even if names differ only in characters that are not used in file names.
    def test_names_that_give_the_same_file_name(self):
        names = ['a/b', 'a_b', 'a b', 'a_b-2', 'a\u00e9', 'a__', 'q' * 300, 'q' * 299 + 'r']
        nodes = [node(op, ['x'], [name], name) for op, name in zip(['Relu', 'Neg', 'Abs', 'Exp', 'Sin', 'Cos', 'Tan', 'Tanh'], names)]
        self.write('names.onnx', model(nodes, [value_info('x', [2])], [value_info(name, [2]) for name in names]))
        outputs = self.json('run', 'names.onnx', '--output-dir', 'out')['outputs']
        files = [output['file'] for output in outputs]
        self.assertEqual(files[:6], ['a_b-3.npy', 'a_b.npy', 'a_b-4.npy', 'a_b-2.npy', 'a__-2.npy', 'a__.npy'])
        self.assertEqual(sorted(os.listdir(self.path('out'))), sorted(files))
        for output, file in zip(outputs, files):
            self.assertEqual(hashlib.sha256(self.read('out/' + file)[-8:]).hexdigest(), output['sha256'], output['name'])
        text = self.good('run', 'names.onnx', '--output-dir', 'out')
        self.assertRegex(text, r'output    a/b: float32 2 sha256 \w+, in a_b-3\.npy\n')
        self.assertRegex(text, r'output    a_b: float32 2 sha256 \w+\n')
        self.assertNotIn('file', self.json('run', 'names.onnx')['outputs'][0])

    # Without --force, no output overwrites a file that the command reads, whichever option names that file.
    def test_files_that_were_read_are_kept(self):
        self.write('x.npy', self.npy)
        self.write('passes.onnx', b'clean-up')
        self.bad('give --force', 'run', self.chain, '--input', 'x.npy', '--save-inputs', '.')
        self.bad('give --force', 'run', self.chain, '--fix', 'x=x.npy', '--trace', 'x.npy')
        self.bad('give --force', 'opt', self.chain, '--passes-file', 'passes.onnx', '-o', 'passes.onnx')
        self.good('compile', self.chain, '-o', 'chain.plan')
        self.bad('give --force', 'run', 'chain.plan', '--trace', 'chain.plan')
        self.good('run', self.chain, '--input', 'x.npy', '--save-inputs', '.', '--force')
        self.bad('two outputs have the file name', 'split', self.chain, *self.SPLIT, '-o', 'o.onnx', '--save-json', 'o.onnx')

    def test_the_only_input_needs_no_name(self):
        self.assertEqual(self.sums(self.chain, '--input', 'x.npy'), self.sums(self.chain, '--input', 'x=x.npy'))
        self.good('diff', self.chain, self.chain, '--input', 'x.npy')
        self.write('a=b.npy', self.npy)
        self.assertEqual(self.sums(self.chain, '--input', 'a=b.npy'), self.sums(self.chain, '--input', 'x.npy'))
        self.bad('2 inputs: give --input NAME=FILE, as in a=x.npy', 'run', self.two, '--input', 'x.npy')
        self.bad("no input 'A'; did you mean 'a'?", 'run', self.two, '--input', 'A=x.npy')

    def test_an_archive(self):
        a, b = (npy('<f4', '(2,)', floats(2, seed)) for seed in (1, 2))
        want = [self.write('a.npy', a), self.write('b.npy', b)] and self.sums(self.two, '--input', 'a=a.npy', '--input', 'b=b.npy')
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            self.write('ab.npz', npz({'b': b, 'a': a}, method))
            self.assertEqual(self.sums(self.two, '--input', 'ab.npz'), want)
            self.assertEqual(self.sums(self.two, '--input', 'a=ab.npz', '--input', 'b=b.npy'), want)
            self.write('one.npz', npz({'arr_0': self.npy}, method))
            for name in ('', 'x='):
                self.assertEqual(self.sums(self.chain, '--input', name + 'one.npz'), self.sums(self.chain, '--input', 'x.npy'))
        self.bad("no input 'c'", 'run', self.two, '--input', self.write('c.npz', npz({'a': a, 'c': b}, 0)))
        self.bad("has no entry 'b'", 'run', self.two, '--input', 'b=c.npz')
        self.bad('twice', 'run', self.two, '--input', 'ab.npz', '--input', 'a=a.npy')

    # If one byte of an archive is wrong or the end is missing, the command reports an error or reads the right numbers.
    def test_a_broken_archive(self):
        whole = npz({'x': self.npy}, zipfile.ZIP_DEFLATED)
        good = self.sums(self.chain, '--input', 'x.npy')
        broken = [whole[:end] for end in (0, 3, 21, 22, 40, len(whole) // 2, len(whole) - 1)]
        broken += [whole[:at] + bytes([whole[at] ^ 0xff]) + whole[at + 1:] for at in (*range(0, len(whole) - 130, 997), *range(len(whole) - 120, len(whole), 7))]
        refused = 0
        for data in broken:
            self.write('broken.npz', data)
            run = self.cleave('run', self.chain, '--input', 'broken.npz', '--json')
            self.assertIn(run.returncode, (0, 2))
            if run.returncode == 0:
                self.assertIn(good[0], run.stdout.decode())
            else:
                self.assertRegex(run.stderr.decode(), r'\Acleave: [^\n]*\n\Z')
                refused += 1
        self.assertGreater(refused, len(broken) // 2)

    def test_saved_inputs_give_the_same(self):
        sums = self.sums(self.two, '--seed', '5', '--save-inputs', 'in')
        self.assertEqual(sorted(os.listdir(self.path('in'))), ['a.npy', 'b.npy'])
        self.assertEqual(self.sums(self.two, '--input', 'a=in/a.npy', '--input', 'b=in/b.npy'), sums)
        self.assertNotEqual(self.sums(self.two), sums)


# The models of these tests have inputs that are also initializers.
# Since IR version 4, an initializer with the name of an input is the default value of this input: a caller may give another value.
class Defaults(CommandTest):
    HOW = ('--node', 'relu', '--dims', 'C', '--num-chunks', '2', '--depth', '9')

    # The model is a chain from x to y: a Conv by w and b, a Mul by s + s, a Relu, and a Reshape by k.
    # Inputs w, b, s and k have default values. Input u is unused.
    def setUp(self):
        super().setUp()
        nodes = [node('Conv', ['x', 'w', 'b'], ['c'], 'conv', pads=[1, 1, 1, 1]), node('Add', ['s', 's'], ['t'], 'twice'),
                 node('Mul', ['c', 't'], ['m'], 'mul'), node('Relu', ['m'], ['r'], 'relu'), node('Reshape', ['r', 'k'], ['y'], 'reshape')]
        k = b''.join((number(1, 2), number(2, 7), block(8, 'k'), block(9, struct.pack('<2q', 4, 64))))
        shapes = {'w': [4, 2, 3, 3], 'b': [4], 's': [1], 'u': [3]}
        weights = [tensor(name, shape, floats(math.prod(shape), seed)) for seed, (name, shape) in enumerate(shapes.items(), 3)]
        inputs = [value_info('w', shapes['w']), value_info('x', [1, 2, 8, 8]), value_info('b', [4]), value_info('s', [1]),
                  value_info('k', [2], 7), value_info('u', [3])]
        self.data = model(nodes, inputs, [value_info('y', ['n', 'm'])], [*weights, k])
        self.write('m.onnx', self.data)
        for name, shape in shapes.items():
            self.write(name + '.npy', npy('<f4', f"({', '.join(map(str, shape))},)", floats(math.prod(shape), 9)))
        self.write('k.npy', npy('<i8', '(2,)', struct.pack('<2q', 8, 32)))

    def run_model(self, name, *inputs):
        return self.json('run', name, *(word for i in inputs for word in ('--input', f'{i}={i}.npy')))['outputs'][0]

    def test_defaults_can_be_replaced(self):
        outputs = [self.run_model('m.onnx', *inputs) for inputs in ((), 'w', 'b', 's', 'wbs', 'wbsk', 'u')]
        self.assertEqual(len({output['sha256'] for output in outputs}), 5)
        self.assertEqual(outputs[0], outputs[6])
        self.assertEqual(outputs[4]['sha256'], outputs[5]['sha256'])
        self.assertEqual((outputs[4]['shape'], outputs[5]['shape']), ([4, 64], [8, 32]))
        fixed = self.json('run', 'm.onnx', '--fix', 'w=w.npy', '--fix', 'b=b.npy', '--fix', 's=s.npy')['outputs'][0]
        self.assertEqual(fixed, outputs[4])
        archive = {name: self.read(name + '.npy') for name in 'wb'}
        self.write('wb.npz', npz(archive, zipfile.ZIP_STORED))
        self.assertEqual(self.json('run', 'm.onnx', '--input', 'wb.npz')['outputs'][0], self.run_model('m.onnx', 'w', 'b'))
        self.assertEqual(self.json('run', 'm.onnx', '--input', 'w=wb.npz')['outputs'][0], self.run_model('m.onnx', 'w'))
        self.bad("input 'w' is 4x2x3x3 in the model, so it cannot be given 2", 'run', 'm.onnx', '--input', 'w=k.npy')
        self.bad("no input 'q'", 'run', 'm.onnx', '--input', 'q=k.npy')
        self.good('diff', 'm.onnx', 'm.onnx', '--input', 'w=w.npy')

    def test_info(self):
        info = self.json('info', 'm.onnx')
        self.assertEqual([value['name'] for value in info['inputs']], ['x'])
        self.assertEqual(info['inputs_with_defaults'], [{'name': name, 'fixed': name == 'k'} for name in 'wbsku'])
        text = self.good('info', 'm.onnx')
        self.assertIn('defaults    w, b, s, u: inputs with default values, which --input replaces\n', text)
        self.assertIn('fixed       k: inputs whose values decide shapes or attributes\n', text)
        self.assertNotIn('inputs_with_defaults', self.json('info', self.chain))

    # Each command that writes a model keeps inputs with default values as inputs; `run --input` still replaces them.
    def test_written_files_keep_inputs_with_defaults(self):
        self.good('split', 'm.onnx', *self.HOW, '-o', 'split.onnx')
        self.good('split', 'm.onnx', '--for-threads', '2', '-o', 'threads.onnx')
        self.good('fit', 'm.onnx', '-o', 'fit.onnx')
        self.good('fit', 'm.onnx', '--for', 'ort', '-o', 'ort.onnx')
        self.good('opt', 'm.onnx', '-p', 'clean-up', '-o', 'clean.onnx')
        self.good('opt', 'm.onnx', '-p', 'simplify,fold-constants,fold-batch-norms,clean-up', '-o', 'simple.onnx')
        self.good('opt', 'split.onnx', '-p', 'fold-constants,merge-equal,clean-up', '-o', 'again.onnx')
        for name in 'split', 'threads', 'fit', 'ort', 'clean', 'simple', 'again':
            name += '.onnx'
            info = self.json('info', name)
            self.assertEqual([entry['name'] for entry in info['inputs_with_defaults']], list('wbsu'), name)
            self.assertFalse(any(entry['fixed'] for entry in info['inputs_with_defaults']), name)
            for inputs in (), 'w', 'b', 's', 'wbs', 'u':
                self.assertEqual(self.run_model(name, *inputs), self.run_model('m.onnx', *inputs), (name, inputs))

    # The pieces read slices of the inputs with default values, and the split file stores each default value once.
    # So the split file is hardly larger than the file of the unsplit model.
    def test_a_split_adds_no_weights(self):
        self.good('split', 'm.onnx', *self.HOW, '-o', 'split.onnx')
        self.assertLess(os.path.getsize(self.path('split.onnx')), len(self.data) + 4000)
        self.assertGreater(self.json('info', 'split.onnx')['ops']['Conv'], 1)

    def test_equal_defaults_are_not_merged(self):
        nodes = [node('Mul', ['x', 'a'], ['m'], 'mul'), node('Add', ['m', 'b'], ['y'], 'add')]
        self.write('equal.onnx', model(nodes, [value_info('x', [4]), value_info('a', [4]), value_info('b', [4])], [value_info('y', [4])],
                                       [tensor('a', [4], floats(4, 1)), tensor('b', [4], floats(4, 1))]))
        self.write('a.npy', npy('<f4', '(4,)', floats(4, 2)))
        self.good('opt', 'equal.onnx', '-p', 'merge-equal,clean-up', '-o', 'merged.onnx')
        self.assertEqual(self.run_model('merged.onnx', 'a'), self.run_model('equal.onnx', 'a'))
        self.assertNotEqual(self.run_model('equal.onnx', 'a'), self.run_model('equal.onnx'))

    # The models that `partition` writes keep the default values of their inputs.
    def test_partition(self):
        self.good('split', 'm.onnx', *self.HOW, '-o', 'split.onnx')
        self.good('partition', 'split.onnx', '-d', 'parts')
        found = set()
        for name in sorted(os.listdir(self.path('parts'))):
            if name.endswith('.onnx'):
                found |= {entry['name'] for entry in self.json('info', 'parts/' + name).get('inputs_with_defaults', [])}
        self.assertEqual(found, set('wbs'))

    # In earlier IR versions, initializers are listed as inputs, but they are constants.
    def test_before_ir_version_4(self):
        self.write('old.onnx', number(1, 3) + self.data[len(number(1, 8)):])
        self.assertNotIn('inputs_with_defaults', self.json('info', 'old.onnx'))
        self.bad("no input 'w'", 'run', 'old.onnx', '--input', 'w=w.npy')


# Tests pictures as inputs. The models return their input, so that a test sees the numbers of a converted picture.
class Pictures(CommandTest):
    ROWS = [[(0, 51, 255), (10, 20, 30)], [(102, 0, 5), (255, 255, 255)], [(1, 2, 3), (4, 5, 6)], [(7, 8, 9), (0, 0, 0)],
            [(9, 9, 9), (99, 99, 99)]]

    def setUp(self):
        super().setUp()
        self.write('p.png', png(self.ROWS))
        if 'without GdkPixbuf' in self.cleave('run', self.copy([1, 3, 5, 2]), '--input', 'p.png').stderr.decode():
            self.skipTest('built without GdkPixbuf')

    def copy(self, shape, element=1):
        nodes = [node('Identity', ['x'], ['y'], 'copy')]
        return self.write('copy.onnx', model(nodes, [value_info('x', shape, element)], [value_info('y', shape, element)]))

    def pixels(self, shape, *args, element=1, code='f'):
        self.good('run', self.copy(shape, element), '--input', 'p.png', '--output-dir', 'out', *args)
        data = self.read('out/y.npy')
        data = data[10 + struct.unpack('<H', data[8:10])[0]:]
        return struct.unpack(f'<{len(data) // struct.calcsize(code)}{code}', data)

    def test_layouts(self):
        planes = [row[x][c] for c in range(3) for row in self.ROWS for x in range(2)]
        pixels = [c for row in self.ROWS for pixel in row for c in pixel]
        self.assertEqual(self.pixels([1, 3, 5, 2], '--scale', '1'), tuple(planes))
        self.assertEqual(self.pixels([5, 2, 3], '--scale', '1'), tuple(pixels))
        self.assertEqual(self.pixels([1, 5, 2, 3], element=2, code='B'), tuple(pixels))
        for got, want in zip(self.pixels([3, 5, 2]), planes):
            self.assertAlmostEqual(got, want / 255, places=6)

    def test_mean_and_scale(self):
        got = self.pixels([1, 3, 5, 2], '--mean', '1,2,3', '--scale', '2,0.5,1')
        self.assertEqual((got[1], got[11], got[21]), ((10 - 1) * 2, (20 - 2) * 0.5, 30 - 3))
        self.assertEqual(self.pixels([1, 3, 5, 2], '--mean', '128', element=3, code='b')[:2], (-128, -118))
        self.bad('expects 1 number or 3', 'run', 'copy.onnx', '--input', 'p.png', '--mean', '1,2')
        self.bad("numbers such as 0.5, not 'x'", 'run', 'copy.onnx', '--input', 'p.png', '--scale', 'x')
        self.bad('--mean has no effect without --input', 'run', 'copy.onnx', '--mean', '1')

    def test_luma_alpha_and_other_sizes(self):
        self.assertEqual([round(v) for v in self.pixels([5, 2], '--scale', '1')][:3], [59, 18, 31])
        self.assertEqual(self.pixels([4, 5, 2])[30:], (1.0,) * 10)
        self.write('p.png', png([[(7, 8, 9)] * 5] * 4))
        self.assertEqual(self.pixels([1, 3, 8, 6], '--scale', '1'), (7.0,) * 48 + (8.0,) * 48 + (9.0,) * 48)

    def test_inputs_that_cannot_hold_a_picture(self):
        for shape, element in ([2, 3, 4, 4], 1), ([1, 5, 4, 7], 1), ([4], 1), ([1, 3, 4, 4], 7), ([1, 3, 0, 4], 1):
            self.bad('a picture becomes', 'run', self.copy(shape, element), '--input', 'p.png')
        self.write('p.png', b'\x89PNG\r\n\x1a\nno')
        self.bad('p.png', 'run', self.copy([3, 3, 2]), '--input', 'p.png')
        self.bad('none.png', 'run', 'copy.onnx', '--input', 'none.png')


if __name__ == '__main__':
    unittest.main(verbosity=1)
