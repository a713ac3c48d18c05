# SPDX-License-Identifier: GPL-2.0-or-later
"""Graphs: inspect, optimize, compile, bundle, draw. The class Graph gets its methods here."""

import os
import re

from ._call import call, new_cancellable
from ._library import Cleave, GLib, NotFoundError, errors, fail
from ._load import save, to_bytes, to_onnx
from ._program import Program, program_options, split_to_run
from ._split import fit, frontier, per_cent, plan_fit, size_of, split, split_for_threads

Graph = Cleave.Graph


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


# The functions below optimize, compile and bundle a graph.

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
    `input='rows'`, the run calls a function of the caller for each row of an input. A dictionary from names selects the memory of each input
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
Graph.nodes = property(lambda self: list(walk(self)), doc='All nodes, which include the inputs and constants.')
Graph.inputs = property(list_inputs, doc='The inputs, as a list of Results that can also be indexed by name.')
Graph.outputs = property(list_outputs, doc='The outputs, as a dictionary from names to Results.')
Graph.macs = property(Graph.get_macs, doc='Multiply-accumulates.')
Graph.save, Graph.to_bytes, Graph.to_onnx = save, to_bytes, to_onnx
Graph.split, Graph.split_for_threads, Graph.optimize = split, split_for_threads, optimize
Graph.fit, Graph.plan_fit, Graph.frontier = fit, plan_fit, frontier
Graph.bundle = bundle
Graph.compile, Graph.save_program, Graph.__call__ = compile_program, save_program, run
Graph.dot, Graph.draw, Graph.svg = dot, draw, svg
