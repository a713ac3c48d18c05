// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the files of ONNX's operator tests: TensorProto files (.pb), and the names of a model's inputs and outputs.

const types = {
  1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array], 4: ['uint16', Uint16Array],
  5: ['int16', Int16Array], 6: ['int32', Int32Array], 7: ['int64', BigInt64Array], 9: ['bool', Uint8Array],
  10: ['float16', Uint16Array], 11: ['float64', Float64Array], 12: ['uint32', Uint32Array], 13: ['uint64', BigUint64Array],
};

// Yields [field, value] for a message: a BigInt for a number, bytes for everything else.
function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (n) => bytes.subarray(at, at += n);
  while (at < bytes.length) {
    const key = Number(varint()), kind = key & 7;
    yield [key >> 3, kind === 0 ? varint() : kind === 1 ? take(8) : kind === 5 ? take(4) : take(Number(varint()))];
  }
}

function* varints(value) {
  if (typeof value === 'bigint') yield value;
  else for (let at = 0; at < value.length;) {
    let number = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = value[at++];
      number |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    yield number;
  }
}

// Returns { type, dims, data }; undefined if the message is not a tensor of numbers.
export function readTensor(bytes) {
  const dims = [], parts = [], numbers = [];
  let type;
  for (const [field, value] of fields(bytes)) {
    if (field === 1) for (const d of varints(value)) dims.push(Number(d));
    else if (field === 2) type = types[value];
    else if (field === 4 || field === 9 || field === 10) parts.push(value); // float_data, raw_data, double_data
    else if (field === 5 || field === 7 || field === 11) numbers.push(...varints(value)); // int32_data, int64_data, uint64_data
  }
  if (type === undefined) return undefined;
  const [name, Numbers] = type, n = dims.reduce((a, b) => a * b, 1);
  const whole = Uint8Array.from(Buffer.concat(parts));
  if (numbers.length === 0 && whole.length !== n * Numbers.BYTES_PER_ELEMENT) return undefined;
  const data = numbers.length === 0 ? new Numbers(whole.buffer)
    : Numbers.from(numbers, (v) => Numbers.name.startsWith('Big') ? v : Number(BigInt.asIntN(64, v)));
  return data.length === n ? { type: name, dims, data } : undefined;
}

// Returns { inputs, outputs }: names of a ModelProto's graph, without the inputs that have an initializer.
export function readBorder(bytes) {
  const border = { inputs: [], outputs: [] }, initialized = new Set();
  const text = (message, wanted) => {
    for (const [field, value] of fields(message)) if (field === wanted) return Buffer.from(value).toString();
    return '';
  };
  for (const [part, graph] of fields(bytes)) {
    if (part !== 7) continue;
    for (const [field, value] of fields(graph)) {
      if (field === 5) initialized.add(text(value, 8));
      else if (field === 11) border.inputs.push(text(value, 1));
      else if (field === 12) border.outputs.push(text(value, 1));
    }
  }
  border.inputs = border.inputs.filter((name) => !initialized.has(name));
  return border;
}
