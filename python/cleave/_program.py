# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs: graphs that are compiled to run."""

import os
import threading
from typing import Any, NamedTuple

from ._call import call
from ._library import Cleave, errors, fail
from ._tensor import Tensor, as_tensor, dtype_of, element_name, bytes_of_strings, from_strings, shape_of, to_numpy, to_strings
from ._tools import count_threads

# The fields of `Program.stats`.
STATS = ('n_threads', 'n_nodes', 'n_steps', 'peak_activation_bytes', 'arena_bytes', 'scratch_bytes', 'weight_bytes',
         'copied_bytes')


def program_options(threads, reference, trace=False):
    options = Cleave.ProgramOptions()
    options.n_threads, options.reference, options.trace = count_threads(threads), reference, trace
    return options


def split_to_run(graph, threads, as_is):
    """Returns the graph to compile and its number of threads. The graph is a copy that is split for the threads, as in
    `cleave run`. With `as_is` or one thread, returns the given graph, not a copy."""
    threads = count_threads(threads)
    if as_is or threads == 1:
        return graph, threads
    copy = graph.copy()
    with errors():
        _, threads = call(Cleave.split_to_run, copy, threads)
    return (copy if threads > 1 else graph), threads


def load_program(path, model=None, trace=False):
    """Loads a program that `Graph.save_program` wrote with this version of the library and for this kind of processor.
    If the file of the model was moved after the compilation, `model` is its new path. The content of the file must be
    the same."""
    program = Program.__new__(Program)
    with errors():
        program._set(*call(Cleave.Program.load, os.fspath(path), None if model is None else os.fspath(model), trace))
    return program


def name_all(names):
    """Returns the part of a message that lists the inputs of a model; '' if there are none or more than eight."""
    return "; it has '" + "', '".join(names) + "'" if 0 < len(names) <= 8 else ''


def arrange(known, args, inputs):
    """Returns the value of each input by name, from the arguments of a call. `known` has the names of all inputs."""
    given = dict(inputs)
    for value in args:
        if isinstance(value, dict):
            given.update(value)
        elif len(args) == 1 and len(known) == 1:
            given[next(iter(known))] = value
        else:
            fail(f'the model has {len(known)} inputs: give each by its name')
    for name in given:
        if name not in known:
            near = Cleave.text_find_nearest(name, list(known))
            fail(f"the model has no input '{name}'" + (f"; did you mean '{near}'?" if near else name_all(known)))
    missing = [name for name in known if name not in given]
    if missing:
        fail("no value is given for input '" + "', '".join(missing) + "'")
    return given


def arrange_lists(known, lists, args, inputs):
    """Returns the value of each input by name, also of the inputs that are lists. The value of an optional input that
    is not given is None."""
    absent = {name: None for name, (text, _) in lists.items() if text.startswith('optional(')}
    single = len(args) == 1 and not isinstance(args[0], dict) and len(known) + len(lists) == 1
    given = {next(iter({**known, **lists})): args[0]} if single else {}
    return arrange({**known, **lists}, () if single else args, {**absent, **given, **inputs})


def has_strings(dynamic, name):
    return dynamic is not None and call(dynamic.has_strings, name)


def array_of_output(dynamic, name, tensor):
    """Returns the array of an output of the model. If the output has strings, the elements are str. The array of a list is
    a list of arrays, or None for an absent optional value."""
    if isinstance(tensor, list):
        return [array_of_output(dynamic, name, item) for item in tensor]
    if tensor is None:
        return None
    return to_strings(tensor) if has_strings(dynamic, name) else to_numpy(tensor)


def list_type(dynamic, name):
    """Returns the type of an input or output that is a list of tensors, and the declared type of the tensors. Returns None
    for a tensor."""
    if dynamic is None:
        return None
    text, kind = call(dynamic.get_list_type, name)
    return None if text is None else (text, kind)


def lists_of_inputs(dynamic):
    """Returns the types of the inputs that are lists of tensors, by name."""
    return {name: list_type(dynamic, name) for name in ([] if dynamic is None else call(dynamic.get_inputs))}


def scalar_of(number):
    import numpy
    return as_tensor(numpy.array(number, 'int64'))


def tensors_of_list(dynamic, name, value, kind):
    """Returns the tensors that a run takes for a list: the number of tensors, and then the tensors. A sequence is a list of
    arrays, and an optional value may be None."""
    text, tensor = kind
    if value is None:
        if not text.startswith('optional('):
            fail(f"input '{name}' is {text}: give a list of arrays")
        return [scalar_of(-1)]
    items = [value]
    if 'seq(' in text:
        if not isinstance(value, (list, tuple)):
            fail(f"input '{name}' is {text}: give a list of arrays")
        items = value
    is_text = has_strings(dynamic, name)
    return [scalar_of(len(items))] + [bytes_of_strings(name, item) if is_text else as_tensor(item, element_name(tensor))
                                      for item in items]


def values_of_outputs(dynamic, tensors):
    """Returns the outputs of a run by name. An output that is a list takes several tensors: their number, and then the
    tensors. The number -1 means that the value is absent."""
    tensors, values = iter(tensors), {}
    for name in call(dynamic.get_outputs):
        tensor, kind = next(tensors), list_type(dynamic, name)
        if kind is not None:
            n = int(to_numpy(tensor))
            items = [next(tensors) for _ in range(n)]
            tensor = None if n < 0 else items if 'seq(' in kind[0] else items[0]
        values[name] = tensor
    return values


def tensor_of_input(dynamic, name, value, kind):
    """Returns the tensor of an input of the model from an array. If the input has strings, the elements are str."""
    return from_strings(name, value, kind) if has_strings(dynamic, name) else as_tensor(value, element_name(kind))


def port_of_input(dynamic, name, kind):
    """Returns the shape and the numpy.dtype of an input. Strings in the graph have one dimension more: the bytes."""
    import numpy
    shape = shape_of(kind)
    return Port(shape[:-1], numpy.dtype(str)) if has_strings(dynamic, name) else Port(shape, dtype_of(kind))


class Port(NamedTuple):
    """The shape and the element type of an input or an output of a program."""
    shape: tuple
    dtype: Any


class ListPort(NamedTuple):
    """The type of an input that is a list of tensors, such as 'seq(float32)' or 'optional(float32)', and the shape and the
    element type of its tensors. A free extent is None."""
    type: str
    shape: tuple
    dtype: Any


def ports_of_inputs(dynamic, inputs, lists):
    """Returns the Port of each input, by name."""
    ports = {name: port_of_input(dynamic, name, kind) for name, kind in inputs.items()}
    for name, (text, kind) in lists.items():
        shape, dtype = port_of_input(dynamic, name, kind)
        ports[name] = ListPort(text, tuple(None if extent < 0 else extent for extent in shape), dtype)
    return ports


class Program:
    """A graph compiled for a number of threads. A call takes arrays by input name and returns arrays by output name.
    Later calls do not change arrays that an earlier call returned. Several threads of Python may call one program: the
    runs then follow each other.

    `Graph.compile` explains the arguments."""

    def __init__(self, graph, threads=1, reference=False, trace=False, as_is=False):
        graph, threads = split_to_run(graph, threads, as_is)
        with errors():
            self._set(call(Cleave.Program.new, graph, program_options(threads, reference, trace)), graph, reference)

    def _set(self, program, graph, reference=False):
        self._program, self._reference = program, reference
        self._lock = threading.Lock()  # held from bind to the end of the run: all runs use the same arena
        self._dynamic = call(Cleave.onnx_get_dynamic, graph)
        self._tail, self._lists = None, lists_of_inputs(self._dynamic)
        self._inputs = {value.name: value.get_type() for value in graph.inputs}
        self._outputs = {name: value.get_type() for name, value in graph.outputs.items()}

    def _bind(self, given):
        given = arrange(self._inputs, (), {name: value for name, value in given.items() if name not in self._lists})
        for name, value in given.items():
            if isinstance(value, (str, bytes)) and not has_strings(self._dynamic, name):
                fail(f"input '{name}' must be an array, not text: read the file first")
        tensors = {name: tensor_of_input(self._dynamic, name, value, self._inputs[name]) for name, value in given.items()}
        with errors(lambda message: message + self._hint(tensors)):
            results = {name: Tensor.new(kind) for name, kind in self._outputs.items()}
            self._program.bind([tensors[name] for name in self._inputs], list(results.values()))
        return tensors, results

    def _hint(self, tensors):
        """Returns the end of a message about an array of a wrong element type: the call that converts the array."""
        for name, kind in self._inputs.items():
            found, shape = tensors[name].get_type(), shape_of(kind)
            if shape_of(found) == shape and found.element != kind.element and element_name(kind) != 'bfloat16':
                return f"; convert it with .astype('{element_name(kind)}')"
            if shape and shape[0] == 1 and shape_of(found) == shape[1:]:
                return '; add the dimension with [numpy.newaxis]'
        return ''

    def _run_dynamic(self, values, lists):
        """Runs the dynamic part of the model after the static part. Returns all outputs of the model."""
        values = list(values.items())
        for name, kind in self._lists.items():
            values += [(name, tensor) for tensor in tensors_of_list(self._dynamic, name, lists[name], kind)]
        with errors():
            if self._tail is None:
                options = program_options(self.stats['n_threads'], self._reference)
                self._tail = call(Cleave.DynamicProgram.new, self._dynamic, options)
            outputs = call(self._tail.run, [name for name, _ in values], [value for _, value in values])
        return values_of_outputs(self._dynamic, outputs[0] if isinstance(outputs, tuple) else outputs)

    def __call__(self, *args, **inputs):
        """Runs once. Takes inputs as keyword arguments, or as a dictionary if names are not Python identifiers. A model
        with one input also takes a single array. A sequence is a list of arrays. An optional value may be None or left
        out."""
        inputs = arrange_lists(self._inputs, self._lists, args, inputs)
        with self._lock:
            given, results = self._bind(inputs)
            self._program.run()
            if self._dynamic is not None:
                results = self._run_dynamic({**given, **results}, inputs)
        return {name: array_of_output(self._dynamic, name, tensor) for name, tensor in results.items()}

    def run(self, names, feed):
        """Runs once with a dictionary of inputs and returns a list of the named outputs, as onnxruntime does. If
        `names` is None, returns all outputs."""
        found = self(feed)
        for name in names or ():
            if name not in found:
                near = Cleave.text_find_nearest(name, list(found))
                fail(f"the model has no output '{name}'" + (f"; did you mean '{near}'?" if near else ''))
        return [found[name] for name in (found if names is None else names)]

    @property
    def inputs(self):
        """The shape and the numpy.dtype of each input, by name. A sequence or an optional value has a ListPort, which
        also states its type, such as 'seq(float32)'."""
        return ports_of_inputs(self._dynamic, self._inputs, self._lists)

    @property
    def outputs(self):
        """The shape and the numpy.dtype of each output, by name. The dictionary has no outputs whose shapes depend on
        data."""
        names = self._outputs if self._dynamic is None else self._dynamic.get_outputs()
        return {name: Port(shape_of(kind), dtype_of(kind)) for name, kind in self._outputs.items() if name in names}

    def profile(self, runs=10, **inputs):
        """Runs the program `runs` times. Returns a dictionary for each step, with the time of the step in the fastest
        run. The slowest step is the first."""
        with self._lock:
            self._bind(inputs)
            profile = call(self._program.profile, runs)
        names = ('name', 'what', 'reference', 'nanoseconds', 'macs', 'bytes')
        steps = [{name: getattr(profile.get_step(i), name) for name in names} for i in range(profile.n_steps)]
        return sorted(steps, key=lambda step: -step['nanoseconds'])

    @property
    def stats(self):
        """Numbers of threads, nodes and steps, and sizes in bytes."""
        stats = self._program.get_stats()
        return {name: getattr(stats, name) for name in STATS}

    @property
    def trace(self):
        """The times of all steps of the last run, as JSON for Perfetto. Needs a program compiled with trace=True."""
        with self._lock:
            return self._program.dup_trace()

    def __repr__(self):
        stats = self.stats
        return (f'<cleave.Program {stats["n_nodes"]} operators, {stats["n_threads"]} threads, arena '
                f'{stats["arena_bytes"]} bytes>')


# The fields of `ShapedProgram.stats`.
SHAPED_STATS = ('n_programs', 'n_compiled', 'n_shapes', 'n_padded')


class ShapedProgram:
    """A model that `compile` compiled for inputs of several shapes. A call takes arrays by input name and returns
    arrays by output name. The arrays have the largest shapes, or smaller shapes. The results have the bits of a program
    for exactly the shapes of the arrays. Several threads of Python may call it: the runs then follow each other."""

    def __init__(self, path, options, threads=1, reference=False, max_programs=0):
        with errors():
            self._program = call(Cleave.ShapedProgram.new, os.fspath(path), options, program_options(threads, reference),
                                 max_programs)
        self._lock = threading.Lock()  # held during a run and a compilation
        graph = self._program.get_graph()
        dynamic = call(Cleave.onnx_get_dynamic, graph)
        self._dynamic = dynamic
        self._inputs = {value.name: value.get_type() for value in graph.inputs}
        self._lists = lists_of_inputs(dynamic)
        self._names = list(graph.outputs)

    def __call__(self, *args, **inputs):
        """Runs once. Takes inputs as `Program` does."""
        given = arrange_lists(self._inputs, self._lists, args, inputs)
        tensors = [tensor_of_input(self._dynamic, name, given[name], kind) for name, kind in self._inputs.items()]
        for name, kind in self._lists.items():
            tensors += tensors_of_list(self._dynamic, name, given[name], kind)
        with self._lock, errors():
            outputs = call(self._program.run, tensors)
        values = dict(zip(self._names, outputs)) if self._dynamic is None else values_of_outputs(self._dynamic, outputs)
        return {name: array_of_output(self._dynamic, name, tensor) for name, tensor in values.items()}

    @property
    def inputs(self):
        """The largest shape and the numpy.dtype of each input, by name."""
        return ports_of_inputs(self._dynamic, self._inputs, self._lists)

    @property
    def stats(self):
        """Numbers of programs in memory, of programs compiled so far, of shapes, and of runs with padded inputs."""
        with self._lock:
            stats = self._program.get_stats()
        return {name: getattr(stats, name) for name in SHAPED_STATS}

    def __repr__(self):
        return f'<cleave.ShapedProgram {self.stats["n_programs"]} programs for {self.stats["n_shapes"]} shapes>'
