# SPDX-License-Identifier: GPL-2.0-or-later
"""Transformers: of patches (ViT), of text with the ops of opset 13 (BERT), and decoders (GPT) for a whole prompt or one
token."""

import numpy as np


def layer(net, x, n_rows, width, n_heads, norm_first, gelu, mask=None, fused=True, factor=4):
    y = net.layer_norm(x, width) if norm_first else x
    x = net.op('Add', x, net.self_attention(y, n_rows, width, n_heads, mask=mask, fused=fused))
    x = x if norm_first else net.layer_norm(x, width)
    y = net.layer_norm(x, width) if norm_first else x
    y = net.linear(gelu(net.linear(y, width, factor * width)), factor * width, width, gain=0.7)
    x = net.op('Add', x, y)
    return x if norm_first else net.layer_norm(x, width)


def vit(net, size, patch, width, n_heads, n_layers, token):
    n_rows = (size // patch) ** 2
    x = net.conv(net.input('x', [1, 3, size, size]), 3, width, patch, stride=patch, pads=[0] * 4)
    x = net.transpose(net.reshape(x, 1, width, n_rows), 0, 2, 1)
    if token:
        x, n_rows = net.op('Concat', net.weight(1, 1, width, fan_in=1), x, axis=1), n_rows + 1
    x = net.op('Add', x, net.weight(1, n_rows, width, fan_in=1, gain=0.3))
    for _ in range(n_layers):
        x = layer(net, x, n_rows, width, n_heads, True, net.gelu)
    x = net.layer_norm(x, width)
    x = net.op('Gather', x, net.constant(0, np.int64), axis=1) if token else net.op('ReduceMean', x, axes=[1], keepdims=0)
    net.output(net.op('Gemm', x, net.weight(100, width, fan_in=width), net.bias(100), transB=1))


def embed(net, ids, n_rows, width, n_words):
    x = net.op('Gather', net.weight(n_words, width, fan_in=1), ids)
    return net.op('Add', x, net.weight(1, n_rows, width, fan_in=1, gain=0.3))


def bert(net, n_rows, width, n_heads, n_layers, masked):
    x = net.layer_norm(embed(net, net.input('ids', [1, n_rows], 'int64'), n_rows, width, 1000), width)
    mask = None
    if masked:
        valid = net.op('Cast', net.op('Unsqueeze', net.input('attention_mask', [1, n_rows], 'int64'), net.ints(1, 2)), to=1)
        mask = net.op('Mul', net.op('Sub', net.constant(1.0), valid), net.constant(-10000.0))
    for _ in range(n_layers):
        x = layer(net, x, n_rows, width, n_heads, False, net.gelu, mask, fused=False)
    net.output(x)


def gpt_prefill(net, n_rows, width, n_heads, n_layers, by_where):
    x = embed(net, net.input('ids', [1, n_rows], 'int64'), n_rows, width, 1000)
    mask = net.constant(np.triu(np.full((1, 1, n_rows, n_rows), -1e4), 1))
    for _ in range(n_layers):
        if by_where:
            x = where_layer(net, x, n_rows, width, n_heads)
        else:
            x = layer(net, x, n_rows, width, n_heads, True, net.gelu_tanh, mask)
    net.output(net.linear(net.layer_norm(x, width), width, 1000, bias=False))


def where_layer(net, x, n_rows, width, n_heads):
    """A layer of a decoder, in the form in which GPT-2 is exported. One Gemm on the flat rows computes queries, keys
    and values, and a Split separates them. A Where applies the mask."""
    n = width // n_heads
    y = net.reshape(net.layer_norm(x, width), n_rows, width)
    y = net.op('Gemm', y, net.weight(width, 3 * width, fan_in=width), net.bias(3 * width))
    parts = net.split(net.reshape(y, 1, n_rows, 3 * width), [width] * 3, 2)
    q, k, v = (net.transpose(net.reshape(part, 1, n_rows, n_heads, n), *perm)
               for part, perm in zip(parts, ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))))
    scores = net.op('Div', net.op('MatMul', q, k), net.constant(np.sqrt(n)))
    seen = net.constant(np.tril(np.ones((1, 1, n_rows, n_rows))), bool)
    scores = net.op('Where', seen, scores, net.constant(np.finfo(np.float32).min))
    y = net.op('MatMul', net.op('Softmax', scores, axis=-1), v)
    y = net.linear(net.reshape(net.transpose(y, 0, 2, 1, 3), 1, n_rows, width), width, width, gain=0.5)
    x = net.op('Add', x, y)
    y = net.gelu_tanh(net.linear(net.layer_norm(x, width), width, 4 * width))
    return net.op('Add', x, net.linear(y, 4 * width, width, gain=0.7))


def gpt_decode(net, n_past, width, n_heads, n_layers, gated):
    """A decoder that computes one token. The keys and values of earlier tokens are inputs. The outputs are these keys
    and values, followed by the key and the value of the new token. gated: the MLP is SiLU(x A) * (x B)."""
    n = width // n_heads
    x = net.op('Gather', net.weight(1000, width, fan_in=1), net.input('ids', [1, 1], 'int64'))
    for i in range(n_layers):
        parts = net.split(net.linear(net.layer_norm(x, width), width, 3 * width), [width] * 3, 2)
        q, k, v = (net.transpose(net.reshape(part, 1, 1, n_heads, n), 0, 2, 1, 3) for part in parts)
        k = net.op('Concat', net.input(f'past_key_{i}', [1, n_heads, n_past, n]), k, axis=2)
        v = net.op('Concat', net.input(f'past_value_{i}', [1, n_heads, n_past, n]), v, axis=2)
        net.output(k)
        net.output(v)
        y = net.attend(q, net.transpose(k, 0, 1, 3, 2), v, n)
        y = net.reshape(net.transpose(y, 0, 2, 1, 3), 1, 1, width)
        x = net.op('Add', x, net.linear(y, width, width, gain=0.5))
        y = net.layer_norm(x, width)
        if gated:
            y = net.op('Mul', net.silu(net.linear(y, width, 3 * width, bias=False)), net.linear(y, width, 3 * width, bias=False))
            y = net.linear(y, 3 * width, width, gain=0.7, bias=False)
        else:
            y = net.linear(net.gelu_tanh(net.linear(y, width, 4 * width)), 4 * width, width, gain=0.7)
        x = net.op('Add', x, y)
    net.output(net.linear(net.layer_norm(x, width), width, 1000, bias=False))


def rms_norm(net, x, n):
    mean = net.op('ReduceMean', net.op('Pow', x, net.constant(2.0)), axes=[-1])
    root = net.op('Sqrt', net.op('Add', mean, net.constant(1e-6)))
    return net.op('Mul', net.op('Mul', x, net.op('Reciprocal', root)), net.bias(n, 0.8, 1.2))


def rotate(net, x, n_rows, n):
    """Rotates each pair of features by its own angle (rotary positions)."""
    angle = net.random.uniform(0, 3, (1, 1, n_rows, n))
    turned = net.op('Concat', net.op('Neg', net.slice(x, n // 2, n, 3)), net.slice(x, 0, n // 2, 3), axis=-1)
    return net.op('Add', net.op('Mul', x, net.constant(np.cos(angle))), net.op('Mul', turned, net.constant(np.sin(angle))))


def llama(net, n_rows, width, n_heads, n_shared, n_hidden, n_layers):
    """A decoder with rotary positions, in which each `n_shared` heads read the same keys and values."""
    n, n_keys = width // n_heads, n_heads // n_shared

    def heads(x, count):
        return net.transpose(net.reshape(net.linear(x, width, count * n, bias=False), 1, n_rows, count, n), 0, 2, 1, 3)

    def share(x):
        x = net.op('Expand', net.op('Unsqueeze', x, net.ints(2)), net.ints(1, n_keys, n_shared, n_rows, n))
        return net.reshape(x, 1, n_heads, n_rows, n)

    x = net.op('Gather', net.weight(1000, width, fan_in=1), net.input('ids', [1, n_rows], 'int64'))
    mask = net.constant(np.triu(np.full((1, 1, n_rows, n_rows), -1e9), 1))
    for _ in range(n_layers):
        y = rms_norm(net, x, width)
        q, k = rotate(net, heads(y, n_heads), n_rows, n), share(rotate(net, heads(y, n_keys), n_rows, n))
        y = net.attend(q, net.transpose(k, 0, 1, 3, 2), share(heads(y, n_keys)), n, mask)
        y = net.reshape(net.transpose(y, 0, 2, 1, 3), 1, n_rows, width)
        x = net.op('Add', x, net.linear(y, width, width, gain=0.5, bias=False))
        y = rms_norm(net, x, width)
        y = net.op('Mul', net.silu(net.linear(y, width, n_hidden, bias=False)), net.linear(y, width, n_hidden, bias=False))
        x = net.op('Add', x, net.linear(y, n_hidden, width, gain=0.5, bias=False))
    net.output(net.linear(rms_norm(net, x, width), width, 1000, bias=False))


CASES = {
    'vit': (vit, dict(opset=17, size=160, patch=16, width=256, n_heads=4, n_layers=6, token=True),
            dict(opset=13, size=144, patch=12, width=192, n_heads=3, n_layers=8, token=False),
            dict(size=48, patch=16, width=48, n_heads=3, n_layers=2)),
    'bert': (bert, dict(n_rows=128, width=256, n_heads=4, n_layers=4, masked=True),
             dict(n_rows=96, width=312, n_heads=12, n_layers=4, masked=False),
             dict(n_rows=24, width=48, n_heads=3, n_layers=2)),
    'gpt-prefill': (gpt_prefill, dict(n_rows=128, width=256, n_heads=4, n_layers=4, by_where=False),
                    dict(opset=17, n_rows=192, width=192, n_heads=6, n_layers=4, by_where=True),
                    dict(n_rows=24, width=48, n_heads=3, n_layers=2)),
    'gpt-decode': (gpt_decode, dict(n_past=255, width=512, n_heads=8, n_layers=4, gated=False),
                   dict(opset=17, n_past=200, width=640, n_heads=10, n_layers=3, gated=True),
                   dict(n_past=15, width=48, n_heads=3, n_layers=2)),
    'llama': (llama, dict(n_rows=96, width=256, n_heads=8, n_shared=4, n_hidden=672, n_layers=4),
              dict(n_rows=120, width=240, n_heads=6, n_shared=3, n_hidden=640, n_layers=3),
              dict(n_rows=12, width=32, n_heads=4, n_shared=2, n_hidden=40, n_layers=1)),
}
