/**
 * @file RuscaRL (arXiv 2508.16949): rubrics as scaffolding in the prompt while exploring, and as rewards; GRPO.
 *
 * 1. Each of the G samples of a prompt is shown its own random part of the rubric: all of it for the first, nothing for the
 *    last (the group's ladder), and less and less as the steps go on (the decay).
 * 2. Every finished response is graded, criterion by criterion, while the others are still being sampled.
 * 3. The reward is the signed sum of points over the positive points; advantages are relative to the group.
 * 4. The update is about the plain prompt: old and new log-probs are computed without the scaffold.
 *
 * Departures from the paper, each a setting:
 * - The printed loss averages over sequences, its code over tokens: tokens here (loss `gradus:ruscarl`).
 * - The paper's code divides by the sample standard deviation; ours by the population's unless `advantage.ddof` is 1.
 * - `memory`: what earlier attempts missed is the scaffold, or a part of it (ours; the bank is RubricEM's).
 * - `rubricDropout`: criteria are left out of the reward by chance (arXiv 2608.11669).
 * - `groupJudge`: a judge scores all responses to a prompt at once (RULER), in place of their rubric.
 * - `ratio`: the two alternatives of appendix C.5. `exploration`: the baselines of its Table 13. `noise`, `reward: random`,
 *   `flipRate`, `pipeline`: experiments and speed.
 */

import type { GroupScores } from '../../grade/group/index.ts'
import type { Policy } from '../../policy/policy.ts'
import { grpoAdvantages, MIN_RANGE } from '../../rl/advantages.ts'
import { withEntropyBonus } from '../../rl/entropy-bonus.ts'
import {
  advantagesOf,
  creditRollouts,
  datumsOf,
  type Groups,
  type Rollout,
  rewardsOf,
} from '../../rl/rollout.ts'
import { withoutCriteria } from '../../rubric/dropout.ts'
import { creditOf } from '../../rubric/score.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { type ScoredResponse, type ScoredTask, scoredReward } from '../../tasks/scored-response.ts'
import type { GradeItem } from '../../train/grading.ts'
import { learntFrom, type Recipe } from '../../train/recipe.ts'
import type { Io } from '../../train/rollout.ts'
import { entropiesOf } from '../../train/scores.ts'
import { GradusError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { type GroupScorer, groupFigures, paidByGroup } from '../common/group-reward.ts'
import { idleCriteria } from '../common/idle-criteria.ts'
import type { Attempts, LessonMemory, Recalled } from '../common/lessons-memory.ts'
import type { ProblemStream } from '../common/problem-order.ts'
import { leftOutOf } from '../common/rubric-dropout.ts'
import { scaffoldedPrompts } from '../common/scaffold.ts'
import { opinionOn, type SecondOpinion } from '../common/second-opinion.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import type { RuscarlConfig } from './config.ts'
import {
  type CreditedScore,
  droppedFigures,
  rolloutRow,
  type ScoredRollout,
  scoreFigures,
} from './figures.ts'

export interface RuscarlParts<Problem> {
  policy: Policy
  problem: ProblemStream<Problem>
  /** The task with the rubrics of training, spoilt ones in a noise experiment. */
  task: ScoredTask<Problem>
  evaluate: Recipe<unknown>['evaluate']
  /** Lessons of earlier attempts; null where there is no memory. */
  memory?: LessonMemory<Problem> | null
  /** Most tokens of a prompt with lessons; absent: they always fit. */
  room?: number
  /** A judge that sees all responses to a problem at once: what it says is paid. */
  groups?: GroupScorer<Problem>
  /** A second opinion on the rollouts, for the monitors. */
  heldOut?: SecondOpinion<Problem>
  /** What grading took since it was last asked. */
  figures?(): MetricGroup
}

/** A step's rollouts, and what was recalled for them. */
export interface RuscarlRolled<Problem> {
  groups: ScoredRollout<Problem>[][]
  recalled: Recalled | null
}

export const ruscarl = <Problem>(
  config: RuscarlConfig,
  parts: RuscarlParts<Problem>,
): Recipe<RuscarlRolled<Problem>> => {
  const { policy, problem, task, heldOut, evaluate, figures, memory = null } = parts
  const { groups: together } = parts
  const { rollout, ratio, seed } = config

  /** What the rewards of a step leave out of a problem's rubric. */
  const leftOut = (step: number, own: Problem) =>
    leftOutOf(config, task.rubric(own).criteria, step, task.id(own))

  const gradeIn = (step: number) => (items: readonly GradeItem<Problem>[]) =>
    task.grade(
      items.map(({ problem: own, rollout: { tokens, key } }) => ({
        ...{ problem: own, tokens, key },
        leftOut: together?.alone ? nothingAsked(own) : leftOut(step, own),
      })),
    )

  const nothingAsked = (own: Problem) => ({
    ids: new Set(task.rubric(own).criteria.map(({ id }) => id)),
    asked: false,
  })

  const scoreTogether = (
    groups: GroupScorer<Problem>,
    step: number,
    own: Problem,
    rollouts: readonly Rollout[],
  ) => {
    const left = leftOut(step, own)
    const rubric = task.rubric(own)
    return groups.score(
      own,
      rollouts.map(({ tokens }) => tokens),
      {
        rubric: left === undefined ? rubric : withoutCriteria(rubric, left.ids),
        ...(left && { leftOut: left }),
        key: rollouts[0].group,
      },
    )
  }

  const whole = {
    criteria: (own: Problem) => task.rubric(own).criteria,
    prompt: task.prompt,
  }

  const explore = async (
    io: Io,
    step: number,
    problems: readonly Problem[],
    { round = 0, recalled = null }: { round?: number; recalled?: Recalled | null } = {},
  ) => {
    const shown = memory && recalled ? memory.scaffold(whole, problems, recalled, parts.room) : whole
    const judging = new Array<Promise<GroupScores>>(problems.length)
    const onGroup = (p: number, rollouts: readonly Rollout[]) => {
      judging[p] = scoreTogether(together!, step, problems[p], rollouts)
      // What fails is told below; until then it must not count as unhandled.
      judging[p].catch(() => {})
    }
    const graded = await io.rollOut({
      problems,
      round,
      prompt: own => task.prompt(own),
      sampledFrom: scaffoldedPrompts(config, shown, problems, { label: 'ruscarl', step, round }),
      ratio,
      samples: rollout.samples,
      sampling: samplingOf(config, task.stopTokens),
      grade: gradeIn(step),
      gradeBatch: task.gradeBatch,
      reward: scoredReward,
      ...(together && { onGroup }),
      last: round === 0,
    })
    return together ? paidByGroup(graded, await Promise.all(judging)) : graded
  }

  /** Groups whose scores are all equal give way to further problems: dynamic sampling (DAPO, arXiv 2503.14476 section 3.2). */
  const replaceEqualGroups = async (io: Io, step: number, first: ScoredRollout<Problem>[][]) => {
    const groups = [...first]
    const { rounds = 0 } = config.exploration.dynamicSampling ?? {}
    for (let round = 1; round <= rounds; round++) {
      const equal = groups.flatMap((group, p) => (isEqual(group) ? [p] : []))
      if (equal.length === 0) break
      const rng = new Rng(`ruscarl further problems/${seed}/${step}/${round}`)
      const further = equal.map(() => problem(rng.int(FURTHER)))
      const found = await explore(io, step, further, { round })
      equal.forEach((p, i) => {
        groups[p] = found[i]
      })
    }
    return groups
  }

  /** Tokens that the policy was unsure of weigh more (RuscaRL Table 13). */
  const withBonus = async (credited: CreditedScore<Problem>[][]) => {
    const { entropyBonus } = config.exploration
    if (entropyBonus === null) return credited
    const entropies_P_G = await entropiesOf(policy, credited, { ratio, temperature: rollout.temperature })
    return credited.map((group, p) =>
      group.map((item, g) => ({
        ...item,
        advantages: withEntropyBonus(item.advantages, entropies_P_G[p][g], entropyBonus),
      })),
    )
  }

  const attemptsOf = (group: readonly ScoredRollout<Problem>[]): Attempts<Problem> => {
    const [{ problem: own }] = group
    return {
      problem: own,
      judged: [
        { criteria: task.rubric(own).criteria, verdicts_G: group.map(({ grade: { verdicts } }) => verdicts) },
      ],
    }
  }

  return {
    async rollOut(step, io) {
      const from = (step - 1) * rollout.prompts
      const problems = Array.from({ length: rollout.prompts }, (_, i) => problem(from + i))
      // Before anything is awaited: the step before may be learnt from meanwhile.
      const recalled = memory ? await memory.recall(step, problems) : null
      const first = await explore(io, step, problems, { recalled })
      return { groups: await replaceEqualGroups(io, step, first), recalled }
    },

    async learn(step, { groups, recalled }) {
      assertJudged(groups)
      const { advantages_P_G, zeroVarianceGroups } = advantagesOf(groups, known =>
        grpoAdvantages(known, config.advantage),
      )
      const time = figures?.()
      const credited = await withBonus(creditRollouts(groups, advantages_P_G))
      const remembered = memory && recalled && (await memory.learn(step, recalled, groups.map(attemptsOf)))
      return {
        phases: [phaseOf(config, datumsOf(credited, config))],
        metrics: {
          ...scoreFigures(task, groups, {
            byRubric: config.reward === 'rubric' && !together,
            showsRubric: memory === null,
            leftOut: own => leftOut(step, own)?.ids,
          }),
          ...droppedFigures(config, task, groups, own => leftOut(step, own)?.ids),
          ...groupFigures(groups),
          ...remembered,
          zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length),
          ...(time && { time }),
        },
        rollouts: learntFrom(credited, item =>
          rolloutRow(task, step, item, leftOut(step, item.problem)?.ids),
        ),
        ...(heldOut && { heldOut: opinionOn(heldOut, groups, step, seed) }),
      }
    },

    evaluate,

    atEnd: idleCriteria,

    ...(memory && { state: memory }),
  }
}

/** Whether a group has nothing to compare, among those that were judged. */
const isEqual = (group: readonly ScoredRollout<unknown>[]): boolean => {
  const rewards = rewardsOf([group])[0].filter(reward => reward !== null)
  return rewards.length < 2 || Math.max(...rewards) - Math.min(...rewards) < MIN_RANGE
}

/** Problems of later passes are as good as any; a bound keeps the passes few that are shuffled for it. */
const FURTHER = 1 << 16

/**
 * When no judge has a word to say about a whole step, it is out of order: going on would train on nothing.
 * @throws GradusError with the first reason that was given
 */
const assertJudged = (groups: Groups<ScoredRollout<unknown>>): void => {
  const rollouts = groups.flat()
  const judged = (own: ScoredResponse) => own.verdicts.filter(({ source }) => source !== 'rule')
  const verdicts = rollouts.flatMap(({ grade }) => judged(grade))
  const byGroup = rollouts.some(({ grade: { relative } }) => relative !== undefined)
  const silent = !byGroup && verdicts.length > 0 && verdicts.every(verdict => creditOf(verdict) === null)
  if (!silent && (rollouts.length === 0 || rollouts.some(({ reward }) => reward !== null))) return
  const relative = rollouts.find(({ grade }) => grade.relative?.score === null)?.grade.relative?.explanation
  const reason =
    relative ?? verdicts.find(verdict => creditOf(verdict) === null)?.explanation ?? 'no reason given'
  throw new GradusError(
    `judge: expected verdicts on ${rollouts.length} rollouts, got none that decides anything (${reason.slice(0, REASON_CHARACTERS)})`,
    { hint: 'see to the judge, then go on with --resume-or-start' },
  )
}

const REASON_CHARACTERS = 200
