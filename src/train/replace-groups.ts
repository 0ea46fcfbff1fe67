/** @file A step's groups: begun from its problems, and groups of no use replaced by further ones (DAPO's dynamic sampling). */

import type { Policy, Sample } from '../policy/policy.ts'
import type { LoopSettings, Recipe } from './loop.ts'
import { type Drawn, type Group, type RolloutTime, type RunningRollOut, startRollOut } from './rollout.ts'

/** Groups to be given up, by index, and a problem to sample in the place of each. */
export interface Replacements<Problem> {
  rejected: readonly number[]
  problems: readonly Problem[]
}

/** A step's groups with what was sampled besides and thrown away. */
export interface RolledOut<Problem, Grade> {
  groups: Group<Problem, Grade>[]
  discarded: Sample[]
  time: RolloutTime
}

/**
 * Starts on the rollouts of problems; those of a further round have random streams of their own.
 * @param drawn what was sampled for them before a resume
 */
export const beginGroups = <Problem, Grade>(
  policy: Policy,
  recipe: Recipe<Problem, Grade>,
  settings: LoopSettings,
  step: number,
  problems: readonly Problem[],
  round = 0,
  drawn: Drawn | null = null,
): RunningRollOut<Problem, Grade> => {
  const prompts_P_G = recipe.samplingPrompts?.(step, problems, round) ?? null
  const seed = `${settings.seed}/${step}${round > 0 ? `/round ${round}` : ''}`
  const sampled = prompts_P_G && { prompts_P_G, ratio: settings.update.ratio ?? 'plain' }
  const own = { ...settings.rollout, seed }
  return startRollOut(policy, problems, recipe.prompt, recipe.grade, own, sampled, drawn)
}

const added = (a: RolloutTime, b: RolloutTime): RolloutTime => ({
  sample: a.sample + b.sample,
  grade: a.grade + b.grade,
  gradeBusy: a.gradeBusy + b.gradeBusy,
})

/** Asks the recipe which groups to replace, samples others in their place, and asks again about the result. */
export const replaceGroups = async <Problem, Grade>(
  policy: Policy,
  recipe: Recipe<Problem, Grade>,
  settings: LoopSettings,
  step: number,
  first: { groups: readonly Group<Problem, Grade>[]; time: RolloutTime },
): Promise<RolledOut<Problem, Grade>> => {
  const groups = [...first.groups]
  const discarded: Sample[] = []
  let { time } = first
  for (let round = 1; ; round++) {
    const wanted = recipe.replace?.(step, round, groups) ?? null
    if (wanted === null || wanted.rejected.length === 0) return { groups, discarded, time }
    const further = await beginGroups(policy, recipe, settings, step, wanted.problems, round).finished
    time = added(time, further.time)
    for (const [i, place] of wanted.rejected.entries()) {
      discarded.push(...groups[place].samples)
      groups[place] = further.groups[i]
    }
  }
}
