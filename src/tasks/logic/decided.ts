/** @file What a solver says of the rows of a file before they are used: premises that clash, labels that formulas do not give. */

import type { Formula } from '../../grade/logic/formula.ts'
import type { LogicLabel } from '../../grade/logic/problem.ts'
import type { LogicSolver, StepStatus } from '../../grade/logic/solver.ts'
import type { LogicTaskExample } from './example.ts'
import type { LeftOutRow } from './loaders.ts'

/** Rows that can be used, and what had to be changed. */
export interface DecidedRows {
  problems: LogicTaskExample[]
  /** Left out: nothing can be judged by premises that contradict each other. */
  faulty: LeftOutRow[]
  /** Used without the formula of their conclusion, because it does not have the label: answers count, proofs are not judged. */
  doubted: LeftOutRow[]
}

const FALSEHOOD: Formula = { kind: 'false' }

const LABELS: Readonly<Partial<Record<StepStatus, LogicLabel>>> = {
  entailed: 'True',
  contradicted: 'False',
  consistent: 'Unknown',
}

/**
 * Asks the solver about every row. The label stays the source's own: what its formulas say otherwise is a fault of the formulas,
 * or of how they were read. What the solver leaves open stays as it is.
 */
export const decideRows = async (
  rows: readonly LogicTaskExample[],
  solver: Pick<LogicSolver, 'checkLabels'>,
): Promise<DecidedRows> => {
  const statuses = await solver.checkLabels(
    rows.map(({ premisesFol: premises, conclusionFol }) => ({
      premises,
      formula: conclusionFol ?? FALSEHOOD,
    })),
  )
  const decided: DecidedRows = { problems: [], faulty: [], doubted: [] }
  for (const [i, row] of rows.entries()) {
    if (statuses[i] === 'inconsistent-premises') {
      decided.faulty.push({ id: row.id, reason: 'its premises contradict each other' })
      continue
    }
    const label = LABELS[statuses[i]]
    const doubted = row.conclusionFol !== null && label !== undefined && label !== row.label
    if (doubted)
      decided.doubted.push({ id: row.id, reason: `labelled ${row.label}, ${label} by its formulas` })
    decided.problems.push(doubted ? { ...row, conclusionFol: null } : row)
  }
  return decided
}
