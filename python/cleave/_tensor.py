# SPDX-License-Identifier: GPL-2.0-or-later
"""Conversions between tensors and numpy arrays that share their memory."""

import ctypes
import operator

from ._library import Cleave, errors, fail

Tensor = Cleave.Tensor

# Element types by their numpy names. numpy has no bfloat16, so an array of bfloat16 has the bits as uint16.
ELEMENTS = {
    'float32': Cleave.Element.FLOAT32, 'float64': Cleave.Element.FLOAT64, 'float16': Cleave.Element.FLOAT16,
    'int8': Cleave.Element.INT8, 'int16': Cleave.Element.INT16, 'int32': Cleave.Element.INT32,
    'int64': Cleave.Element.INT64, 'uint8': Cleave.Element.UINT8, 'uint16': Cleave.Element.UINT16,
    'uint32': Cleave.Element.UINT32, 'uint64': Cleave.Element.UINT64, 'bool': Cleave.Element.BOOL,
    'bfloat16': Cleave.Element.BFLOAT16,
}
NAMES = {int(element): name for name, element in ELEMENTS.items()}
CODES = {
    'float32': '<f4', 'float64': '<f8', 'float16': '<f2', 'int8': '|i1', 'int16': '<i2', 'int32': '<i4', 'int64': '<i8',
    'uint8': '|u1', 'uint16': '<u2', 'uint32': '<u4', 'uint64': '<u8', 'bool': '|b1', 'bfloat16': '<u2',
}


def element_name(kind):
    return NAMES.get(int(kind.element), 'none')


def shape_of(kind):
    return tuple(kind.shape.dim[:kind.shape.rank])


MAX_RANK = 8


def type_of(name, shape):
    if len(shape) > MAX_RANK:
        fail(f'a shape has at most {MAX_RANK} dimensions, not {len(shape)}: {tuple(shape)}')
    return Cleave.TensorType.new(ELEMENTS[name], list(shape))


class Memory:
    """Gives numpy access to the memory of a tensor. The array keeps this object alive, and this object keeps the tensor
    alive."""

    def __init__(self, tensor):
        kind = tensor.get_type()
        self.tensor = tensor
        size, rank = Cleave.element_size(kind.element), kind.shape.rank
        strides = (ctypes.c_int64 * rank).from_address(tensor.get_strides())
        self.__array_interface__ = {
            'version': 3,
            'typestr': CODES[element_name(kind)],
            'shape': shape_of(kind),
            'strides': tuple(size * stride for stride in strides),
            'data': (tensor.get_data() or 0, not tensor.get_mutable_data()),
        }


def to_numpy(tensor):
    """Returns an array that shares the memory of the tensor. The array is read-only if the tensor does not own its
    memory."""
    import numpy
    if 0 in shape_of(tensor.get_type()):
        return numpy.empty(shape_of(tensor.get_type()), CODES[element_name(tensor.get_type())])
    return numpy.asarray(Memory(tensor))


def to_strings(tensor):
    """Returns an array of strings. The last dimension of the tensor has the bytes of each string in UTF-8."""
    import numpy
    data = numpy.ascontiguousarray(to_numpy(tensor))
    if data.size == 0:
        return numpy.empty(data.shape[:-1], 'U1')
    return numpy.char.decode(data.view(f'S{data.shape[-1]}')[..., 0], 'utf-8')


def from_strings(name, value, kind):
    """Returns the bytes of an array of strings as a tensor of the type `kind`. The bytes are UTF-8, with zeros after each
    string."""
    import numpy
    array = numpy.asarray(value)
    *shape, length = shape_of(kind)
    if array.dtype.kind not in 'USO':
        fail(f"input '{name}' has strings, not {array.dtype}: give an array of str")
    texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.ravel().tolist()]
    longest = max(map(len, texts), default=0)
    if longest > length:
        extents = ', '.join(map(str, (*shape, longest)))
        fail(f"input '{name}': a string has {longest} bytes, more than {length}: load the model with "
             f"shapes={{'{name}': ({extents})}}")
    data = b''.join(text.ljust(length, b'\0') for text in texts)
    return as_tensor(numpy.frombuffer(data, 'uint8').reshape(*array.shape, length))


def bytes_of_strings(name, value):
    """Returns the bytes of an array of strings as a tensor, with the length of the longest string as the last extent."""
    import numpy
    texts = [str(text).encode() for text in numpy.asarray(value).ravel().tolist()]
    shape = (*numpy.asarray(value).shape, max(map(len, texts), default=0) or 1)
    return from_strings(name, value, type_of('uint8', shape))


def to_array(tensor, dtype=None, copy=None):
    """Implements numpy's `__array__`. `copy`: True always copies, False never copies, and None copies only if
    necessary."""
    array = to_numpy(tensor)
    if copy is False and dtype is not None and array.dtype != dtype:
        raise ValueError(f'to convert {array.dtype} to {dtype} takes a copy')
    return array.astype(array.dtype if dtype is None else dtype, copy=bool(copy))


def dtype_of(kind):
    """Returns the numpy.dtype of arrays of a type."""
    import numpy
    return numpy.dtype(CODES[element_name(kind)])


def to_dlpack(tensor, **options):
    """Returns the memory of the tensor for another framework. Copies read-only memory, since DLPack has no read-only
    memory."""
    if tensor.element == 'bfloat16':
        raise BufferError('numpy has no bfloat16 to export: use Tensor.numpy(), whose elements are uint16')
    array = to_numpy(tensor)
    return (array if array.flags.writeable else array.copy()).__dlpack__(**options)


def as_tensor(value, element=None):
    """Returns a tensor that shares the memory of an array. Copies only if the array is not row-major or has another
    byte order. Shares tensors of other frameworks, such as torch.Tensor, by DLPack. Converts any other value to an
    array with the element type `element`, and shares this array."""
    import numpy
    if isinstance(value, Tensor):
        return value
    bfloat = element == 'bfloat16'
    shares = not isinstance(value, numpy.ndarray) and hasattr(value, '__dlpack__')
    array = numpy.from_dlpack(value) if shares else numpy.asarray(value)
    if element is not None and not shares and not isinstance(value, numpy.ndarray):
        array = array.astype('uint16' if bfloat else element)
    array = numpy.require(array, array.dtype.newbyteorder('='), ['C', 'A'])
    name = 'bfloat16' if bfloat and array.dtype == 'uint16' else array.dtype.name
    if name not in ELEMENTS:
        fail(f'arrays of {name} are not supported')
    keep = [array]
    with errors():
        return Tensor.new_borrowed(type_of(name, array.shape), array.ctypes.data if array.size else None,
                                   lambda *_: keep.clear())


Tensor.numpy = to_numpy
Tensor.__array__ = to_array
Tensor.__dlpack__ = to_dlpack
Tensor.__dlpack_device__ = lambda self: (1, 0)  # the device kDLCPU of DLPack
Tensor.shape = property(lambda self: shape_of(self.get_type()), doc='Extents, outermost first.')
Tensor.element = property(lambda self: element_name(self.get_type()), doc='The name of the element type.')
Tensor.dtype = property(lambda self: dtype_of(self.get_type()),
    doc='The numpy.dtype of the array of this tensor; uint16 for bfloat16.')
Tensor.nbytes = property(lambda self: self.get_type().n_bytes(), doc='Bytes of the elements.')
Tensor.__repr__ = lambda self: f'<cleave.Tensor {self.get_type().to_string()}>'


def text_of(value):
    """Returns an argument of an operator as text: '6' for an integer, '[6]' for a list of integers, and '6,1/6,2' for a
    list of lists."""
    if not isinstance(value, (list, tuple)):
        return str(operator.index(value))
    if any(isinstance(item, (list, tuple)) for item in value):
        return '/'.join(text_of(item).strip('[]') for item in value)
    return f"[{','.join(map(text_of, value))}]"


def split_op(operator_name, shape, **arguments):
    """Returns the axis and the sizes of a Split operator of another framework. `shape` is the shape of its operand. The
    axis and the sizes are the last arguments of `graph.add_split`.

    `operator_name` is 'onednn', 'tensorflow', 'pytorch', 'onnx', 'openvino-split', 'openvino-variadic-split',
    'directml' or 'xla'. The arguments have the names that the operator has in its framework. An argument that is None
    is absent. The argument `outputs` of 'directml' is a list of shapes. An argument of 'xla', such as
    `start_indices`, is a list with an element for each slice: a list with an index for each dimension."""
    texts = {name: text_of(value) for name, value in arguments.items() if value is not None}
    with errors():
        attrs = Cleave.split_op_from_texts(operator_name, type_of('float32', shape), texts)
        return attrs.axis, list(attrs.sizes)
