# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of well-known networks, with random weights."""

from onnx_bytes import model, node, tensor, value_info


# DenseNet-121: each layer reads all previous layers of its block.
def densenet(blocks=(6, 12, 24, 16), growth=32, first=64, size=224):
    nodes, weights = [], []

    def conv(x, i, o, k, name, stride=1):
        weights.append(tensor(name + '.w', [o, i, k, k], bytes(4 * o * i * k * k)))
        nodes.append(node('Conv', [x, name + '.w'], [name + ':0'], name, pads=[k // 2] * 4, strides=[stride] * 2))
        return name + ':0'

    def norm(x, c, name):
        ops = []
        for p in 'gbmv':
            weights.append(tensor(f'{name}.{p}', [c], b'\0\0\x80?' * c))
            ops.append(f'{name}.{p}')
        nodes.append(node('BatchNormalization', [x, *ops], [name + ':0'], name))
        nodes.append(node('Relu', [name + ':0'], [name + '.relu:0'], name + '.relu'))
        return name + '.relu:0'

    x = norm(conv('x', 3, first, 7, 'conv0', 2), first, 'norm0')
    nodes.append(node('MaxPool', [x], ['pool0:0'], 'pool0', kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4))
    x, c = 'pool0:0', first
    for b, layers in enumerate(blocks, start=1):
        for layer in range(1, layers + 1):
            name = f'denseblock{b}.denselayer{layer}'
            y = conv(norm(x, c, name + '.norm1'), c, 4 * growth, 1, name + '.conv1')
            y = conv(norm(y, 4 * growth, name + '.norm2'), 4 * growth, growth, 3, name + '.conv2')
            nodes.append(node('Concat', [x, y], [name + '.concat:0'], name + '.concat', axis=1))
            x, c = name + '.concat:0', c + growth
        if b < len(blocks):
            name = f'transition{b}'
            x = conv(norm(x, c, name + '.norm'), c, c // 2, 1, name + '.conv')
            c //= 2
            nodes.append(node('AveragePool', [x], [name + '.pool:0'], name + '.pool', kernel_shape=[2, 2], strides=[2, 2]))
            x = name + '.pool:0'
    x = norm(x, c, 'norm5')
    nodes.append(node('GlobalAveragePool', [x], ['y'], 'pool5'))
    return model(nodes, [value_info('x', [1, 3, size, size])], [value_info('y', [1, c, 1, 1])], weights)
