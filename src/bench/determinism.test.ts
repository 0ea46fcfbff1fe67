import { beforeAll, describe, expect, it } from 'vitest'
import { FlatBuffer } from '../policy/local/flat.ts'
import { DETERMINISM_SIZES, determinismCases } from '../tensor/determinism-cases.ts'
import { graphOf } from '../tensor/determinism-check.ts'
import { type OnnxModel, toOnnx } from '../tensor/onnx.ts'
import { benchDeterminism, determinismNames, formatDeterminismBenchmark } from './determinism.ts'
import { productGraphs, rewrittenOperators } from './product-graphs.fixture.ts'

const cases = () => Object.values(determinismCases(DETERMINISM_SIZES.small))

describe('cases', () => {
  const emitted = new Map<string, string>()
  const models: OnnxModel[] = []
  beforeAll(async () => {
    for (const [name, graph] of await productGraphs()) {
      const model = toOnnx(graph)
      const { signatures } = model
      const isNew = signatures.some(signature => !emitted.has(signature))
      for (const signature of signatures) if (!emitted.has(signature)) emitted.set(signature, name)
      if (isNew) models.push(model)
    }
  }, 300_000)

  it('hold every kind of node that a graph of this package has', () => {
    const covered = new Set(
      cases().flatMap(
        ({ build, inputs, withGradient = true }) =>
          toOnnx(graphOf(build, inputs, withGradient).outputs).signatures,
      ),
    )
    const missing = [...emitted].filter(([signature]) => !covered.has(signature))
    expect(emitted.size).toBeGreaterThan(40)
    expect(missing.map(([signature, graph]) => `${signature} in ${graph}`)).toEqual([])
  })

  it('hold every operator that the runtime makes of them', async () => {
    const covered = new Set<string>()
    for (const { build, inputs, withGradient } of cases()) {
      const model = toOnnx(graphOf(build, inputs, withGradient ?? true).outputs)
      for (const operator of await rewrittenOperators(model)) covered.add(operator)
    }
    const missing = new Set<string>()
    for (const model of models)
      for (const operator of await rewrittenOperators(model))
        if (!covered.has(operator)) missing.add(operator)
    expect(covered).toContain('com.microsoft.FusedMatMul')
    expect([...missing]).toEqual([])
  }, 300_000)

  it('hold every kernel of the flat buffer', () => {
    const memory = new Set(['constructor', 'alloc', 'freeFloats'])
    const kernels = Object.getOwnPropertyNames(FlatBuffer.prototype).filter(name => !memory.has(name))
    expect(kernels.length).toBeGreaterThan(8)
    expect(kernels.filter(name => !determinismNames().includes(`kernel/${name}`))).toEqual([])
  })
})

describe('bench determinism', () => {
  it('repeats one operation at each size, and says which operators the runtime divides', async () => {
    const result = await benchDeterminism({ runs: 2, only: 'rowSum', sizes: ['small', 'large'] })
    expect(result.wrong).toEqual([])
    const { small, large } = result.cases.rowSum
    expect(small).toMatchObject({ runs: 2, differing: 0 })
    expect(large!.divided).toContain('MatMul')
    expect(large!.fromReference).toBeLessThan(1e-5)
    expect(formatDeterminismBenchmark(result)).toMatch(/rowSum +small 0.*every run gave the same bits/s)
  }, 300_000)

  it('repeats kernels, and an engine that samples while another one learns', async () => {
    const kernels = await benchDeterminism({ runs: 2, only: 'kernel' })
    const engines = await benchDeterminism({ runs: 2, only: 'engine' })
    expect([...kernels.wrong, ...engines.wrong]).toEqual([])
    expect(Object.keys(engines.cases)).toHaveLength(2)
  }, 300_000)

  it('refuses an operation that is not there', async () => {
    await expect(benchDeterminism({ only: 'matmull' })).rejects.toThrow('choose from')
  })
})
