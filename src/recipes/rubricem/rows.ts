/** @file A rollout of either role as it is kept for reading. */

import { gainOf, type JudgedGroup, type ScoredLevel, type StageRubric } from '../../grade/evolving/index.ts'
import type { Retrieval } from '../../memory/index.ts'
import type { Credited } from '../../rl/rollout.ts'
import type { RolloutRow, ShownLesson } from '../../runs/rows.ts'
import type { StagedRead } from '../../tasks/stages.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { rolloutFields } from '../../train/update-rows.ts'
import { type KeptVerdict, verdictFields, type WrittenCriterion } from '../common/verdict-rows.ts'
import type { Reflected, ReflectionGrade } from './reflections.ts'

/** A level in words; a flaw is paid for being away. */
const describeLevel = (level: number, sign: StageRubric['sign'], reason: string | undefined): string =>
  `${sign === 'negative' ? 'a flaw; ' : ''}level ${level} of 2${reason ? `: ${reason}` : ''}`

/** Of each part of a lesson that is kept for reading. */
const LESSON_CHARACTERS = 2000

const cut = (text: string): string =>
  text.length <= LESSON_CHARACTERS ? text : `${text.slice(0, LESSON_CHARACTERS)} [...]`

/** The lessons of a retrieval in words. */
export const shownLessons = <Problem>(
  { stages }: TaskWith<Problem, 'stages'>,
  { items }: Retrieval,
): ShownLesson[] =>
  items.map(({ how, item }) => ({ how, question: cut(item.question), text: cut(stages.show(item)) }))

/**
 * An agent's rollout with its levels on every rubric; met is what is there in full, unmet what is not there at all.
 * @param retrieval what its question was shown, where there is a memory
 */
export const agentRow = <Problem>(
  task: TaskWith<Problem, 'stages'>,
  step: number,
  item: Credited<Problem, StagedRead>,
  judged: readonly JudgedGroup[],
  retrieval: Retrieval | null = null,
): RolloutRow => {
  const { problem, rollout, parts, grade } = item
  const name = task.id(problem)
  const group = judged.find(({ key }) => key === name)
  const own = group?.rollouts.find(({ rollout: { key } }) => key === rollout.key)
  return {
    ...rolloutFields(step, item),
    problemId: name,
    prompt: task.question(problem),
    response: task.show(rollout.tokens),
    parts,
    ...(rollout.sampledFrom &&
      retrieval !== null &&
      retrieval.items.length > 0 && { lessons: shownLessons(task, retrieval) }),
    flags: {
      ...(grade.wellFormed ? {} : { unformatted: 1 }),
      ...(rollout.sampledFrom ? { referred: 1 } : {}),
    },
    ...verdictFields(
      (group?.rubrics ?? []).map(rubric => levelVerdict(rubric, own?.scores[rubric.id])),
      new Map((group?.rubrics ?? []).map(rubric => [verdictName(rubric), describeStage(rubric)])),
    ),
  }
}

const verdictName = ({ stage, title }: StageRubric): string => `${stage}.${title}`

/** A flaw earns its weight where it is avoided, and is met then. */
const describeStage = ({ description, sign, weight }: StageRubric): WrittenCriterion => ({
  text: sign === 'negative' ? `Avoids: ${description}` : description,
  points: weight,
})

/** A level as a verdict; a judge that is no model is a program. */
const levelVerdict = (
  rubric: StageRubric,
  { level = null, justification, call }: Partial<ScoredLevel> = {},
): KeptVerdict => {
  const { sign } = rubric
  const by = { criterionId: verdictName(rubric), ...(call ? { call } : { source: 'rule' as const }) }
  if (level === null) return { ...by, met: null, explanation: 'no level was given' }
  const credit = gainOf(sign, level)
  return {
    ...by,
    met: credit === 0.5 ? null : credit === 1,
    credit,
    explanation: describeLevel(level, sign, justification),
  }
}

/** A candidate reflection; its problem is that of the attempt. */
export const reflectorRow = <Problem>(
  task: TaskWith<Problem, 'stages'>,
  step: number,
  item: Credited<Reflected<Problem>, ReflectionGrade>,
): RolloutRow => {
  const { grade, parts, rollout } = item
  const { problem, attempt } = item.problem
  return {
    ...rolloutFields(step, item),
    problemId: task.id(problem),
    prompt: `${task.question(problem)}\n\n${task.show(attempt.tokens)}`,
    response: grade.lessons === null ? task.show(rollout.tokens) : task.stages.show(grade.lessons),
    parts,
    ...(grade.lessons === null && { flags: { unformatted: 1 } }),
  }
}
