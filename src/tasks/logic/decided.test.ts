import { describe, expect, it } from 'vitest'
import { parseFormula } from '../../grade/logic/parse.ts'
import type { LogicLabel } from '../../grade/logic/problem.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { decideRows } from './decided.ts'
import type { LogicTaskExample } from './example.ts'

const row = (
  id: string,
  premises: string[],
  conclusion: string | null,
  label: LogicLabel,
): LogicTaskExample => ({
  id,
  premises,
  premisesFol: premises.map(text => parseFormula(text).formula),
  conclusion: conclusion ?? 'Something.',
  conclusionFol: conclusion === null ? null : parseFormula(conclusion).formula,
  label,
  source: 'test',
  context: premises.join(' '),
  question: 'Is it?',
})

describe('decideRows', () => {
  it('keeps what holds, sets aside formulas that do not give the label, and leaves out premises that clash', async () => {
    const rows = [
      row('right', ['A(a)', '∀x (A(x) → B(x))'], 'B(a)', 'True'),
      row('denied', ['¬A(a)'], 'A(a)', 'False'),
      row('open', ['A(a)'], 'A(b)', 'Unknown'),
      row('wrong', ['A(a)', '∀x (A(x) → B(x))'], 'B(a)', 'Unknown'),
      row('without', ['A(a)'], null, 'True'),
      row('clash', ['A(a)', '¬A(a)'], null, 'True'),
    ]
    const solver = await LogicSolver.start({ backend: 'ground' })
    try {
      const { problems, faulty, doubted } = await decideRows(rows, solver)
      expect(problems.map(({ id }) => id)).toEqual(['right', 'denied', 'open', 'wrong', 'without'])
      expect(problems.slice(0, 3)).toEqual(rows.slice(0, 3))
      expect(problems[3]).toEqual({ ...rows[3], conclusionFol: null })
      expect(doubted).toEqual([{ id: 'wrong', reason: 'labelled Unknown, True by its formulas' }])
      expect(faulty).toEqual([{ id: 'clash', reason: 'its premises contradict each other' }])
    } finally {
      await solver.close()
    }
  })

  it('lets a row be that the solver leaves open', async () => {
    const open = row('hard', ['A(a)'], 'A(b)', 'True')
    const solver = { checkLabels: async () => ['unknown' as const] }
    expect(await decideRows([open], solver)).toEqual({ problems: [open], faulty: [], doubted: [] })
  })
})
