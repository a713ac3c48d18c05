# SPDX-License-Identifier: GPL-2.0-or-later
# The wheel calls the library by ctypes, with a table of the introspection data. These tests compare the names and
# results of the wheel with the names and results of PyGObject. CLEAVE_GIR and CLEAVE_LIBRARY are paths of files of the
# build.
import importlib.util
import os
import pathlib
import sys

import pytest

import cleave._native
from cleave._native_values import check_number

gi = pytest.importorskip('gi')
pytestmark = pytest.mark.skipif('CLEAVE_GIR' not in os.environ, reason='CLEAVE_GIR does not say where the .gir is')
WHEEL = pathlib.Path(__file__).resolve().parents[1] / 'wheel'


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    spec = importlib.util.spec_from_file_location('bindings', WHEEL / 'bindings.py')
    bindings = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    spec.loader.exec_module(bindings)
    sys.dont_write_bytecode = before
    table = tmp_path_factory.mktemp('table') / '_api.json'
    bindings.main(os.environ['CLEAVE_GIR'], table)
    return os.environ['CLEAVE_LIBRARY'], table


@pytest.fixture(scope='module')
def native(files):
    return cleave._native.open_library(*files)


@pytest.fixture(scope='module')
def api(files):
    import json
    return cleave._native.Api(files[0], json.loads(files[1].read_text()))


@pytest.fixture(scope='module')
def infos():
    gi.require_version('Cleave', '0.1')
    gi.require_version('GIRepository', '2.0')
    from gi.repository import Cleave, GIRepository  # noqa: F401 (loads the typelib)
    repository = GIRepository.Repository.get_default()
    return [repository.get_info('Cleave', i) for i in range(repository.get_n_infos('Cleave'))]


def structs(infos):
    from gi.repository import GIRepository
    return [info for info in infos if info.get_type() == GIRepository.InfoType.STRUCT]


def test_layouts_are_those_of_the_typelib(infos, api):
    from gi.repository import GIRepository
    import ctypes
    checked = 0
    for info in structs(infos):
        struct = api.records[info.get_name()]._struct
        n_fields = GIRepository.struct_info_get_n_fields(info)
        assert (struct is None) == (n_fields == 0), info.get_name()
        if struct is not None:
            assert ctypes.sizeof(struct) == GIRepository.struct_info_get_size(info), info.get_name()
        for i in range(n_fields):
            field = GIRepository.struct_info_get_field(info, i)
            assert getattr(struct, field.get_name()).offset == GIRepository.field_info_get_offset(field), field.get_name()
            checked += 1
    assert checked > 200


def test_every_function_of_the_typelib_can_be_called(infos, api, native):
    from gi.repository import GIRepository
    ready = {f['symbol']: cleave._native.Function(api, name, f) for name, f in all_functions(api.table)}
    wanted = set()
    for info in infos:
        if info.get_type() == GIRepository.InfoType.FUNCTION:
            wanted.add(GIRepository.function_info_get_symbol(info))
    for info in structs(infos):
        for i in range(GIRepository.struct_info_get_n_methods(info)):
            wanted.add(GIRepository.function_info_get_symbol(GIRepository.struct_info_get_method(info, i)))
    assert wanted <= set(ready)
    assert len(wanted) > 200


def all_functions(table):
    for owner in [table, *table['records'].values()]:
        for kind in ('functions', 'methods'):
            yield from owner.get(kind, {}).items()


def test_names_are_those_of_pygobject(infos, native):
    from gi.repository import Cleave as typelib
    from gi.repository import GIRepository
    for info in infos:
        name = info.get_name()
        if info.get_type() == GIRepository.InfoType.CALLBACK:
            continue
        there, here = getattr(typelib, name), getattr(native[0], name, None)
        assert here is not None, name
        if isinstance(there, (int, float, str)):
            assert here == there, name
        if info.get_type() == GIRepository.InfoType.ENUM:
            for member in here:
                assert int(getattr(there, member.name)) == member, (name, member)


def test_both_bindings_answer_alike(native, path, tmp_path):
    from gi.repository import Cleave as typelib
    from gi.repository import GLib
    answers = []
    for namespace, glib in ((typelib, GLib), native[:2]):
        said = []
        graph = namespace.onnx_load(str(path), None)
        node = graph.find_node('pool1')
        said += [graph.get_name(), node.get_name(), node.dup_attrs_variant().unpack(), graph.find_node('none')]
        said += [[n.get_name() for n in graph.get_order()], graph.get_macs()]
        said += [graph.estimate(1)[1].arena_bytes, namespace.text_to_size('size', '2KiB')]
        said += [namespace.op_lookup('Conv').get_name(), [op.get_name() for op in namespace.op_list()]]
        how = namespace.split_parse({'dims': 'H', 'num-chunks': '2'}, '')[1]
        recursion = namespace.Recursion()
        recursion.depth = 3
        report = namespace.split_node_recursively(node, how, None, recursion)
        split = report.get_split(0)
        said += [split.n_pieces, list(split.piece_names), report.get_range(0, 1).to_string()]
        changed, watched = namespace.Pipeline.parse('clean-up').run(graph, lambda *args: said.append(args[1]) or True)
        said += [changed, watched, graph.print_(), namespace.onnx_serialize(graph).get_data()]
        for wrong in (lambda: namespace.onnx_load('/none', None), lambda: graph.select_node('poool1')):
            with pytest.raises(glib.Error) as error:
                wrong()
            said += [error.value.message, error.value.domain, error.value.code]
        answers.append(said)
    assert answers[0] == answers[1]


def test_a_split_operator_of_another_framework_has_texts_as_arguments(native):
    Cleave, GLib, _ = native
    operand = Cleave.TensorType.new(Cleave.Element.FLOAT32, [1, 7, 4, 4])
    attrs = Cleave.split_op_from_texts('onednn', operand, {'axis': '1', 'sections_split': '1,2,4'})
    assert (attrs.axis, list(attrs.sizes)) == cleave.split_op('onednn', [1, 7, 4, 4], axis=1, sections_split=[1, 2, 4]) == (1, [1, 2, 4])
    with pytest.raises(GLib.Error, match='onednn has no argument .num_split.'):
        Cleave.split_op_from_texts('onednn', operand, {'axis': '1', 'num_split': '7'})


@pytest.mark.parametrize('wrong, error', [
    (lambda c, g: g.estimate(-1), OverflowError),
    (lambda c, g: g.estimate(1 << 40), OverflowError),
    (lambda c, g: g.estimate('1'), TypeError),
    (lambda c, g: g.estimate(), TypeError),
    (lambda c, g: g.estimate(1, 2), TypeError),
    (lambda c, g: g.find_node(None), TypeError),
    (lambda c, g: g.find_node(b'x'), TypeError),
    (lambda c, g: c.clean_up(c.Shape()), TypeError),
    (lambda c, g: c.clean_up(None), TypeError),
    (lambda c, g: c.Graph(), TypeError),
])
def test_wrong_arguments_are_errors_before_the_call(native, path, wrong, error):
    with pytest.raises(error):
        wrong(native[0], native[0].onnx_load(str(path), None))


def test_records_are_freed(native, path):
    # A graph keeps its constants alive. If no graph were freed, ten thousand graphs would take 4 GB.
    import resource
    shape = native[0].TensorType.new(native[0].Element.FLOAT32, [100_000])
    for i in range(10_000):
        graph = native[0].Graph.new(f'g{i}')
        node = graph.add_constant('c', native[0].Tensor.new(shape)).get_node()
        assert node.get_name() == 'c'
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1 << 20  # ru_maxrss is in KiB


def test_numbers_are_checked_against_their_type():
    import ctypes
    assert check_number('n', ctypes.c_int8, -128) == -128
    for ctype, value in ((ctypes.c_int8, 128), (ctypes.c_uint8, -1), (ctypes.c_uint64, 1 << 64), (ctypes.c_int64, 1 << 63)):
        with pytest.raises(OverflowError):
            check_number('n', ctype, value)
