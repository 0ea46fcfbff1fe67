/** @file The scaffold for any recipe: how much of a rubric a rollout is shown (RuscaRL Eq. 3 and section 4.2), which criteria, and the prompts that a step samples from. */

import { z } from 'zod'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { Task } from '../../tasks/task.ts'
import { choice, kindSchema } from '../../train/config.ts'
import { roundHalfToEven } from '../../util/descriptive.ts'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'

/** How the shown share differs inside a group of G samples. */
const groupRatioSchema = z.discriminatedUnion('kind', [
  /** (G - i) / (G - 1) for i = 1..G (Eq. 3). */
  kindSchema('linear', 'From all of it for the first sample to nothing for the last.', {}),
  kindSchema('binary', 'All of it for the first `full` samples, nothing for the others.', {
    full: z.int().min(0).describe('Number of samples that see the whole rubric.'),
  }),
  kindSchema('all', 'All of it for every sample (the arm RL-S).', {}),
  kindSchema('none', 'No scaffold: rubric-based RL.', {}),
])
export type GroupRatio = z.output<typeof groupRatioSchema>

/** How the shown share falls over the steps of a run. */
const stepDecaySchema = z.discriminatedUnion('kind', [
  kindSchema('sigmoid', '1 / (1 + exp(alpha (t - t0))), with t from 0 at the first step to 1 at the last.', {
    alpha: z.number().positive().default(125).describe('Steepness of the sigmoid.'),
    t0: z.number().min(0).max(1).default(0.2).describe('Share of the steps after which half of it is shown.'),
  }),
  kindSchema('constant', 'It does not fall.', {}),
  kindSchema('linear', '1 - t.', {}),
  kindSchema('power', '(1 - t)^exponent.', {
    exponent: z.number().positive().describe('Exponent of (1 - t).'),
  }),
])
export type StepDecay = z.output<typeof stepDecaySchema>

/**
 * Shown share of each of `samples` rollouts of a group before any decay (RuscaRL Eq. 3). It is 1 in a group of one, which is shown
 * nothing all the same (`scaffoldedPrompts`).
 * @throws ConfigError for more fully scaffolded samples than there are.
 */
export const lambdaGroup = (ratio: GroupRatio, samples: number): number[] => {
  if (ratio.kind === 'binary' && ratio.full > samples)
    throw new ConfigError(
      `scaffold.group.full: expected at most ${samples}, the samples of a group, got ${ratio.full}`,
    )
  return Array.from({ length: samples }, (_, i) => {
    if (ratio.kind === 'all') return 1
    if (ratio.kind === 'none') return 0
    if (ratio.kind === 'binary') return Number(i < ratio.full)
    return samples === 1 ? 1 : (samples - 1 - i) / (samples - 1)
  })
}

/** The two settings by which any recipe shows parts of a rubric in the prompt: to be spread into its own section `scaffold`. */
export const scaffoldShape = {
  group: groupRatioSchema
    .prefault({ kind: 'linear' })
    .describe('Share of the rubric that each sample of a group is shown.'),
  decay: stepDecaySchema.prefault({ kind: 'sigmoid' }).describe('How this share falls over the steps.'),
}

export const scaffoldRatio = choice(
  ['plain', 'true-is', 'sampled'],
  'plain',
  "Which probabilities a scaffolded rollout's ratio compares (RuscaRL C.5), now and at sampling: `plain`: both of the plain prompt; `true-is`: of the plain prompt, and of the scaffolded one; `sampled`: both of the scaffolded one.",
)

/** @throws ConfigError for a ladder that no group can climb, and for a ratio without a scaffold */
export const checkScaffold = ({
  scaffold,
  ratio,
  rollout,
}: {
  scaffold: { group: GroupRatio } | null
  ratio: string
  rollout: { samples: number }
}): void => {
  if (scaffold !== null) lambdaGroup(scaffold.group, rollout.samples)
  else if (ratio !== 'plain')
    throw new ConfigError(
      `ratio: expected "plain" without a scaffold, where there is only one prompt, got "${ratio}"`,
      { hint: 'set scaffold, or leave ratio out' },
    )
}

/** The plan's line on a scaffold. @param ratio whose log-probs the ratio compares, where a recipe has the choice */
export const scaffoldLine = (
  { group, decay }: { group: GroupRatio; decay: StepDecay },
  ratio?: string,
): string =>
  group.kind === 'none'
    ? 'scaffold     none: nothing of the rubric is shown'
    : `scaffold     ${group.kind} in the group, ${decay.kind} over the steps${ratio === undefined ? '' : `, ratio ${ratio}`}`

/** Place of a step in the run: 0 for the first of `steps`, 1 for the last (t of Eq. 3). */
const progressOf = (step: number, steps: number): number =>
  steps <= 1 ? 0 : Math.min(1, Math.max(0, (step - 1) / (steps - 1)))

/** Decay at a 1-based step of a run; 1 for a run of one step (RuscaRL Eq. 3). */
export const lambdaStep = (decay: StepDecay, step: number, steps: number): number => {
  if (steps <= 1) return 1
  const t = progressOf(step, steps)
  switch (decay.kind) {
    case 'sigmoid':
      return 1 / (1 + Math.exp(decay.alpha * (t - decay.t0)))
    case 'constant':
      return 1
    case 'linear':
      return 1 - t
    case 'power':
      return (1 - t) ** decay.exponent
  }
}

/**
 * The share that each sample of a group is shown in a step: the group's ladder times the decay.
 * @throws ConfigError for a group that is not that large
 */
export const lambdasIn = (
  step: number,
  {
    scaffold: { group, decay },
    rollout: { samples },
    steps,
  }: { scaffold: { group: GroupRatio; decay: StepDecay }; rollout: { samples: number }; steps: number },
): number[] => lambdaGroup(group, samples).map(share => share * lambdaStep(decay, step, steps))

/** Criteria that a share shows: halves go to the even count, a share of 1 or more shows all (RuscaRL code). */
export const shownCount = (share: number, criteria: number): number =>
  share >= 1 ? criteria : roundHalfToEven(share * criteria)

/** What a scaffold makes of prompts, on average over the steps of a run. */
export interface ScaffoldWork {
  /** Different prompts of a group, and their mean tokens. */
  prompts: number
  promptTokens: number
  /** Share of the samples that are shown something. */
  shown: number
}

/** Steps that a mean over a run is taken of, at most. */
const MOST_LOOKS = 4096

/**
 * Samples that are shown something have prompts of their own, all others share one.
 * @param tokens of a plain prompt and of one with the whole rubric
 */
export const scaffoldWork = (
  { group, decay }: { group: GroupRatio; decay: StepDecay },
  { steps, samples, criteria }: { steps: number; samples: number; criteria: number },
  tokens: { plain: number; whole: number },
): ScaffoldWork => {
  // A group of one is shown nothing.
  const ratios = samples > 1 ? lambdaGroup(group, samples) : [0]
  let [prompts, promptTokens, shown] = [0, 0, 0]
  const counted = Math.max(1, steps)
  const looks = Math.min(counted, MOST_LOOKS)
  for (let look = 0; look < looks; look++) {
    const step = looks === counted ? look + 1 : 1 + Math.floor((look * (counted - 1)) / (looks - 1))
    const share = lambdaStep(decay, step, counted)
    const counts = ratios.map(ratio => shownCount(ratio * share, criteria)).filter(count => count > 0)
    shown += counts.length / samples
    prompts += counts.length
    promptTokens += counts.reduce(
      (sum, count) => sum + tokens.plain + (count / criteria) * (tokens.whole - tokens.plain),
      0,
    )
    if (counts.length === samples) continue
    prompts++
    promptTokens += tokens.plain
  }
  return { prompts: prompts / looks, promptTokens: promptTokens / prompts, shown: shown / looks }
}

/**
 * A uniformly random subset of the criteria, in the rubric's order; all of them for a share of 1 (RuscaRL Eq. 3). Criteria worth
 * nothing are never shown.
 */
export const selectCriteria = (criteria: readonly Criterion[], share: number, rng: Rng): Criterion[] => {
  const count = shownCount(share, criteria.length)
  const chosen = new Set(
    rng.sample(
      criteria.map((_, i) => i),
      count,
    ),
  )
  return criteria.filter(({ points }, i) => chosen.has(i) && points !== 0)
}

/** What a problem has to show, and how its prompts look. */
export interface Shown<Problem> {
  criteria(problem: Problem): readonly Criterion[]
  /** @param hints criteria that are shown */
  prompt(problem: Problem, hints?: readonly Criterion[]): TokenIds
}

/** A task's own rubrics. */
export const taskRubrics = <Problem>(task: Pick<Task<Problem>, 'rubric' | 'prompt'>): Shown<Problem> => ({
  criteria: problem => task.rubric(problem).criteria,
  prompt: task.prompt,
})

/** Which rollouts of a run the prompts are for. */
export interface ScaffoldPlace {
  /** Begins the names of the random streams: the recipe's name. */
  label: string
  seed: number | string
  step: number
  /** Further rollouts of the same step. Default 0. */
  round?: number
}

/**
 * A prompt for every sample with its own part of its problem's criteria: [problem][sample]. Null when nobody is shown anything,
 * as in groups of one. What is drawn depends on label, seed, step, round and place alone.
 * @param lambdas_G the share of the criteria that each sample of a group is shown
 */
export const scaffoldedPrompts = <Problem>(
  lambdas_G: readonly number[],
  { criteria, prompt }: Shown<Problem>,
  problems: readonly Problem[],
  { label, seed, step, round = 0 }: ScaffoldPlace,
): TokenIds[][] | null => {
  if (lambdas_G.length === 1) return null
  let anything = false
  const prompts = problems.map((problem, p) =>
    lambdas_G.map((share, g) => {
      const rng = new Rng(`${label} scaffold/${seed}/${step}/${p}/${g}${round > 0 ? `/${round}` : ''}`)
      const shown = selectCriteria(criteria(problem), share, rng)
      anything ||= shown.length > 0
      return shown.length > 0 ? prompt(problem, shown) : prompt(problem)
    }),
  )
  return anything ? prompts : null
}
