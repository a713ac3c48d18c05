# SPDX-License-Identifier: GPL-2.0-or-later
"""The class Net, with which the other files build networks node by node. Net draws
weights from a seed, so that values stay near one."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

# Operands that stay float32 in a network of float16.
REAL = {'Resize': (1, 2)}
TYPES = {'float32': TensorProto.FLOAT, 'int64': TensorProto.INT64, 'uint8': TensorProto.UINT8, 'int8': TensorProto.INT8}


class Net:
    """A network. Each method adds nodes and returns the name of the value that they compute."""

    def __init__(self, name, seed, opset=13):
        self.name, self.opset = name, opset
        self.random = np.random.default_rng(seed)
        self.nodes, self.inputs, self.outputs, self.constants = [], [], [], []

    def input(self, name, shape, element='float32'):
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[element], shape))
        return name

    def output(self, value, shape=None):
        """Makes a value an output. `shape` is needed if ONNX's shape inference does not find it."""
        self.outputs.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, shape))

    def constant(self, values, element=np.float32):
        name = f'c{len(self.constants)}'
        self.constants.append(numpy_helper.from_array(np.array(values, element, order='C'), name))
        return name

    def ints(self, *values):
        return self.constant(values, np.int64)

    def weight(self, *shape, fan_in, gain=1.0):
        return self.constant(self.random.standard_normal(shape, np.float32) * np.float32(gain / np.sqrt(fan_in)))

    def bias(self, n, least=-0.1, most=0.1):
        return self.constant(self.random.uniform(least, most, n))

    def op(self, op, *operands, n_results=1, domain='', **attrs):
        at = len(self.nodes)
        names = [f'{op.lower()}{at}' + (f'_{i}' if i else '') for i in range(n_results)]
        self.nodes.append(helper.make_node(op, operands, names, f'{op}{at}', domain=domain, **attrs))
        return names[0] if n_results == 1 else names

    def halve(self):
        """Converts all float32 values to float16, except inputs and outputs. Adds a Cast after each input and before
        each output, as converters do."""
        real = {name for node in self.nodes for i, name in enumerate(node.input) if i in REAL.get(node.op_type, ())}
        for i, tensor in enumerate(self.constants):
            if tensor.data_type == TensorProto.FLOAT and tensor.name not in real:
                values = np.clip(numpy_helper.to_array(tensor), -65504, 65504).astype(np.float16)
                self.constants[i] = numpy_helper.from_array(values, tensor.name)
        for node in self.nodes:
            for attribute in node.attribute:
                if node.op_type == 'Cast' and attribute.i == TensorProto.FLOAT:
                    attribute.i = TensorProto.FLOAT16
        borders = []
        for values, to in ((self.inputs, TensorProto.FLOAT16), (self.outputs, TensorProto.FLOAT)):
            for name in (value.name for value in values if value.type.tensor_type.elem_type == TensorProto.FLOAT):
                half = f'{name}_half'
                for node in self.nodes:
                    node.input[:] = [half if x == name else x for x in node.input]
                    node.output[:] = [half if x == name else x for x in node.output]
                pair = (name, half) if to == TensorProto.FLOAT16 else (half, name)
                borders.append((values is self.inputs, helper.make_node('Cast', [pair[0]], [pair[1]], to=to)))
        self.nodes = [node for first, node in borders if first] + self.nodes + [node for first, node in borders if not first]

    def save(self, path):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid('', self.opset)]
        if any(node.domain for node in self.nodes):
            opsets.append(helper.make_opsetid('com.microsoft', 1))
        model = helper.make_model(graph, opset_imports=opsets, producer_name='cleave classes', ir_version=8)
        inferred = shape_inference.infer_shapes(model, check_type=True)
        for mine, found in zip(model.graph.output, inferred.graph.output):
            mine.CopyFrom(found)
        onnx.checker.check_model(model)
        onnx.save(model, path)

    # The methods below add convolutions.
    # Kernel, stride and dilation apply to all spatial dimensions, whose number is `rank`.

    def conv(self, x, n_in, n_out, kernel=1, stride=1, group=1, dilation=1, gain=1.0, rank=2, pads=None, bias=True):
        window = [kernel] * rank if isinstance(kernel, int) else list(kernel)
        fan_in = n_in // group * int(np.prod(window))
        operands = [x, self.weight(n_out, n_in // group, *window, fan_in=fan_in, gain=gain)]
        return self.op('Conv', *operands, *([self.bias(n_out)] if bias else []), kernel_shape=window, group=group,
                       strides=[stride] * rank, dilations=[dilation] * rank,
                       pads=pads or [(k - 1) // 2 * dilation for k in window] * 2)

    def batch_norm(self, x, n):
        vectors = [self.bias(n, 0.8, 1.2), self.bias(n), self.bias(n), self.bias(n, 0.8, 1.2)]
        return self.op('BatchNormalization', x, *vectors, epsilon=1e-5)

    def conv_relu(self, x, n_in, n_out, kernel=1, **how):
        return self.op('Relu', self.conv(x, n_in, n_out, kernel, gain=1.4, **how))

    def silu(self, x):
        return self.op('Mul', x, self.op('Sigmoid', x))

    def pool(self, x, kernel=2, stride=2, rank=2, op='MaxPool'):
        return self.op(op, x, kernel_shape=[kernel] * rank, strides=[stride] * rank,
                       pads=[(kernel - 1) // 2 if kernel > 2 else 0] * rank * 2)

    def resize(self, x, scale, mode='nearest', coordinates='asymmetric'):
        scales = self.constant([1, 1, scale, scale])
        more = {'nearest_mode': 'floor'} if mode == 'nearest' else {}
        return self.op('Resize', x, '', scales, mode=mode, coordinate_transformation_mode=coordinates, **more)

    def classify(self, x, n_in, n_classes):
        x = self.op('Flatten', self.op('GlobalAveragePool', x))
        return self.op('Gemm', x, self.weight(n_classes, n_in, fan_in=n_in), self.bias(n_classes), transB=1)

    # The methods below add ops on rows of features.

    def linear(self, x, n_in, n_out, gain=1.0, bias=True):
        y = self.op('MatMul', x, self.weight(n_in, n_out, fan_in=n_in, gain=gain))
        return self.op('Add', y, self.bias(n_out)) if bias else y

    def reshape(self, x, *shape):
        return self.op('Reshape', x, self.ints(*shape))

    def transpose(self, x, *perm):
        return self.op('Transpose', x, perm=perm)

    def slice(self, x, begin, end, axis, step=1):
        return self.op('Slice', x, *(self.ints(i) for i in (begin, end, axis, step)))

    def split(self, x, sizes, axis):
        return self.op('Split', x, self.ints(*sizes), n_results=len(sizes), axis=axis)

    def layer_norm(self, x, n):
        """Adds a LayerNormalization, or, before opset 17, the ops that exporters write for it."""
        scale, shift = self.bias(n, 0.8, 1.2), self.bias(n)
        if self.opset >= 17:
            return self.op('LayerNormalization', x, scale, shift, axis=-1, epsilon=1e-5)
        centered = self.op('Sub', x, self.op('ReduceMean', x, axes=[-1]))
        variance = self.op('ReduceMean', self.op('Pow', centered, self.constant(2.0)), axes=[-1])
        deviation = self.op('Sqrt', self.op('Add', variance, self.constant(1e-5)))
        return self.op('Add', self.op('Mul', self.op('Div', centered, deviation), scale), shift)

    def gelu(self, x):
        """Adds a Gelu with the error function."""
        erf = self.op('Erf', self.op('Div', x, self.constant(np.sqrt(2.0))))
        return self.op('Mul', self.op('Mul', x, self.op('Add', erf, self.constant(1.0))), self.constant(0.5))

    def gelu_tanh(self, x):
        cubic = self.op('Mul', self.op('Pow', x, self.constant(3.0)), self.constant(0.044715))
        inner = self.op('Mul', self.op('Add', x, cubic), self.constant(np.sqrt(2 / np.pi)))
        return self.op('Mul', self.op('Mul', x, self.constant(0.5)), self.op('Add', self.op('Tanh', inner), self.constant(1.0)))

    def attend(self, q, k, v, n_head, mask=None, scale_first=False):
        """Attention with queries [N, heads, rows, n_head] and keys [N, heads, n_head, rows]: scores, their softmax, its
        product with the values."""
        factor = self.constant(1 / np.sqrt(n_head))
        if scale_first:
            q = self.op('Mul', q, factor)
        scores = self.op('MatMul', q, k)
        if not scale_first:
            scores = self.op('Mul', scores, factor)
        if mask:
            scores = self.op('Add', scores, mask)
        return self.op('MatMul', self.op('Softmax', scores, axis=-1), v)

    def self_attention(self, x, n_rows, width, n_heads, batch=1, mask=None, fused=True):
        """Adds self-attention. If `fused`, one product computes queries, keys and values."""
        n = width // n_heads
        if fused:
            qkv = self.reshape(self.linear(x, width, 3 * width), batch, n_rows, 3, n_heads, n)
            parts = self.split(self.transpose(qkv, 2, 0, 3, 1, 4), [1, 1, 1], 0)
            q, k, v = (self.op('Squeeze', part, self.ints(0)) for part in parts)
            k = self.transpose(k, 0, 1, 3, 2)
        else:
            q, k, v = (self.transpose(self.reshape(self.linear(x, width, width), batch, n_rows, n_heads, n), *perm)
                       for perm in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
        y = self.transpose(self.attend(q, k, v, n, mask, scale_first=fused), 0, 2, 1, 3)
        return self.linear(self.reshape(y, batch, n_rows, width), width, width, gain=0.5)
