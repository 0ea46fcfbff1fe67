/** @file A held-out grader, asked about some of the rollouts of some of the steps: settings, refusals, what it says. */

import { z } from 'zod'
import type { ChatModel } from '../../chat/chat-model.ts'
import type { Grader } from '../../grade/grader.ts'
import { type JudgeConfig, judgeOf, judgeShape } from '../../grade/judge/judge-config.ts'
import type { RuleSettings } from '../../grade/rules/index.ts'
import type { Groups, Rollout } from '../../rl/rollout.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { type ScoredTask, scored } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import { flag, orNull } from '../../train/config.ts'
import type { HeldOut, Recipe } from '../../train/recipe.ts'
import { Rng } from '../../util/rng.ts'
import { checkFleet, openJudging } from '../common/judging.ts'
import { refuse } from '../common/refuse.ts'
import type { RewardOption } from './option.ts'
import { completeScore } from './spoilt-rewards.ts'

/**
 * A judge that training never hears: when the reward rises and its opinion falls, the policy has learnt what the judge of
 * training likes instead of what the rubrics ask for (monitors `heldOutFalls`, `evaluationFalls`).
 */
const heldOutJudgeSchema = z
  .strictObject({
    ...judgeShape,
    rollouts: z
      .strictObject({
        share: z.number().gt(0).max(1).default(0.1).describe("Share of a step's rollouts."),
        every: z
          .int()
          .positive()
          .default(1)
          .describe('The judge is asked every n steps, beginning with the first.'),
      })
      .nullable()
      .prefault({})
      .describe('Which rollouts of training the held-out judge is asked about; null: none.'),
    evaluations: flag(
      false,
      'Let the held-out judge also grade evaluations, as a set of its own, which is then the main one.',
    ),
  })
  .transform(judgeOf('ruscarl'))

/** The judge of a training; what its sections leave out is as in RuscaRL's code. */
export const trainingJudgeSchema = z
  .strictObject({
    ...judgeShape,
    heldOut: orNull(
      heldOutJudgeSchema,
      'A held-out judge, whose verdicts training does not use; null: none.',
    ),
  })
  .transform(judgeOf('ruscarl'))

export type TrainingJudge = z.output<typeof trainingJudgeSchema>

/** @throws ConfigError for a judge whose settings contradict each other, or one that likes the same things as that of training */
const checkTrainingJudge = (judge: TrainingJudge, unheard: string | null | undefined): void => {
  checkJudge(judge, 'judge')
  const { heldOut } = judge
  if (heldOut === null) return
  if (unheard) refuse(`judge.heldOut: expected null with ${unheard}`, 'leave it out')
  checkJudge(heldOut, 'judge.heldOut')
  if (heldOut.rollouts === null && !heldOut.evaluations)
    refuse(
      'judge.heldOut.rollouts: expected a share of the rollouts, or judge.heldOut.evaluations',
      'ask the held-out judge about something, or leave it out',
    )
  const who = ({ ask, fleet: { endpoints } }: JudgeConfig) =>
    JSON.stringify([ask, endpoints.map(({ url, model }) => [url, model])])
  if (who(heldOut) === who(judge))
    refuse(
      'judge.heldOut.fleet: expected another model than that of judge: the same one, asked in the same way, likes the same things',
      'name another model',
    )
}

const checkJudge = ({ ask, fleet }: JudgeConfig, key: string): void => {
  checkFleet(fleet, `${key}.fleet`)
  const deaf = fleet.endpoints.find(({ sendTopK }) => sendTopK === false)
  if (ask.topK !== null && deaf)
    refuse(
      `${key}.ask.topK: expected null, because endpoint ${deaf.name ?? deaf.url} is not sent it`,
      `leave sendTopK of the endpoint out, or set ${key}.ask.topK to null`,
    )
}

/**
 * The judge that training never hears; null where none is configured. It goes by the true rubrics.
 * @param testName the test set that evaluations call its own, where it grades them
 * @param taskBy the task as a grader grades it
 */
export const openHeldOutJudge = <Problem>(
  judge: TrainingJudge | null,
  testName: string,
  taskBy: (grader: Grader) => Task<Problem>,
  { rules, model }: { rules?: Partial<RuleSettings>; model?: ChatModel },
): (HeldOutJudge<Problem> & { close(): Promise<void> }) | null => {
  const config = judge?.heldOut
  if (!config) return null
  const { grader, metrics, close } = openJudging(config, model, 'heldOutJudge', rules)
  return {
    task: scored(taskBy(grader), { score: completeScore }),
    rollouts: config.rollouts,
    testName: config.evaluations ? testName : null,
    ...{ metrics, close },
  }
}

export interface HeldOutJudge<Problem> {
  /** Grades by the true rubrics. */
  task: Pick<ScoredTask<Problem>, 'id' | 'grade'>
  /** What it is asked about: a share of the rollouts of a step, every so many steps from the first on; null: nothing. */
  rollouts: { share: number; every: number } | null
  /** The test set that evaluations call its own; null: it does not grade them. */
  testName: string | null
  /** What it took since it was last asked; absent where it costs nothing. */
  metrics?(): MetricGroup
}

/** All rollouts of every step; for a grader that costs nothing. */
export const ALL_ROLLOUTS = { share: 1, every: 1 }

/** What it needs of a rollout. */
interface Answered<Problem> {
  problem: Problem
  rollout: Pick<Rollout, 'tokens'>
}

/**
 * What it says of a step's rollouts, in their order, null for those that it was not asked about; null when this step is none of
 * its own. Which rollouts they are depends on seed and step alone.
 */
export const heldOutScores = async <Problem>(
  { task, rollouts, metrics }: HeldOutJudge<Problem>,
  groups: Groups<Answered<Problem>>,
  step: number,
  seed: number | string,
): Promise<HeldOut> => {
  if (rollouts === null || (step - 1) % rollouts.every !== 0) return { scores: null, time: metrics?.() }
  const chosen = spread(groups, rollouts.share, new Rng(`held-out rollouts/${seed}/${step}`))
  const scored = await task.grade(
    chosen.map(({ p, g }) => {
      const { problem, rollout } = groups[p][g]
      return { problem, tokens: rollout.tokens }
    }),
  )
  const scores_P_G = groups.map(group => group.map((): number | null => null))
  chosen.forEach(({ p, g }, i) => {
    scores_P_G[p][g] = scored[i].score
  })
  return { scores: scores_P_G.flat(), time: metrics?.() }
}

const shape = { judge: orNull(trainingJudgeSchema, 'The judge of criteria that no rule checks.') }

export const heldOutJudge: RewardOption<typeof shape> = {
  shape,
  // Judges of other methods have none.
  refuse: ({ judge }, { unheard }) => judge && 'heldOut' in judge && checkTrainingJudge(judge, unheard),
}

/** A recipe whose rollouts are told to another grader as well, for the monitors; the recipe as it is where there is none. */
export const withHeldOutJudge = <Problem, Rolled extends Groups<Answered<Problem>>>(
  recipe: Recipe<Rolled>,
  judge: HeldOutJudge<Problem> | undefined,
  seed: number | string,
): Recipe<Rolled> =>
  judge === undefined
    ? recipe
    : {
        ...recipe,
        learn: async (step, rolled) => ({
          ...(await recipe.learn(step, rolled)),
          heldOut: heldOutScores(judge, rolled, step, seed),
        }),
      }

/**
 * A share of the rollouts, spread evenly over problems and over places in the group: each place is shown another part of the
 * rubric, and a sample with more of the first places would have other scores than the step.
 */
const spread = (groups: Groups<unknown>, share: number, rng: Rng): { p: number; g: number }[] => {
  const problems = rng.shuffle(groups.map((_, p) => p))
  const size = Math.max(...groups.map(group => group.length))
  const first = rng.int(size)
  const places = Array.from({ length: size }, (_, round) =>
    problems.map((p, i) => ({ p, g: (first + round + i) % size })),
  )
  const all = places.flat().filter(({ p, g }) => g < groups[p].length)
  return all.slice(0, Math.ceil(share * all.length))
}
