import { describe, expect, it } from 'vitest'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import type { LogicTaskExample } from './example.ts'
import { generateLogicProblems } from './generator.ts'
import { loadLogicRows, loadProntoQa, loadProofWriter } from './loaders.ts'
import { shuffleSentences } from './testsets.ts'

const [problem] = generateLogicProblems(1, {}, 'order')

describe('sentences in another order', () => {
  it('are the same ones, each with its formula, the same for the same seed', () => {
    const shuffled = shuffleSentences(problem, 7)
    expect(shuffled.premises).not.toEqual(problem.premises)
    expect(shuffleSentences(problem, 7)).toEqual(shuffled)
    expect(shuffleSentences(problem, 8).premises).not.toEqual(shuffled.premises)
    expect(shuffled.context).toBe(shuffled.premises.join(' '))
    for (const [i, text] of shuffled.premises.entries())
      expect(shuffled.premisesFol[i]).toBe(problem.premisesFol[problem.premises.indexOf(text)])
    expect([...shuffled.premises].sort()).toEqual([...problem.premises].sort())
    const { id, label, proof, conclusion, question } = problem
    expect(shuffled).toMatchObject({ id, label, proof, conclusion, question })
  })

  it('stay behind the sentence that they speak of', () => {
    const premises = [
      'Bob is big.',
      'He is not red.',
      'Anne is kind.',
      'All kind people are big.',
      'They are red.',
    ]
    const leaning = { ...problem, premises, premisesFol: problem.premisesFol.slice(0, 5) }
    for (let seed = 0; seed < 30; seed++) {
      const { premises: order } = shuffleSentences(leaning, seed)
      expect(order.indexOf('He is not red.')).toBe(order.indexOf('Bob is big.') + 1)
      expect(order.indexOf('They are red.')).toBe(order.indexOf('All kind people are big.') + 1)
    }
  })
})

const prontoqa = sharedData('prontoqa/dev.jsonl')
const proofwriter = sharedData('proofwriter/dev.jsonl')
const folio = sharedData('folio/validation_fol_dev.jsonl')

/** Labels of the rows, and of the same rows in another order, as the solver derives them. */
const labels = async (solver: LogicSolver, rows: readonly LogicTaskExample[]) => {
  const derived = async (row: LogicTaskExample) =>
    (await solver.decide(row.premisesFol, row.conclusionFol!)).label
  const before = await Promise.all(rows.map(derived))
  const after = await Promise.all(rows.map(row => derived(shuffleSentences(row, 'labels'))))
  return { before, after }
}

describe.skipIf(!prontoqa || !proofwriter || !folio)(
  'real rows in another order (skipped without ../shared/data)',
  () => {
    it('have the labels that they had, by Z3', async () => {
      const solver = await LogicSolver.start()
      try {
        const rows = [
          ...loadProntoQa(prontoqa!).slice(0, 40),
          ...loadProofWriter(proofwriter!).slice(0, 20),
          ...loadLogicRows(folio!, 'folio').slice(0, 15),
        ]
        const { before, after } = await labels(solver, rows)
        expect(after).toEqual(before)
        expect(before.slice(0, 40)).toEqual(rows.slice(0, 40).map(({ label }) => label))
      } finally {
        await solver.close()
      }
    }, 120_000)
  },
)
