# SPDX-License-Identifier: GPL-2.0-or-later
"""Graphs: load, inspect, split, fit, optimize, draw, save."""

import math
import numbers
import os
import re
import warnings

from ._call import Progress, call, new_cancellable
from ._library import Cleave, Error, GLib, NotFoundError, errors, fail
from ._program import Program, ShapedProgram, program_options, split_to_run
from ._tensor import as_tensor, dtype_of, element_name, shape_of, to_numpy
from ._tools import bytes_of, count_threads

Graph, Node, Operand, Result = Cleave.Graph, Cleave.Node, Cleave.Operand, Cleave.Result


# The functions below load and save graphs.

def import_options(shapes, dims, values):
    options = Cleave.OnnxOptions.new()
    options.set_dynamic(True)
    if shapes is not None and not hasattr(shapes, 'items'):
        shapes = {None: shapes}
    for name, shape in (shapes or {}).items():
        if isinstance(shape, (str, numbers.Number)):
            fail(f'shapes expects tuples such as (1, 3, 224, 224), not {shape!r}')
        options.add_shape(name, list(shape))
    for name, extent in (dims or {}).items():
        options.add_dim(name, extent)
    for name, value in (values or {}).items():
        options.add_value(name, as_tensor(value))
    return options


def warned(graph):
    for text in Cleave.onnx_get_warnings(graph):
        warnings.warn(text, stacklevel=3)
    return graph


def load(model, shapes=None, dims=None, values=None, folder=None):
    """Reads an ONNX or TensorFlow Lite model: a path, bytes, a file opened for reading bytes, or an `onnx.ModelProto`.

    A path that ends in `.cleave` is the path of a graph as text. All options except `model` are for ONNX models only.

    `shapes` maps inputs to shapes, `dims` maps named dimensions to extents, and `values` maps inputs to constants that
    replace them. If the model has one input, `shapes` may be its shape. If the model is not a path, `folder` is the
    folder of its external weights.

    If shapes of the model depend on data, the graph is the static part of the model. `save` writes the whole model, and
    a program runs the whole model."""
    if isinstance(model, (str, os.PathLike)):
        with errors():
            return warned(call(Cleave.Graph.load, os.fspath(model), import_options(shapes, dims, values)))
    if hasattr(model, 'SerializeToString'):
        model = model.SerializeToString()
    elif hasattr(model, 'read'):
        model = model.read()
    return parse(model, folder, shapes, dims, values)


def parse(data, folder=None, shapes=None, dims=None, values=None):
    """Reads an ONNX or TensorFlow Lite model from bytes, as `load` does. `folder` is the folder of external weights."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f'a model is a path, bytes, a file or an onnx.ModelProto, not {type(data).__name__}')
    with errors():
        where = None if folder is None else os.fspath(folder)
        options = import_options(shapes, dims, values)
        return warned(call(Cleave.Graph.load_bytes, GLib.Bytes.new(bytes(data)), where, options))


def compile(path, shapes=None, dims=None, values=None, threads=1, reference=False, max_programs=8):
    """Compiles the model in a file for inputs of several shapes, and returns a ShapedProgram.

    `shapes` and `dims` give the largest shapes. A run may have inputs of these shapes or of smaller shapes. `load`
    explains `shapes`, `dims` and `values`. `Graph.compile` explains `threads` and `reference`. In some models, as with
    a batch, each output row depends on the input row of the same index alone. A few programs are then enough for all
    sizes, since a run pads smaller inputs. In other models, each shape has a separate program. The program is compiled
    when its shape first occurs. At most `max_programs` programs are in memory."""
    if not isinstance(max_programs, int) or max_programs < 1:
        fail(f'max_programs expects a number from 1, not {max_programs!r}')
    return ShapedProgram(path, import_options(shapes, dims, values), threads, reference, max_programs)


def save(graph, path):
    """Writes the graph as an ONNX model (`.onnx`), or as text (`.cleave`)."""
    name = os.fsdecode(path)
    ending = os.path.splitext(name)[1]
    if ending not in ('.onnx', '.cleave'):
        fail(f"cannot write a model to '{name}': its ending must be .onnx or .cleave")
    if ending == '.cleave' and call(Cleave.onnx_get_dynamic, graph) is not None:
        fail('shapes of the model depend on data, and a graph as text cannot have such nodes: write .onnx')
    with errors():
        if ending == '.cleave':
            call(graph.save_text, name)
        else:
            call(Cleave.onnx_save, graph, name)


def to_bytes(graph):
    """Returns the graph as the bytes of an ONNX model."""
    with errors():
        return call(Cleave.onnx_serialize, graph).get_data()


def to_onnx(graph):
    """Returns the graph as an `onnx.ModelProto`. This function needs the package onnx."""
    import onnx
    return onnx.load_model_from_string(to_bytes(graph))


# The functions below make a Graph a collection of nodes.

def walk(graph):
    node = graph.get_first_node()
    nodes = []
    while node is not None:
        nodes.append(node)
        node = node.get_next()
    return iter(nodes)


def find(graph, name):
    try:
        return graph.select_node(name)
    except GLib.Error as error:
        raise NotFoundError(error.message, error.domain, error.code) from None


class Inputs(list):
    """The inputs of a graph: a list of Results that can also be indexed by name."""

    def __getitem__(self, key):
        if not isinstance(key, str):
            return super().__getitem__(key)
        for value in self:
            if value.name == key:
                return value
        raise KeyError(f"the graph has no input '{key}'")


def list_inputs(graph):
    return Inputs(graph.get_input(i) for i in range(graph.get_n_inputs()))


def list_outputs(graph):
    return {graph.get_output_name(i): graph.get_output(i).get_result() for i in range(graph.get_n_outputs())}


def describe(graph):
    kinds = ', '.join(f'{value.name}: {value.get_type().to_string()}' for value in graph.inputs)
    return (f'<cleave.Graph {graph.get_name()!r} ({kinds}), {len(graph)} nodes ({graph.count_operators()} operators), '
            f'{graph.get_macs()} MACs>')


# The functions below split, fit and optimize a graph.

def text_of(value):
    """Returns an option's value in the syntax of the command line, such as '2', '2,3', '3,4,5/6,6' or '0:1,0:16'."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(part, slice) for part in value):
            return ','.join(f'{part.start}:{part.stop}' for part in value)
        between = '/' if any(isinstance(part, (list, tuple)) for part in value) else ','
        return between.join(text_of(part) for part in value)
    return str(value)


# The names of the options of `split`.
OPTIONS = {'dims', 'num_chunks', 'chunk_size', 'chunk_sizes', 'chunk_weights', 'slice_ranges', 'align', 'min_chunk',
           'small_first', 'max_memory', 'max_subgraph_memory', 'max_schedule_memory', 'max_added_macs', 'max_pieces',
           'search_budget', 'depth', 'halo', 'strips_per_band', 'single_use'}
# Finds the names of OPTIONS in messages of the library.
OPTION_IN_MESSAGE = re.compile(r'\b(' + '|'.join(sorted(name.replace('_', '-') for name in OPTIONS)) + r')\b')


def per_cent(name, fraction):
    """Returns a limit in the syntax of the command line: 0.1 is '10.0'."""
    limit_of(name, fraction)
    return repr(100 * float(fraction))


def texts_of(options):
    texts = {}
    for name, value in options.items():
        if name not in OPTIONS:
            near = Cleave.text_find_nearest(name, sorted(OPTIONS))
            raise TypeError(f"split() has no option '{name}'" + (f"; did you mean '{near}'?" if near else ''))
        if value is not None and value is not False:
            text = per_cent(name, value) if name == 'max_added_macs' else text_of('' if value is True else value)
            texts[name.replace('_', '-')] = text.replace(' ', '')
    return texts


def limit_of(name, fraction):
    """Returns the library's value of the field `name` for the caller's limit: 0 for None, which means no limit."""
    if fraction is None:
        return 0
    if isinstance(fraction, (bool, str)) or not 0 <= fraction < math.inf:
        fail(f'{name} expects a fraction from 0, such as 0.1, not {fraction!r}')
    return float(fraction) if fraction > 0 else Cleave.NOTHING_ADDED


def parse_split(texts, max_added_macs):
    """Parses option texts to tiling, constraint and recursion, and sets the constraint's limit."""
    try:
        _, tiling, constraint = Cleave.split_parse(texts, '')
        _, recursion = Cleave.recursion_parse(texts, '')
    except GLib.Error as error:
        message = OPTION_IN_MESSAGE.sub(lambda found: found[0].replace('-', '_'), error.message)
        raise Error(message, error.domain, error.code) from None
    constraint.max_added_macs = max_added_macs  # an exact number, since a text in per cent would be rounded
    return tiling, constraint, recursion


def split(graph, nodes=None, **options):
    """Splits nodes. `nodes` is a name or a list of names; None splits all nodes to which the options apply.

    The options have the names of the options of `cleave split`: dims='H' with num_chunks, chunk_size, chunk_sizes or
    chunk_weights; slice_ranges; limits such as max_memory='64KiB'. With the option depth, the function also splits
    producers; halo, strips_per_band and single_use need depth. `max_added_macs` is a fraction, as in `fit`. A split
    graph computes the same bits. Returns a SplitReport."""
    texts = texts_of(options)
    if isinstance(nodes, (str, Node)):
        nodes = [nodes]
    how, constraint, recursion = parse_split(texts, limit_of('max_added_macs', options.get('max_added_macs')))
    with errors():
        constraint.cancellable = cancellable = new_cancellable()
        if nodes is None:
            if recursion.depth > 1:
                fail('depth needs the nodes to begin with')
            return call(Cleave.split_all_nodes, graph, how, constraint, cancellable=cancellable)
        names = [node if isinstance(node, str) else node.name for node in nodes]
        return call(Cleave.split_nodes_by_name, graph, names, how, constraint, recursion, cancellable=cancellable)


def split_for_threads(graph, threads):
    """Splits the graph into work for this number of threads; 0: one per core. Returns a SplitReport."""
    with errors():
        return call(Cleave.split_for_threads, graph, count_threads(threads))


def size_of(size):
    """Returns the library's value of the field `max_memory` for the caller's limit: 0 for None, which means no limit."""
    return 0 if size is None else bytes_of('max_memory', size)


def fit_options(max_memory, max_added_macs, max_added_latency, threads, exclude_inputs):
    options = Cleave.FitOptions()
    options.max_memory = size_of(max_memory)
    options.max_added_macs = limit_of('max_added_macs', max_added_macs)
    options.max_added_latency = limit_of('max_added_latency', max_added_latency)
    options.n_threads = count_threads(threads)
    options.exclude_inputs = exclude_inputs
    return options


# The search of `fit` for each runtime that can run the fitted graph.
TARGETS = {'cleave': Cleave.FitPlan.new_watched, 'ort': Cleave.FitPlan.new_for_ort_watched}


def plan_fit(graph, max_memory=None, max_added_macs=None, max_added_latency=None, threads=1, progress=None,
             exclude_inputs=False, target='cleave'):
    """Finds a plan without changing the graph. `fit` explains the arguments. Returns a FitReport."""
    if target not in TARGETS:
        fail(f"target expects 'cleave' or 'ort', not {target!r}")
    cancellable, reporter = new_cancellable(), Progress('search', progress)
    try:
        with errors():
            options = fit_options(max_memory, max_added_macs, max_added_latency, threads, exclude_inputs)
            return call(TARGETS[target], graph, options, cancellable, lambda part, *_: reporter(part),
                        cancellable=cancellable)
    finally:
        reporter.end()


def fit(graph, max_memory=None, max_added_macs=None, max_added_latency=None, threads=1, progress=None,
        exclude_inputs=False, target='cleave'):
    """Splits the graph so that its activations fit into `max_memory` ('256 KiB', '2 MB', or bytes), at the least cost.
    If `max_memory` is None, the split minimizes the memory.

    `max_added_macs` limits the MACs that the split adds, as a fraction of the MACs of the unsplit graph.
    `max_added_latency` limits the added time, as a fraction of the estimated time of the unsplit graph. 0.1 is 10 %, 0
    allows no increase, and None is no limit. `threads` is the number of threads for `compile(threads, as_is=True)`; 0:
    one per core. With `exclude_inputs`, the arena does not include the inputs of the graph. `target` is the runtime
    that runs the result: 'cleave', or 'ort' for ONNX Runtime. With 'ort', `save` writes strips as iterations of a Loop,
    as `cleave fit --for ort` does. `progress` is called with a number from 0 to 1; False shows no progress. Returns a
    FitReport. If `max_memory` is too small, raises a LimitError whose `smallest` is the smallest budget found."""
    plan = plan_fit(graph, max_memory, max_added_macs, max_added_latency, threads, progress, exclude_inputs, target)
    with errors():
        call(plan.apply, graph)
    return plan


def frontier(graph, max_added_macs=None, max_added_latency=None, threads=1, progress=None, exclude_inputs=False):
    """Returns the best plans for all budgets, as a list of FitReports. The plan with the largest arena is the first.
    Each plan needs less memory and costs more than the plan before it. The graph does not change, and
    `FitReport.apply(graph)` applies a plan. `fit` explains the arguments. The plans are for Cleave's own runtime, not
    for ONNX Runtime."""
    cancellable, reporter = new_cancellable(), Progress('search', progress)
    try:
        with errors():
            options = fit_options(None, max_added_macs, max_added_latency, threads, exclude_inputs)
            return list(call(Cleave.FitPlan.new_frontier_watched, graph, options, cancellable, lambda part, *_: reporter(part),
                             cancellable=cancellable))
    finally:
        reporter.end()


def optimize(graph, passes='clean-up', progress=None):
    """Runs a pipeline of passes with options, such as 'fold-constants,split-for-threads{threads=4},clean-up'.
    Returns whether the graph changed."""
    stop = new_cancellable()

    def watch(event, name, *_):
        if callable(progress) and event == Cleave.PipelineEvent.BEFORE:
            progress(name)
        return not stop.is_cancelled()

    with errors():
        return call(Cleave.Pipeline.parse(passes).run, graph, watch, cancellable=stop)[1]


def compile_program(graph, threads=1, reference=False, trace=False, as_is=False):
    """Compiles the graph to a program with this number of threads; 0: one per core. The graph does not change.

    A copy of the graph is split for the threads, as in `cleave run --threads`. If no split saves time, the program has
    one thread. `as_is` compiles the graph without this split. Use `as_is` after `fit`, so that the memory stays within
    the budget. `reference` uses the reference kernels. `trace` records the times of steps, for `Program.trace`."""
    return Program(graph, threads, reference, trace, as_is)


# The options of `bundle` that have one value (BUNDLE_VALUES) or several values (BUNDLE_LISTS).
BUNDLE_VALUES = {'name', 'align', 'io_type', 'kernels', 'weights'}
BUNDLE_LISTS = {'input', 'output', 'memory', 'state'}
BUNDLE_OPTION = re.compile(r'--([a-z]+(?:-[a-z]+)*)')


def bundle_texts(options):
    """Returns the options of a bundle as texts, such as 'single-file' or 'input=apart', which the library parses."""
    texts = []
    for name, value in options.items():
        option = name.replace('_', '-')
        if name not in BUNDLE_VALUES | BUNDLE_LISTS | {'single_file'}:
            near = Cleave.text_find_nearest(name, sorted(BUNDLE_VALUES | BUNDLE_LISTS | {'single_file'}))
            raise TypeError(f"bundle() has no option '{name}'" + (f"; did you mean '{near}'?" if near else ''))
        if value is None or value is False:
            continue
        if name == 'single_file':
            texts.append(option)
        elif name in BUNDLE_LISTS and hasattr(value, 'items'):
            texts += [f'{option}={key}={entry}' for key, entry in value.items()]
        elif name in BUNDLE_LISTS and not isinstance(value, str):
            texts += [f'{option}={entry}' for entry in value]
        else:
            texts.append(f'{option}={value}')
    return texts


def bundle(graph, folder=None, max_memory=None, max_added_macs=0, **options):
    """Plans the graph as C99 for a small device. Writes the files into `folder`, unless `folder` is None.

    The arena has at most `max_memory` bytes. If `max_memory` is None, the function takes the plan with the smallest
    arena. `max_added_macs` is a fraction, as in `fit`. The other options have the names and values of the options of
    `cleave bundle`, such as `kernels='c'` and `single_file=True`.

    `input` and `output` select the memory of inputs and outputs: 'arena', or 'apart' for memory of the caller. With
    `input='rows'`, a function of the caller supplies each row. A dictionary from names selects the memory of each input
    or output. `memory` is a dictionary from the names of memories to their sizes, the fastest memory first. `state` is
    a dictionary from each input to the output that is its value in the next run. `state` may also be a list of inputs,
    or 'all'.

    Returns a Bundle; the graph does not change."""
    texts = bundle_texts(options)
    if max_memory is not None:
        texts.append(f'max-memory={size_of(max_memory)}')
    # The library has no text for "no limit", so None becomes a large number.
    texts.append(f"max-added-macs={'1e12' if max_added_macs is None else per_cent('max_added_macs', max_added_macs)}")
    def rewrite(message):
        cut = 'the graph was split before; bundle the unsplit graph, which bundle() cuts itself: ' if "Assemble '" in message else ''
        return cut + BUNDLE_OPTION.sub(lambda found: found[1].replace('-', '_'), message)
    with errors(rewrite):
        plan = call(Cleave.Bundle.new_from_texts, graph, texts)
    if folder is not None:
        plan.write(folder)
    return plan


write_program = Graph.save_program  # the library's method, which the method below replaces


def save_program(graph, path, threads=1, reference=False, as_is=False):
    """Compiles the graph as `compile` does, and writes the program to a file for `load_program`."""
    if call(Cleave.onnx_get_dynamic, graph) is not None:
        fail('shapes of the model depend on data, and a saved program cannot have such nodes: compile the graph')
    graph, threads = split_to_run(graph, threads, as_is)
    with errors():
        call(write_program, graph, program_options(threads, reference), os.fspath(path))


def run(graph, *args, **inputs):
    """Compiles the graph and runs it once. Takes the arguments of a call of a Program, and returns the outputs by
    name."""
    return Program(graph)(*args, **inputs)


# The functions below draw a graph.

def dot_options(constants=False, clusters=True, overview=False):
    options = Cleave.DotOptions()
    options.show_constants, options.no_clusters, options.overview = constants, not clusters, overview
    return options


def dot(graph, **options):
    """Returns the graph as DOT text for Graphviz."""
    with errors():
        return Cleave.dot_print(graph, dot_options(**options))


def draw(graph, path, **options):
    """Draws the graph to a file. The extension of the file selects the format: .dot, .svg or .png."""
    with errors():
        call(Cleave.dot_save, graph, dot_options(**options), os.fspath(path))


def svg(graph, **options):
    """Returns a drawing of the graph as SVG text."""
    with errors():
        return call(Cleave.dot_render, graph, dot_options(**options), 'svg').get_data().decode()


# A notebook draws a graph of at most this many nodes node by node, and a larger graph as an overview.
MAX_DRAWN = 400


def show(graph):
    return svg(graph, overview=graph.count_operators() > MAX_DRAWN)


Graph.__iter__ = walk
Graph.__len__ = Graph.get_n_nodes
Graph.__bool__ = lambda self: True
Graph.__getitem__ = find
Graph.__contains__ = lambda self, name: self.find_node(name) is not None
Graph.__str__ = Graph.print_
Graph.__repr__ = describe
Graph._repr_svg_ = show
Graph.__copy__ = Graph.copy
Graph.__deepcopy__ = lambda self, memo: self.copy()
Graph.name = property(Graph.get_name, doc='The name of the graph.')
Graph.nodes = property(lambda self: list(walk(self)), doc='The nodes, inputs and constants included.')
Graph.inputs = property(list_inputs, doc='The inputs, as a list of Results that can also be indexed by name.')
Graph.outputs = property(list_outputs, doc='The outputs, as a dictionary from names to Results.')
Graph.macs = property(Graph.get_macs, doc='Multiply-accumulates.')
Graph.save, Graph.to_bytes, Graph.to_onnx = save, to_bytes, to_onnx
Graph.split, Graph.split_for_threads, Graph.optimize = split, split_for_threads, optimize
Graph.fit, Graph.plan_fit, Graph.frontier = fit, plan_fit, frontier
Graph.bundle = bundle
Graph.compile, Graph.save_program, Graph.__call__ = compile_program, save_program, run
Graph.dot, Graph.draw, Graph.svg = dot, draw, svg


# The functions below are properties and methods of nodes, operands and results.

def attrs_of(node):
    """The attributes with their defaults, as a new dictionary by ONNX name."""
    return node.dup_attrs_variant().unpack()


def operands_of(node):
    return [node.get_operand(i).get_result() for i in range(node.get_n_operands())]


def results_of(node):
    return [node.get_result(i) for i in range(node.get_n_results())]


def constant_of(node):
    """The value of a constant as a read-only array; None for other nodes."""
    tensor = node.get_constant()
    return None if tensor is None else to_numpy(tensor)


def uses_of(result):
    """The uses of a value, as a list of Operands. If an output of the graph uses the value, `Operand.node` is None."""
    uses, use = [], result.get_first_use()
    while use is not None:
        uses.append(use)
        use = use.get_next_use()
    return uses


Node.name = property(Node.get_name, doc='The name.')
Node.op = property(lambda self: self.get_op().get_name(), doc='The name of the op, as in ONNX.')
Node.attrs = property(attrs_of, doc=attrs_of.__doc__)
Node.operands = property(operands_of, doc='The operands, as a list of Results; None for an absent operand.')
Node.results = property(results_of, doc='The results, as a list.')
Node.constant = property(constant_of, doc=constant_of.__doc__)
Node.shape = property(lambda self: self.get_result(0).shape, doc='The shape of result 0.')
Node.macs = property(Node.get_macs, doc='Multiply-accumulates.')
Node.__repr__ = lambda self: f'<cleave.Node {self.name!r}: {self.op} {self.get_result(0).get_type().to_string()}>'
Node.__hash__ = lambda self: hash(self.get_name())
Result.__hash__ = lambda self: hash((self.get_node().get_name(), self.get_index()))
Operand.node = property(Operand.get_node, doc='The node that reads the value; None for an output of the graph.')
Operand.result = property(Operand.get_result, doc='The value that the node reads.')
Result.name = property(Result.dup_name, doc='The name of the value.')
Result.node = property(Result.get_node, doc='The node that computes the value.')
Result.shape = property(lambda self: shape_of(self.get_type()), doc='Extents, outermost first.')
Result.element = property(lambda self: element_name(self.get_type()), doc='The name of the element type.')
Result.dtype = property(lambda self: dtype_of(self.get_type()),
    doc='The numpy.dtype of arrays of this value; uint16 for bfloat16.')
Result.uses = property(uses_of, doc=uses_of.__doc__)
Result.__repr__ = lambda self: f'<cleave.Result {self.name!r}: {self.get_type().to_string()}>'
