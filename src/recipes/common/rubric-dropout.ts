/** @file Rubric dropout in a recipe: what a run leaves out of the reward of each question in each step, and what it tells of it. */

import type { Groups } from '../../rl/rollout.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { leftOutCount, leftOutPlaces, leftOutShares, type RubricDropout } from '../../rubric/dropout.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import type { LeftOut, ScoredTask } from '../../tasks/scored-response.ts'
import type { Verdicts } from '../../tasks/task.ts'
import { ConfigError } from '../../util/errors.ts'
import { mean } from '../../util/statistics.ts'

/** Where dropout is set in every recipe's configuration. */
const PATH = 'rubricDropout'

export interface DropoutRun {
  rubricDropout?: RubricDropout
  seed: number | string
}

/** Places of the criteria that a question's reward leaves out in a step; none without the setting. */
export type DroppedPlaces = <C extends Pick<Criterion, 'id' | 'points' | 'critical'>>(
  criteria: readonly C[],
  step: number,
  question: string,
) => ReadonlySet<number>

const NOTHING: ReadonlySet<number> = new Set()

/** @param within tells draws of one question from each other, such as its stages */
export const placesLeftOut =
  ({ rubricDropout, seed }: DropoutRun, within = ''): DroppedPlaces =>
  (criteria, step, question) =>
    rubricDropout === undefined
      ? NOTHING
      : leftOutPlaces(criteria, rubricDropout, { seed, step, question: `${question}${within}` })

/** The same as graders of responses are told it; undefined without the setting. */
export const leftOutOf = (
  run: DropoutRun,
  criteria: readonly Criterion[],
  step: number,
  question: string,
): LeftOut | undefined => {
  if (run.rubricDropout === undefined) return undefined
  const places = placesLeftOut(run)(criteria, step, question)
  return { ids: new Set([...places].map(i => criteria[i].id)), asked: run.rubricDropout.ask === 'all' }
}

/** A task whose scores leave criteria out in each step of training. */
export const withDropout = <Problem, Said extends Verdicts = Verdicts>(
  run: DropoutRun,
  task: ScoredTask<Problem, Said>,
): ScoredTask<Problem, Said> => {
  if (run.rubricDropout === undefined) return task
  const leftOut = (problem: Problem, step: number | undefined) =>
    step === undefined ? undefined : leftOutOf(run, task.rubric(problem).criteria, step, task.id(problem))
  return {
    ...task,
    grade: items => task.grade(items.map(item => ({ leftOut: leftOut(item.problem, item.step), ...item }))),
  }
}

/** Rubrics with the places of what a step left out of them. */
type PartRubrics = Parameters<typeof leftOutShares>[0]

const leftOutMetrics = (rubrics: PartRubrics): Omit<MetricsRow, 'step'> => {
  const shares = leftOutShares(rubrics)
  return shares ? { leftOut: { ...shares } } : {}
}

/** What a step left out; nothing where the setting is absent. */
export const dropoutMetrics = (
  { rubricDropout }: Pick<DropoutRun, 'rubricDropout'>,
  rubrics: PartRubrics,
): Omit<MetricsRow, 'step'> => (rubricDropout === undefined ? {} : leftOutMetrics(rubrics))

/**
 * The same, as grades tell it, and the mean of what responses are worth by whole rubrics, where graders were asked about those.
 * @param criteriaOf of a problem's rubric
 * @param whole that worth of each response, where it is known, by the name of its mean
 */
export const droppedMetrics = <Problem>(
  groups: Groups<{ problem: Problem; grade: { leftOut?: LeftOut } }>,
  criteriaOf: (problem: Problem) => readonly Criterion[],
  whole: Readonly<Record<string, readonly number[]>>,
): Omit<MetricsRow, 'step'> => {
  const dropped = groups.flatMap(([first]) =>
    first?.grade.leftOut ? [{ criteria: criteriaOf(first.problem), ...first.grade.leftOut }] : [],
  )
  if (dropped.length === 0) return {}
  const rubrics = dropped.map(({ criteria, ids }) => ({
    criteria,
    places: new Set(criteria.flatMap(({ id }, i) => (ids.has(id) ? [i] : []))),
  }))
  const known = dropped[0].asked ? Object.entries(whole).filter(([, values]) => values.length > 0) : []
  return {
    ...leftOutMetrics(rubrics),
    ...Object.fromEntries(known.map(([name, values]) => [name, mean(values)])),
  }
}

/** For a plan: a line about what is left out; none where nothing is. */
export const dropoutLines = ({ rubricDropout }: Pick<DropoutRun, 'rubricDropout'>): string[] => {
  if (rubricDropout === undefined) return []
  const { rate, per, keepAtLeast, ask } = rubricDropout
  const when = per === 'step' ? 'each question and step' : 'each question, the same in all steps'
  const asked = ask === 'kept' ? '; graders are asked about the others alone' : ''
  return [
    `dropout      ${Math.round(100 * rate)}% of the positive criteria are left out of rewards, for ${when}; at least ${keepAtLeast} stay${asked}`,
  ]
}

/** @throws ConfigError for a setting beside which dropout would do nothing, or something else than it says */
export const refuseDropout = (expected: string, hint: string): never => {
  throw new ConfigError(`${PATH}: expected ${expected}`, { hint })
}

/**
 * Refuses a rate that leaves nothing out, and protected criteria that there are not.
 * @param criteria of every question
 * @throws ConfigError
 */
export const assertDrops = (
  { rate, keepAtLeast, protect }: RubricDropout,
  criteria: readonly Pick<Criterion, 'id' | 'points' | 'critical'>[],
): void => {
  const stranger = protect.find(id => !criteria.some(own => own.id === id))
  if (stranger !== undefined)
    throw new ConfigError(`${PATH}.protect: expected ids of criteria, got ${JSON.stringify(stranger)}`, {
      hint: `the criteria are ${criteria.map(({ id }) => id).join(', ')}`,
    })
  const positive = criteria.filter(({ points }) => points > 0)
  const free = positive.filter(({ id, critical }) => !critical && !protect.includes(id))
  if (leftOutCount({ rate, keepAtLeast }, positive.length, free.length) > 0) return
  throw new ConfigError(
    `${PATH}: expected settings that leave something out, got rate ${rate} of ${free.length} criteria, at least ${keepAtLeast} of ${positive.length} to stay`,
    { hint: `raise ${PATH}.rate or lower ${PATH}.keepAtLeast` },
  )
}
