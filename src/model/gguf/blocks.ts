/**
 * @file The number formats of GGUF: blocks of quantized weights to float32, bit for bit as the Python package `gguf` computes
 * them (ggml-org/llama.cpp, gguf-py/gguf/quants.py), and float32 to those that are written.
 */

import { halfValues } from '../dtype.ts'

/** `elements` weights are stored in `bytes` bytes. */
export interface BlockType {
  name: string
  elements: number
  bytes: number
  /** Blocks from byte `from` of `bytes` on to `target` from element `at` on. */
  read(bytes: Uint8Array, from: number, target: Float32Array, at: number, blocks: number): void
}

const { fround } = Math

type ReadBlock = (x: Uint8Array, p: number, y: Float32Array, at: number, half: (p: number) => number) => void

const blockType = (name: string, elements: number, bytes: number, readBlock: ReadBlock): BlockType => ({
  name,
  elements,
  bytes,
  read(x, from, y, at, blocks) {
    const values = halfValues()
    const half = (p: number) => values[x[p] | (x[p + 1] << 8)]
    for (let i = 0; i < blocks; i++) readBlock(x, from + i * bytes, y, at + i * elements, half)
  },
})

// Products and sums of two float32 numbers that are computed in float64 and rounded once are those of float32 itself.

const q40: ReadBlock = (x, p, y, at, half) => {
  const d = half(p)
  for (let i = 0; i < 16; i++) {
    const q = x[p + 2 + i]
    y[at + i] = d * ((q & 15) - 8)
    y[at + 16 + i] = d * ((q >> 4) - 8)
  }
}

const q41: ReadBlock = (x, p, y, at, half) => {
  const [d, m] = [half(p), half(p + 2)]
  for (let i = 0; i < 16; i++) {
    const q = x[p + 4 + i]
    y[at + i] = fround(d * (q & 15)) + m
    y[at + 16 + i] = fround(d * (q >> 4)) + m
  }
}

/** The fifth bit of element i of a block. */
const highBit = (x: Uint8Array, p: number, i: number) => ((x[p + (i >> 3)] >> (i & 7)) & 1) << 4

const q50: ReadBlock = (x, p, y, at, half) => {
  const d = half(p)
  for (let i = 0; i < 16; i++) {
    const q = x[p + 6 + i]
    y[at + i] = d * (((q & 15) | highBit(x, p + 2, i)) - 16)
    y[at + 16 + i] = d * (((q >> 4) | highBit(x, p + 2, i + 16)) - 16)
  }
}

const q51: ReadBlock = (x, p, y, at, half) => {
  const [d, m] = [half(p), half(p + 2)]
  for (let i = 0; i < 16; i++) {
    const q = x[p + 8 + i]
    y[at + i] = fround(d * ((q & 15) | highBit(x, p + 4, i))) + m
    y[at + 16 + i] = fround(d * ((q >> 4) | highBit(x, p + 4, i + 16))) + m
  }
}

const q80: ReadBlock = (x, p, y, at, half) => {
  const d = half(p)
  for (let i = 0; i < 32; i++) y[at + i] = d * ((x[p + 2 + i] << 24) >> 24)
}

/** 16 groups of 16: scales [16], quants [64], d, dmin. */
const q2k: ReadBlock = (x, p, y, at, half) => {
  const [d, dmin] = [half(p + 80), half(p + 82)]
  for (let group = 0; group < 16; group++) {
    const scale = x[p + group]
    const [dl, ml] = [fround(d * (scale & 15)), fround(dmin * (scale >> 4))]
    const from = p + 16 + (group >> 3) * 32 + (group & 1) * 16
    const shift = ((group >> 1) & 3) * 2
    for (let i = 0; i < 16; i++) y[at + group * 16 + i] = fround(dl * ((x[from + i] >> shift) & 3)) - ml
  }
}

/** 16 groups of 16: high bits [32], quants [64], scales of 6 bits [12], d. */
const q3k: ReadBlock = (x, p, y, at, half) => {
  const d = half(p + 108)
  for (let group = 0; group < 16; group++) {
    const low = (x[p + 96 + (group & 7)] >> ((group >> 3) << 2)) & 15
    const high = (x[p + 104 + (group & 3)] >> ((group >> 2) << 1)) & 3
    const dl = fround(d * ((low | (high << 4)) - 32))
    const place = (group & 1) * 16
    const from = p + 32 + (group >> 3) * 32 + place
    const shift = ((group >> 1) & 3) * 2
    for (let i = 0; i < 16; i++) {
      const missing = ((x[p + place + i] >> (group >> 1)) & 1) ^ 1
      y[at + group * 16 + i] = dl * (((x[from + i] >> shift) & 3) - (missing << 2))
    }
  }
}

/** Scale and minimum (6 bits each) of group i of 8, packed in 12 bytes from p on. */
const scaleOf = (x: Uint8Array, p: number, i: number) =>
  i < 4 ? x[p + i] & 63 : (x[p + i + 4] & 15) | ((x[p + i - 4] >> 2) & 48)
const minimumOf = (x: Uint8Array, p: number, i: number) =>
  i < 4 ? x[p + i + 4] & 63 : (x[p + i + 4] >> 4) | ((x[p + i] >> 2) & 48)

/** 8 groups of 32: d, dmin, scales [12], quants [128]. */
const q4k: ReadBlock = (x, p, y, at, half) => {
  const [d, dmin] = [half(p), half(p + 2)]
  for (let group = 0; group < 8; group++) {
    const dl = fround(d * scaleOf(x, p + 4, group))
    const ml = fround(dmin * minimumOf(x, p + 4, group))
    const from = p + 16 + (group >> 1) * 32
    const shift = (group & 1) * 4
    for (let i = 0; i < 32; i++) y[at + group * 32 + i] = fround(dl * ((x[from + i] >> shift) & 15)) - ml
  }
}

/** 8 groups of 32: d, dmin, scales [12], high bits [32], quants [128]. */
const q5k: ReadBlock = (x, p, y, at, half) => {
  const [d, dmin] = [half(p), half(p + 2)]
  for (let group = 0; group < 8; group++) {
    const dl = fround(d * scaleOf(x, p + 4, group))
    const ml = fround(dmin * minimumOf(x, p + 4, group))
    const from = p + 48 + (group >> 1) * 32
    const shift = (group & 1) * 4
    for (let i = 0; i < 32; i++) {
      const q = ((x[from + i] >> shift) & 15) | (((x[p + 16 + i] >> group) & 1) << 4)
      y[at + group * 32 + i] = fround(dl * q) - ml
    }
  }
}

/** 16 groups of 16: low bits [128], high bits [64], scales [16], d. */
const q6k: ReadBlock = (x, p, y, at, half) => {
  const d = half(p + 208)
  for (let group = 0; group < 16; group++) {
    const dl = fround(d * ((x[p + 192 + group] << 24) >> 24))
    const [eighth, place] = [group >> 1, (group & 1) * 16]
    const low = p + (eighth >> 2) * 64 + (eighth & 1) * 32 + place
    const lowShift = ((eighth >> 1) & 1) * 4
    const high = p + 128 + (eighth >> 2) * 32 + place
    const highShift = (eighth & 3) * 2
    for (let i = 0; i < 16; i++) {
      const q = ((x[low + i] >> lowShift) & 15) | (((x[high + i] >> highShift) & 3) << 4)
      y[at + group * 16 + i] = dl * (q - 32)
    }
  }
}

const f32: BlockType = {
  ...{ name: 'F32', elements: 1, bytes: 4 },
  read(x, from, y, at, blocks) {
    new Uint8Array(y.buffer, y.byteOffset + at * 4, blocks * 4).set(x.subarray(from, from + blocks * 4))
  },
}

const f16: BlockType = {
  ...{ name: 'F16', elements: 1, bytes: 2 },
  read(x, from, y, at, blocks) {
    const values = halfValues()
    for (let i = 0; i < blocks; i++) y[at + i] = values[x[from + 2 * i] | (x[from + 2 * i + 1] << 8)]
  },
}

const bf16: BlockType = {
  ...{ name: 'BF16', elements: 1, bytes: 2 },
  read(x, from, y, at, blocks) {
    const bits = new Uint32Array(y.buffer, y.byteOffset + at * 4, blocks)
    for (let i = 0; i < blocks; i++) bits[i] = (x[from + 2 * i] << 16) | (x[from + 2 * i + 1] << 24)
  },
}

/** By the numbers of ggml/include/ggml.h, enum ggml_type. */
export const BLOCK_TYPES: ReadonlyMap<number, BlockType> = new Map([
  [0, f32],
  [1, f16],
  [2, blockType('Q4_0', 32, 18, q40)],
  [3, blockType('Q4_1', 32, 20, q41)],
  [6, blockType('Q5_0', 32, 22, q50)],
  [7, blockType('Q5_1', 32, 24, q51)],
  [8, blockType('Q8_0', 32, 34, q80)],
  [10, blockType('Q2_K', 256, 84, q2k)],
  [11, blockType('Q3_K', 256, 110, q3k)],
  [12, blockType('Q4_K', 256, 144, q4k)],
  [13, blockType('Q5_K', 256, 176, q5k)],
  [14, blockType('Q6_K', 256, 210, q6k)],
  [30, bf16],
])
