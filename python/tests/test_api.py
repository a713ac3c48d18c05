# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the functions of the command from Python, and calls that users of numpy, ONNX and ONNX Runtime expect to work.
import io
import os
import pathlib
import subprocess

import numpy
import pytest

import cleave
from onnx_bytes import floats, model, node, tensor, value_info

needs_command = pytest.mark.skipif('CLEAVE' not in os.environ, reason='CLEAVE does not say where the command is')


@pytest.fixture
def command_in_path(monkeypatch):
    folder = os.path.dirname(os.environ['CLEAVE'])
    monkeypatch.setenv('PATH', folder + os.pathsep + os.environ['PATH'])


def test_a_model_is_a_path_bytes_a_file_or_a_message(path):
    data = path.read_bytes()

    class Message:
        @staticmethod
        def SerializeToString():
            return data

    for given in (path, str(path), data, bytearray(data), memoryview(data), io.BytesIO(data), Message()):
        assert str(cleave.load(given)) == str(cleave.load(path))
    assert cleave.load(data, shapes={'x': (2, 3, 16, 16)}).inputs[0].shape == (2, 3, 16, 16)
    for wrong in (None, 3, ['x']):
        with pytest.raises(TypeError, match='a model is a path, bytes, a file or an onnx.ModelProto'):
            cleave.load(wrong)


def test_a_message_of_onnx_goes_in_and_comes_out(graph):
    onnx = pytest.importorskip('onnx')
    message = graph.to_onnx()
    assert isinstance(message, onnx.ModelProto) and [n.op_type for n in message.graph.node] == ['Conv', 'Relu', 'MaxPool']
    assert str(cleave.load(message)) == str(graph)


def test_inputs_are_found_by_index_and_by_name(graph):
    assert graph.inputs['x'] == graph.inputs[0] and len(graph.inputs[:1]) == 1
    with pytest.raises(KeyError, match="no input 'z'"):
        graph.inputs['z']


def test_errors_are_of_one_family(graph, tmp_path):
    (tmp_path / 'broken.onnx').write_bytes(b'\xff\xff\xff')
    with pytest.raises(cleave.ModelError):
        cleave.load(tmp_path / 'broken.onnx')
    with pytest.raises(cleave.NotFoundError, match='conv1') as found:
        graph['cnv1']
    assert isinstance(found.value, cleave.Error) and isinstance(found.value, KeyError)
    assert issubclass(cleave.LimitError, cleave.Error) and issubclass(cleave.ModelError, cleave.Error)


def test_a_limit_that_is_not_met_says_the_smallest(halos):
    with pytest.raises(cleave.LimitError) as refused:
        halos.copy().fit(1000)
    smallest = refused.value.smallest
    assert halos.copy().fit(smallest).totals['arena_after'] == smallest
    with pytest.raises(cleave.LimitError) as refused:
        halos.copy().fit(smallest - 1)
    assert refused.value.smallest == smallest


@pytest.mark.parametrize('message, smallest', [
    ("the budget is 655360 bytes, the smallest that a plan meets is 772096 bytes; a smaller budget is limited by 'x' of 602112", 772096),
    ("budget not met: 640 KiB is less than the smallest budget found, 754 KiB (772,096 bytes). Largest: 'x' 588 KiB", 772096),
    ('the smallest budget is 772096 bytes', 772096),
    ('no plan adds so few MACs', None),
])
def test_the_smallest_is_read_from_each_form_of_the_message(message, smallest):
    assert cleave.LimitError(message, 'cleave', 8).smallest == smallest


def test_inputs_may_be_excluded(halos):
    counted, excluded = halos.plan_fit(), halos.plan_fit(exclude_inputs=True)
    assert excluded.totals['arena_after'] < counted.totals['arena_after']
    assert halos.copy().fit(excluded.totals['arena_after'], exclude_inputs=True).totals == excluded.totals


@pytest.fixture
def large():
    """Convolutions over an image of 128 x 128, with values of 1 MiB: large enough that Loops save memory."""
    sizes = [('a', 16, 3), ('b', 16, 16), ('c', 16, 16), ('y', 1, 16)]
    kernels = [tensor(f'{y}.w', [n, m, 3, 3], floats(n * m * 9, 1)) for y, n, m in sizes]
    nodes = [node('Conv', [x, f'{y}.w'], [y], y, pads=[1, 1, 1, 1])
             for x, y in (('x', 'a'), ('a', 'b'), ('b', 'c'), ('c', 'y'))]
    return cleave.parse(model(nodes, [value_info('x', [1, 3, 128, 128])], [value_info('y', [1, 1, 128, 128])], kernels))


def test_a_fit_for_onnx_runtime_is_written_with_loops(large):
    fitted = large.copy()
    report = fitted.fit(target='ort')
    assert report.loops['n_loops'] > 0 and report.loops['bytes_after'] < report.loops['bytes_before']
    assert b'Loop' in fitted.to_bytes() and b'Loop' not in large.to_bytes()
    assert large.diff(cleave.load(fitted.to_bytes())).equal
    plan = large.plan_fit(target='ort')
    assert (plan.totals, plan.loops) == (report.totals, report.loops)
    assert large.plan_fit().loops is None
    with pytest.raises(cleave.LimitError) as refused:
        large.fit(1000, target='ort')
    assert large.plan_fit(refused.value.smallest, target='ort').totals['arena_after'] == refused.value.smallest
    with pytest.raises(cleave.Error, match="target expects 'cleave' or 'ort', not 'tvm'"):
        large.fit(target='tvm')


def test_a_frontier_goes_from_large_to_small(halos):
    before = str(halos)
    plans = halos.frontier()
    arenas = [plan.totals['arena_after'] for plan in plans]
    assert len(plans) > 1 and arenas == sorted(arenas, reverse=True) and str(halos) == before
    for plan in plans[:1] + plans[-1:]:
        copy = halos.copy()
        plan.apply(copy)
        assert copy.memory().arena == plan.totals['arena_after'] and halos.diff(copy).equal
    bounded = halos.frontier(max_added_macs=0)
    assert all(plan.totals['macs_after'] == plan.totals['macs_before'] for plan in bounded)


def test_memory_has_names_and_a_timeline(graph):
    peak, arena = memory = graph.memory()
    assert (memory.peak, memory.arena) == (peak, arena) and peak > 0
    timeline = graph.memory_timeline()
    assert (timeline.peak, timeline.arena) == memory
    assert timeline.steps[timeline.peak_step].live_bytes == peak == max(step.live_bytes for step in timeline.steps)
    for buffer in timeline.buffers:
        assert 0 <= buffer.offset and buffer.offset + buffer.bytes <= arena and buffer.first <= buffer.last


def test_parts_compute_the_whole(graph):
    graph.split('pool1', dims='H', num_chunks=2, depth=3)
    parts = graph.partition()
    assert {part.subgraph for part in parts} >= {0, 1} and set(parts.outputs) == {'y'}
    for i, part in enumerate(parts):
        assert all(j < i and parts[j].level < part.level for j in part.after)
    x = graph.random_inputs(seed=3)
    assert parts.run(x)['y'].tobytes() == graph(x)['y'].tobytes()


def test_a_difference_is_counted_and_measured(graph, path):
    other = cleave.load(path)
    other.split('pool1', dims='H', num_chunks=2, depth=3)
    assert graph.diff(other).equal and graph.diff(other)['y'].equal and graph.diff(other, seed=5).is_near(0)
    weights = [tensor('w', [4, 3, 3, 3], floats(108, 2))]
    nodes = [node('Conv', ['x', 'w'], ['y'], 'conv1', pads=[1, 1, 1, 1], strides=[2, 2])]
    changed = cleave.load(model(nodes, [value_info('x', [1, 3, 16, 16])], [value_info('y', [1, 4, 8, 8])], weights))
    found = graph.diff(changed)
    inputs = graph.random_inputs()
    a, b = graph(inputs)['y'], changed(inputs)['y']
    assert not found.equal and found['y'].different == (a != b).sum() and found['y'].largest == pytest.approx(abs(a - b).max())
    assert found.is_near(found['y'].largest) and not found.is_near(found['y'].largest / 2)
    with pytest.raises(cleave.Error, match="only one of the graphs has the input 'x'"):
        graph.diff(cleave.load(model(nodes[:0] + [node('Relu', ['z'], ['y'], 'r')], [value_info('z', [1])], [value_info('y', [1])])))


def test_differences_of_nan_and_of_zeros(path):
    nodes = [node('Div', ['a', 'b'], ['y'], 'div')]
    graph = cleave.load(model(nodes, [value_info('a', [2]), value_info('b', [2])], [value_info('y', [2])]))
    nodes = [node('Mul', ['a', 'b'], ['y'], 'mul')]
    other = cleave.load(model(nodes, [value_info('a', [2]), value_info('b', [2])], [value_info('y', [2])]))
    zeros = numpy.zeros(2, 'float32')
    assert graph.diff(other, {'a': zeros, 'b': zeros})['y'] == (2, float('inf'), '')
    assert graph.diff(graph.copy(), {'a': zeros, 'b': zeros}).equal
    one = numpy.array([-0.0, 1], 'float32')  # -0 and 0 differ in a bit, but 0 - -0 is 0
    assert other.diff(graph, {'a': one, 'b': numpy.ones(2, 'float32')}).equal


@needs_command
def test_random_inputs_are_those_of_the_command(graph, path, tmp_path):
    subprocess.run([os.environ['CLEAVE'], 'run', path, '--seed', '7', '--output-dir', tmp_path], check=True, stdout=subprocess.DEVNULL)
    assert numpy.load(tmp_path / 'y.npy').tobytes() == graph(graph.random_inputs(7))['y'].tobytes()


@needs_command
def test_a_report_is_a_page(graph, tmp_path, command_in_path):
    page = tmp_path / 'page.html'
    graph.report(page, times=False)
    whole = page.read_text()
    assert whole.startswith('<!DOCTYPE html>') and 'conv1' in whole
    graph.report(page, times=False, node='pool1', dims='H', num_chunks=2, depth=3)
    assert 'pool1.1' in page.read_text()
    with pytest.raises(cleave.Error, match='smallest'):
        graph.report(page, times=False, max_memory=100)
    with pytest.raises(cleave.Error, match='no-such-option'):
        graph.report(page, no_such_option=True)


@needs_command
def test_the_package_is_a_command(command_in_path):
    import sys
    here = pathlib.Path(cleave.__file__).parents[1]
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join([str(here), os.environ.get('PYTHONPATH', '')])}
    for args, status in ((['--version'], 0), (['info', '/none'], 2)):
        ran = [subprocess.run([*start, *args], capture_output=True, text=True, env=environment)
               for start in ([sys.executable, '-m', 'cleave'], [os.environ['CLEAVE']])]
        assert [(r.returncode, r.stdout, r.stderr) for r in ran[:1]] == [(r.returncode, r.stdout, r.stderr) for r in ran[1:]]
        assert ran[0].returncode == status


def test_a_program_is_run_as_onnx_runtime_runs_one(graph):
    program = graph.compile(1)
    assert program.inputs == {'x': ((1, 3, 16, 16), numpy.dtype('float32'))}
    assert program.outputs['y'].shape == (1, 4, 8, 8) and program.outputs['y'].dtype == 'float32'
    x = graph.random_inputs()
    assert program.run(None, x)[0].tobytes() == program.run(['y'], x)[0].tobytes() == program(x)['y'].tobytes()
    with pytest.raises(cleave.Error, match="no output 'yy'; did you mean 'y'"):
        program.run(['yy'], x)


def test_dtypes_are_those_of_numpy(graph):
    assert graph.inputs[0].dtype == numpy.float32
    for name in ('float16', 'int8', 'uint64', 'bool'):
        tensor_of = cleave.as_tensor(numpy.zeros(2, name))
        assert tensor_of.dtype == name and isinstance(tensor_of.dtype, numpy.dtype)
    bits = cleave.as_tensor(numpy.zeros(2, 'uint16'), 'bfloat16')
    assert bits.element == 'bfloat16' and bits.dtype == 'uint16'


def test_memory_is_shared_by_dlpack():
    class Foreign:
        """A tensor of another framework that can be read through DLPack only."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, stream=None, **options):
            return self.array.__dlpack__()

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    array = numpy.arange(6, dtype='float32').reshape(2, 3)
    tensor_of = cleave.as_tensor(Foreign(array))
    assert tensor_of.numpy().ctypes.data == array.ctypes.data
    own = cleave.Tensor.new(cleave.Cleave.TensorType.new(cleave.Cleave.Element.INT32, [2, 2]))
    own.numpy()[:] = 7
    out = numpy.from_dlpack(own)
    assert (out == 7).all() and out.ctypes.data == own.numpy().ctypes.data
    assert own.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        cleave.as_tensor(numpy.zeros(2, 'uint16'), 'bfloat16').__dlpack__()


def test_a_constant_is_copied_for_dlpack(graph):
    weights = graph['conv1'].operands[1].node.get_constant()
    out = numpy.from_dlpack(weights)
    assert (out == weights.numpy()).all() and out.ctypes.data != weights.numpy().ctypes.data


def test_a_notebook_draws_a_large_graph_as_an_overview(graph, monkeypatch):
    import cleave._graph
    whole = graph._repr_svg_()
    monkeypatch.setattr(cleave._graph, 'MAX_DRAWN', 1)
    assert graph._repr_svg_() != whole and graph._repr_svg_().count('<g ') <= whole.count('<g ')


def test_a_bundle_is_written_and_has_the_options_of_the_command(large, tmp_path):
    before = str(large)
    least = large.bundle()
    assert least.stats['arena_bytes'] <= least.stats['unsplit_bytes'] and least.stats['n_layers'] == 4
    assert {'README', 'cleave-kernels.c'} < set(least.files) and 'loop 0' in str(least) and str(large) == before
    apart = large.bundle(tmp_path / 'c', name='net', input='apart', output={'y': 'apart'}, kernels='c', single_file=True)
    assert apart.stats['arena_bytes'] < least.stats['arena_bytes']
    assert sorted(path.name for path in (tmp_path / 'c').iterdir()) == ['README', 'net-test.c', 'net.c', 'net.h']
    assert (tmp_path / 'c' / 'net.c').read_text() == apart.files['net.c']
    assert large.bundle(max_added_macs=None).stats['arena_bytes'] <= least.stats['arena_bytes']
    memories = large.bundle(memory={'fast': '64 KiB', 'slow': 1 << 24}, weights='object')
    assert any(name.endswith('-weights.S') for name in memories.files)


def test_mistakes_in_the_options_of_a_bundle_are_errors(large):
    with pytest.raises(cleave.LimitError) as refused:
        large.bundle(max_memory=1000)
    assert large.bundle(max_memory=refused.value.smallest).stats['arena_bytes'] == refused.value.smallest
    with pytest.raises(cleave.Error, match="^kernels expects any, c, dsp or cmsis-nn, not 'neon'"):
        large.bundle(kernels='neon')
    with pytest.raises(cleave.Error, match="^io_type expects model, int8 or float, not 'int4'"):
        large.bundle(io_type='int4')
    with pytest.raises(TypeError, match="has no option 'kernel'; did you mean 'kernels'"):
        large.bundle(kernel='c')


def test_the_state_of_a_bundle_is_kept():
    weights = [tensor('u', [4, 4], floats(16, 1))]
    graph = cleave.parse(model([node('MatMul', ['h', 'u'], ['m'], 'm'), node('Add', ['m', 'x'], ['h_next'], 'a')],
                               [value_info('x', [1, 4]), value_info('h', [1, 4])], [value_info('h_next', [1, 4])], weights))
    for state in 'all', ['h'], {'h': 'h_next'}, 'h':
        assert graph.bundle(state=state).stats['state_bytes'] == 16
    assert graph.bundle().stats['state_bytes'] == 0
