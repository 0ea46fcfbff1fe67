/**
 * @file RiT (rubrics in thinking): the thinking before an answer is judged by a rubric of its own, and its reward fused with the
 * answer's through a gate; GRPO.
 *
 * 1. A rubric for thinking is there before the training (`rubric.ts`): authored from good and poor traces, then refined.
 * 2. Each response is parted at the end of its thinking; thinking is judged on the thinking alone, the answer on the answer.
 * 3. R_fus = alpha R_think + (1 - alpha) R_resp; a gate makes R_final of it, min(R_fus, R_resp) in the paper (Eq. 6-8).
 * 4. Advantages are relative to the group, or a critic's; one clipped step.
 *
 * Departures from the paper, each a setting:
 * - The KL coefficient, epsilon and temperature are not in the paper: none, 0.2 and 1 (spec 3.4).
 * - A criterion may be a flaw (points below zero): it is satisfied by its absence.
 * - An open answer's score is the signed one of its rubric, not below 0, where the paper counts criteria alike; of questions it is
 *   the benchmark's own, where the paper pays binary verdicts (Eq. 5).
 * - `rubricDropout`: criteria of thinking are left out of its reward by chance (arXiv 2608.11669).
 * - `fusion.adaptive`, `normalise: part`, `scaffold`, `memory`, `control` and the rubric ladder below `refined` are ours.
 */

import type { Policy } from '../../policy/policy.ts'
import { AdaptiveWeight } from '../../rl/adaptive-weight.ts'
import {
  type Credited,
  creditRollouts,
  datumsOf,
  type Graded,
  type Groups,
  type Rollout,
} from '../../rl/rollout.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { withoutCriteria } from '../../rubric/dropout.ts'
import type { GradeItem } from '../../train/grading.ts'
import { type HeldOut, learntFrom, type Recipe, type RecipeState } from '../../train/recipe.ts'
import { GradusError } from '../../util/errors.ts'
import { creditWithCritic, valueErrorOf, withCriticLoss } from '../common/critic.ts'
import type { Attempts, LessonMemory, Recalled } from '../common/lessons-memory.ts'
import type { ProblemStream } from '../common/problem-order.ts'
import { leftOutOf } from '../common/rubric-dropout.ts'
import { scaffoldedPrompts } from '../common/scaffold.ts'
import { phaseOf, samplingOf } from '../common/training.ts'
import type { RitConfig } from './config.ts'
import { droppedFigures, ritFigures, rolloutRow } from './figures.ts'
import { type RitRollout, rewarded, rewardPairs, ritAdvantages } from './rewards.ts'
import type { RitTask } from './task.ts'
import { gradeThoughts, type RitGrade, scoreThinkingTogether, shuffledThinking } from './thinking.ts'

export interface RitParts<Problem> {
  policy: Policy
  problem: ProblemStream<Problem>
  kit: RitTask<Problem>
  /** The thinking rubric of a problem. */
  rubricOf(problem: Problem): Rubric
  /** Lessons of earlier attempts; null where there is no memory. */
  memory?: LessonMemory<Problem> | null
  /** Most tokens of a prompt with lessons; absent: they always fit. */
  room?: number
  evaluate: Recipe<unknown>['evaluate']
}

/** A step's rollouts, and what was recalled for them. */
export interface RitRolled<Problem> {
  groups: Graded<Problem, RitGrade>[][]
  recalled: Recalled | null
}

export const rit = <Problem>(
  config: RitConfig,
  { policy, problem, kit, rubricOf, evaluate, memory = null, room }: RitParts<Problem>,
): Recipe<RitRolled<Problem>> => {
  const { rollout, ratio, critic, fusion, reward } = config
  const { task } = kit
  const weight = fusion.adaptive && new AdaptiveWeight(fusion.alpha, fusion.adaptive)

  /** What the rewards of a step leave out of a problem's rubric of thinking. */
  const leftOut = (step: number, own: Problem) =>
    leftOutOf(config, rubricOf(own).criteria, step, task.id(own))

  const gradeIn = (step: number) => (items: readonly GradeItem<Problem>[]) =>
    gradeThoughts(
      config,
      kit,
      rubricOf,
      items.map(({ problem: own, rollout: { tokens, key } }) => ({ problem: own, tokens, key })),
      own => leftOut(step, own),
    )

  /** Part of the answers' rubric in the prompt, as RuscaRL shows it, or of lessons. */
  const scaffolded = (step: number, problems: readonly Problem[], recalled: Recalled | null) => {
    const { scaffold } = config
    const whole = {
      criteria: (own: Problem) => task.rubric(own).criteria,
      prompt: task.prompt,
    }
    const shown = memory && recalled ? memory.scaffold(whole, problems, recalled, room) : whole
    return scaffold && scaffoldedPrompts({ ...config, scaffold }, shown, problems, { label: 'rit', step })
  }

  const credit = async (groups: Groups<RitRollout<Problem>>, alpha: number) => {
    const { advantages_P_G, zeroVarianceGroups } = ritAdvantages(config, groups, alpha)
    const credited =
      critic === null
        ? creditRollouts(groups, advantages_P_G)
        : await creditWithCritic(policy, groups, critic, { temperature: rollout.temperature, ratio })
    return { credited, zeroVarianceGroups: zeroVarianceGroups / Math.max(1, groups.length) }
  }

  /** Verdicts on what a hint may be. */
  const attemptsOf = (group: readonly Graded<Problem, RitGrade>[]): Attempts<Problem> => {
    const [{ problem: own }] = group
    const { hinted = 'answers' } = task.thinking
    const answers = {
      criteria: task.rubric(own).criteria,
      verdicts_G: group.map(({ grade: { answer } }) => answer.verdicts),
    }
    const thinking = {
      criteria: rubricOf(own).criteria,
      verdicts_G: group.map(({ grade: { verdicts } }) => verdicts),
    }
    return {
      problem: own,
      judged: [...(hinted === 'thinking' ? [] : [answers]), ...(hinted === 'answers' ? [] : [thinking])],
    }
  }

  return {
    async rollOut(step, io) {
      const problems = Array.from({ length: rollout.prompts }, (_, i) =>
        problem((step - 1) * rollout.prompts + i),
      )
      // Before anything is awaited: the step before may be learnt from meanwhile.
      const recalled = memory ? await memory.recall(step, problems) : null
      const { groupThinking } = kit
      const isTogether = config.thinkingBy === 'group' && groupThinking !== undefined
      const judging = new Array<ReturnType<typeof scoreThinkingTogether>>(problems.length)
      const onGroup = (p: number, rollouts: readonly Rollout[]) => {
        const own = problems[p]
        const thoughts = rollouts.map(({ tokens, key }) => ({
          key,
          thinking: task.thinking.read(tokens).thinking,
        }))
        const rubric = withoutCriteria(rubricOf(own), leftOut(step, own)?.ids ?? new Set())
        judging[p] = scoreThinkingTogether(config, groupThinking!, own, thoughts, rubric)
        // What fails is told below; until then it must not count as unhandled.
        judging[p].catch(() => {})
      }
      const graded = await io.rollOut({
        problems,
        prompt: own => task.prompt(own),
        sampledFrom: scaffolded(step, problems, recalled),
        ratio,
        samples: rollout.samples,
        sampling: samplingOf(config, task.stopTokens),
        grade: gradeIn(step),
        gradeBatch: task.gradeBatch,
        ...(isTogether && { onGroup }),
        last: true,
      })
      if (!isTogether) return { groups: graded, recalled }
      const thoughts = await Promise.all(judging)
      const groups = graded.map((group, p) =>
        group.map((item, g) => {
          const ids = leftOut(step, item.problem)?.ids
          const grade = { ...item.grade, ...thoughts[p][g], ...(ids && { leftOut: ids }) }
          return { ...item, grade }
        }),
      )
      return { groups, recalled }
    },

    async learn(step, { groups: rolled, recalled }) {
      const alpha = weight?.alpha ?? fusion.alpha
      const shown =
        config.control === 'shuffled'
          ? rolled.map((group, p) => shuffledThinking(group, `${config.seed}/${step}/${p}`))
          : rolled
      const groups = shown.map(group => group.map(item => rewarded(config, item, alpha)))
      assertJudged(groups)
      weight?.observe(rewardPairs(groups))
      const { credited, zeroVarianceGroups } = await credit(groups, alpha)
      const remembered = memory && recalled && (await memory.learn(step, recalled, rolled.map(attemptsOf)))
      // A critic learns from every rollout, also from those that say nothing to the policy.
      const dropZero = config.dropZero && critic === null
      const loss = withCriticLoss(config.loss, critic)
      return {
        phases: [phaseOf({ ...config, loss }, datumsOf(credited, { dropZero, ratio }))],
        metrics: {
          ...ritFigures(task, rubricOf, groups),
          ...droppedFigures(config, rubricOf, groups),
          ...remembered,
          alpha,
          zeroVarianceGroups,
          ...(critic && { valueError: valueErrorOf(credited) }),
          ...(kit.figures && { time: kit.figures() }),
        },
        rollouts: learntFrom(credited, item => rolloutRow(task, step, item, rubricOf)),
        // What is fused must not rise at the cost of the answers: they are watched on their own.
        ...(reward !== 'response' && { heldOut: answersOf(credited) }),
      }
    },

    evaluate,

    ...stateOf(weight, memory),
  }
}

/** A weight alone is kept as it was before there was a memory. */
const stateOf = (
  weight: AdaptiveWeight | null,
  memory: LessonMemory<never> | null,
): { state?: RecipeState } => {
  if (memory === null)
    return weight === null ? {} : { state: { save: () => weight.save(), load: value => weight.load(value) } }
  return {
    state: {
      save: () => ({ ...(weight && { weight: weight.save() }), memory: memory.save() }),
      load: value => {
        const saved = value as { weight?: unknown; memory: unknown }
        weight?.load(saved.weight)
        memory.load(saved.memory)
      },
    },
  }
}

const answersOf = async (credited: Groups<Credited<unknown, RitGrade>>): Promise<HeldOut> => ({
  scores: credited.flat().map(({ grade: { answer } }) => answer.score),
})

/**
 * When nothing is known of a whole step a judge is out of order: going on would train on nothing.
 * @throws GradusError
 */
const assertJudged = (groups: Groups<RitRollout<unknown>>): void => {
  const all = groups.flat()
  if (all.length === 0 || all.some(({ reward }) => reward !== null)) return
  const reason = all
    .flatMap(({ grade: { verdicts, answer } }) => [...verdicts, ...answer.verdicts])
    .find(({ met }) => met === null)?.explanation
  throw new GradusError(
    `judge: expected verdicts on ${all.length} rollouts, got none that decides anything (${(reason ?? 'no reason given').slice(0, 200)})`,
    { hint: 'see to the judge, then go on with --resume-or-start' },
  )
}
