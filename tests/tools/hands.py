#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# hands.py CLEAVE: tests the conveniences of the command: hints, defaults, forms of options.

import hashlib
import io
import math
import os
import re
import struct
import unittest
import zipfile
import zlib

import command
from onnx_bytes import block, floats, model, node, number, tensor, value_info


# Returns a PNG picture with 8 bits per channel. A row is a list of pixels, and a pixel is a tuple of channels.
def png(rows):
    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
    kind = {1: 0, 3: 2, 4: 6}[len(rows[0][0])]
    lines = b''.join(b'\0' + bytes(channel for pixel in row for channel in pixel) for row in rows)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', len(rows[0]), len(rows), 8, kind, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(lines)) + chunk(b'IEND', b''))


def npz(arrays, method):
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', method) as archive:
        for name, data in arrays.items():
            # NumPy writes entries in this form, since it does not know their length when it begins.
            with archive.open(name + '.npy', 'w', force_zip64=True) as entry:
                entry.write(data)
    return file.getvalue()


class Hands(command.CommandTest):
    SPLIT = ('--node', 'pool1', '--dims', 'H', '--num-chunks', '2')

    def free(self):
        nodes = [node('Add', ['a', 'b'], ['y'], 'add')]
        return self.write('free.onnx', model(nodes, [value_info('a', ['batch', 3]), value_info('b', ['batch', 3])],
                                             [value_info('y', ['batch', 3])]))

    # Nodes with the same name are distinguished by the names of their results.
    def test_names_of_several_nodes(self):
        nodes = [node('Relu', ['x'], ['r1'], 'relu'), node('Neg', ['r1'], ['n'], 'neg'), node('Relu', ['n'], ['y'], 'relu')]
        self.write('twice.onnx', model(nodes, [value_info('x', [4, 4])], [value_info('y', [4, 4])]))
        how = ('--dims', '0', '--num-chunks', '2')
        says = "several nodes of the model are called 'relu': give the name of a first result instead: 'r1', 'y'"
        self.bad(says, 'split', 'twice.onnx', '--node', 'relu', *how)
        self.bad(says, 'dot', 'twice.onnx', '-o', 'a.dot', '--around', 'relu')
        self.bad(says, 'opt', 'twice.onnx', '-p', 'split{node=relu dims=0 num-chunks=2}')
        self.bad(says, 'opt', 'twice.onnx', '-p', 'parallelize{num-chunks=2 node=relu}')
        for name in ('r1', 'y'):
            report = self.json('split', 'twice.onnx', '--node', name, *how)
            self.assertEqual(len(report['split']), 1)
        self.good('dot', 'twice.onnx', '-o', 'a.dot', '--around', 'y')
        # The import removes the node without readers.
        self.write('once.onnx', model(nodes[:2], [value_info('x', [4, 4])], [value_info('n', [4, 4])]))
        self.good('split', 'once.onnx', '--node', 'relu', *how)

    # The command recognizes files of other formats by their first bytes.
    def test_files_that_are_no_models(self):
        def pickled(protocol):
            return b'\x80' + bytes([protocol]) + b'}q\x00.'
        self.good('compile', self.chain, '-o', 'chain.plan')
        with open(os.path.join(self.folder, 'chain.plan'), 'rb') as file:
            plan = file.read()
        cases = [
            (b'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n', 'a pointer of Git LFS: get the model itself with: git lfs pull'),
            (plan, 'a program that cleave compile saved'), (b'<!DOCTYPE html><html>', 'a page of HTML'), (b'<html>', 'a page of HTML'),
            (b'<?xml version="1.0"?><net/>', 'XML'), (npz({'x': b'1'}, zipfile.ZIP_STORED), 'a zip archive, as PyTorch'),
            (b'\x1f\x8b\x08' + bytes(20), 'compressed by gzip'), (b'\x89HDF\r\n\x1a\n' + bytes(20), 'HDF5'),
            *((pickled(protocol), 'a pickle of Python') for protocol in (2, 3, 4, 5)),
            (struct.pack('<Q', 8) + b'{"a":{}}', 'weights without a graph (safetensors)'), (b'GGUF\3\0\0\0', 'weights without a graph (GGUF)'),
            (b'\x18\0\0\0ORTM' + bytes(20), "in ONNX Runtime's own format"), (b'\x93NUMPY\1\0v\0', 'an array of numpy'),
            (png([[(0,)]]), 'a picture'), (b'\xff\xd8\xff\xe0', 'a picture'), (b'{}', 'JSON'),
        ]
        for data, what in cases:
            for command_line in (('info',), ('fit', '--max-memory', '1MiB')):
                self.bad(f'other.onnx: not an ONNX model, but {what}', *command_line, self.write('other.onnx', data))
        self.bad('not an ONNX model: no value at byte 3', 'info', self.write('other.onnx', b'hello, world'))

    # A shape has the form of the options, or the form in which Cleave prints shapes.
    def test_shapes_as_they_are_printed(self):
        for shape in ('2,3', '2x3'):
            self.assertIn('float32 2x3', self.good('info', self.free(), '--shape', 'a=' + shape, '--shape', 'b=' + shape))
        for wrong in ('2x', 'x2', '2,3x4', '2x3,4', '2xx3', '0x'):
            self.bad('--shape expects a shape', 'info', self.free(), '--shape', 'a=' + wrong)
        self.bad("input 'a' is batchx3 in the model, so it cannot be given 2x3x4: give 2 extents", 'info', self.free(), '--shape', 'a=2x3x4')

    # Units such as KiB, MiB and GiB may have any case. The number and the unit are one word.
    def test_units_of_sizes(self):
        for size in ('1MiB', '1mib', '1MIB', '1024KiB', '1024kib', '1048576', '1048576B', '1048.576kB', '1 mib'):
            self.assertIn('The limit of 1048576 bytes is met', self.good('memory', self.chain, '--max-memory', size, '--bytes'))
        for wrong in ('1M', '1Mi', '1mibb', '1mb', '1KB', '1e6'):
            self.bad("--max-memory expects a size such as 300000, 64KiB", 'fit', self.chain, '--max-memory', wrong)
        self.bad('write a size and its unit as one word', 'fit', self.chain, '--max-memory', '1', 'MB')
        self.bad('write a size and its unit as one word', 'fit', self.chain, '--max-memory', '1', 'kib')
        self.bad("found 2 files: 'a.onnx', 'b.onnx'\n", 'fit', 'a.onnx', 'b.onnx')

    def test_inputs_that_do_not_fit_the_model(self):
        def array(kind, shape, n):
            head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b'\n'
            return b'\x93NUMPY\1\0' + struct.pack('<H', len(head)) + head + bytes(n)
        self.write('double.npy', array('<f8', (1, 3, 16, 16), 3 * 256 * 8))
        self.write('rank3.npy', array('<f4', (3, 16, 16), 3 * 256 * 4))
        self.write('other.npy', array('<f4', (16, 16, 3), 3 * 256 * 4))
        says = "--input 'x' must be float32 1x3x16x16, not float"
        self.bad(f'{says}64 1x3x16x16; in numpy, array.astype() changes the element type\n', 'run', self.chain, '--input', 'double.npy')
        self.bad(f'{says}32 3x16x16; in numpy, array[None] adds the first dimension\n', 'run', self.chain, '--input', 'rank3.npy')
        self.bad(f'{says}32 16x16x3\n', 'run', self.chain, '--input', 'other.npy')
        self.bad("the model has no input 'picture'; it has 'x'\n", 'run', self.chain, '--input', 'picture=rank3.npy')
        nodes = [node('Relu', ['picture'], ['y'], 'relu')]
        self.write('named.onnx', model(nodes, [value_info('picture', [1, 3, 16, 16])], [value_info('y', [1, 3, 16, 16])]))
        self.bad("the first model has no input 'picture' of the second; it has 'x'\n", 'diff', self.chain, 'named.onnx')
        self.write('shapeless.onnx', model(nodes, [block(1, 'picture') + block(2, block(1, number(1, 1)))], [value_info('y', [1])]))
        self.bad("input 'picture' has no shape (give --shape picture=1,3,224,224)", 'info', 'shapeless.onnx')

    def test_options_without_a_command(self):
        self.bad("did you mean '--version'?", '--verison')
        self.bad("did you mean '--version'?", '-V')
        self.bad("did you mean '--help'?", '--hlep')
        self.bad('options come after a command', '--max-memory', '1MiB', 'fit', self.chain)

    def test_hints(self):
        self.bad("no command 'splt'; did you mean 'split'?", 'splt')
        self.bad("there is no option '--num-chunk'; did you mean '--num-chunks'?", 'split', self.chain, '--num-chunk=2')
        self.bad("there is no option '--wings'", 'info', self.chain, '--wings')
        self.bad("no node 'pol1'; did you mean 'pool1'?", 'split', self.chain, '--node', 'pol1', *self.SPLIT[2:])
        self.bad("no input of the model has a dimension 'bach'; did you mean 'batch'?", 'info', self.free(), '--fix', 'bach=2')

        self.bad("there is no option '--wings'; cleave info --help lists the options", 'info', self.chain, '--wings')
        self.bad("there is no option '-j'; did you mean '--threads'?", 'fit', self.chain, '-j', '2')

    def test_words_of_other_tools_are_explained(self):
        for word, command in (('compare', 'diff'), ('benchmark', 'run'), ('optimize', 'opt'), ('version', '--version')):
            self.bad(f"there is no command '{word}'; did you mean '{command}'?", word, self.chain)
        self.bad('a command comes before its file, such as: cleave info FILE', self.chain)
        self.bad('--list-passes lists the passes', 'opt', self.chain)
        self.assertEqual(self.good('--help', 'fit'), self.good('help', 'fit'))

    # If the number and the unit are two words, the command reads the unit as the name of a second file.
    def test_unexpected_files_are_named(self):
        self.bad(f"expected MODEL.onnx, found 2 files: '{self.chain}', 'MB'", 'fit', self.chain, '--max-memory', '10', 'MB')
        self.bad('64KiB (of 1024) or 64kB (of 1000), 2MiB or 2MB, not', 'fit', self.chain, '--max-memory', '256KB')

    def test_a_model_is_not_written_as_another_kind_of_file(self):
        before = os.listdir(self.folder)
        for ending in ('tflite', 'json', 'svg', 'plan'):
            self.bad('its ending must be .onnx or .cleave', 'fit', self.chain, '-o', f'o.{ending}')
        self.assertEqual(os.listdir(self.folder), before)

    # In lines of a report, names have at most 64 letters between two quotes; JSON has whole names.
    def test_long_names_are_shortened_in_text(self):
        name = 'a/very/long/name' * 20
        sizes = {'a': (16, 3), 'b': (16, 16), 'y': (4, 16)}
        nodes = [node('Conv', [x, f'{y}.w'], [y], f'{name}{y}', pads=[1, 1, 1, 1]) for x, y in (('x', 'a'), ('a', 'b'), ('b', 'y'))]
        weights = [tensor(f'{y}.w', [n, m, 3, 3], floats(n * m * 9, 1)) for y, (n, m) in sizes.items()]
        self.write('long.onnx', model(nodes, [value_info('x', [1, 3, 64, 64])], [value_info('y', [1, 4, 64, 64])], weights))
        printed = self.good('fit', 'long.onnx', '--max-memory', '300kB')
        self.assertIn('segment ', printed)
        self.assertRegex(printed, "'a/very/long/namea/very/long/name…[a-z/]+[ay]'")
        self.assertNotIn(name, printed)
        self.assertIn(name, self.good('fit', 'long.onnx', '--max-memory', '300kB', '--json'))

    def test_errors_name_options_that_help(self):
        self.bad('(give --shape a=1,3, or --fix batch=1)', 'info', self.free())

    def test_all_inputs_with_free_dimensions_are_named(self):
        nodes = [node('Add', ['a', 'b'], ['c'], 'add'), node('Mul', ['c', 'd'], ['y'], 'mul')]
        self.write('three.onnx', model(nodes, [value_info('a', ['n', 3]), value_info('b', [3]), value_info('d', ['n', 'm'])],
                                       [value_info('y', ['n', 3])]))
        says = "(give --shape a=1,3, or --fix n=1); inputs with free dimensions, too: 'd'"
        self.bad(says, 'info', 'three.onnx')
        self.bad("input 'd' has free dimensions", 'info', 'three.onnx', '--shape', 'a=1,3')

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
        self.assertIn('2 pieces', self.good('split', self.chain, *self.SPLIT, '--dry-run', '-o', 'o.onnx', '--save-json', 'r.json'))
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


class Inputs(command.CommandTest):
    def setUp(self):
        super().setUp()
        self.data = floats(3 * 16 * 16, 7)
        self.npy = command.npy('<f4', '(1, 3, 16, 16)', self.data)
        self.write('x.npy', self.npy)
        add = [node('Add', ['a', 'b'], ['y'], 'add')]
        self.two = self.write('two.onnx', model(add, [value_info('a', [2]), value_info('b', [2])], [value_info('y', [2])]))

    def sums(self, *args):
        return [output['sha256'] for output in self.json('run', *args)['outputs']]

    def test_names_with_an_equals_sign(self):
        nodes = [node('Add', ['x', 'x=1'], ['y=z'], 'add=1')]
        self.write('equals.onnx', model(nodes, [value_info('x', ['a=b', 4]), value_info('x=1', ['a=b', 4])], [value_info('y=z', ['a=b', 4])]))
        for name, seed in (('a.npy', 1), ('1=a.npy', 2), ('b.npy', 3)):
            self.write(name, command.npy('<f4', '(2, 4)', floats(8, seed)))
        fixed = ('--fix', 'a=b=2')
        self.assertEqual(self.json('info', 'equals.onnx', *fixed)['inputs'][1], {'name': 'x=1', 'type': 'float32', 'shape': [2, 4]})
        self.assertEqual(self.json('info', 'equals.onnx', '--shape', 'x=2,4', '--shape', 'x=1=2,4')['inputs'][0]['shape'], [2, 4])
        want = self.sums('equals.onnx', *fixed, '--input', 'x=b.npy', '--input', 'x=1=a.npy', '--save-inputs', 'in')
        self.assertEqual(self.read('in/x_1.npy')[-32:], floats(8, 1))
        # Two names of inputs match. The longer one is used.
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

    # A file that the command reads is not overwritten, for every option that names such a file.
    def test_files_that_were_read_are_kept(self):
        self.write('x.npy', self.npy)
        self.write('passes.onnx', b'clean-up')
        self.bad('give --force', 'run', self.chain, '--input', 'x.npy', '--save-inputs', '.')
        self.bad('give --force', 'run', self.chain, '--fix', 'x=x.npy', '--trace', 'x.npy')
        self.bad('give --force', 'opt', self.chain, '--passes-file', 'passes.onnx', '-o', 'passes.onnx')
        self.good('compile', self.chain, '-o', 'chain.plan')
        self.bad('give --force', 'run', 'chain.plan', '--trace', 'chain.plan')
        self.good('run', self.chain, '--input', 'x.npy', '--save-inputs', '.', '--force')
        self.bad('two outputs have the file name', 'split', self.chain, *Hands.SPLIT, '-o', 'o.onnx', '--save-json', 'o.onnx')

    def test_the_only_input_needs_no_name(self):
        self.assertEqual(self.sums(self.chain, '--input', 'x.npy'), self.sums(self.chain, '--input', 'x=x.npy'))
        self.good('diff', self.chain, self.chain, '--input', 'x.npy')
        self.write('a=b.npy', self.npy)
        self.assertEqual(self.sums(self.chain, '--input', 'a=b.npy'), self.sums(self.chain, '--input', 'x.npy'))
        self.bad('2 inputs: give --input NAME=FILE, as in a=x.npy', 'run', self.two, '--input', 'x.npy')
        self.bad("no input 'A'; did you mean 'a'?", 'run', self.two, '--input', 'A=x.npy')

    def test_an_archive(self):
        a, b = (command.npy('<f4', '(2,)', floats(2, seed)) for seed in (1, 2))
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

    # A file with a wrong or missing byte is an error, or gives the same numbers.
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


# Inputs that are also initializers: since IR version 4, such an initializer is a default value, which a caller may
# replace.
class Defaults(command.CommandTest):
    HOW = ('--node', 'relu', '--dims', 'C', '--num-chunks', '2', '--depth', '9')

    # The model is x → Conv w, b → Mul s + s → Relu → Reshape k → y. Inputs w, b, s and k have default values. Input u is
    # unused.
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
            self.write(name + '.npy', command.npy('<f4', f"({', '.join(map(str, shape))},)", floats(math.prod(shape), 9)))
        self.write('k.npy', command.npy('<i8', '(2,)', struct.pack('<2q', 8, 32)))

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

    # Pieces read slices of inputs with default values, so the file hardly grows.
    def test_a_split_adds_no_weights(self):
        self.good('split', 'm.onnx', *self.HOW, '-o', 'split.onnx')
        self.assertLess(os.path.getsize(self.path('split.onnx')), len(self.data) + 4000)
        self.assertGreater(self.json('info', 'split.onnx')['ops']['Conv'], 1)

    def test_equal_defaults_are_not_merged(self):
        nodes = [node('Mul', ['x', 'a'], ['m'], 'mul'), node('Add', ['m', 'b'], ['y'], 'add')]
        self.write('equal.onnx', model(nodes, [value_info('x', [4]), value_info('a', [4]), value_info('b', [4])], [value_info('y', [4])],
                                       [tensor('a', [4], floats(4, 1)), tensor('b', [4], floats(4, 1))]))
        self.write('a.npy', command.npy('<f4', '(4,)', floats(4, 2)))
        self.good('opt', 'equal.onnx', '-p', 'merge-equal,clean-up', '-o', 'merged.onnx')
        self.assertEqual(self.run_model('merged.onnx', 'a'), self.run_model('equal.onnx', 'a'))
        self.assertNotEqual(self.run_model('equal.onnx', 'a'), self.run_model('equal.onnx'))

    # The parts of a partition have inputs with default values, too.
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
class Pictures(command.CommandTest):
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


class Sizes(command.CommandTest):
    SIZE = re.compile(r'(\d+(?:\.\d\d)?) (B|KiB|MiB|GiB)(?!\w)')

    def commands(self):
        split = ('split', self.chain, *Hands.SPLIT)
        return (('info', self.chain), ('info', self.chain, '--program'), ('info', self.chain, '--nodes'), split, ('fit', self.chain),
                ('fit', self.chain, '--frontier'), ('fit', self.chain, '--for', 'ort'), ('memory', self.chain, '--max-memory', '9kB'),
                ('compile', self.chain, '-o', 'a.plan'), ('run', self.chain, '--threads', '2'), ('simulate', self.chain),
                ('partition', self.chain, '-d', 'parts'), ('partition', self.chain, '-d', 'parts', '--parts', '2'),
                ('split', self.chain, '--for-threads', '2'))

    # With --bytes, each size in a text is a number of bytes. Without --bytes, the same size has a unit and is rounded up.
    def test_every_size_for_people_and_for_scripts(self):
        factors = {'B': 1, 'KiB': 1 << 10, 'MiB': 1 << 20, 'GiB': 1 << 30}
        for args in self.commands():
            people, scripts = self.good(*args), self.good(*args, '--bytes')
            sizes = [math.floor(float(number) * factors[unit] + 1e-6) for number, unit in self.SIZE.findall(people)]
            exact = [int(number) for number in re.findall(r'(\d+) bytes', scripts)]
            self.assertTrue(exact, args)
            self.assertEqual(len(sizes), len(exact), (people, scripts))
            self.assertEqual(self.SIZE.findall(scripts), [], args)
            for size, n_bytes in zip(sizes, exact):
                self.assertLessEqual(n_bytes, size, args)
                self.assertLess(size, n_bytes * 1.01 + 11, args)

    # A size that fit prints is possible as the limit of the next fit.
    def test_a_printed_size_is_a_limit_that_is_met(self):
        rows = self.good('fit', self.chain, '--frontier').splitlines()[1:-1]
        self.assertGreater(len(rows), 2)
        for row in rows:
            number, unit = row.split()[:2]
            for size in (number + unit, f'{number} {unit}'):
                self.good('fit', self.chain, '--max-memory', size, '--dry-run')

    # Without --threads, all commands count one thread, so their figures are equal.
    def test_the_default_of_threads_is_one_everywhere(self):
        arena = self.json('memory', self.chain)['models'][0]['arena_bytes']
        self.assertEqual(self.json('info', self.chain, '--program')['program']['arena_bytes'], arena)
        self.assertEqual(self.json('compile', self.chain, '-o', 'a.plan')['arena_bytes'], arena)
        self.assertEqual(self.json('fit', self.chain, '--max-memory', '1MiB')['arena_bytes']['before'], arena)
        self.assertEqual(self.json('run', self.chain)['arena_bytes'], arena)
        names = [line.split('\t')[0] for line in self.good('--list-commands').splitlines()]
        rows = [line.split('\t')[3] for name in names for line in self.good(name, '--list-options').splitlines()
                if line.startswith('--threads\t')]
        self.assertGreater(len(rows), 8)
        for text in rows:
            self.assertRegex(text, r'"all": one per core \(default: 1\)$')

    def test_all_threads(self):
        for args in (('run', self.chain, '--as-is'), ('compile', self.chain, '-o', 'a.plan', '--as-is')):
            self.assertEqual(self.json(*args, '--threads', 'all')['threads'], min(os.cpu_count(), 1024))
        self.bad("from 1 to 1024, not 'some'", 'run', self.chain, '--threads', 'some')


class Figures(command.CommandTest):
    def test_nodes(self):
        text = self.good('info', self.chain, '--nodes')
        lines = text.splitlines()
        self.assertRegex(lines[0], '^ *MACs +results +live +op +makes +node$')
        self.assertRegex(lines[1], r'^ *27648 +4 KiB +[\d.]+ KiB [ *] +Conv +float32 1x4x16x16 +conv1$')
        self.assertEqual(sum(' * ' in line for line in lines[1:4]), 1)
        found = self.json('info', self.chain, '--nodes')
        self.assertEqual([n['bytes'] for n in found['node_list']], [4096, 4096, 1024])
        peak = [n for n in found['node_list'] if n.get('at_peak')]
        self.assertEqual([n['live_bytes'] for n in peak], [found['peak_activation_bytes']] * len(peak))
        self.assertTrue(peak)
        self.assertNotIn('live_bytes', self.json('info', self.chain)['node_list'][0])

    # The help and each JSON report have a note about the counting of memory. Other texts do not have the note.
    def test_the_memory_note_is_in_the_help(self):
        for args in (['info', self.chain, '--nodes'], ['run', self.chain], ['memory', self.chain, '--after', self.chain],
                     ['split', self.chain, *Hands.SPLIT], ['fit', self.chain]):
            text = self.good(*args)
            self.assertNotIn('weights apart', text)
            self.assertRegex(text, r' [KM]iB of live activations|after, of live activations')
            self.assertIn('weights apart', self.good(*args, '--json'))
        self.assertEqual(self.good('--help').replace('\n', ' ').count('weights apart, element-wise'), 1)

    def test_run_prints_that_it_split(self):
        large = self.write('large.onnx', model(
            [node('Conv', ['x', 'w'], ['y'], 'conv1', pads=[3, 3, 3, 3])], [value_info('x', [1, 3, 32, 32])],
            [value_info('y', [1, 64, 32, 32])], [tensor('w', [64, 3, 7, 7], floats(64 * 147, 1))]))
        self.assertRegex(self.good('run', large, '--threads', '3'), r'nodes +\d+, split for 3 threads out of 1 \(--as-is')
        self.assertRegex(self.good('run', large, '--threads', '3', '--as-is'), r'nodes +\d+\n')
        self.assertIn('nothing to split', self.good('run', self.chain, '--threads', '2'))
        self.assertEqual(self.json('run', large, '--threads', '3')['nodes_as_is'], 1)


if __name__ == '__main__':
    unittest.main(verbosity=1)
