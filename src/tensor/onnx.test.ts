import { describe, expect, it } from 'vitest'
import { ShapeError } from '../util/errors.ts'
import { Executable } from './executable.ts'
import { toOnnx } from './onnx.ts'
import { add, cast, exp, mul, silu } from './ops/elementwise.ts'
import { gather } from './ops/index-ops.ts'
import { matmul } from './ops/matmul.ts'
import { reduceMean, reduceSum } from './ops/reduce.ts'
import { concat, reshape, split } from './ops/shape.ts'
import { constant, input, int64s, type Tensor } from './tensor.ts'

/** Fields of a message as [number, value]; bytes stay bytes. The smallest possible independent reader. */
const readFields = (bytes: Uint8Array): [number, number | Uint8Array][] => {
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return Number(BigInt.asIntN(64, value))
    }
  }
  const fields: [number, number | Uint8Array][] = []
  while (at < bytes.length) {
    const tag = varint()
    if (tag % 8 === 0) fields.push([tag >> 3, varint()])
    else {
      const length = tag % 8 === 5 ? 4 : varint()
      fields.push([tag >> 3, bytes.subarray(at, at + length)])
      at += length
    }
  }
  return fields
}
const text = (bytes: number | Uint8Array) => new TextDecoder().decode(bytes as Uint8Array)
const repeated = (bytes: Uint8Array, field: number) =>
  readFields(bytes).flatMap(([number, value]) => (number === field ? [value as Uint8Array] : []))

describe('ONNX models', () => {
  const x = input('x', ['N', 2])

  it('compute equal subexpressions once, whoever wrote them', async () => {
    const twice = add(exp(mul(x, 2)), exp(mul(x, 2)))
    const { nodeCounts } = toOnnx({ twice })
    expect(nodeCounts).toEqual({ Mul: 1, Exp: 1, Add: 1, Identity: 1 })
    const parts = add(split(x, 1, [1, 1])[0], split(x, 1, [1, 1])[1])
    expect(toOnnx({ parts }).nodeCounts.Split).toBe(1)
  })

  it('keep apart what differs in an attribute or a constant only', () => {
    const w = input('w', [2, 2])
    const sum = [matmul(x, w), matmul(x, w, { transposeB: true }), matmul(x, w, { alpha: 2 })].reduce(
      (a, b) => add(a, b),
    )
    expect(toOnnx({ sum }).nodeCounts).toMatchObject({ MatMul: 1, FusedMatMul: 2 })
    expect(toOnnx({ y: add(mul(x, 2), mul(x, 3)) }).nodeCounts.Mul).toBe(2)
    expect(toOnnx({ a: reduceSum(x, [0]), b: reduceSum(x, [1]) }).nodeCounts.ReduceSum).toBe(2)
  })

  it('leave out what no output needs', () => {
    silu(x)
    expect(toOnnx({ y: exp(x) }).nodeCounts).toEqual({ Exp: 1, Identity: 1 })
  })

  it('refuse two inputs of one name', () => {
    expect(() => toOnnx({ y: add(input('x', [2]), input('x', [2])) })).toThrow(/two inputs are called x/)
    expect(() => toOnnx({ y: add(input('x', [2]), input('y', [2])) })).not.toThrow()
  })

  it('give every generated name a prefix, so that none can collide with an input', () => {
    const named: Tensor = input('t.1.0', [1])
    const graph = repeated(toOnnx({ 'const.1': add(named, 1) }).bytes, 7)[0]
    const names = [...repeated(graph, 11), ...repeated(graph, 12)].map(info => text(repeated(info, 1)[0]))
    expect(names).toEqual(['in.t.1.0', 'out.const.1'])
    const initialisers = repeated(graph, 5).map(tensor => text(repeated(tensor, 8)[0]))
    expect(initialisers.every(name => name.startsWith('const.'))).toBe(true)
  })

  it('write equal small constants once and hold constants of every type', async () => {
    const bool = constant(Uint8Array.of(1, 0), [2], 'bool')
    const outputs = {
      a: add(mul(x, 3), 3),
      int64: int64s([5, -6]),
      int32: constant(Int32Array.of(7, -8), [2], 'int32'),
      flags: cast(bool, 'float32'),
    }
    const graph = repeated(toOnnx(outputs).bytes, 7)[0]
    expect(repeated(graph, 5).length).toBe(4)
    const executable = await Executable.compile(outputs)
    const out = await executable.run({ x: { data: Float32Array.of(1, 2), dims: [1, 2] } })
    expect([...out.a.data]).toEqual([6, 9])
    expect([...out.int64.data]).toEqual([5n, -6n])
    expect([...out.int32.data]).toEqual([7, -8])
    expect([...out.flags.data]).toEqual([1, 0])
  })

  it('give one tensor several public names', async () => {
    const y = exp(x)
    const executable = await Executable.compile({ first: y, second: y, same: x })
    const out = await executable.run({ x: { data: Float32Array.of(0, 0), dims: [1, 2] } })
    expect([...out.first.data, ...out.second.data, ...out.same.data]).toEqual([1, 1, 1, 1, 0, 0])
  })
})

describe('running a graph', () => {
  const x = input('x', ['B', 'T', 2])
  const other = input('other', ['B', 3])

  it('works sizes out from the inputs, for reshapes that ONNX alone could not do', async () => {
    const doubled = concat([x, x], 0)
    const [left, right] = split(doubled, 0, ['B', 'B'])
    const graph = await Executable.compile({
      joined: concat([left, right], 2),
      mean: reduceMean(x),
      swapped: reshape(doubled, ['T', '2*B', 2]),
      rows: gather(reshape(x, ['B*T', 2]), input('at', ['K'], 'int64')),
    })
    const out = await graph.run({
      x: { data: Float32Array.from({ length: 12 }, (_, i) => i), dims: [3, 2, 2] },
      at: { data: BigInt64Array.of(5n, 0n), dims: [2] },
    })
    expect(out.joined.dims).toEqual([3, 2, 4])
    expect(out.mean.data[0]).toBe(5.5)
    expect(out.swapped.dims).toEqual([2, 6, 2])
    expect([...out.rows.data]).toEqual([10, 11, 0, 1])
  })

  it('reads views in place', async () => {
    const flat = Float32Array.of(9, 1, 2, 9)
    const graph = await Executable.compile({ y: mul(input('v', [2]), 2) })
    const feed = { v: { data: flat.subarray(1, 3), dims: [2] } }
    expect([...(await graph.run(feed)).y.data]).toEqual([2, 4])
    flat[1] = 5
    expect([...(await graph.run(feed)).y.data]).toEqual([10, 4])
  })

  it('refuses missing, extra and mistyped inputs, and sizes that contradict each other', async () => {
    const graph = await Executable.compile({ y: reduceSum(x), z: reduceSum(other) })
    const good = {
      x: { data: new Float32Array(4), dims: [1, 2, 2] },
      other: { data: new Float32Array(3), dims: [1, 3] },
    }
    await expect(graph.run(good)).resolves.toBeDefined()
    await expect(graph.run({ x: good.x })).rejects.toThrow(
      /input other: expected float32\[B, 3\], got nothing/,
    )
    await expect(graph.run({ ...good, extra: good.x })).rejects.toThrow(
      /extra.*not part of the graph; it takes x, other/,
    )
    await expect(graph.run({ ...good, x: { data: new Int32Array(4), dims: [1, 2, 2] } })).rejects.toThrow(
      /input x: expected float32, got Int32Array/,
    )
    await expect(graph.run({ ...good, other: { data: new Float32Array(6), dims: [2, 3] } })).rejects.toThrow(
      ShapeError,
    )
    await expect(graph.run({ ...good, x: { data: new Float32Array(3), dims: [1, 1, 3] } })).rejects.toThrow(
      /input x: expected \[B, T, 2\], got \[1, 1, 3\]/,
    )
  })
})
