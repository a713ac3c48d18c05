# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads and saves graphs."""

import numbers
import os
import warnings

from ._call import call
from ._library import Cleave, GLib, errors, fail
from ._program import ShapedProgram
from ._tensor import as_tensor


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
