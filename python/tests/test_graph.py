# SPDX-License-Identifier: GPL-2.0-or-later
import copy
import os

import numpy
import pytest

import cleave
from onnx_bytes import model, node, value_info


def test_a_graph_is_a_collection_of_nodes(graph):
    assert [n.op for n in graph] == ['Input', 'Constant', 'Conv', 'Relu', 'MaxPool']
    assert len(graph) == 5 and 'conv1' in graph and 'conv2' not in graph
    assert graph['conv1'] == graph.nodes[2] and len({graph['conv1'], graph['conv1'], graph['relu1']}) == 2
    assert graph.macs == 16 * 16 * 4 * 27
    assert bool(cleave.Graph.new('empty')) and not list(cleave.Graph.new('empty'))


def test_a_name_that_is_wrong_gets_a_hint(graph):
    with pytest.raises(KeyError, match="did you mean 'conv1'"):
        graph['cnv1']
    with pytest.raises(cleave.Error, match="the graph has no node 'pool'; did you mean 'pool1'"):
        graph.split('pool', dims='H', num_chunks=2)
    with pytest.raises(TypeError, match="did you mean 'num_chunks'"):
        graph.split('pool1', dims='H', num_chunk=2)


def test_attributes_are_a_dictionary(graph):
    attrs = graph['pool1'].attrs
    assert attrs['kernel_shape'] == [2, 2] and attrs['strides'] == [2, 2] and attrs['ceil_mode'] is False
    assert graph['conv1'].attrs['group'] == 1 and graph['relu1'].attrs == {}


def test_values_lead_from_node_to_node(graph):
    conv = graph['conv1']
    assert [v.node.op for v in conv.operands[:2]] == ['Input', 'Constant']
    assert conv.results[0].uses[0].node == graph['relu1']
    assert graph['pool1'].results[0].uses[0].node is None
    assert conv.shape == (1, 4, 16, 16) and graph.inputs[0].shape == (1, 3, 16, 16)
    assert list(graph.outputs) == ['y'] and graph.outputs['y'].element == 'float32'


def test_a_node_outlives_its_graph(path):
    conv = cleave.load(path)['conv1']
    assert conv.name == 'conv1' and conv.operands[0].name == 'x'


def test_a_constant_is_an_array_that_is_read_only(graph):
    w = graph['conv1'].operands[1].node.constant
    assert w.shape == (4, 3, 3, 3) and w.dtype == numpy.float32 and graph['conv1'].constant is None
    del graph
    assert float(w.sum()) == pytest.approx(float(numpy.array(w).sum()))
    with pytest.raises(ValueError):
        w[0] = 0


def test_an_error_has_the_words_of_the_library(tmp_path, graph):
    with pytest.raises(cleave.Error) as caught:
        cleave.load(tmp_path / 'none.onnx')
    assert 'none.onnx' in str(caught.value)
    with pytest.raises(cleave.Error, match='^num_chunks needs dims'):
        graph.split('pool1', num_chunks=2)
    with pytest.raises(cleave.Error, match='^the budget is 100 bytes, the smallest that a plan meets is'):
        graph.fit(100)
    assert len(graph) == 5


def test_free_dimensions_are_given_by_name_or_by_shape(tmp_path):
    nodes = [node('Add', ['a', 'b'], ['y'], 'add')]
    data = model(nodes, [value_info('a', ['batch', 3]), value_info('b', ['batch', 'n'])], [value_info('y', ['batch', 3])])
    assert cleave.parse(data, dims={'batch': 2, 'n': 1}).outputs['y'].shape == (2, 3)
    assert cleave.parse(data, shapes={'a': (5, 3), 'b': (5, 1)}).outputs['y'].shape == (5, 3)
    # A dimension name has one extent in all inputs that have the name.
    assert cleave.parse(data, shapes={'a': (5, 3)}, dims={'n': 3}).outputs['y'].shape == (5, 3)
    with pytest.raises(cleave.Error, match="no input of the model has a dimension 'bath'; did you mean 'batch'"):
        cleave.parse(data, dims={'bath': 2})
    with pytest.raises(cleave.Error, match="dimension 'n' cannot be -1"):
        cleave.parse(data, dims={'batch': 1, 'n': -1})
    with pytest.raises(cleave.Error, match='free dimensions'):
        cleave.parse(data)
    fixed = cleave.parse(data, dims={'batch': 1, 'n': 1}, values={'b': numpy.ones((1, 3), 'float32')})
    assert [v.name for v in fixed.inputs] == ['a']


def test_a_fixed_shape_may_be_another_where_the_ops_allow_it(path):
    graph = cleave.load(path, shapes=(2, 3, 8, 8))
    assert graph.outputs['y'].shape == (2, 4, 4, 4)
    with pytest.raises(cleave.Error, match='conv1'):
        cleave.load(path, shapes=(1, 5, 8, 8))


def test_a_split_reports(graph):
    before = graph.compile()(x=numpy.ones((1, 3, 16, 16), 'float32'))['y']
    report = graph.split('pool1', dims='H', num_chunks=2, depth=3)
    assert report.split['conv1'] == ['conv1.0', 'conv1.1'] and report.not_split == {}
    assert report.ranges['pool1'] == [((0, 1), (0, 4), (0, 4), (0, 8)), ((0, 1), (0, 4), (4, 8), (0, 8))]
    assert report.totals['n_parallel_subgraphs'] == 2 and '3 nodes split' in repr(report)
    after = graph.compile(threads=2)(x=numpy.ones((1, 3, 16, 16), 'float32'))['y']
    assert before.tobytes() == after.tobytes()
    whole = cleave.SplitReport
    assert isinstance(report, whole)


def test_every_way_to_split(graph):
    for options, n in (
        ({'dims': 'H,W', 'num_chunks': (2, 2)}, 4), ({'dims': 'H', 'chunk_size': 3}, 3),
        ({'dims': ['H'], 'chunk_sizes': [3, 5]}, 2), ({'dims': 'C', 'chunk_weights': [1, 3]}, 2),
        ({'dims': 'H,W', 'chunk_sizes': [[4, 4], [2, 6]]}, 4), ({'dims': 2, 'num_chunks': 8}, 8),
        ({'max_piece_memory': '2 KiB'}, None), ({'max_memory': '2 kB'}, None),
    ):
        report = copy.copy(graph).split(graph['pool1'], **options)
        assert n is None or len(report.split['pool1']) == n, options
    assert len(graph.copy().split(dims='H', num_chunks=2).split) == 3
    assert graph.copy().split(['conv1', 'relu1'], dims='N', num_chunks=1).not_split['conv1'][0] == 'one-piece'


def test_fit_and_optimize(graph):
    peak, arena = graph.memory()
    parts = []
    report = graph.fit('6 kB', progress=parts.append)
    assert report.totals['arena_before'] == arena and report.totals['arena_after'] <= 6 * 1000 < arena
    assert parts and parts == sorted(parts) and parts[-1] <= 1 and graph.memory()[1] <= 6 * 1000
    ran = []
    graph.split(dims='H', num_chunks=2)
    assert isinstance(graph.optimize('fold-constants,clean-up', progress=ran.append), bool)
    assert ran[0] == 'fold-constants'
    assert graph.optimize('clean-up') is False
    with pytest.raises(cleave.Error, match='fold-constant'):
        graph.optimize('fold-constant')


def test_limits_mean_the_same_in_fit_and_in_split(halos):
    """`split` and `fit` take limits as fractions: 0.1 is 10 %. None is no limit, 0 allows no increase."""
    macs = halos.macs

    def added_by_split(limit):
        graph = halos.copy()
        graph.split('y', dims='H', num_chunks=4, depth=3, max_added_macs=limit)
        return graph.macs / macs - 1

    def added_by_fit(limit):
        graph = halos.copy()
        graph.fit(max_added_macs=limit, progress=False)
        return graph.macs / macs - 1

    for added in (added_by_split, added_by_fit):
        most = added(None)
        assert most > 0.01, added
        assert added(0) == 0, added
        assert added(most * 1.0001) == added(numpy.float32(most * 1.0001)) == most, added
        assert 0 <= added(most / 2) <= most / 2, added


def test_a_limit_that_makes_no_sense_is_an_error(graph):
    before = str(graph)
    for call in (graph.fit, graph.plan_fit, lambda **limit: graph.split('pool1', dims='H', num_chunks=2, **limit)):
        with pytest.raises(cleave.Error, match='max_(piece_)?memory must be less than 2.63 bytes|expects a size'):
            call(max_memory=10**30)
        for limit in (-0.1, float('nan'), float('inf'), '10', True):
            with pytest.raises(cleave.Error, match='max_added_macs expects a fraction from 0, such as 0.1, not'):
                call(max_added_macs=limit)
        with pytest.raises(cleave.Error, match='max_(piece_)?memory must be more than 0'):
            call(max_memory=0)
    for limit in (-1, 'few'):
        with pytest.raises(cleave.Error, match='max_added_latency expects a fraction'):
            graph.fit(max_added_latency=limit)
    assert str(graph) == before


def test_errors_of_a_split_name_arguments_of_python(graph):
    for options in ({'dims': 'H', 'chunk_sizes': 'x'}, {'dims': 'H', 'chunk_weights': 'x'}, {'slice_ranges': 'x'},
                    {'dims': 'H', 'num_chunks': 'x'}, {'dims': 'H', 'chunk_size': 'x'}, {'max_pieces': 0},
                    {'dims': 'H', 'num_chunks': 2, 'min_chunk': 'x'}, {'max_piece_memory': 'x'}, {'max_subgraph_memory': 0},
                    {'max_schedule_memory': 'x'}, {'max_pieces': 2, 'search_budget': 'x'},
                    {'dims': 'H', 'num_chunks': 2, 'depth': 2, 'strips_per_band': 'x'}):
        with pytest.raises(cleave.Error) as caught:
            graph.split('pool1', **options)
        assert [name for name in options if name in str(caught.value)] == [list(options)[-1]], (options, caught.value)


def test_slice_ranges_are_pairs_or_slices(graph):
    pairs = [[(0, 1), (0, 4), (0, 3), (0, 8)], [(0, 1), (0, 4), (2, 8), (0, 8)]]
    slices = [[slice(*pair) for pair in chunk] for chunk in pairs]
    text = '0:1,0:4,0:3,0:8/0:1,0:4,2:8,0:8'
    found = [str(graph.copy().split('pool1', slice_ranges=ranges).ranges) for ranges in (pairs, slices, text)]
    assert found == found[:1] * 3
    for wrong in ([(0, 1), (0, 4)], [[(0, 1, 2)]], [[0, 1]], 7):
        with pytest.raises(cleave.Error, match=r'slice_ranges expects a list with a range for each chunk, such as \[\['):
            graph.split('pool1', slice_ranges=wrong)


def test_a_limit_alone_starts_a_search(halos):
    for limit in ({'max_piece_memory': '64 KiB'}, {'max_pieces': 2}, {'max_added_macs': 0.1}, {'max_added_macs': 0}):
        report = halos.copy().split('y', **limit)
        assert len(report.split) + len(report.not_split) <= 1
    with pytest.raises(cleave.Error, match='a limit such as max_piece_memory'):
        halos.split('y')


def test_no_added_time_is_a_limit(halos):
    slow, quick = halos.plan_fit(progress=False).totals, halos.plan_fit(max_added_latency=0, progress=False).totals
    assert slow['latency_after'] > slow['latency_before'] and slow['arena_after'] < quick['arena_after']
    assert quick['latency_after'] <= quick['latency_before']


def test_counts_of_nodes_agree(graph):
    operators = [n for n in graph if n.op not in ('Input', 'Constant')]
    assert len(graph) == len(list(graph)) == len(graph.nodes) and f'{len(graph)} nodes' in repr(graph)
    assert f'{len(operators)} operators' in repr(graph)
    report = graph.split('pool1', dims='H', num_chunks=2, depth=3)
    operators = [n for n in graph if n.op not in ('Input', 'Constant')]
    assert report.totals['nodes_after'] == len(operators) and f'operators 3 → {len(operators)}' in repr(report)
    program = graph.compile(threads=1)
    assert f'{program.stats["n_nodes"]} operators' in repr(program)


def test_zero_threads_are_one_per_core_everywhere(halos):
    cores = len(os.sched_getaffinity(0))
    assert halos.memory(threads=0) == halos.memory(threads=cores)
    assert halos.plan_fit(threads=0, progress=False).totals == halos.plan_fit(threads=cores, progress=False).totals
    split, same = halos.copy(), halos.copy()
    split.split_for_threads(0)
    same.split_for_threads(cores)
    assert str(split) == str(same)


def test_a_graph_is_saved_and_drawn(graph, tmp_path):
    graph.split('pool1', dims='H', num_chunks=2, depth=3)
    graph.save(tmp_path / 'out.onnx')
    assert str(cleave.load(tmp_path / 'out.onnx')) and len(cleave.parse(graph.to_bytes())) > 5
    assert graph.dot().startswith('digraph')
    graph.draw(tmp_path / 'out.dot')
    assert (tmp_path / 'out.dot').read_text() == graph.dot()
    try:
        picture = graph._repr_svg_()
    except cleave.Error as error:
        pytest.skip(str(error))
    assert '<svg' in picture and 'pool1.0' in picture


def test_a_graph_is_saved_in_the_format_of_its_name(graph, tmp_path):
    graph.save(tmp_path / 'out.cleave')
    assert (tmp_path / 'out.cleave').read_text().startswith('graph')
    assert [node.name for node in cleave.load(tmp_path / 'out.cleave')] == [node.name for node in graph]
    for ending in '', '.txt', '.tflite', '.plan', '.svg', '.png', '.json', '.npy':
        with pytest.raises(cleave.Error, match='its ending must be .onnx or .cleave'):
            graph.save(tmp_path / ('out' + ending))
        assert not (tmp_path / ('out' + ending)).exists()


def test_wrong_numbers_name_the_argument(graph):
    for size in 1.5, float('nan'), float('inf'), [1], b'1':
        with pytest.raises(cleave.Error, match='max_memory must be a whole number of bytes or a text such as'):
            graph.fit(size, progress=False)
    for threads in -1, 1025, '2', 1.5, None:
        for use in graph.compile, graph.memory, graph.split_for_threads, lambda n: graph.fit(1 << 20, threads=n):
            with pytest.raises(cleave.Error, match='threads must be a whole number from 0'):
                use(threads)
    assert graph.fit(1e6, progress=False).totals['arena_after'] == graph.memory().arena
    assert graph.fit(numpy.int64(1 << 20), progress=False).totals['arena_after'] == graph.memory().arena
    with pytest.raises(TypeError, match='another Graph, not str: load the other model first'):
        graph.diff('out.onnx')


def test_a_wrong_name_of_an_input_is_answered_by_the_names(graph):
    with pytest.raises(cleave.Error, match="the model has no input 'picture'; it has 'x'"):
        graph.compile()(picture=numpy.zeros((1, 3, 16, 16), 'float32'))


def test_parts_in_a_row_compute_the_results_of_the_whole(graph):
    x = numpy.ones((1, 3, 16, 16), 'float32')
    want = graph.compile()(x=x)['y']
    for parts in graph.partition(parts=3), graph.partition(at='r'), graph.partition(at=['r', 'c']), graph.partition():
        assert (parts.run({'x': x})['y'] == want).all()
    assert [part.level for part in graph.partition(parts=2)] == [0, 1]
    assert all(part.weight_bytes + part.arena_bytes <= 10000 for part in graph.partition(max_bytes='10 kB'))


def test_a_wrong_partition_is_an_error(graph):
    with pytest.raises(cleave.Error, match='give one of parts, at and max_bytes'):
        graph.partition(parts=2, at='r')
    with pytest.raises(cleave.Error, match="no value 'rr'; did you mean 'r'"):
        graph.partition(at='rr')
    with pytest.raises(cleave.Error, match="'conv1' alone needs"):
        graph.partition(max_bytes=1)
    with pytest.raises(cleave.Error, match='max_bytes must be more than 0'):
        graph.partition(max_bytes=0)


def test_a_submodel_lies_between_two_values(graph):
    part = graph.extract('c', 'r')
    assert [value.name for value in part.inputs] == ['c'] and list(part.outputs) == ['r'] and len(part) == 2
    assert list(graph.extract('c').outputs) == ['y'] and list(graph.extract(end='c').outputs) == ['c']
    with pytest.raises(cleave.Error, match="'y' is not needed for 'c'"):
        graph.extract('y', 'c')
