/** @file A step in this process: seconds of sampling and of learning by the measured engine, for lengths assumed or known. */

import { modelTensors } from '../policy/local/weight-sizes.ts'
import type { PlannedRole, StepWork } from '../recipes/common/plan-time.ts'
import { type Assumed, assumed, type Pace } from './assumptions.ts'
import {
  type EngineDraw,
  type EngineSpeed,
  engineSampling,
  engineScoring,
  engineUpdate,
} from './engine-time.ts'
import { sizeOf } from './model-size.ts'
import { shapeOfWork } from './step-plan.ts'

/** Tokens of a role's samples, as a run had them. */
export interface KnownLengths {
  newTokens: number
  longestTokens: number
}

export interface EnginePlan {
  sampling: number
  update: number
  /** Sum of both: graders work beside, or take what they take. */
  step: number
}

/** What is known of a run beyond its settings. */
export interface KnownRun {
  lengths: ReadonlyMap<string, KnownLengths>
  /** Share of the groups that were learnt from. */
  learntShare: number
}

const drawOf = (role: PlannedRole, { supervised }: StepWork, use: Assumed, known?: KnownRun): EngineDraw => {
  const samples = role.groups * role.samples
  const lengths = known?.lengths.get(role.name) ?? {
    newTokens: supervised ? role.newTokens : role.newTokens * use.responseShare,
    longestTokens: role.newTokens * use.longestShare,
  }
  return { prompts: role.groups, promptTokens: role.promptTokens, samples, ...lengths }
}

/** @throws ConfigError for a model that is not known */
export const planEngineStep = (
  work: StepWork,
  speed: EngineSpeed,
  use: Assumed,
  known?: KnownRun,
): EnginePlan => {
  const shape = shapeOfWork(work)
  const size = sizeOf(shape)
  const share = ({ steps }: PlannedRole) => (steps === undefined || work.steps === 0 ? 1 : steps / work.steps)
  const draws = work.roles.map(role => ({
    draw: drawOf(role, work, use, known),
    share: share(role),
    behind: role.learnt ?? role,
  }))
  const learnt = draws.map(each => ({
    ...each.draw,
    promptTokens: each.behind.promptTokens,
    prompts: each.behind.groups * each.share,
    samples: each.draw.samples * each.share,
  }))
  const drawing = draws.reduce(
    (sum, each) => sum + each.share * engineSampling(size, each.draw, work.maxRows, speed),
    0,
  )
  // Samples that were shown something else are scored behind their own prompts before grading ends.
  const sampling = work.supervised ? 0 : drawing + work.scorings * engineScoring(size, learnt, speed)
  const update = engineUpdate(
    learnt,
    {
      size,
      trainedParameters: modelTensors(shape, work.lora).trained,
      adapter: work.lora !== null,
      reference: work.reference,
      epochs: work.epochs,
      minibatches: work.minibatches,
      learntShare: known?.learntShare ?? 1,
      recompute: work.recompute,
      supervised: work.supervised,
    },
    speed,
  )
  return { sampling, update, step: sampling + update }
}

/** As planRange, of this process. */
export const planEngineRange = (
  work: StepWork,
  speed: EngineSpeed,
  set: Partial<Assumed>,
): Record<Pace, EnginePlan> => {
  const at = (pace: Pace) => planEngineStep(work, speed, assumed(pace, set))
  return { quick: at('quick'), usual: at('usual'), slow: at('slow') }
}
