import { describe, expect, it } from 'vitest'
import { besideBusyLoops } from '../../util/busy-loop.fixture.ts'
import { Rng } from '../../util/rng.ts'
import { DETERMINISM_SIZES, determinismCases } from '../determinism-cases.ts'
import { checkDeterminism, type DeterminismCheck } from '../determinism-check.ts'
import { Executable } from '../executable.ts'
import { constant, input, placeLast, reduceSum } from '../index.ts'
import { TEST_PROVIDER, WITHOUT_DEVICE } from '../provider.fixture.ts'
import { computePlainly } from '../reference.ts'
import * as elementwise from './elementwise.ts'
import * as indexOps from './index-ops.ts'
import * as matmulOps from './matmul.ts'
import * as nn from './nn.ts'
import * as reduceOps from './reduce.ts'
import * as shapeOps from './shape.ts'

/** A first look; `gradus bench determinism` is the thorough check. */
const RUNS = 3
/** Relative to the largest number of an output; float32 sums of a million numbers keep about four digits more than a lost one costs. */
const ROUNDING = 1e-4

const describeCheck = (name: string, check: DeterminismCheck) =>
  `${name}: ${check.differing} of ${check.runs} runs differ, ${check.worst.toExponential(1)} from one thread, ${check.fromReference?.toExponential(1)} from plain arithmetic`

describe('operations on two threads', () => {
  it('all have a case', () => {
    const modules = [elementwise, indexOps, matmulOps, nn, reduceOps, shapeOps]
    const exported = modules.flatMap(module =>
      Object.entries(module).flatMap(([name, value]) => (typeof value === 'function' ? [name] : [])),
    )
    const covered = new Set(Object.keys(determinismCases(32)).map(name => name.split('/')[0]))
    expect(exported.filter(name => !covered.has(name))).toEqual([])
  })

  const wrongOnes = async (size: number, reference: boolean): Promise<string[]> => {
    const wrong: string[] = []
    for (const [name, { build, inputs, withGradient }] of Object.entries(determinismCases(size))) {
      const options = { runs: RUNS, spinning: false, withGradient, reference, provider: TEST_PROVIDER }
      const check = await checkDeterminism(build, inputs, options)
      const { differing, worst, fromReference } = check
      // A device may add in another order every time.
      if ((WITHOUT_DEVICE && differing > 0) || !(Math.max(worst, fromReference ?? 0) < ROUNDING))
        wrong.push(describeCheck(name, check))
    }
    return wrong
  }

  it('give the same bits in every run beside a busy loop, and what one thread gives but for rounding', async () => {
    expect(await besideBusyLoops(1, () => wrongOnes(DETERMINISM_SIZES.large, false))).toEqual([])
  }, 600_000)

  it('give what plain arithmetic gives but for rounding', async () => {
    expect(await wrongOnes(DETERMINISM_SIZES.small, true)).toEqual([])
  }, 600_000)
})

describe('plain arithmetic', () => {
  it('sees a sum that lost one of a quarter of a million numbers', async () => {
    const data = new Float32Array(262_144).fill(0.5)
    const x = input('x0', [262_144])
    const { total } = computePlainly({ total: reduceSum(x) }, { x0: { data, dims: [262_144] } })
    expect(total.data[0]).toBe(131_072)
  })

  it('adds what is placed twice at one position', () => {
    const [row, at, values] = [
      constant(Float32Array.of(1, 2, 3), [1, 3]),
      constant(BigInt64Array.of(1n, 1n), [1, 2], 'int64'),
      constant(Float32Array.of(10, 20), [1, 2]),
    ]
    expect([...computePlainly({ y: placeLast(row, at, values) }, {}).y.data]).toEqual([1, 32, 3])
  })
})

describe('2,048 rows of 128 added to four places of a table on two threads', () => {
  it('are the sums in the order of the rows, 200 times', async () => {
    const rng = new Rng('rows')
    const rows = Float32Array.from({ length: 2048 * 128 }, () => 2 * rng.next() - 1)
    const ids = BigInt64Array.from({ length: 2048 }, () => BigInt(rng.int(4)))
    const [table, at, x] = [
      input('table', [4, 128]),
      input('ids', [2048], 'int64'),
      input('rows', [2048, 128]),
    ]
    const graph = await Executable.compile(
      { sums: indexOps.scatterAddRows(table, at, x) },
      { threads: 2, spinning: false },
    )
    const expected = new Float32Array(4 * 128)
    rows.forEach((value, i) => {
      expected[Number(ids[Math.floor(i / 128)]) * 128 + (i % 128)] += value
    })
    let wrong = 0
    for (let run = 0; run < 200; run++) {
      const { sums } = await graph.run({
        table: { data: new Float32Array(4 * 128), dims: [4, 128] },
        ids: { data: ids, dims: [2048] },
        rows: { data: rows, dims: [2048, 128] },
      })
      if (!expected.every((sum, i) => sum === sums.data[i])) wrong++
    }
    await graph.release()
    expect(wrong).toBe(0)
  })
})
