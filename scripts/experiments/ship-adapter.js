#!/usr/bin/env node
/**
 * @file An adapter as it ships: its weights rounded to bfloat16 (to nearest, ties to even), the public name of its base, and nothing
 * else of the checkpoint.
 *
 *   node scripts/experiments/ship-adapter.js CHECKPOINT FOLDER BASE
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSafetensors } from '../../dist/model/safetensors.js'

const [checkpoint, folder, base] = process.argv.slice(2)
if (base === undefined) {
  process.stderr.write('expected CHECKPOINT FOLDER BASE\n')
  process.exit(2)
}

/** The upper half of each float, rounded. */
const bfloat16 = values => {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  return Uint16Array.from(bits, x => (x + 0x7fff + ((x >>> 16) & 1)) >>> 16)
}

const tensors = [...readSafetensors(join(checkpoint, 'adapter_model.safetensors'))]
const data = tensors.map(([, tensor]) => Buffer.from(bfloat16(tensor.data).buffer))
let offset = 0
const entries = tensors.map(([name, { shape }], i) => {
  const begin = offset
  offset += data[i].length
  return [name, { dtype: 'BF16', shape, data_offsets: [begin, offset] }]
})
const json = JSON.stringify({ __metadata__: { format: 'pt' }, ...Object.fromEntries(entries) })
const header = Buffer.from(json.padEnd(8 * Math.ceil(json.length / 8)))
const length = Buffer.alloc(8)
length.writeBigUInt64LE(BigInt(header.length))

mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'adapter_model.safetensors'), Buffer.concat([length, header, ...data]))
const config = JSON.parse(readFileSync(join(checkpoint, 'adapter_config.json'), 'utf8'))
writeFileSync(
  join(folder, 'adapter_config.json'),
  `${JSON.stringify({ ...config, base_model_name_or_path: base }, null, 2)}\n`,
)
