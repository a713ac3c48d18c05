# SPDX-License-Identifier: GPL-2.0-or-later
"""Transformers in their published sizes, a speech encoder, and long chains of nodes."""

import conformer
import transformer


def speech(net, n_frames, n_mel, width, n_heads, kernel, n_layers):
    """Conformer with its input stage, which is two strided 2-D convolutions of the spectrogram."""
    x = net.op('Unsqueeze', net.input('x', [1, n_frames, n_mel]), net.ints(1))
    x = net.conv_relu(net.conv_relu(x, 1, width, 3, stride=2), width, width, 3, stride=2)
    n_rows, n_columns = n_frames // 4, n_mel // 4
    x = net.linear(net.reshape(net.transpose(x, 0, 2, 1, 3), 1, n_rows, width * n_columns), width * n_columns, width)
    for _ in range(n_layers):
        x = conformer.feed_forward(net, x, width)
        y = net.layer_norm(x, width)
        x = net.op('Add', x, net.self_attention(y, n_rows, width, n_heads, fused=False))
        x = net.layer_norm(conformer.feed_forward(net, conformer.convolve(net, x, width, kernel), width), width)
    net.output(net.op('LogSoftmax', net.linear(x, width, 128), axis=-1))


def chain(net, n_nodes, n, size):
    """A chain of alternating convolutions and Relus."""
    x = net.input('x', [1, n, size, size])
    for _ in range(n_nodes // 2):
        x = net.conv_relu(x, n, n, 3)
    net.output(x)


def uneven_chain(net, n_nodes, n, size):
    """A chain of alternating 1x1 convolutions to four times the channels and 3x3 convolutions back, each with a Relu."""
    x = net.input('x', [1, n, size, size])
    for _ in range(n_nodes // 4):
        x = net.conv_relu(net.conv_relu(x, n, 4 * n), 4 * n, n, 3)
    net.output(x)


CASES = {
    'bert-base': (transformer.bert, dict(n_rows=128, width=768, n_heads=12, n_layers=12, masked=True)),
    'bert-base-long': (transformer.bert, dict(opset=17, n_rows=384, width=768, n_heads=12, n_layers=12, masked=False)),
    'conformer-speech': (speech, dict(opset=17, n_frames=400, n_mel=80, width=144, n_heads=4, kernel=15, n_layers=6)),
    'chain-1000': (chain, dict(n_nodes=1000, n=8, size=64)),
    'chain-10000': (chain, dict(n_nodes=10000, n=8, size=64)),
    'chain-10000-uneven': (uneven_chain, dict(n_nodes=10000, n=8, size=64)),
}
