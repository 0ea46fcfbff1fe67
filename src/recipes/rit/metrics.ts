/** @file What a step's rollouts say in metrics.jsonl and rollouts.jsonl: both rewards apart, the gate, lengths, judges' failures. */

import { withinGroupCorrelation } from '../../rl/adaptive-weight.ts'
import type { Credited, Groups } from '../../rl/rollout.ts'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import type { MetricsRow, RolloutRow } from '../../runs/rows.ts'
import type { LeftOut } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import { tokenFields } from '../../train/token-fields.ts'
import { promptFields, rewardMetrics, rolloutFields } from '../../train/update-rows.ts'
import { mean, meanKnown } from '../../util/statistics.ts'
import { discrimination, type KindedResponse, nullRate, satisfaction } from '../common/criterion-metrics.ts'
import { criteriaById, namedVerdicts, verdictFields } from '../common/rubric-task.ts'
import { optionMetrics } from '../options/options.ts'
import type { RitConfig } from './config.ts'
import { type RitRollout, rewardPairs } from './rewards.ts'
import type { RitGrade } from './thinking.ts'

/** Words of a text: of small models as many as tokens. */
export const spacedWords = (text: string): number => text.split(/\s+/).filter(word => word !== '').length

/** Thinking, response, fused and final rewards, raw and apart; what the gate did; how long both parts are. */
export const ritMetrics = <Problem>(
  config: Pick<RitConfig, 'control' | 'thinkingBy'>,
  { isBinary }: Pick<Task<Problem>, 'isBinary'>,
  rubricOf: (problem: Problem) => Rubric,
  groups: Groups<RitRollout<Problem>>,
): Omit<MetricsRow, 'step'> => {
  const all = groups.flat()
  const grades = all.map(({ grade }) => grade)
  const part = (name: string) => meanKnown(all.map(({ parts }) => parts[name]))
  const response = part('response')
  const verdicts = grades.flatMap(grade => grade.verdicts)
  return {
    ...rewardMetrics(groups),
    thinking: part('thinking'),
    response,
    ...(isBinary ? { accuracy: response } : { rubric: response }),
    fused: part('fused'),
    gateBites: mean(all.map(({ fusion }) => Number(fusion.bit))),
    noRubric: all.filter(({ fusion, problem }) => fusion.fellBack || rubricOf(problem).criteria.length === 0)
      .length,
    correlation: withinGroupCorrelation(rewardPairs(groups)),
    thinkingWords: mean(grades.map(grade => spacedWords(grade.response.thinking))),
    answerWords: mean(grades.map(grade => spacedWords(grade.response.answer))),
    thinkingClosed: mean(grades.map(grade => Number(grade.response.closed))),
    wellFormed: mean(grades.map(grade => Number(grade.answer.wellFormed))),
    judgeNullRate: nullRate(verdicts),
    unjudged: mean(all.map(({ reward }) => Number(reward === null))),
    criteria: satisfaction(grades.map(judgedOf)),
    discrimination: discrimination(groups.map(group => group.map(({ grade }) => judgedOf(grade)))),
    ...optionMetrics(groups, problem => rubricOf(problem).criteria, {
      // By whole rubrics, where thinking is judged by them and no control stands in place of that.
      thinkingWhole:
        config.control !== undefined || config.thinkingBy !== 'rubric'
          ? []
          : grades
              .map(({ whole, thinking }) => (whole === undefined ? thinking : whole))
              .filter(value => typeof value === 'number'),
    }),
  }
}

/** All verdicts on a rollout. */
const judgedOf = ({ verdicts, answer }: RitGrade): KindedResponse => ({
  verdicts: [...namedVerdicts('thinking.', verdicts), ...namedVerdicts('answer.', answer.verdicts)],
})

/** A rubric with what was said by it. */
interface Judged {
  rubric: Rubric
  verdicts: readonly Verdict[]
  leftOut?: LeftOut
}

/** Verdicts on thinking and answer as they are kept for reading. */
export const ritVerdictFields = (thinking: Judged, answer: Judged): ReturnType<typeof verdictFields> =>
  verdictFields(
    [
      ...namedVerdicts('thinking.', thinking.verdicts, thinking.leftOut),
      ...namedVerdicts('answer.', answer.verdicts),
    ],
    new Map([
      ...criteriaById(thinking.rubric.criteria, 'thinking.'),
      ...criteriaById(answer.rubric.criteria, 'answer.'),
    ]),
  )

/** A rollout as it is kept for reading. */
export const ritRolloutRow = <Problem>(
  { id, show, isBinary, rubric }: Pick<Task<Problem>, 'id' | 'show' | 'isBinary' | 'rubric'>,
  step: number,
  item: Credited<Problem, RitGrade>,
  rubricOf: (problem: Problem) => Rubric,
): RolloutRow => {
  const { problem, rollout, grade, parts } = item
  return {
    ...rolloutFields(step, item),
    problemId: id(problem),
    ...promptFields(rollout.prompt, rollout.sampledFrom, show),
    response: grade.response.text,
    ...tokenFields(item, grade.response.text, show),
    answer: grade.response.answer,
    ...(isBinary && { correct: grade.answer.score === 1 }),
    parts,
    flags: { ...(!grade.response.closed && { neverEnded: 1 }) },
    ...ritVerdictFields(
      { rubric: rubricOf(problem), verdicts: grade.verdicts, leftOut: grade.leftOut },
      { rubric: rubric(problem), verdicts: grade.answer.verdicts },
    ),
  }
}
