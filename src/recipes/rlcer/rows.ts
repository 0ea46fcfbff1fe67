/** @file A rollout of either role as it is kept for reading. */

import type { Credited } from '../../rl/rollout.ts'
import type { RolloutRow } from '../../runs/rows.ts'
import type { RubricatorTask } from '../../tasks/scored-response.ts'
import { tokenFields } from '../../train/token-fields.ts'
import { rolloutFields } from '../../train/update-rows.ts'
import type { ReasonerGrade, Reviewed } from './exploration.ts'
import { isRight } from './judging.ts'
import type { RubricGrade } from './verification.ts'

/** A reasoner's or a rubricator's rollout, told apart by its role. */
export const rlcerRolloutRow = <Problem>(
  task: RubricatorTask<Problem>,
  step: number,
  item: Credited<unknown, unknown>,
): RolloutRow =>
  item.rollout.role === 'rubricator'
    ? rubricatorRow(task, step, item as Credited<Reviewed<Problem>, RubricGrade>)
    : reasonerRow(task, step, item as Credited<Problem, ReasonerGrade>)

const reasonerRow = <Problem>(
  task: RubricatorTask<Problem>,
  step: number,
  item: Credited<Problem, ReasonerGrade>,
): RolloutRow => {
  const { problem, grade, parts, rollout } = item
  const correct = isRight(grade.scored)
  return {
    ...rolloutFields(step, item),
    problemId: task.id(problem),
    prompt: task.question(problem),
    response: grade.response.text,
    ...tokenFields(item, grade.response.text, tokens => task.thinking.read(tokens).text),
    answer: grade.response.closed ? grade.response.answer : null,
    ...(correct !== null && { correct }),
    parts,
    ...(rollout.sampledFrom && { flags: { hinted: 1 } }),
  }
}

/** Of a rubricator's criteria the row says which were valid. */
const rubricatorRow = <Problem>(
  task: RubricatorTask<Problem>,
  step: number,
  item: Credited<Reviewed<Problem>, RubricGrade>,
): RolloutRow => {
  const { problem: asked, grade, parts, rollout } = item
  const { criteria = [] } = grade.judged ?? {}
  const [fault] = grade.proposal.problems
  return {
    ...rolloutFields(step, item),
    problemId: task.id(asked.problem),
    prompt: `${task.question(asked.problem)}\n\n${asked.responses[asked.shown].text}`,
    response: task.rubricator.text(rollout.tokens),
    ...tokenFields(item, task.rubricator.text(rollout.tokens), tokens => task.rubricator.text(tokens)),
    parts,
    ...(fault !== undefined && { flags: { unformatted: 1 } }),
    verdicts: criteria.map(({ criterion, correlation, valid, anchors }) => ({
      criterionId: criterion.id,
      met: valid,
      source: 'statistic',
      explanation: `${criterion.text} (${criterion.points}): ${correlation === null ? 'no correlation, all answers or all verdicts are alike' : `correlation ${correlation.toFixed(2)} with being right`}${anchors ? `; ${anchors.reason}` : ''}`,
    })),
  }
}
