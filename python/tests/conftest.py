# SPDX-License-Identifier: GPL-2.0-or-later
# Fixtures: models that the tests write themselves. PYTHONPATH must have the package and tests/help.
import pytest


pytest.importorskip('numpy')

from onnx_bytes import floats, model, node, tensor, value_info  # noqa: E402


def chain(shape=(1, 3, 16, 16)):
    """x → Conv 3x3 → Relu → MaxPool 2x2 stride 2 → y"""
    nodes = [
        node('Conv', ['x', 'w'], ['c'], 'conv1', pads=[1, 1, 1, 1]),
        node('Relu', ['c'], ['r'], 'relu1'),
        node('MaxPool', ['r'], ['y'], 'pool1', kernel_shape=[2, 2], strides=[2, 2]),
    ]
    return model(nodes, [value_info('x', list(shape))], [value_info('y', [1, 4, 8, 8])],
                 [tensor('w', [4, 3, 3, 3], floats(108, 1))])


@pytest.fixture
def path(tmp_path):
    file = tmp_path / 'chain.onnx'
    file.write_bytes(chain())
    return file


@pytest.fixture
def graph(path):
    import cleave
    return cleave.load(path)


@pytest.fixture
def halos():
    """small x → Conv → large Conv → Conv with stride 2 → small y: strips compute halo rows twice."""
    import cleave
    kernels = [tensor(f'{y}.w', [n, m, 3, 3], floats(n * m * 9, 1)) for y, n, m in (('a', 16, 3), ('b', 16, 16), ('y', 4, 16))]
    nodes = [node('Conv', [x, f'{y}.w'], [y], y, pads=[1, 1, 1, 1], strides=[stride, stride])
             for x, y, stride in (('x', 'a', 1), ('a', 'b', 1), ('b', 'y', 2))]
    return cleave.parse(model(nodes, [value_info('x', [1, 3, 64, 64])], [value_info('y', [1, 4, 32, 32])], kernels))
