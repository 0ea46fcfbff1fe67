/** @file A rollout on the logic task as it is kept for reading: each step with its status, each criterion with its verdict. */

import type { RolloutRow } from '../../runs/rows.ts'
import { rolloutFields } from '../../train/lesson-rows.ts'
import { tokenFields } from '../../train/token-fields.ts'
import { leftOutFlag } from '../common/rubric-dropout.ts'
import { verdictFields } from '../common/verdict-rows.ts'
import type { LogicFormat } from '../logic/format.ts'
import { gradedFields } from '../logic/graded-fields.ts'
import type { CreditedLogicRollout } from './rollout.ts'

/** @param leftOut ids of criteria that the reward did not count */
export const rolloutRow = (
  step: number,
  item: CreditedLogicRollout,
  format: LogicFormat,
  leftOut: ReadonlySet<string> = new Set(),
): RolloutRow => {
  const { problem, parts } = item
  const { grade, rewarded, verdicts, response } = item.grade
  return {
    ...rolloutFields(step, item),
    problemId: problem.id,
    prompt: format.show(problem),
    response: response.text,
    ...tokenFields(item, response.text, tokens => format.read(tokens).text),
    ...gradedFields(problem, grade),
    parts,
    flags: rewarded.flags,
    ...verdictFields(
      verdicts.map(verdict => ({
        ...verdict,
        ...leftOutFlag(leftOut.has(verdict.criterionId)),
      })),
    ),
  }
}
