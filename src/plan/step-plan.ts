/** @file Time, memory and cost of a step and of a training on accelerators: each stage, what bounds it, and what moves it. */

import { type ModelSize, sizeOf } from '../recipes/common/model-size.ts'
import { presenceOf, shapeOfWork } from '../recipes/common/step-time.ts'
import type { JudgeCalls, PlannedRole, StepWork } from '../recipes/common/step-work.ts'
import { type Assumed, assumed, atPaces, type Pace } from './assumptions.ts'
import { type GpuMemory, gpuMemory } from './gpu-memory.ts'
import type { GpuSet } from './gpus.ts'
import { type DrawTime, drawTime, type Placement, placeCopies } from './sampling-time.ts'
import { type UpdateTime, updateTime } from './update-time.ts'

/** Who grades: servers of a model, a rate that is known, or nobody knows. */
export type Grading =
  | { kind: 'model'; size: ModelSize; gpus: GpuSet }
  | { kind: 'rate'; callsPerSecond: number }
  | { kind: 'unknown' }

export interface PlanRequest {
  work: StepWork
  gpus: GpuSet
  grading: Grading
  /** Values in place of those that the plan assumes. */
  set: Partial<Assumed>
  /** Tokens of a judge's answer; as recipes reckon where absent. */
  judgeTokens?: number
  /** Tokens of a micro-batch on a GPU. Default: one sequence of the longest, or 16,384, whichever is more. */
  microBatchTokens?: number
  /** A GPU's hour, and a million tokens of a judge in and out, in any one currency. */
  prices?: { gpuHour?: number; judgeIn?: number; judgeOut?: number }
}

interface JudgeLoad {
  callsPerStep: number
  /** Read and written in a step; `sharedIn` of those read are in a prefix cache. */
  tokensIn: number
  sharedIn: number
  tokensOut: number
  /** What the judge must do a second so that no step waits for it. */
  callsPerSecond: number
  tokensInPerSecond: number
  tokensOutPerSecond: number
}

export interface StepPlan {
  pace: Pace
  assumed: Assumed
  seconds: {
    sampling: number
    /** Null where nobody says how fast the judge is; 0 without one. */
    grading: number | null
    update: number
    sync: number
    /** Sampling, then grading, then learning; and with grading beside sampling, as Gradus has it. RuscaRL, eqs. 8 and 9. */
    inTurn: number | null
    overlapped: number | null
  }
  bottleneck: 'sampling' | 'grading' | 'update'
  sampledTokens: number
  sampling: (DrawTime & { role: string; placement: Placement })[]
  update: UpdateTime
  judge: JudgeLoad | null
  memory: GpuMemory
  /** Hours of all steps, evaluations not counted, and GPU-hours of policy and judge. */
  hours: number | null
  gpuHours: number | null
  cost: { gpus: number | null; judge: number | null }
}

const lengthsOf = ({ newTokens }: PlannedRole, { supervised }: StepWork, use: Assumed) => ({
  newTokens: supervised ? newTokens : newTokens * use.responseShare,
  longestTokens: newTokens * Math.max(use.longestShare, use.responseShare),
})

const judgeLoad = (
  work: StepWork,
  use: Assumed,
  judgeTokens: number | undefined,
): Omit<JudgeLoad, `${string}PerSecond`> | null => {
  if (work.judges.length === 0) return null
  const shownTokens = ({ shown }: JudgeCalls) => {
    const role = work.roles.find(({ name }) => name === shown.role) ?? work.roles[0]
    return shown.samples * lengthsOf(role, work, use).newTokens
  }
  let [callsPerStep, tokensIn, sharedIn, tokensOut] = [0, 0, 0, 0]
  for (const calls of work.judges) {
    const common = calls.sharedTokens + shownTokens(calls)
    callsPerStep += calls.callsPerStep
    tokensIn += calls.callsPerStep * (calls.instructionTokens + calls.ownTokens + common)
    // Instructions are read once by each server; what is judged, once for all calls about it.
    const again = calls.instructionTokens + common * (1 - 1 / Math.max(1, calls.callsPerShown))
    sharedIn += calls.callsPerStep * again * use.cachedPrefix
    tokensOut += calls.callsPerStep * (judgeTokens ?? calls.completionTokens)
  }
  return { callsPerStep, tokensIn, sharedIn, tokensOut }
}

/** The longest verdict over the mean one. */
const LONGEST_ANSWER = 3

const gradingSeconds = (
  grading: Grading,
  load: ReturnType<typeof judgeLoad>,
  use: Assumed,
): number | null => {
  if (load === null) return 0
  const { callsPerStep, tokensIn, sharedIn, tokensOut } = load
  if (grading.kind === 'unknown') return null
  if (grading.kind === 'rate') return callsPerStep / grading.callsPerSecond
  const { size, gpus } = grading
  const [promptTokens, newTokens] = [tokensIn / callsPerStep, tokensOut / callsPerStep]
  const placement = placeCopies(size, gpus, 0, promptTokens + newTokens)
  const draw = {
    prompts: callsPerStep,
    promptTokens: (tokensIn - sharedIn) / callsPerStep,
    samples: callsPerStep,
    ...{ newTokens, longestTokens: LONGEST_ANSWER * newTokens },
  }
  return drawTime(size, gpus, placement, draw, use).seconds
}

/** Seconds of drawing each role's samples. */
const samplingOf = (
  work: StepWork,
  size: ModelSize,
  gpus: GpuSet,
  placement: Placement,
  use: Assumed,
): StepPlan['sampling'] =>
  work.roles.map(role => {
    const { newTokens, longestTokens } = lengthsOf(role, work, use)
    const samples = role.groups * role.samples
    // A later turn finds what was said before in the cache, where it is still there.
    const rereadTokens =
      (1 - use.cachedPrefix) * samples * ((role.turns ?? 1) - 1) * (role.promptTokens + newTokens / 2)
    const draw = {
      ...{ prompts: role.groups, promptTokens: role.promptTokens, samples, rereadTokens },
      ...{ newTokens, longestTokens },
    }
    const time = drawTime(size, gpus, placement, draw, use)
    return { ...time, role: role.name, placement, seconds: time.seconds * presenceOf(role, work) }
  })

/** What a step learns from, by role. */
const learntOf = (work: StepWork, use: Assumed) =>
  work.roles.map(role => ({
    samples: role.groups * role.samples * presenceOf(role, work),
    promptTokens: role.learnt?.promptTokens ?? role.promptTokens,
    newTokens: lengthsOf(role, work, use).newTokens,
  }))

type Seconds = StepPlan['seconds']

const secondsOf = (sampling: number, grading: number | null, update: number, sync: number): Seconds => ({
  ...{ sampling, grading, update, sync },
  inTurn: grading === null ? null : sampling + grading + update + sync,
  overlapped: grading === null ? null : Math.max(sampling, grading) + update + sync,
})

const bottleneckOf = ({ sampling, grading, update }: Seconds): StepPlan['bottleneck'] => {
  const stages = { sampling, grading: grading ?? 0, update }
  const [longest] = Object.entries(stages).reduce((a, b) => (b[1] > a[1] ? b : a))
  return longest as StepPlan['bottleneck']
}

/** Hours of all steps, and what they cost where prices are known. */
const spendingOf = (
  { work, gpus, grading, prices = {} }: PlanRequest,
  { overlapped }: Seconds,
  load: ReturnType<typeof judgeLoad>,
): Pick<StepPlan, 'hours' | 'gpuHours' | 'cost'> => {
  const hours = overlapped === null ? null : (work.steps * overlapped) / 3600
  const judgeGpus = grading.kind === 'model' && load !== null ? grading.gpus.count : 0
  const gpuHours = hours === null ? null : hours * (gpus.count + judgeGpus)
  const { gpuHour, judgeIn, judgeOut } = prices
  const judge =
    load === null || judgeIn === undefined || judgeOut === undefined
      ? null
      : (work.steps * (load.tokensIn * judgeIn + load.tokensOut * judgeOut)) / 1e6
  return {
    ...{ hours, gpuHours },
    cost: { gpus: gpuHours === null || gpuHour === undefined ? null : gpuHours * gpuHour, judge },
  }
}

/** What the judge must do a second so that no step waits for it. */
const pacedLoad = (load: ReturnType<typeof judgeLoad>, seconds: number): JudgeLoad | null =>
  load && {
    ...load,
    callsPerSecond: load.callsPerStep / seconds,
    tokensInPerSecond: load.tokensIn / seconds,
    tokensOutPerSecond: load.tokensOut / seconds,
  }

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** The plan at one pace. @throws ConfigError for a model that is not known */
export const planStep = (request: PlanRequest, pace: Pace): StepPlan => {
  const { work, gpus, grading } = request
  const use = assumed(pace, request.set)
  const size = sizeOf(shapeOfWork(work))
  const longestRow = Math.max(
    ...work.roles.map(role => role.promptTokens + lengthsOf(role, work, use).newTokens),
  )
  const memory = (together: number) => gpuMemory(size, work, gpus, together, request.microBatchTokens)
  const placement = placeCopies(size, gpus, memory(1).state, longestRow)
  const sampling = work.supervised ? [] : samplingOf(work, size, gpus, placement, use)
  const learnt = learntOf(work, use)
  const update = updateTime(gpus, learnt, size, work, use)
  const load = judgeLoad(work, use, request.judgeTokens)
  const sampled = sum(sampling.map(({ seconds }) => seconds))
  const seconds = secondsOf(
    sampled,
    gradingSeconds(grading, load, use),
    update.seconds,
    work.supervised ? 0 : use.syncSeconds + update.weightBytes / gpus.gpu.link,
  )
  return {
    ...{ pace, assumed: use, seconds, bottleneck: bottleneckOf(seconds), sampling, update },
    sampledTokens: work.supervised ? 0 : sum(learnt.map(({ samples, newTokens }) => samples * newTokens)),
    judge: pacedLoad(load, sampled),
    memory: memory(placement.together),
    ...spendingOf(request, seconds, load),
  }
}

export type RangedPlan = Record<Pace, StepPlan>

/** What is usual, between what a good and a bad day make of it. @throws ConfigError for a model that is not known */
export const planRange = (request: PlanRequest): RangedPlan => atPaces(pace => planStep(request, pace))
