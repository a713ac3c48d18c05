# SPDX-License-Identifier: GPL-2.0-or-later
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

import cleave

from dynamic_models import MODELS
from list_models import CASES
from onnx_bytes import floats, model, node, tensor, value_info


def test_arrays_go_in_and_come_out(graph):
    program = graph.compile(threads=2)
    x = numpy.random.default_rng(1).standard_normal((1, 3, 16, 16), 'float32')
    first = program(x=x)['y']
    assert first.shape == (1, 4, 8, 8) and first.dtype == numpy.float32
    kept = first.copy()
    second = program(2 * x)['y']
    assert (first == kept).all() and not (second == kept).all()
    assert (program({'x': x})['y'] == first).all() and (graph(x)['y'] == first).all()
    # Arrays that are not row-major or have another byte order are copied, with the same values.
    assert (program(x=numpy.asfortranarray(x))['y'] == first).all()
    assert (program(x=x.astype('>f4'))['y'] == first).all()
    assert (program(x=x.tolist())['y'] == first).all()


def test_mistakes_in_inputs_are_named(graph):
    program = graph.compile()
    x = numpy.zeros((1, 3, 16, 16), 'float32')
    for given, words in (({}, "no value is given for input 'x'"), ({'xx': x}, "no input 'xx'; did you mean 'x'"),
                         ({'x': x[:, :2]}, '1x2x16x16'), ({'x': x.astype('float64')}, 'float64'),
                         ({'x': numpy.array(['a'])}, 'arrays of')):
        with pytest.raises(cleave.Error, match=words):
            program(**given)


def test_a_tensor_is_the_memory_of_the_array():
    for kind in ('float32', 'float64', 'float16', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32',
                 'uint64', 'bool'):
        array = numpy.zeros((2, 3), kind)
        tensor = cleave.as_tensor(array)
        back = tensor.numpy()
        array[1, 2] = 1
        assert back[1, 2] == 1 and back.ctypes.data == array.ctypes.data and back.dtype == array.dtype
        assert tensor.shape == (2, 3) and tensor.element == kind and tensor.nbytes == array.nbytes
    for shape in ((), (0,), (3, 0, 2)):
        array = numpy.ones(shape, 'float32')
        assert cleave.as_tensor(array).numpy().shape == shape
    assert float(cleave.as_tensor(numpy.float32(2.5)).numpy()) == 2.5


def test_a_tensor_of_the_library_is_written_through_numpy():
    tensor = cleave.Tensor.new(cleave.Cleave.TensorType.new(cleave.Cleave.Element.INT32, [2, 2]))
    array = tensor.numpy()
    array[:] = [[1, 2], [3, 4]]
    part = cleave.Tensor.new_slice(tensor, cleave.Cleave.Range.new([0, 2, 1, 2]))
    assert part.numpy().tolist() == [[2], [4]] and part.shape == (2, 1)
    del tensor, part
    gc.collect()
    assert array.sum() == 10


def test_numpy_may_ask_for_a_copy_or_for_none():
    array = numpy.arange(6, dtype='float32').reshape(2, 3)
    tensor = cleave.as_tensor(array)
    for same in (tensor.__array__(), tensor.__array__(copy=False), tensor.__array__('float32', copy=None),
                 numpy.asarray(tensor)):
        assert same.ctypes.data == array.ctypes.data
    for other in (tensor.__array__(copy=True), tensor.__array__('float32', copy=True), tensor.__array__('float64'),
                  tensor.__array__('float64', copy=None), numpy.array(tensor)):
        assert other.ctypes.data != array.ctypes.data and (other == array).all() and other.flags.writeable
    with pytest.raises(ValueError, match='float32 to float64 takes a copy'):
        tensor.__array__('float64', copy=False)


class Watched(numpy.ndarray):
    pass


def test_the_array_lives_as_long_as_the_tensor():
    array = Watched((1000,), 'float32')
    array[:] = range(1000)
    seen = weakref.ref(array)
    tensor = cleave.as_tensor(array)
    view = tensor.numpy()
    del array, tensor
    gc.collect()
    assert seen() is not None and view[999] == 999
    del view
    gc.collect()
    assert seen() is None


def test_inputs_are_freed_with_the_tensors_that_were_bound(graph):
    program = graph.compile()
    x = Watched((1, 3, 16, 16), 'float32')
    seen = weakref.ref(x)
    program(x=x)
    del x
    program(x=numpy.zeros((1, 3, 16, 16), 'float32'))
    gc.collect()
    assert seen() is None


def test_stats_profile_and_trace(graph):
    program = graph.compile(threads=1, trace=True)
    x = numpy.zeros((1, 3, 16, 16), 'float32')
    program(x=x)
    assert program.stats['n_threads'] == 1 and program.stats['arena_bytes'] >= 3072
    assert 'traceEvents' in program.trace or program.trace.startswith('[')
    steps = program.profile(2, x=x)
    assert any('Conv' in step['what'] for step in steps) and all(step['nanoseconds'] >= 0 for step in steps)
    assert 'arena' in repr(program)


def test_other_threads_run_meanwhile(path):
    graph = cleave.load(path, shapes=(4, 3, 128, 128))
    program = graph.compile(threads=1)
    x = numpy.zeros((4, 3, 128, 128), 'float32')
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    # The thread must add three ticks within one run. If a run held the interpreter lock, the thread could add ticks
    # only right before and after the run. On a busy machine the thread may get no processor during a run, so the test
    # runs the program several times.
    limit, most = time.monotonic() + 60, 0
    while most < 3 and time.monotonic() < limit:
        begin = time.monotonic()
        program(x=x)
        end = time.monotonic()
        most = sum(begin < t < end for t in ticks)
        del ticks[:]
    stop.set()
    thread.join()
    assert most >= 3


def test_a_rank_over_8_is_an_error():
    for use in (lambda: cleave.split_op('pytorch', [1] * 9, split_size=1), lambda: cleave.as_tensor(numpy.zeros([1] * 9))):
        with pytest.raises(cleave.Error, match='a shape has at most 8 dimensions, not 9'):
            use()
    assert cleave.as_tensor(numpy.zeros([1] * 8)).shape == (1,) * 8


def test_a_list_of_one_size_is_not_a_number():
    assert cleave.split_op('tensorflow', [6], num_splits=6) == (0, [1] * 6)
    assert cleave.split_op('tensorflow', [6], size_splits=[6]) == (0, [6])
    assert cleave.split_op('xla', [6], start_indices=[[0], [2]], limit_indices=[[2], [6]], strides=[[1], [1]]) == (0, [2, 4])
    for wrong in ({'num_splits': [6]}, {'size_splits': 6}, {'num_splits': []}):
        with pytest.raises(cleave.Error, match='_splits expects a'):
            cleave.split_op('tensorflow', [6], **wrong)


def run_on_threads(program, inputs):
    """Returns the result of each input. Four threads call the program at the same time."""
    with ThreadPoolExecutor(4) as pool:
        return [list(values.values())[0] for values in pool.map(program, inputs)]


def test_threads_may_share_a_program(path, tmp_path):
    # A run of 128 x 128 rows takes long enough that the four threads run at the same time without a lock.
    shapes = (4, 3, 128, 128)
    graph = cleave.load(path, shapes=shapes)
    graph.save_program(tmp_path / 'x.plan')
    inputs = [numpy.full(shapes, i, 'float32') for i in range(16)]
    alone = [graph.compile()(x)['y'] for x in inputs]
    for program in (graph.compile(), graph.compile(threads=2), cleave.load_program(tmp_path / 'x.plan'),
                    cleave.compile(path, shapes=shapes)):
        for _ in range(4):
            for result, expected in zip(run_on_threads(program, inputs), alone):
                numpy.testing.assert_array_equal(result, expected)


WAITS = '''
import time, cleave
from cleave import _split
graph = cleave.Graph.new('short')
graph.add_input('x', cleave.Cleave.TensorType.new(cleave.Cleave.Element.FLOAT32, [1, 8, 64, 64]))
value = graph['x'].results[0]
for i in range(4):
    value = graph.add(cleave.Cleave.op_lookup('Sigmoid' if i % 2 else 'Tanh'), f'n{i}', [value], 1, None).results[0]
graph.add_output('y', value)
before, cancellable, begin = str(graph), _split.new_cancellable(), time.monotonic()
_split.new_cancellable = lambda: cancellable

def wait(part):
    print('go', flush=True)
    while not cancellable.is_cancelled() and time.monotonic() - begin < 20:
        time.sleep(0.01)

try:
    graph.fit(1, progress=wait)
except KeyboardInterrupt:
    print('stopped', str(graph) == before, flush=True)
except cleave.Error as error:
    print('ended', error, flush=True)
'''


def test_ctrl_c_ends_a_search():
    # The search cannot end before the signal: its first report of progress waits until the search is cancelled,
    # for at most 20 seconds.
    process = subprocess.Popen([sys.executable, '-c', WAITS], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout.readline() == 'go\n'
    process.send_signal(signal.SIGINT)
    try:
        said = process.communicate(timeout=10)[0]
    finally:
        process.kill()
    assert said.splitlines()[-1:] == ['stopped True']


CANCELS = '''
import time
from cleave._call import Gio, call, new_cancellable
cancellable, begin = new_cancellable(), time.monotonic()

def wait():
    print('go', flush=True)
    while not Gio.Cancellable.get_current().is_cancelled() and time.monotonic() - begin < 20:
        time.sleep(0.01)

try:
    call(wait, cancellable=cancellable)
except KeyboardInterrupt:
    print('cancelled', cancellable.is_cancelled(), flush=True)
'''


def test_ctrl_c_cancels_what_runs():
    process = subprocess.Popen([sys.executable, '-c', CANCELS], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout.readline() == 'go\n'
    process.send_signal(signal.SIGINT)
    try:
        said = process.communicate(timeout=10)[0]
    finally:
        process.kill()
    assert said == 'cancelled True\n'


def test_a_call_sees_its_cancellable():
    from cleave._call import Gio, call, new_cancellable
    cancellable = new_cancellable()
    cancellable.cancel()
    assert call(lambda: Gio.Cancellable.get_current().is_cancelled(), cancellable=cancellable)
    assert not call(lambda: Gio.Cancellable.get_current().is_cancelled())
    assert Gio.Cancellable.get_current() is None


def test_a_search_that_is_cancelled_changes_nothing(graph):
    from cleave._call import new_cancellable
    library, before, cancellable = cleave.Cleave, str(graph), new_cancellable()
    cancellable.cancel()
    options = library.FitOptions()
    options.max_memory = 5000
    with pytest.raises(Exception, match='cancelled'):
        library.FitPlan.new_watched(graph, options, cancellable, lambda *_: None)
    _, how, constraint = library.split_parse({'max-memory': '2KiB'}, '')
    constraint.cancellable = cancellable
    with pytest.raises(Exception, match='cancelled'):
        library.split_all_nodes(graph, how, constraint)
    assert str(graph) == before


def test_nodes_whose_shapes_depend_on_data_run_after_the_others(tmp_path):
    graph = cleave.parse(MODELS['mask'])
    program = graph.compile()
    x = numpy.random.default_rng(1).standard_normal(graph.inputs[0].shape, 'float32')
    found = program(x=x)
    path = tmp_path / 'mask.onnx'
    graph.save(path)
    whole = cleave.load(path)(x)
    assert found and list(found) == list(whole) and set(program.outputs) <= set(found)
    for name, value in found.items():
        assert value.shape == whole[name].shape and (value == whole[name]).all()
    more = program(x=numpy.abs(x) + 10)
    assert any(more[name].shape != found[name].shape for name in found)
    with pytest.raises(cleave.Error, match='depend on data'):
        graph.save_program(tmp_path / 'mask.plan')
    assert graph.diff(cleave.load(path), {'x': x}).equal
    with pytest.warns(UserWarning, match="from NonZero 'where' on"):
        graph.partition(parts=2)
    with pytest.warns(UserWarning, match='depend on data'):
        graph.extract(end='fallback')


def write_rows(folder):
    """Writes a model for any number of rows: x → MatMul → Softmax over columns → y."""
    path = folder / 'rows.onnx'
    nodes = [node('MatMul', ['x', 'w'], ['m'], 'product'), node('Softmax', ['m'], ['y'], 'softmax')]
    path.write_bytes(model(nodes, [value_info('x', ['rows', 8])], [value_info('y', ['rows', 4])],
                           [tensor('w', [8, 4], floats(32, 1))]))
    return path


def test_a_model_compiled_for_many_rows_runs_fewer(tmp_path):
    path = write_rows(tmp_path)
    program = cleave.compile(path, dims={'rows': 64})
    assert program.inputs['x'].shape == (64, 8)
    for rows in (64, 40, 33, 17, 1, 63):
        x = numpy.random.default_rng(rows).standard_normal((rows, 8), 'float32')
        exact = cleave.load(path, dims={'rows': rows}).compile()
        assert (program(x)['y'] == exact(x)['y']).all() and (program(x=x)['y'] == exact(x)['y']).all()
    assert program.stats['n_compiled'] == 3 and program.stats['n_padded'] == 8
    assert repr(program) == '<cleave.ShapedProgram 3 programs for 6 shapes>'


def test_more_rows_than_compiled_are_an_error(tmp_path):
    program = cleave.compile(write_rows(tmp_path), shapes=(4, 8))
    with pytest.raises(cleave.Error, match="dimension 0 of input 'x' is 5, but the program was made for at most 4"):
        program(numpy.zeros((5, 8), 'float32'))
    with pytest.raises(cleave.Error, match="no input 'z'"):
        program(z=numpy.zeros((4, 8), 'float32'))
    with pytest.raises(cleave.Error, match='max_programs expects a number from 1, not 0'):
        cleave.compile(write_rows(tmp_path), shapes=(4, 8), max_programs=0)


def test_a_model_with_a_dynamic_part_is_compiled_for_shapes(tmp_path):
    path = tmp_path / 'detector.onnx'
    path.write_bytes(MODELS['single-class'])
    x = numpy.random.default_rng(1).standard_normal((1, 3, 16, 16), 'float32')
    got, want = cleave.compile(path)(x), cleave.load(path).compile()(x)
    assert list(got) == list(want) and all((got[name] == want[name]).all() for name in want)


def test_an_array_of_another_type_names_the_conversion(graph):
    program = graph.compile()
    shape = graph.inputs[0].shape
    with pytest.raises(cleave.Error, match=r"not float64 .*; convert it with \.astype\('float32'\)$"):
        program(numpy.zeros(shape))
    with pytest.raises(cleave.Error, match=r'; add the dimension with \[numpy\.newaxis\]$'):
        program(numpy.zeros(shape[1:], 'float32'))
    with pytest.raises(cleave.Error, match='must be float32 [0-9x]*, not float32 [0-9x]*$'):
        program(numpy.zeros((2, 2), 'float32'))
    for value in 'image.png', b'bytes':
        with pytest.raises(cleave.Error, match="input 'x' must be an array, not text: read the file first"):
            program(value)


def test_all_threads_are_named_as_on_the_command_line(graph):
    assert graph.compile(threads='all')(graph.random_inputs()).keys() == {'y'}
    assert graph.memory('all') == graph.memory(0)


def test_shapes_that_are_no_shapes_are_named(path):
    for shapes in '1,3,16,16', {'x': '1,3,16,16'}, {'x': 3}:
        with pytest.raises(cleave.Error, match=r'shapes expects tuples such as \(1, 3, 224, 224\), not '):
            cleave.load(path, shapes=shapes)


def test_an_unknown_node_is_one_kind_of_error(graph):
    for use in lambda: graph['pol1'], lambda: graph.split('pol1', dims='H', num_chunks=2), lambda: graph.split(['pol1'], dims='H', num_chunks=2):
        with pytest.raises(cleave.NotFoundError, match="the graph has no node 'pol1'; did you mean 'pool1'"):
            use()


def test_an_output_of_strings_is_an_array_of_str(tmp_path):
    path = tmp_path / 'labels.onnx'
    path.write_bytes(MODELS['labels'])
    x = numpy.random.default_rng(1).standard_normal((5, 6), 'float32')
    names = numpy.array(['cat', 'dog', 'Vögel', '?'])
    for program in (cleave.load(path).compile(), cleave.compile(path)):
        got = program(x)
        assert got['label'].tolist() == names[got['y'].argmax(1)].tolist()


def test_sequences_are_lists_of_arrays(tmp_path):
    path = tmp_path / 'grows.onnx'
    path.write_bytes(CASES['grows-3'][0])
    x = numpy.random.default_rng(1).standard_normal((6, 4), 'float32')
    s = [numpy.ones((5, 4), 'float32'), numpy.full((1, 4), 3, 'float32')]
    for program in (cleave.load(path).compile(), cleave.compile(path)):
        assert program.inputs['s'] == ('seq(float32)', (None, 4), numpy.dtype('float32'))
        got = program(x=x, s=s)
        assert [(t == u).all() for t, u in zip(got['t'], [s[0] / 2, s[1] / 2, got['z'] / 2])] == [True] * 3
        assert (got['joined'] == numpy.concatenate(got['t'])).all()
        assert len(program(x=x, s=[])['t']) == 1
        for wrong, words in ((None, 'give a list of arrays'), (x, 'give a list of arrays'),
                             ([x, x.astype('float64')], 'its tensor 1 has elements of float64')):
            with pytest.raises(cleave.Error, match=words):
                program(x=x, s=wrong)
        with pytest.raises(cleave.Error, match="no value is given for input 's'"):
            program(x=x)


def test_an_optional_value_may_be_none(tmp_path):
    path = tmp_path / 'bias.onnx'
    path.write_bytes(CASES['bias'][0])
    x = numpy.random.default_rng(1).standard_normal((6, 4), 'float32')
    graph = cleave.load(path)
    graph.save(tmp_path / 'again.onnx')
    for program in (graph.compile(), cleave.compile(path), cleave.load(tmp_path / 'again.onnx').compile()):
        absent = program(x=x, o=None)
        assert not absent['has'] and (program(x=x)['z'] == absent['z']).all()
        given = program(x=x, o=x)
        assert given['has'] and (given['z'] == x - absent['z']).all()


def test_an_input_of_strings_takes_arrays_of_str(tmp_path):
    path = tmp_path / 'words.onnx'
    path.write_bytes(MODELS['words'])
    words = ['e', 'Vögel', '', 'small fish', 'x']
    for program in (cleave.load(path).compile(), cleave.compile(path)):
        assert program.inputs == {'word': ((5,), numpy.dtype(str))}
        for given in (words, numpy.array(words), numpy.array(words, object), [word.encode() for word in words]):
            got = program(word=given)
            assert got['long'].tolist() == [word + 'small fish' for word in words]
            assert got['is'].tolist() == [False, False, False, True, False]
        with pytest.raises(cleave.Error, match='a string has 300 bytes, more than 256'):
            program(word=[300 * 'x'] * 5)
        with pytest.raises(cleave.Error, match='has strings, not float64: give an array of str'):
            program(word=numpy.zeros(5))
    graph = cleave.load(path, shapes={'word': (2, 300)})
    assert graph.compile()(word=[300 * 'x', 'e'])['is'].tolist() == [False, False]
    graph.save(tmp_path / 'again.onnx')
    assert cleave.load(tmp_path / 'again.onnx').compile()(word=words)['is'].tolist() == [False, False, False, True, False]


def test_a_bundle_of_a_split_graph_is_explained(graph):
    graph.copy().bundle()
    graph.split('pool1', dims='H,W', num_chunks='2,2', depth=3, halo='carry')
    with pytest.raises(cleave.ModelError, match='the graph was split before; bundle the unsplit graph'):
        graph.bundle()
