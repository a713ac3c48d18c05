# SPDX-License-Identifier: GPL-2.0-or-later
"""Speech recognition by alternating attention and convolution (Conformer)."""


def feed_forward(net, x, width):
    y = net.silu(net.linear(net.layer_norm(x, width), width, 4 * width))
    return net.op('Add', x, net.op('Mul', net.linear(y, 4 * width, width, gain=0.5), net.constant(0.5)))


def convolve(net, x, width, kernel):
    """Adds a gated linear unit, and then a depthwise convolution along the sequence."""
    y = net.conv(net.transpose(net.layer_norm(x, width), 0, 2, 1), width, 2 * width, rank=1)
    y, gate = net.split(y, [width, width], 1)
    y = net.conv(net.op('Mul', y, net.op('Sigmoid', gate)), width, width, kernel, group=width, rank=1)
    y = net.conv(net.silu(net.batch_norm(y, width)), width, width, rank=1)
    return net.op('Add', x, net.transpose(y, 0, 2, 1))


def conformer(net, n_rows, width, n_heads, kernel, n_layers):
    x = net.input('x', [1, n_rows, width])
    for _ in range(n_layers):
        x = feed_forward(net, x, width)
        y = net.layer_norm(x, width)
        x = net.op('Add', x, net.self_attention(y, n_rows, width, n_heads, fused=False))
        x = net.layer_norm(feed_forward(net, convolve(net, x, width, kernel), width), width)
    net.output(x)


CASES = {
    'conformer': (conformer, dict(opset=17, n_rows=120, width=144, n_heads=4, kernel=15, n_layers=4),
                  dict(opset=13, n_rows=150, width=176, n_heads=8, kernel=31, n_layers=3),
                  dict(n_rows=24, width=24, n_heads=2, kernel=7, n_layers=1)),
}
