import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { BLOCK_TYPES } from './blocks.ts'
import { ggufChunks } from './write.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Numerical Recipes' generator: Python computes the same. */
function* noise(seed: number): Generator<number> {
  for (let x = seed; ; ) {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0
    yield x
  }
}

const BLOCKS = 64

/** Where a block's scales are: their second byte loses a bit, so that they are finite. */
const SCALES: Readonly<Record<string, readonly number[]>> = {
  ...{ F32: [0, 2], F16: [0], BF16: [0], Q4_0: [0], Q4_1: [0, 2], Q5_0: [0], Q5_1: [0, 2], Q8_0: [0] },
  ...{ Q2_K: [80, 82], Q3_K: [108], Q4_K: [0, 2], Q5_K: [0, 2], Q6_K: [208] },
}

/** SHA-256 of what `gguf.quants.dequantize` (Python package gguf 0.19) makes of these blocks, as float32. */
const VALUES: Readonly<Record<string, string>> = {
  F32: '8abb04f8b4b08d6a2aa2132b84764fe7b9a5b27365784785343ca8ef07501d0c',
  F16: '5a5909a6f9715d80d4a4824759ac3044b1d5898d80f29e0d037fbfff22336a53',
  BF16: 'c2ccd5e0804764629200a71695c36a18fd23bd1ce1dbbb340208458a7ec6cea2',
  Q4_0: '0f19d8e30b4ec216c81f1d95403d1b258d0406293ceb1c530cd58d761426b9c2',
  Q4_1: 'a0b3e11b01d8765b4d6a43cb991df471acba18844a847bd307ee46adefe3e1cb',
  Q5_0: 'f1e605c072abf4bc309ba685926d3f7a318f7ac5b218e546e7784d83a4eece50',
  Q5_1: '0b27360273069a23657bfbc4d0ee919e8e770b74c41d4b786d003cd1810aa173',
  Q8_0: '1713855aef65112e2410270811ba929a3b37881d35a2900058463c63cdb7ec8d',
  Q2_K: '4af6d9f20aaa437f1676ba6a2ec32e5e17bb7a500ea2c4c4d2f40c5bfc64747d',
  Q3_K: '35a210a9dca4e193db747045368e4e22626407bc9ffcd65e271367220e28e530',
  Q4_K: '36fa32b52ec7ead4a49f4b75bf7d0edcb48a323edb329df5330d48314521f6f4',
  Q5_K: '922b22a26d2c23f67f631977488be5a6edc86d22f96ed073fbb73aeab69b628b',
  Q6_K: '7e73701e9fe8059d0ff626bd163d26e048db98db5947ff7c0c16a4e1e4654f55',
}

it.each([...BLOCK_TYPES.values()])('$name is read bit for bit as gguf reads it', type => {
  const random = noise(type.bytes)
  const bytes = Uint8Array.from({ length: BLOCKS * type.bytes }, () => random.next().value >>> 24)
  for (let block = 0; block < BLOCKS; block++)
    for (const scale of SCALES[type.name]) bytes[block * type.bytes + scale + 1] &= 0xbf
  const values = new Float32Array(BLOCKS * type.elements + 1)
  type.read(bytes, 0, values, 1, BLOCKS)
  expect(sha256(new Uint8Array(values.buffer, 4))).toBe(VALUES[type.name])
})

/** The data of a file with this one tensor. */
const writtenAsQ80 = (values: Float32Array): Uint8Array =>
  [...ggufChunks([], [{ name: 'w', shape: [values.length], type: 'Q8_0', read: () => values }])][1]

it('Q8_0 is written bit for bit as gguf.quants.quantize writes it', () => {
  const random = noise(1)
  const values = Float32Array.from(
    { length: BLOCKS * 32 },
    () => (random.next().value / 2 ** 32 - 0.5) * 0.25,
  )
  values.fill(0, 0, 32)
  const bytes = writtenAsQ80(values)
  expect(sha256(bytes)).toBe('2da83f83a9f0b293c6fd6c86a4b533ec753a22ad971ca56853a024397196fba2')
})

it.each([Number.NaN, Number.POSITIVE_INFINITY, 127 * 65_536])('%d is not written as Q8_0', value => {
  const values = new Float32Array(64).fill(1, 32)
  values[40] = value
  expect(() => writtenAsQ80(values)).toThrow(/^w, scales of blocks: expected numbers that float16 holds/)
})
