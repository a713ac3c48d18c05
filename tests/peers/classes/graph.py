# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks of points and edges: messages that are gathered and summed (graph convolution), and pooled points
(PointNet)."""

import numpy as np


def messages(net, n_points, n_edges, width, n_layers):
    x, edges = net.input('x', [n_points, width]), net.input('edges', [2, n_edges], 'int64')
    ends = [net.op('Squeeze', net.slice(edges, i, i + 1, 0), net.ints(0)) for i in (0, 1)]
    to = net.op('Expand', net.op('Unsqueeze', ends[1], net.ints(1)), net.ints(n_edges, width))
    for _ in range(n_layers):
        x = net.linear(x, width, width, bias=False)
        nothing = net.constant(np.zeros((n_points, width)))
        sums = net.op('ScatterElements', nothing, to, net.op('Gather', x, ends[0], axis=0), axis=0, reduction='add')
        x = net.op('Relu', net.op('Add', sums, x))
    net.output(net.op('LogSoftmax', x, axis=-1))


def point(net, x, n_in, *widths):
    for n in widths:
        x, n_in = net.op('Relu', net.batch_norm(net.conv(x, n_in, n, rank=1), n)), n
    return x


def points(net, n_points, width):
    x = net.input('x', [1, 3, n_points])
    each = point(net, x, 3, width)
    all = net.op('ReduceMax', point(net, each, width, 2 * width, 8 * width), axes=[2])
    x = net.op('Concat', each, net.op('Expand', all, net.ints(1, 8 * width, n_points)), axis=1)
    x = net.conv(point(net, x, 9 * width, 4 * width, 2 * width), 2 * width, 16, rank=1)
    net.output(net.op('LogSoftmax', net.transpose(x, 0, 2, 1), axis=-1))


CASES = {
    'messages': (messages, dict(opset=16, n_points=1000, n_edges=5000, width=64, n_layers=3),
                 dict(opset=16, n_points=2000, n_edges=6000, width=48, n_layers=4),
                 dict(n_points=20, n_edges=60, width=8, n_layers=2)),
    'points': (points, dict(n_points=1024, width=64), dict(n_points=1500, width=48), dict(n_points=40, width=8)),
}
