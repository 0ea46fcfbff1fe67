/** @file `gradus bench grpo`: a whole step of GRPO, its parts named. */

import { availableParallelism } from 'node:os'
import { loadConfig } from '../model/checkpoint.ts'
import { type DataParallelPolicy, startEngines } from '../policy/local/data-parallel-policy.ts'
import type { LocalPolicy } from '../policy/local/local-policy.ts'
import type { SampleBits } from '../policy/local/weight-sizes.ts'
import { enginesOf } from '../policy/open.ts'
import { grpoAdvantages } from '../rl/advantages.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import { creditRollouts, datumsOf, type Graded } from '../rl/rollout.ts'
import type { Recipe } from '../train/recipe.ts'
import { formatInteger } from '../util/format.ts'
import { mean, median } from '../util/statistics.ts'
import type { BenchOptions } from './engine.ts'
import { type GrpoWork, grpoWork } from './grpo-work.ts'
import { type MeasuredSteps, measuredLoop, measureSteps } from './measured-steps.ts'
import { type ResultLine, resultTable } from './result-table.ts'

export interface GrpoBenchOptions
  extends Pick<BenchOptions, 'threads' | 'engines' | 'recompute' | 'microBatchTokens' | 'onProgress'> {
  /** In place of the shipped one: a folder, a name on the hub, a GGUF file; it answers generated instructions. */
  model?: string
  /** Of the adapter that a model of one's own trains; 0: all its weights. Default 32. */
  loraRank?: number
  prompts?: number
  /** Of a group. */
  samples?: number
  maxTokens?: number
  /** Steps that are measured in a round, between two that are not. */
  steps?: number
  rounds?: number
  /** Samples with advantage 0 leave the update, as in every recipe by default (`dropZero`); peers compute them. Default false. */
  dropZero?: boolean
  /** As `policy.sampleBits`; 32 by default. */
  sampleBits?: SampleBits
}

/** Seconds of a step, medians over the steps of a round and then over the rounds. */
export interface GrpoBenchmark {
  model: string
  parameters: number
  threads: number
  engines: number
  prompts: number
  samples: number
  maxTokens: number
  dropZero: boolean
  sampleBits: SampleBits
  /** Of one step, means: tokens of its prompts, each once, tokens that are sampled, and those of them that are learnt from. */
  promptTokens: number
  responseTokens: number
  learntTokens: number
  stepSeconds: number
  sampleSeconds: number
  /** Grading that is not hidden behind sampling. */
  gradeSeconds: number
  /** Forward, backward and AdamW. */
  updateSeconds: number
  /** Advantages, datums, and the rows of the run folder. */
  restSeconds: number
  sampledTokensPerSecond: number
  /** Nats between the log-probs of sampling and training. */
  logprobGapMean: number
  peakRssMb: number
}

type Size = GrpoWork['size'] & { dropZero: boolean }
type Settings = Size & { threads: number; engines: number; sampleBits: SampleBits }
type Problem = ReturnType<GrpoWork['problemAt']>

type Counted = Pick<GrpoBenchmark, 'promptTokens' | 'responseTokens' | 'learntTokens'>

/** GRPO as TRL has it by default: token-mean over the batch, no KL term, one pass; without `dropZero` also over groups all alike. */
const recipeOf = (
  work: GrpoWork,
  { prompts, samples, maxTokens, dropZero }: Size,
  counted: Counted[],
): Recipe<Graded<Problem, boolean>[][]> => ({
  rollOut: (step, io) =>
    io.rollOut({
      problems: Array.from({ length: prompts }, (_, i) => work.problemAt((step - 1) * prompts + i)),
      prompt: ({ promptTokens }) => promptTokens,
      samples,
      sampling: { maxTokens, temperature: 1, stopTokens: work.stopTokens },
      grade: async items => items.map(({ problem, rollout }) => problem.isRight(rollout.tokens)),
      reward: right => ({ reward: Number(right), parts: {} }),
      last: true,
    }),
  learn: async (_step, groups) => {
    const { advantages_P_G } = grpoAdvantages(groups.map(group => group.map(({ grade }) => Number(grade))))
    const datums = datumsOf(creditRollouts(groups, advantages_P_G), { dropZero })
    counted.push({
      promptTokens: groups.reduce((sum, [{ problem }]) => sum + problem.promptTokens.length, 0),
      responseTokens: groups.flat().reduce((sum, { rollout }) => sum + rollout.tokens.length, 0),
      learntTokens: datums.reduce((sum, { datum }) => sum + datum.tokens.length, 0),
    })
    const phase = { name: 'policy', datums, loss: lossPreset('trl:dapo'), temperature: 1 }
    return { phases: [{ ...phase, minibatches: 1, epochs: 1 }], metrics: {}, rollouts: [] }
  },
  evaluate: async () => [],
})

const summary = (
  model: string,
  { steps: _steps, rounds: _rounds, ...settings }: Settings,
  policy: LocalPolicy | DataParallelPolicy,
  rounds: readonly MeasuredSteps[],
  counted: readonly Counted[],
): GrpoBenchmark => {
  const middle = (of: (round: MeasuredSteps) => number) => median(rounds.map(of))
  const [sampleSeconds, gradeSeconds, updateSeconds] = ['sample', 'grade', 'update'].map(name =>
    middle(({ timeS }) => timeS(name)),
  )
  const responseTokens = mean(counted.map(each => each.responseTokens))
  return {
    model,
    parameters: policy.parameterCount,
    ...settings,
    promptTokens: mean(counted.map(each => each.promptTokens)),
    responseTokens,
    learntTokens: mean(counted.map(each => each.learntTokens)),
    stepSeconds: middle(({ stepS }) => stepS),
    sampleSeconds,
    gradeSeconds,
    updateSeconds,
    restSeconds: middle(({ stepS, timeS }) => stepS - timeS('sample') - timeS('grade') - timeS('update')),
    sampledTokensPerSecond: responseTokens / sampleSeconds,
    logprobGapMean: middle(({ logprobGap }) => logprobGap),
    peakRssMb: Math.round(process.resourceUsage().maxRSS / 1024),
  }
}

/** Trains a few steps in each round, on embedded engines. */
export const benchGrpo = async (options: GrpoBenchOptions = {}): Promise<GrpoBenchmark> => {
  const { onProgress = () => {}, model, loraRank, recompute, microBatchTokens, ...given } = options
  const { threads = availableParallelism(), sampleBits = 32 } = given
  const work = await grpoWork(model, loraRank)
  const engines = given.engines ?? enginesOf({ threads }, () => loadConfig(work.source.folder))
  const settings: Settings = { ...work.size, dropZero: false, ...given, threads, engines, sampleBits }
  const running = { threads, engines, sampleBits, recompute, microBatchTokens }
  const policy = await startEngines(work.source, running)
  try {
    const counted: Counted[] = []
    const rounds: MeasuredSteps[] = []
    for (let round = 1; round <= settings.rounds; round++) {
      onProgress(`round ${round} of ${settings.rounds}`)
      rounds.push(
        await measureSteps(policy, recipeOf(work, settings, counted), measuredLoop(settings.steps, false)),
      )
    }
    return summary(work.model, settings, policy, rounds, counted)
  } finally {
    await policy.close()
  }
}

/** The result for people, a line a value. */
export const formatGrpoBenchmark = (result: GrpoBenchmark): string => {
  const seconds = (value: number) => `${value.toFixed(3)} s`
  const { prompts, samples, maxTokens, threads, engines, parameters } = result
  const among = engines === 1 ? '' : ` of ${engines} engines`
  const lines: ResultLine[] = [
    [
      'step',
      seconds(result.stepSeconds),
      `${prompts} prompts x ${samples}, up to ${maxTokens} tokens; ${threads} threads${among}, ${result.model}, ${formatInteger(parameters)} weights`,
    ],
    [
      'sampling',
      seconds(result.sampleSeconds),
      `${formatInteger(result.responseTokens)} tokens, ${formatInteger(result.sampledTokensPerSecond)} a second; prompts ${formatInteger(result.promptTokens)} tokens`,
    ],
    ['grading', seconds(result.gradeSeconds), 'beyond what sampling hides'],
    [
      'update',
      seconds(result.updateSeconds),
      `forward, backward, AdamW; ${formatInteger(result.learntTokens)} tokens`,
    ],
    ['the rest', seconds(result.restSeconds), 'advantages, datums, rows of the run'],
    [
      'log-prob gap',
      `${result.logprobGapMean.toExponential(1)} nats`,
      `between sampling in ${result.sampleBits} bits and training`,
    ],
    ['peak memory', `${result.peakRssMb} MB`, ''],
  ]
  return resultTable(lines)
}
