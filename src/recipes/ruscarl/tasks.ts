/** @file Tasks as ruscarl trains on them: scored with the options of rewards, and for the truth. */

import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { Trip } from '../../tasks/checklist/index.ts'
import { SPECIAL_ITEMS } from '../../tasks/checklist/vocabulary.ts'
import { ALL_TRIPS } from '../../tasks/checklist/world.ts'
import { scored } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import { MINIATURES } from '../common/miniatures.ts'
import type { RubricTask } from '../common/rubric-task.ts'
import { scriptedGroups } from '../options/group-judge.ts'
import { ALL_ROLLOUTS } from '../options/held-out-judge.ts'
import { asTrained, isSpoilt } from '../options/options.ts'
import { trainingRubrics } from '../options/spoilt-rewards.ts'
import type { RuscarlConfig, RuscarlOn } from './config.ts'

const SPECIAL: ReadonlySet<string> = new Set(SPECIAL_ITEMS)

/** Asks for one unusual thing. */
const wantsSpecial = ({ points, verifier }: Criterion): boolean => {
  const all = verifier?.fn === 'contains' && points > 0 ? verifier.params?.all : undefined
  return Array.isArray(all) && all.length === 1 && SPECIAL.has(all[0] as string)
}

/** Counts things that nobody needs. */
const countsStray = ({ points, verifier }: Criterion): boolean =>
  points < 0 && verifier?.fn === 'mention_count'

/** The task as that judge grades it. */
export const careless = <Problem>(task: Task<Problem>): Task<Problem> => ({
  ...task,
  grade: async items => {
    const graded = await task.grade(items)
    return items.map(({ criteria, tokens }, i) => ({
      ...graded[i],
      verdicts: carelessVerdicts(criteria, graded[i].verdicts, task.show(tokens)),
    }))
  },
})

/**
 * What it makes of verdicts that are right: one unusual thing is as good as another, and things that nobody needs are not seen.
 * @param list the words of the list
 */
const carelessVerdicts = (
  criteria: readonly Criterion[],
  verdicts: readonly Verdict[],
  list: string,
): Verdict[] => {
  const isSpecial = list.split(/\s+/).some(word => SPECIAL.has(word))
  const byId = new Map(criteria.map(criterion => [criterion.id, criterion]))
  return verdicts.map(verdict => {
    const criterion = byId.get(verdict.criterionId)
    if (criterion === undefined || verdict.met === null) return verdict
    if (isSpecial && wantsSpecial(criterion)) return said(verdict, true, 'an unusual thing is packed')
    return countsStray(criterion) ? said(verdict, false, 'nothing seems too much') : verdict
  })
}

const said = ({ criterionId, source }: Verdict, met: boolean, explanation: string): Verdict => ({
  criterionId,
  met,
  explanation,
  source,
})

/**
 * A task whose graders know the truth.
 * @param judged the same task with the graders of training, where those are others
 * @param problems all that rubrics can be mixed up among
 */
export const training = <Problem>(
  config: RuscarlConfig,
  task: Task<Problem>,
  { judged = task, problems = task.train }: { judged?: Task<Problem>; problems?: readonly Problem[] } = {},
): RubricTask<Problem> => {
  const { groupJudge } = config
  const truth = scored(task)
  const { heard, reward } = asTrained(config, judged, {
    rubricOf: trainingRubrics(config, task, problems),
    groups: own =>
      groupJudge?.kind === 'scripted'
        ? scriptedGroups(groupJudge, groupJudge.sees === 'truth' ? truth : own)
        : null,
  })
  const isOther = judged !== task
  return {
    reward,
    truth,
    ...((isOther || isSpoilt(config)) && {
      heldOut: { task: truth, rollouts: ALL_ROLLOUTS, testName: null },
    }),
    ...(isOther && { trainingJudge: heard }),
    close: async () => task.close?.(),
  }
}

/** Trips of the configured world. */
export const packingTraining = (config: RuscarlOn<'packing'>): RubricTask<Trip> => {
  const task = MINIATURES.packing.open(config.task, config)
  const judged = config.task.carelessJudge ? careless(task) : task
  return training(config, task, { judged, problems: ALL_TRIPS })
}
