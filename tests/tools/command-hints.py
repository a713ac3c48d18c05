#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# command-hints.py CLEAVE: tests hints in error messages, accepted forms of values, and the refusal of files that are no models.

import os
import struct
import unittest
import zipfile

from command import CommandTest, chain, npz, png
from onnx_bytes import block, floats, model, node, number, tensor, value_info


class Hints(CommandTest):
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

    # A shape has the form of the options, such as 2,3, or the form in which Cleave prints shapes, such as 2x3.
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

    # Messages name the file, the option and the next step.
    def test_messages_name_the_file_the_option_or_the_next_step(self):
        for args in (('fit', 'no.cleave'), ('fit', self.chain, '--from-plan', 'no.json'), ('run', 'no.plan'), ('info', 'no.tflite')):
            self.bad(f"cleave: cannot read '{args[-1]}': No such file or directory", *args)
        for args in (('-o', '/proc/x.cleave'), ('-o', '/proc/x.onnx'), ('--dot-after', '/proc/x.dot'), ('--plan', '/proc/x.json')):
            self.bad(f"cleave: cannot write '{args[-1]}': No such file or directory", 'fit', self.chain, *args)
        self.bad("'extra' is not expected after 'fit'", 'help', 'fit', 'extra')
        self.bad('--bandwidth expects a number', 'simulate', self.chain, '--ranks', '2', '--bandwidth', 'x')
        self.bad("--align expects 4, 8 or 16, not '12'", 'bundle', self.chain, '--json', '--align', '12')
        self.bad('cleave info MODEL --nodes lists the nodes', 'split', self.chain, '--node', 'zzzzz', '--dims', 'H', '--num-chunks', '2')
        self.bad('the file is incomplete', 'info', self.write('cut.onnx', chain()[:300]))

    # A bundle of a QDQ model computes floats. The note names the passes that make integer nodes.
    def test_a_bundle_that_computes_floats_from_quantized_weights(self):
        def graph(*lines):
            begin = ['%x = Input : float32 4x4', '%s = Constant value=0.5 : float32 scalar', '%z = Constant value=0 : int8 scalar',
                     '%q = QuantizeLinear %x, %s, %z', '%d = DequantizeLinear %q, %s, %z']
            end = ['%m = MatMul %d, %w', '%r = QuantizeLinear %m, %s, %z', '%y = DequantizeLinear %r, %s, %z', 'output %y', '']
            return '\n'.join([*begin, *lines, *end]).encode()
        def notes(path):
            run = self.cleave('bundle', path, '--json')
            self.assertEqual(run.returncode, 0, run.stderr)
            return run.stderr.decode()
        self.write('weights.cleave', graph('%k = Constant seed=1 : int8 4x4', '%w = DequantizeLinear %k, %s, %z'))
        self.assertIn('note: some nodes compute floats', notes('weights.cleave'))
        passes = notes('weights.cleave').split('--passes ')[1].split()[0]
        self.good('opt', 'weights.cleave', '--passes', passes, '-o', 'bytes.cleave')
        self.assertEqual(notes('bytes.cleave'), '')

    def test_an_option_has_one_value(self):
        self.good('fit', self.chain, '--max-memory', '1MiB', '--max-memory', '1MiB')
        for command in (('fit',), ('report', '--no-times', '-o', 'page.html')):
            self.bad("--max-memory is given twice, as '1MiB' and '2MiB'", *command, self.chain, '--max-memory', '1MiB', '--max-memory=2MiB')

    def test_a_tolerance(self):
        self.write('other.onnx', chain(seed=2))
        run = self.cleave('diff', self.chain, 'other.onnx', '--tolerance', '1e-6')
        self.assertEqual(run.returncode, 1)
        self.assertIn('elements differ', self.good('diff', self.chain, 'other.onnx', '--tolerance', '1000'))
        for text in ('x', '-1', 'nan', 'inf', ''):
            self.bad('--tolerance expects', 'diff', self.chain, 'other.onnx', '--tolerance', text)


if __name__ == '__main__':
    unittest.main(verbosity=1)
