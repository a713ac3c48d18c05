# SPDX-License-Identifier: GPL-2.0-or-later
"""Patches mixed without attention (MLP-Mixer), and blocks of an image with attention (MobileViT)."""


def mix(net, x, n, n_hidden):
    return net.linear(net.gelu(net.linear(x, n, n_hidden)), n_hidden, n, gain=0.5)


def mixer(net, size, patch, width, n_tokens, n_layers):
    n_rows = (size // patch) ** 2
    x = net.conv(net.input('x', [1, 3, size, size]), 3, width, patch, stride=patch, pads=[0] * 4)
    x = net.transpose(net.reshape(x, 1, width, n_rows), 0, 2, 1)
    for _ in range(n_layers):
        y = mix(net, net.transpose(net.layer_norm(x, width), 0, 2, 1), n_rows, n_tokens)
        x = net.op('Add', x, net.transpose(y, 0, 2, 1))
        x = net.op('Add', x, mix(net, net.layer_norm(x, width), width, 4 * width))
    x = net.op('ReduceMean', net.layer_norm(x, width), axes=[1], keepdims=0)
    net.output(net.op('Gemm', x, net.weight(100, width, fan_in=width), net.bias(100), transB=1))


def inverted(net, x, n_in, n, stride):
    y = net.silu(net.conv(x, n_in, 4 * n_in))
    y = net.silu(net.conv(y, 4 * n_in, 4 * n_in, 3, stride=stride, group=4 * n_in))
    y = net.conv(y, 4 * n_in, n)
    return net.op('Add', x, y) if stride == 1 and n_in == n else y


def by_patches(net, x, n, size, back):
    """Rearranges pixels [1, n, size, size] to [4, rows, n]: one matrix for each position in a patch of 2 x 2. If `back`,
    rearranges the matrices to pixels."""
    half = size // 2
    if back:
        x = net.reshape(net.transpose(net.reshape(x, 1, 4, half ** 2, n), 0, 3, 2, 1), n * half, half, 2, 2)
        return net.reshape(net.transpose(x, 0, 2, 1, 3), 1, n, size, size)
    x = net.transpose(net.reshape(x, n * half, 2, half, 2), 0, 2, 1, 3)
    return net.reshape(net.transpose(net.reshape(x, 1, n, half ** 2, 4), 0, 3, 2, 1), 4, half ** 2, n)


def mobilevit(net, size, width, n_heads, n_blocks, n_layers):
    n, m = 3 * width, 4 * width
    x = net.silu(net.conv(net.input('x', [1, 3, size, size]), 3, width, 3, stride=2))
    x = inverted(net, inverted(net, x, width, 2 * width, 2), 2 * width, 2 * width, 1)
    x, size = inverted(net, x, 2 * width, n, 2), size // 8
    for _ in range(n_blocks):
        y = by_patches(net, net.conv(net.silu(net.conv(x, n, n, 3)), n, m), m, size, False)
        for _ in range(n_layers):
            z = net.layer_norm(y, m)
            y = net.op('Add', y, net.self_attention(z, (size // 2) ** 2, m, n_heads, batch=4))
            z = net.silu(net.linear(net.layer_norm(y, m), m, 2 * m))
            y = net.op('Add', y, net.linear(z, 2 * m, m, gain=0.5))
        y = net.silu(net.conv(by_patches(net, y, m, size, True), m, n))
        x = net.silu(net.conv(net.op('Concat', x, y, axis=1), 2 * n, n, 3))
    net.output(net.classify(x, n, 100))


CASES = {
    'mixer': (mixer, dict(opset=17, size=128, patch=16, width=256, n_tokens=256, n_layers=4),
              dict(opset=13, size=144, patch=12, width=192, n_tokens=128, n_layers=6),
              dict(size=32, patch=8, width=24, n_tokens=20, n_layers=2)),
    'mobilevit': (mobilevit, dict(opset=17, size=160, width=24, n_heads=4, n_blocks=2, n_layers=2),
                  dict(opset=13, size=192, width=16, n_heads=2, n_blocks=2, n_layers=3),
                  dict(size=32, width=8, n_heads=2, n_blocks=1, n_layers=1)),
}
