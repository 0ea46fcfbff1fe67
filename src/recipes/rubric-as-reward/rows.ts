/** @file A rollout on the logic task as it is kept for reading: each step with its status, each criterion with its verdict. */

import type { StepGrade } from '../../grade/logic/criteria.ts'
import { logicVerdicts } from '../../grade/logic/rubric.ts'
import { meanAdvantage } from '../../rl/rollout.ts'
import type { RolloutRow, RolloutStep } from '../../runs/rows.ts'
import type { LogicFormat } from '../logic/format.ts'
import type { CreditedLogicRollout } from './rollout.ts'

export const rolloutRow = (step: number, item: CreditedLogicRollout, format: LogicFormat): RolloutRow => {
  const { problem, rollout, reward, parts } = item
  const { grade, rewarded, response } = item.grade
  return {
    step,
    problemId: problem.id,
    sample: rollout.sample,
    prompt: format.show(problem),
    response: response.text,
    reward,
    ...(rollout.tokens.length > 0 && { advantage: meanAdvantage(item) }),
    answer: grade.answer,
    gold: problem.label,
    correct: grade.answerCorrect,
    valid: grade.correctAndValid,
    finishReason: rollout.end,
    tokens: rollout.tokens.length,
    parts,
    flags: rewarded.flags,
    verdicts: logicVerdicts(rewarded),
    steps: grade.steps.map(stepRow),
  }
}

const stepRow = ({
  text,
  status,
  credit,
  premise,
  tautology,
  repeated,
  supported,
}: StepGrade): RolloutStep => ({
  text,
  status,
  ...(credit !== null && { credit }),
  flags: [
    ...(premise === null ? [] : ['premise']),
    ...(tautology ? ['tautology'] : []),
    ...(repeated ? ['repeat'] : []),
    ...(supported === false && status === 'entailed' ? ['skips'] : []),
  ],
})
