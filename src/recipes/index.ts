/** @file Recipes: the published methods, each from a configuration to a run folder. */

import type { RecipeEntry } from './common/recipe.ts'
import { distillEntry } from './distill/entry.ts'
import { environmentEntry } from './environment/entry.ts'
import { grpoEntry, runGrpo } from './grpo/entry.ts'
import { learnedVerifier } from './learned-verifier/entry.ts'
import { ritEntry } from './rit/entry.ts'
import { rlcerEntry } from './rlcer/entry.ts'
import { rubricAsRewardEntry } from './rubric-as-reward/entry.ts'
import { rubricemEntry } from './rubricem/entry.ts'
import { ruscarlEntry } from './ruscarl/entry.ts'
import { sftEntry } from './sft/entry.ts'

export { evaluation } from './common/evaluation.ts'
export { type Method, type MethodRun, runMethod } from './common/method-run.ts'
export { problemsIn, problemsOf } from './common/problem-order.ts'
export type { RecipeEntry, RunEvents, RunOptions, RunPlan, RunResult } from './common/recipe.ts'
export { gradedBy } from './common/rubric-task.ts'
export { type DistillRunParts, runDistill } from './distill/run.ts'
export { LearnedVerifier, type LearnedVerifierOptions } from './learned-verifier/grader.ts'
export { evaluateSet } from './logic/evaluate.ts'
export type { RuscarlRunParts } from './ruscarl/check.ts'
export { runRuscarl } from './ruscarl/run.ts'
export {
  distillEntry as distill,
  environmentEntry as environment,
  grpoEntry as grpo,
  learnedVerifier,
  ritEntry as rit,
  rlcerEntry as rlcer,
  rubricAsRewardEntry as rubricAsReward,
  rubricemEntry as rubricem,
  runGrpo,
  ruscarlEntry as ruscarl,
  sftEntry as sft,
}

/** Every recipe by name. Each entry checks its configuration by its own schema, so the type of it does not matter here. */
export const RECIPES: Readonly<Record<string, RecipeEntry>> = Object.fromEntries(
  [
    grpoEntry,
    rubricAsRewardEntry,
    ruscarlEntry,
    distillEntry,
    rlcerEntry,
    ritEntry,
    rubricemEntry,
    environmentEntry,
    learnedVerifier,
    sftEntry,
  ].map(entry => [entry.name, entry as unknown as RecipeEntry]),
)
