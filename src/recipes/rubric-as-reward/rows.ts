/** @file A rollout on the logic task as it is kept for reading: each step with its status, each criterion with its verdict. */

import type { RolloutRow } from '../../runs/rows.ts'
import type { LogicTask } from '../../tasks/logic/task.ts'
import { tokenFields } from '../../train/token-fields.ts'
import { rolloutFields } from '../../train/update-rows.ts'
import { namedVerdicts, verdictFields } from '../common/verdict-rows.ts'
import { gradedFields } from '../logic/graded-fields.ts'
import type { CreditedLogicRollout } from './credit.ts'

export const rubricAsRewardRolloutRow = (
  task: Pick<LogicTask, 'id' | 'question' | 'show'>,
  step: number,
  item: CreditedLogicRollout,
): RolloutRow => {
  const { problem, parts } = item
  const { grade, flags, verdicts, leftOut, response } = item.grade
  return {
    ...rolloutFields(step, item),
    problemId: task.id(problem),
    prompt: task.question(problem),
    response: response.text,
    ...tokenFields(item, response.text, task.show),
    ...gradedFields(problem, grade),
    ...{ parts, flags },
    ...verdictFields(namedVerdicts('', verdicts, leftOut)),
  }
}
