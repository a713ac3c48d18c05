# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks along one time axis: dilated stacks, sensors, sound."""

import numpy as np


def conv_along(net, x, n_in, n_out, kernel=1, rank=1, before=0, after=0, **how):
    """Adds a convolution along the last of `rank` spatial axes. With two spatial axes, a value has one row: [N, C, 1, T]."""
    rows = [1] * (rank - 1)
    return net.conv(x, n_in, n_out, (*rows, kernel), rank=rank, pads=[*[0] * (rank - 1), before, *[0] * (rank - 1), after], **how)


def causal(net, x, n_in, n_out, kernel, dilation, rank, padding, **how):
    """Adds a convolution that reads no later sample. Exporters write its padding as an attribute, as a Pad, or as a
    convolution that pads both ends and a Slice that removes the excess ('chomp')."""
    reach = (kernel - 1) * dilation
    if padding == 'pad':
        ends = [0] * (rank + 2)
        x = net.op('Pad', x, net.ints(*ends[:-1], reach, *ends), net.constant(0.0))
        return conv_along(net, x, n_in, n_out, kernel, rank, dilation=dilation, **how)
    after = reach if padding == 'chomp' else 0
    y = conv_along(net, x, n_in, n_out, kernel, rank, reach, after, dilation=dilation, **how)
    return net.slice(y, 0, -reach, rank + 1) if padding == 'chomp' else y


def series(net, n, length, rank):
    return net.input('x', [1, n, *[1] * (rank - 1), length])


def tcn(net, n_in, n, length, n_blocks, n_out=4, kernel=3, rank=1, padding='attribute', norm=False):
    """Temporal convolution network: residual blocks of two causal convolutions. The dilation doubles in each block."""
    x = conv_along(net, series(net, n_in, length, rank), n_in, n, rank=rank)
    for i in range(n_blocks):
        y = x
        for _ in range(2):
            y = causal(net, y, n, n, kernel, 2 ** i, rank, padding, gain=1.2)
            y = net.op('Relu', net.batch_norm(y, n) if norm else y)
        x = net.op('Relu', net.op('Add', x, y))
    net.output(conv_along(net, x, n, n_out, rank=rank))


def wavenet(net, n, n_skip, length, n_layers, n_cycle, rank=1, padding='attribute', gates_together=False):
    """WaveNet: dilated causal convolutions, each with a gate, a residual and a skip connection. The skips are summed."""
    x = conv_along(net, series(net, 1, length, rank), 1, n, rank=rank)
    total = None
    for i in range(n_layers):
        dilation = 2 ** (i % n_cycle)
        if gates_together:
            parts = net.split(causal(net, x, n, 2 * n, 2, dilation, rank, padding), [n, n], 1)
        else:
            parts = [causal(net, x, n, n, 2, dilation, rank, padding) for _ in range(2)]
        y = net.op('Mul', net.op('Tanh', parts[0]), net.op('Sigmoid', parts[1]))
        skip = conv_along(net, y, n, n_skip, rank=rank, gain=0.5)
        total = net.op('Add', total, skip) if total else skip
        x = net.op('Add', x, conv_along(net, y, n, n, rank=rank, gain=0.5))
    y = net.op('Relu', conv_along(net, net.op('Relu', total), n_skip, n_skip, rank=rank))
    net.output(net.op('Softmax', conv_along(net, y, n_skip, 16, rank=rank), axis=1))


def wavenet_valid(net, n, n_skip, length, n_layers, n_cycle):
    """WaveNet without padding: each layer is shorter than its input. Residuals and skips are cut to the last samples."""
    x, total = net.conv(net.input('x', [1, 1, length]), 1, n, rank=1), None
    last = length - sum(2 ** (i % n_cycle) for i in range(n_layers))
    for i in range(n_layers):
        dilation = 2 ** (i % n_cycle)
        length -= dilation
        parts = [net.conv(x, n, n, 2, dilation=dilation, rank=1, pads=[0, 0]) for _ in range(2)]
        y = net.op('Mul', net.op('Tanh', parts[0]), net.op('Sigmoid', parts[1]))
        skip = net.slice(net.conv(y, n, n_skip, rank=1, gain=0.5), length - last, length, 2)
        total = net.op('Add', total, skip) if total else skip
        x = net.op('Add', net.slice(x, dilation, length + dilation, 2), net.conv(y, n, n, rank=1, gain=0.5))
    net.output(net.conv(net.op('Relu', total), n_skip, 16, rank=1))


def norm_whole(net, x, n):
    """Normalizes by mean and variance over channels and time (the global norm of Conv-TasNet)."""
    centered = net.op('Sub', x, net.op('ReduceMean', x, axes=[1, 2]))
    variance = net.op('ReduceMean', net.op('Mul', centered, centered), axes=[1, 2])
    y = net.op('Div', centered, net.op('Sqrt', net.op('Add', variance, net.constant(1e-8))))
    scale, shift = (net.constant(net.random.uniform(0.8, 1.2, (1, n, 1))) for _ in range(2))
    return net.op('Add', net.op('Mul', y, scale), shift)


def tasnet(net, length, n_filters, n, n_hidden, n_repeats, n_blocks, n_sources, whole):
    """Conv-TasNet: an encoder of the wave, dilated depthwise blocks that compute a mask, and a decoder."""
    norm = norm_whole if whole else net.batch_norm
    prelu = lambda x: net.op('PRelu', x, net.constant(net.random.uniform(0.1, 0.3, (1, 1))))
    wave = net.op('Relu', net.conv(net.input('x', [1, 1, length]), 1, n_filters, 16, stride=8, rank=1, pads=[8, 8]))
    frames = length // 8 + 1
    x, total = net.conv(norm(net, wave, n_filters) if whole else norm(wave, n_filters), n_filters, n, rank=1), None
    for i in range(n_repeats * n_blocks):
        y = prelu(net.conv(x, n, n_hidden, rank=1))
        y = norm(net, y, n_hidden) if whole else norm(y, n_hidden)
        y = prelu(net.conv(y, n_hidden, n_hidden, 3, group=n_hidden, dilation=2 ** (i % n_blocks), rank=1))
        y = norm(net, y, n_hidden) if whole else norm(y, n_hidden)
        skip = net.conv(y, n_hidden, n, rank=1, gain=0.5)
        total = net.op('Add', total, skip) if total else skip
        x = net.op('Add', x, net.conv(y, n_hidden, n, rank=1, gain=0.5))
    masks = net.op('Sigmoid', net.conv(prelu(total), n, n_sources * n_filters, rank=1))
    masks = net.reshape(masks, 1, n_sources, n_filters, frames)
    parts = net.op('Mul', masks, net.op('Unsqueeze', wave, net.ints(1)))
    parts = net.reshape(parts, n_sources, n_filters, frames)
    weights = net.weight(n_filters, 1, 16, fan_in=2 * n_filters)
    net.output(net.op('ConvTranspose', parts, weights, kernel_shape=[16], strides=[8], pads=[8, 8]))


def activity(net, n_in, length, widths):
    """Activity recognition from a motion sensor: convolutions and poolings along time."""
    x, n = net.input('x', [1, n_in, length]), n_in
    for width in widths:
        x, n = net.pool(net.conv_relu(net.conv_relu(x, n, width, 5, rank=1), width, width, 5, rank=1), rank=1), width
    net.output(net.classify(x, n, 6))


def heart(net, n_in, length, width, n_blocks):
    """Residual network for electrocardiograms: long kernels. Every second block halves the time axis."""
    x, n = net.op('Relu', net.batch_norm(net.conv(net.input('x', [1, n_in, length]), n_in, width, 17, rank=1), width)), width
    for i in range(n_blocks):
        stride, n_out = 2 - i % 2, width * (1 + i // 4)
        y = net.op('Relu', net.batch_norm(net.conv(x, n, n_out, 17, stride=stride, rank=1), n_out))
        y = net.conv(y, n_out, n_out, 17, rank=1, gain=0.7)
        if stride > 1:
            x = net.op('MaxPool', x, kernel_shape=[2], strides=[2])
        if n != n_out:
            x = net.conv(x, n, n_out, rank=1)
        x, n = net.op('Relu', net.batch_norm(net.op('Add', x, y), n_out)), n_out
    net.output(net.classify(x, n, 27))


def vibration(net, length, widths):
    """Detection of bearing faults from vibration: one very long kernel, then short ones."""
    x = net.conv(net.input('x', [1, 1, length]), 1, 16, 64, stride=8, rank=1, pads=[28, 28])
    x, n = net.pool(net.op('Relu', net.batch_norm(x, 16)), rank=1), 16
    for width in widths:
        x, n = net.pool(net.op('Relu', net.batch_norm(net.conv(x, n, width, 3, rank=1), width)), rank=1), width
    net.output(net.classify(x, n, 10))


def brain(net, n_electrodes, length, n, depth):
    """EEGNet: a convolution along time, a depthwise convolution over all electrodes, and a separable convolution."""
    x = net.batch_norm(net.conv(net.input('x', [1, 1, n_electrodes, length]), 1, n, (1, 64), pads=[0, 32, 0, 31]), n)
    x = net.conv(x, n, n * depth, (n_electrodes, 1), group=n, pads=[0] * 4)
    x = net.op('AveragePool', net.op('Elu', net.batch_norm(x, n * depth)), kernel_shape=[1, 4], strides=[1, 4])
    x = net.conv(x, n * depth, n * depth, (1, 16), group=n * depth, pads=[0, 8, 0, 7])
    x = net.op('Elu', net.batch_norm(net.conv(x, n * depth, 2 * n), 2 * n))
    net.output(net.classify(net.op('AveragePool', x, kernel_shape=[1, 8], strides=[1, 8]), 2 * n, 4))


def octaves(net, wave, length, n_bins, n_octaves, kernel, hop):
    """Returns constant-Q magnitudes [1, bins, frames]: two convolutions for each octave, at half the sample rate of the octave
    before."""
    rows, frames = [], length // hop
    for i in range(n_octaves):
        step = hop >> i
        real, imaginary = (net.conv(wave, 1, n_bins, kernel, stride=step, rank=1, pads=[(kernel - step) // 2] * 2)
                           for _ in range(2))
        power = net.op('Add', net.op('Mul', real, real), net.op('Mul', imaginary, imaginary))
        rows.insert(0, net.op('Sqrt', net.op('Add', power, net.constant(1e-9))))
        if i < n_octaves - 1:
            wave = net.conv(wave, 1, 1, 33, stride=2, rank=1, pads=[16, 15])
    return net.op('Concat', *rows, axis=1), n_bins * n_octaves, frames


def shifted(net, x, shift, n_rows):
    """Returns x [N, C, rows, T] moved by `shift` rows, with zeros in the rows that become free."""
    if shift == 0:
        return x
    part = net.slice(x, max(0, shift), min(n_rows, n_rows + shift), 2)
    return net.op('Pad', part, net.ints(0, 0, max(0, -shift), 0, 0, 0, max(0, shift), 0), net.constant(0.0))


def transcription(net, length, n_bins, n_octaves, hop, harmonics, width):
    """Music transcription: a constant-Q transform of the wave, whose harmonics become channels. Gives contours, notes and
    onsets."""
    cq, rows, frames = octaves(net, net.input('x', [1, 1, length]), length, n_bins, n_octaves, 256, hop)
    decibel = net.op('Log', net.op('Add', net.op('Mul', cq, cq), net.constant(1e-6)))
    low, high = (net.op(op, decibel, axes=[1, 2]) for op in ('ReduceMin', 'ReduceMax'))
    x = net.op('Div', net.op('Sub', decibel, low), net.op('Add', net.op('Sub', high, low), net.constant(1e-3)))
    x = net.batch_norm(net.op('Unsqueeze', x, net.ints(1)), 1)
    x = net.op('Concat', *(shifted(net, x, shift, rows) for shift in harmonics), axis=1)
    contour = net.op('Relu', net.batch_norm(net.conv(x, len(harmonics), width, 5), width))
    contour = net.op('Relu', net.batch_norm(net.conv(contour, width, 8, (39, 3)), 8))
    contour = net.op('Sigmoid', net.conv(contour, 8, 1, 5))
    window = dict(kernel_shape=[7, 7], strides=[3, 1], pads=[2, 3, 2, 3])
    note = net.op('Relu', net.op('Conv', contour, net.weight(2 * width, 1, 7, 7, fan_in=49), **window))
    note = net.op('Sigmoid', net.conv(note, 2 * width, 1, (3, 7)))
    onset = net.op('Relu', net.op('Conv', x, net.weight(2 * width, len(harmonics), 7, 7, fan_in=49 * len(harmonics)), **window))
    onset = net.op('Sigmoid', net.conv(net.op('Concat', note, onset, axis=1), 2 * width + 1, 1, 3))
    for x in (contour, note, onset):
        net.output(net.transpose(net.op('Squeeze', x, net.ints(1)), 0, 2, 1))


def wave_unet(net, length, width, depth):
    """U-Net on a wave (Demucs): strided convolutions with gates, transposed convolutions, and skips that are added."""
    def gate(x, n):
        value, control = net.split(x, [n, n], 1)
        return net.op('Mul', value, net.op('Sigmoid', control))

    x, n, skips = net.input('x', [1, 2, length]), 2, []
    for i in range(depth):
        n_out = width << i
        x = net.op('Relu', net.conv(x, n, n_out, 8, stride=4, rank=1, pads=[2, 2]))
        x, n = gate(net.conv(x, n_out, 2 * n_out, rank=1), n_out), n_out
        skips.append(x)
    x = net.conv_relu(x, n, n, 3, rank=1)
    for i in reversed(range(depth)):
        n_out = width << (i - 1) if i > 0 else 2
        x = net.op('Add', x, skips.pop())
        x = gate(net.conv(x, n, 2 * n, 3, rank=1), n)
        weights = net.weight(n, n_out, 8, fan_in=2 * n)
        x = net.op('ConvTranspose', x, weights, net.bias(n_out), kernel_shape=[8], strides=[4], pads=[2, 2])
        x, n = net.op('Relu', x) if i > 0 else x, n_out
    net.output(x)


CASES = {
    'tcn': (tcn, dict(n_in=4, n=64, length=4096, n_blocks=8)),
    'tcn-rows': (tcn, dict(n_in=4, n=64, length=4096, n_blocks=8, rank=2)),
    'tcn-chomp': (tcn, dict(n_in=4, n=48, length=6000, n_blocks=6, kernel=5, padding='chomp')),
    'tcn-pad': (tcn, dict(n_in=4, n=40, length=4000, n_blocks=7, padding='pad', norm=True)),
    'tcn-rows-pad': (tcn, dict(n_in=4, n=40, length=5000, n_blocks=8, padding='pad', rank=2)),
    'tcn-chomp-deep': (tcn, dict(n_in=2, n_out=2, n=32, length=4400, n_blocks=9, kernel=2, padding='chomp')),
    'tcn-rows-chomp': (tcn, dict(n_in=2, n_out=2, n=32, length=4400, n_blocks=9, kernel=2, padding='chomp', rank=2)),
    # The dilations span the whole time axis, so line buffers are as large as whole values.
    'dilated-whole': (tcn, dict(n_in=16, n_out=10, n=64, length=2048, n_blocks=10)),
    'wavenet': (wavenet, dict(n=64, n_skip=128, length=4096, n_layers=20, n_cycle=9)),
    'wavenet-rows': (wavenet, dict(n=64, n_skip=128, length=4096, n_layers=20, n_cycle=9, rank=2)),
    'wavenet-pad': (wavenet, dict(n=32, n_skip=64, length=8000, n_layers=16, n_cycle=8, padding='pad', gates_together=True)),
    'wavenet-chomp': (wavenet, dict(n=32, n_skip=64, length=6000, n_layers=20, n_cycle=9, padding='chomp')),
    'wavenet-valid': (wavenet_valid, dict(n=48, n_skip=96, length=5000, n_layers=18, n_cycle=9)),
    'tasnet': (tasnet, dict(length=16000, n_filters=256, n=64, n_hidden=128, n_repeats=2, n_blocks=7, n_sources=2, whole=False)),
    'tasnet-global': (tasnet, dict(length=8000, n_filters=128, n=64, n_hidden=128, n_repeats=2, n_blocks=6, n_sources=2,
                                   whole=True)),
    'activity': (activity, dict(n_in=9, length=512, widths=[32, 64, 64])),
    'heart': (heart, dict(n_in=12, length=4096, width=32, n_blocks=12)),
    'vibration': (vibration, dict(length=20480, widths=[32, 64, 64, 64])),
    'brain': (brain, dict(n_electrodes=64, length=512, n=16, depth=2)),
    'transcription': (transcription, dict(length=43776, n_bins=36, n_octaves=7, hop=256, width=16,
                                          harmonics=[-36, 0, 36, 57, 72, 84, 93, 101])),
    'wave-unet': (wave_unet, dict(length=16384, width=24, depth=5)),
}
