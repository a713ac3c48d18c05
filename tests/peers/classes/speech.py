# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks on sequences: LSTM, GRU, both directions, dilated 1-D convolutions (TCN), and a vocoder, which computes
sound from a spectrogram."""


def recurrent(net, x, op, n_in, n, both, batch, n_rows, more=False):
    """Adds a recurrent layer, from [rows, batch, n_in] to [rows, batch, directions * n]."""
    gates, d = (4 if op == 'LSTM' else 3), 2 if both else 1
    operands = [net.weight(d, gates * n, n_in, fan_in=n_in), net.weight(d, gates * n, n, fan_in=n),
                net.constant(net.random.uniform(-0.1, 0.1, (d, 2 * gates * n)))]
    attrs = dict(hidden_size=n, direction='bidirectional' if both else 'forward')
    if op == 'GRU':
        attrs['linear_before_reset'] = 1
    y = net.op(op, x, *operands, n_results=2, **attrs)[0]
    return net.reshape(net.transpose(y, 0, 2, 1, 3), n_rows, batch, d * n)


def rnn(net, op, n_rows, batch, n_in, n, n_layers, both, with_conv):
    if with_conv:
        x = net.input('x', [batch, n_in, 2 * n_rows])
        x = net.transpose(net.conv_relu(x, n_in, n, 3, stride=2, rank=1), 2, 0, 1)
        n_in = n
    else:
        x = net.transpose(net.input('x', [batch, n_rows, n_in]), 1, 0, 2)
    for _ in range(n_layers):
        x, n_in = recurrent(net, x, op, n_in, n, both, batch, n_rows), 2 * n if both else n
    net.output(net.op('LogSoftmax', net.linear(net.transpose(x, 1, 0, 2), n_in, 48), axis=-1))


def tcn(net, n_rows, n_in, n, dilations, causal, kernel):
    x = net.conv(net.input('x', [1, n_in, n_rows]), n_in, n, rank=1)
    for dilation in dilations:
        reach = (kernel - 1) * dilation
        pads = [reach, 0] if causal else [reach // 2, reach - reach // 2]
        y = net.conv_relu(x, n, n, kernel, dilation=dilation, rank=1, pads=pads)
        y = net.conv(y, n, n, kernel, dilation=dilation, rank=1, pads=pads, gain=0.7)
        x = net.op('Relu', net.op('Add', y, x))
    net.output(net.conv(x, n, 40, rank=1))


def vocoder(net, n_rows, n, steps, kernels):
    """`steps` has, for each transposed convolution, the factor of upsampling and the kernel. After each transposed
    convolution, the results of residual blocks with different kernels are averaged.
    """
    leaky = lambda x: net.op('LeakyRelu', x, alpha=0.1)
    pads = lambda kernel, dilation=1: [(kernel - 1) * dilation // 2] * 2
    x = net.conv(net.input('x', [1, 80, n_rows]), 80, n, 7, rank=1)
    for step, kernel in steps:
        weights = net.weight(n, n // 2, kernel, fan_in=n * kernel / step)
        x = net.op('ConvTranspose', leaky(x), weights, net.bias(n // 2), kernel_shape=[kernel], strides=[step],
                   pads=[(kernel - step) // 2] * 2)
        n, blocks = n // 2, []
        for k in kernels:
            y = x
            for dilation in (1, 3):
                z = net.conv(leaky(y), n, n, k, dilation=dilation, rank=1, gain=0.7, pads=pads(k, dilation))
                y = net.op('Add', y, net.conv(leaky(z), n, n, k, rank=1, gain=0.5))
            blocks.append(y)
        x = net.op('Div', net.op('Sum', *blocks), net.constant(float(len(blocks))))
    net.output(net.op('Tanh', net.conv(leaky(x), n, 1, 7, rank=1)))


SMALL = dict(n_rows=9, n_in=20, n=24)
CASES = {
    'lstm': (rnn, dict(op='LSTM', n_rows=100, batch=1, n_in=80, n=256, n_layers=2, both=False, with_conv=False),
             dict(op='LSTM', n_rows=80, batch=2, n_in=64, n=320, n_layers=2, both=False, with_conv=True), SMALL),
    'gru': (rnn, dict(op='GRU', n_rows=100, batch=1, n_in=64, n=256, n_layers=2, both=False, with_conv=True),
            dict(op='GRU', n_rows=120, batch=1, n_in=40, n=192, n_layers=3, both=False, with_conv=False), SMALL),
    'bidirectional': (rnn, dict(op='LSTM', n_rows=80, batch=1, n_in=80, n=192, n_layers=2, both=True, with_conv=True),
                      dict(op='GRU', n_rows=100, batch=2, n_in=80, n=160, n_layers=2, both=True, with_conv=False), SMALL),
    'tcn': (tcn, dict(n_rows=800, n_in=64, n=128, dilations=[1, 2, 4, 8, 16], causal=True, kernel=3),
            dict(n_rows=640, n_in=40, n=96, dilations=[1, 3, 9, 27, 1, 3, 9, 27], causal=False, kernel=5),
            dict(n_rows=50, n=16, dilations=[1, 2, 4])),
    'vocoder': (vocoder, dict(n_rows=64, n=128, steps=[(8, 16), (4, 8), (2, 4)], kernels=[3, 7]),
                dict(n_rows=40, n=160, steps=[(5, 11), (4, 8)], kernels=[3, 5, 11]),
                dict(n_rows=8, n=16, steps=[(4, 8), (2, 4)])),
}
