# SPDX-License-Identifier: GPL-2.0-or-later
"""Super-resolution: residual blocks at the low size, then DepthToSpace."""


def superres(net, size, width, n_blocks, scale, mode, twice):
    """If `twice`, upsamples in two steps of 2 instead of one of `scale`, and resizes the identity branch bilinearly."""
    image = net.input('x', [1, 3, *size])
    x = first = net.conv_relu(image, 3, width, 5 if twice else 3)
    for _ in range(n_blocks):
        y = net.conv(x, width, width, 3, gain=1.4)
        y = net.op('PRelu', y, net.constant(net.random.uniform(0.1, 0.3, (width, 1, 1)))) if twice else net.op('Relu', y)
        x = net.op('Add', x, net.conv(y, width, width, 3, gain=0.5))
    x = net.op('Add', net.conv(x, width, width, 3, gain=0.5), first)
    for step in [2, 2] if twice else [scale]:
        n = width if twice else 3
        x = net.op('DepthToSpace', net.conv(x, width, n * step * step, 3), blocksize=step, mode=mode)
    if twice:
        x = net.op('Add', net.conv(x, width, 3, 3), net.resize(image, 4, 'linear', 'half_pixel'))
    net.output(net.op('Clip', x, net.constant(-4.0), net.constant(4.0)))


CASES = {
    'superres': (superres, dict(size=(96, 96), width=32, n_blocks=4, scale=3, mode='CRD', twice=False),
                 dict(size=(64, 80), width=24, n_blocks=4, scale=4, mode='DCR', twice=True),
                 dict(size=(16, 20), width=8, n_blocks=2)),
}
