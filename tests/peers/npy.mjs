// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and writes .npy files of the element types that inputs and outputs of models have.

import { readFileSync, writeFileSync } from 'node:fs';

const arrays = { '<f4': Float32Array, '<f8': Float64Array, '<i8': BigInt64Array, '<i4': Int32Array, '<i2': Int16Array, '|i1': Int8Array,
  '<u8': BigUint64Array, '<u4': Uint32Array, '<u2': Uint16Array, '|u1': Uint8Array, '|b1': Uint8Array };
const types = { float32: '<f4', float64: '<f8', int64: '<i8', int32: '<i4', int16: '<i2', int8: '|i1', uint64: '<u8', uint32: '<u4', uint16: '<u2',
  uint8: '|u1', bool: '|b1' };

// Returns the type of NumPy for strings of bytes, and the bytes of the strings with zeros after shorter ones.
function packStrings(strings) {
  const longest = Math.max(1, ...strings.map((text) => Buffer.byteLength(text)));
  return { descr: `|S${longest}`, bytes: Buffer.concat(strings.map((text) => Buffer.concat([Buffer.from(text)], longest))) };
}

export function writeNpy(path, type, dims, data) {
  const { descr, bytes } = type === 'string' ? packStrings(data)
    : { descr: types[type], bytes: Buffer.from(data.buffer, data.byteOffset, data.byteLength) };
  const shape = dims.length === 1 ? `(${dims[0]},)` : `(${dims.join(', ')})`;
  let header = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`;
  header = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + '\n';
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(header.length, 8);
  writeFileSync(path, Buffer.concat([head, Buffer.from(header, 'latin1'), bytes]));
}

function readStrings(bytes, n) {
  return Array.from({ length: bytes.length / n }, (_, i) => bytes.toString('utf8', i * n, (i + 1) * n).replace(/\0+$/, ''));
}

export function readNpy(path) {
  const file = readFileSync(path);
  const long = file[6] > 1;
  const start = long ? 12 : 10;
  const length = long ? file.readUInt32LE(8) : file.readUInt16LE(8);
  const header = file.toString('latin1', start, start + length);
  const dims = /'shape': *\(([^)]*)\)/.exec(header)[1].split(',').filter((d) => d.trim() !== '').map(Number);
  const type = /'descr': *'([^']+)'/.exec(header)[1];
  if (type.startsWith('|S')) return { dims, type, data: readStrings(file.subarray(start + length), Number(type.slice(2))) };
  const body = file.buffer.slice(file.byteOffset + start + length, file.byteOffset + file.length);
  return { dims, type, data: new arrays[type](body) };
}
