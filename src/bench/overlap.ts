/** @file How much of a judge's latency training hides: the same steps with grading afterwards, beside sampling, and ahead. */

import type { ModelConfig } from '../model/config.ts'
import { LocalPolicy } from '../policy/local/local-policy.ts'
import { PairedPolicy } from '../policy/local/paired-policy.ts'
import { JUDGED_ROWS } from '../policy/open.ts'
import type { Policy } from '../policy/policy.ts'
import { grpoAdvantages } from '../rl/advantages.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import { creditRollouts, datumsOf, type Graded } from '../rl/rollout.ts'
import type { Recipe } from '../train/recipe.ts'
import { Rng } from '../util/rng.ts'
import { median, signFlipTest } from '../util/statistics.ts'
import { BENCH_SHAPES } from './engine-work.ts'
import { type MeasuredSteps, measuredLoop, measureSteps } from './measured-steps.ts'
import { type OnProgress, type ResultLine, resultTable } from './result-table.ts'

class SlowJudge {
  readonly #latencyMs: number
  #free: number
  readonly #waiting: (() => void)[] = []
  #inside = 0
  /** Things that it has taken so far, and the most that it had at a time. */
  calls = 0
  busiest = 0

  constructor(latencyMs: number, slots: number) {
    this.#latencyMs = latencyMs
    this.#free = slots
  }

  /** Resolves when one more thing is done: its time after it found a free slot, first come, first served. */
  async take(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    this.calls++
    this.busiest = Math.max(this.busiest, ++this.#inside)
    await new Promise(resolve => setTimeout(resolve, this.#latencyMs))
    this.#inside--
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}

/** A step may take so much of what the formula says (within 15 percent). */
const BOUND = 1.15
const LEVEL = 0.05

interface OverlapClaim {
  id: 'RUS-9'
  statement: string
  /** Seconds of a step over max(rollout, reward) + update, of each round. */
  ratios: number[]
  ratio: number
  bound: number
  /** One-sided sign-flip tests over the rounds, exact for at most 12: that the ratio is not below the bound, and not above it. */
  p: number
  pContrary: number
  status: 'reproduced' | 'not reproduced' | 'inconclusive'
}

/**
 * The claim's status. Five rounds are the fewest that can decide: all of one sign have p = 1 / 2^5.
 * @param ratios one a round
 */
export const overlapClaim = (ratios: readonly number[]): OverlapClaim => {
  const beyond = ratios.map(ratio => ratio - BOUND)
  const p = signFlipTest(beyond, { alternative: 'less' })
  const pContrary = signFlipTest(beyond, { alternative: 'greater' })
  return {
    id: 'RUS-9',
    statement:
      'A step whose rollouts are graded while others are sampled takes max(rollout, reward) + update, within 15 percent.',
    ratios: [...ratios],
    ratio: median(ratios),
    bound: BOUND,
    p,
    pContrary,
    status: p < LEVEL ? 'reproduced' : pContrary < LEVEL ? 'not reproduced' : 'inconclusive',
  }
}

/** A model whose rollouts have very different lengths: with fresh weights each token ends it with a chance of about 1 in 96. */
const MODEL: ModelConfig = {
  ...BENCH_SHAPES.standard,
  ...{ vocabSize: 96, hiddenSize: 192, intermediateSize: 512 },
  ...{ heads: 6, kvHeads: 6, headDim: 32, maxPositions: 160 },
  ...{ tieEmbeddings: false, bosTokenId: 1, eosTokenIds: [2] },
}

export interface OverlapOptions {
  /** Milliseconds that the judge takes for a rollout, and rollouts that it takes at a time. */
  latencyMs?: number
  slots?: number
  prompts?: number
  samples?: number
  maxTokens?: number
  /** Steps of each kind that are measured in a round, between two that are not. */
  steps?: number
  /** Rounds, in which all kinds take turns: a machine drifts, and kinds that are compared have to drift together. */
  rounds?: number
  /** Of the one engine; two engines share them, at least one each. */
  threads?: number
  /** Rollouts that are decoded together (`policy.maxRows`): fewer end at a time, so that graders begin earlier. */
  rows?: number
  onProgress?: OnProgress
}

/** Median seconds of a step's stages, each alone: nothing goes on beside it. */
interface Stages {
  rolloutS: number
  rewardS: number
  updateS: number
}

/**
 * Seconds a step, medians over the rounds. The stages are those of the synchronous steps on one engine with all threads. A ratio
 * is the median of the rounds' own, each against the stages measured beside it.
 */
export interface OverlapBenchmark extends Stages {
  threads: number
  /** Grading starts when everything is sampled. */
  syncS: number
  /** Each rollout is graded as soon as it is finished (RuscaRL appendix C.6). */
  overlapS: number
  /** overlapS over max(rollout, reward) + update: 1 is what the formula promises. */
  overlapToFormula: number
  /** The next step is sampled while this one is graded and learnt from, by an engine of its own. */
  pipelinedS: number
  /** pipelinedS over max(rollout, reward, update), the stages as `twoEngines` has them. */
  pipelinedToFormula: number
  /** The stages with the threads that they have on two engines, and the seconds that new weights take to travel. */
  twoEngines: Stages & { samplerThreads: number; trainerThreads: number; weightsS: number }
  /** The same on one engine with all threads, where sampling and updates take turns. */
  pipelinedOneEngineS: number
  /** pipelinedOneEngineS over max(rollout + update, reward). */
  pipelinedOneEngineToFormula: number
  /** Rollouts decoded together. */
  rows: number
  /** What overlapToFormula says of RuscaRL's claim. */
  claim: OverlapClaim
}

type Settings = Required<Omit<OverlapOptions, 'onProgress'>>

type Kind = 'sync' | 'overlap' | 'pipelined'

const recipeOf = (
  { latencyMs, slots, prompts, samples, maxTokens }: Settings,
  kind: Kind,
): Recipe<Graded<number, number>[][]> => {
  const judge = new SlowJudge(latencyMs, slots)
  return {
    rollOut: (step, io) =>
      io.rollOut({
        problems: Array.from({ length: prompts }, (_, i) => step * prompts + i),
        prompt: problem => {
          const rng = new Rng(`overlap/${problem}`)
          return Array.from({ length: 24 }, () => 3 + rng.int(90))
        },
        samples,
        sampling: { maxTokens, temperature: 1 },
        gradeBatch: kind === 'sync' ? prompts * samples : 1,
        grade: items =>
          Promise.all(
            items.map(async ({ problem, rollout }) => {
              await judge.take()
              return new Rng(`${problem}/${rollout.sample}`).next()
            }),
          ),
        reward: grade => ({ reward: grade, parts: {} }),
        last: true,
      }),
    learn: async (_step, groups) => {
      const { advantages_P_G } = grpoAdvantages(groups.map(group => group.map(({ grade }) => grade)))
      const datums = datumsOf(creditRollouts(groups, advantages_P_G), { dropZero: true })
      const phase = { name: 'policy', datums, loss: lossPreset('trl:grpo'), temperature: 1 }
      return { phases: [{ ...phase, minibatches: 1, epochs: 1 }], metrics: {}, rollouts: [] }
    },
    evaluate: async () => [],
  }
}

const measure = (policy: Policy, settings: Settings, kind: Kind): Promise<MeasuredSteps> =>
  measureSteps(policy, recipeOf(settings, kind), measuredLoop(settings.steps, kind === 'pipelined'))

/** Measures some kinds of steps on a policy, in turns, and closes it. One entry a round. */
const measureOn = async <K extends Kind>(
  starting: Promise<Policy>,
  settings: Settings,
  kinds: readonly K[],
  tell: (round: number, kind: K) => void,
): Promise<Record<K, MeasuredSteps>[]> => {
  const policy = await starting
  const rounds: Record<K, MeasuredSteps>[] = []
  try {
    for (let round = 1; round <= settings.rounds; round++) {
      const results = {} as Record<K, MeasuredSteps>
      for (const kind of kinds) {
        tell(round, kind)
        results[kind] = await measure(policy, settings, kind)
      }
      rounds.push(results)
    }
    return rounds
  } finally {
    await policy.close()
  }
}

const stagesOf = ({ sync: { timeS } }: { sync: MeasuredSteps }): Stages => ({
  rolloutS: timeS('sample'),
  rewardS: timeS('grade'),
  updateS: timeS('update'),
})

const medianStages = (stages: readonly Stages[]): Stages => ({
  rolloutS: median(stages.map(({ rolloutS }) => rolloutS)),
  rewardS: median(stages.map(({ rewardS }) => rewardS)),
  updateS: median(stages.map(({ updateS }) => updateS)),
})

const DEFAULTS: Settings = {
  latencyMs: 100,
  slots: 16,
  prompts: 32,
  samples: 8,
  maxTokens: 96,
  steps: 2,
  rounds: 6,
  threads: 2,
  rows: JUDGED_ROWS,
}

/** Trains the same few steps in each of the ways, on a real policy with a judge of set latency. */
export const benchOverlap = async (options: OverlapOptions = {}): Promise<OverlapBenchmark> => {
  const { onProgress = () => {}, ...given } = options
  const settings: Settings = { ...DEFAULTS, ...given }
  const { threads, rounds, rows: maxRows } = settings
  const source = { init: { config: MODEL, seed: 1 } }
  const tell = (engines: string) => (round: number, kind: Kind) =>
    onProgress(`round ${round} of ${rounds}: ${kind}, ${engines}`)

  const starting = LocalPolicy.start(source, { threads, maxRows })
  const one = await measureOn(starting, settings, ['sync', 'overlap', 'pipelined'], tell('one engine'))
  const samplerThreads = Math.ceil(threads / 2)
  const trainerThreads = Math.max(1, threads - samplerThreads)
  const engines = {
    sampler: { threads: samplerThreads, maxRows },
    trainer: { threads: trainerThreads, maxRows },
  }
  const pair = PairedPolicy.start(source, engines)
  const two = await measureOn(pair, settings, ['sync', 'pipelined'], tell('two engines'))

  const ratiosOfOne = (kind: 'overlap' | 'pipelined', formula: (stages: Stages) => number) =>
    one.map(round => round[kind].stepS / formula(stagesOf(round)))
  const claim = overlapClaim(
    ratiosOfOne('overlap', stages => Math.max(stages.rolloutS, stages.rewardS) + stages.updateS),
  )
  return {
    threads,
    ...medianStages(one.map(stagesOf)),
    syncS: median(one.map(({ sync }) => sync.stepS)),
    overlapS: median(one.map(({ overlap }) => overlap.stepS)),
    overlapToFormula: claim.ratio,
    pipelinedS: median(two.map(({ pipelined }) => pipelined.stepS)),
    pipelinedToFormula: median(
      two.map(round => round.pipelined.stepS / Math.max(...Object.values(stagesOf(round)))),
    ),
    twoEngines: {
      samplerThreads,
      trainerThreads,
      ...medianStages(two.map(stagesOf)),
      weightsS: median(two.map(({ pipelined }) => pipelined.timeS('weights'))),
    },
    pipelinedOneEngineS: median(one.map(({ pipelined }) => pipelined.stepS)),
    pipelinedOneEngineToFormula: median(
      ratiosOfOne('pipelined', stages => Math.max(stages.rolloutS + stages.updateS, stages.rewardS)),
    ),
    rows: maxRows,
    claim,
  }
}

/** The result for people, a line a value: seconds, and what they are to be compared with. */
export const formatOverlapBenchmark = (result: OverlapBenchmark): string => {
  const seconds = (value: number) => value.toFixed(2)
  const { threads, rolloutS, rewardS, updateS, twoEngines: two } = result
  const [rollout, reward, update] = [rolloutS, rewardS, updateS].map(seconds)
  const own = [two.rolloutS, two.rewardS, two.updateS].map(seconds)
  const shared = `${two.samplerThreads} + ${two.trainerThreads} threads`
  const stages = (which: string, times: readonly string[], note: string): ResultLine[] =>
    ['rollout', 'reward', 'update'].map((stage, i) => [`${stage}, ${which}`, times[i], note])
  const step = (name: string, value: number, ratio: number, formula: string): ResultLine => [
    `step, ${name}`,
    seconds(value),
    `${ratio.toFixed(2)} x ${formula}`,
  ]
  const lines: ResultLine[] = [
    ...stages('one engine', [rollout, reward, update], `alone; ${threads} threads`),
    ...stages('two engines', own, `alone; ${shared}`),
    ['step, graded after sampling', seconds(result.syncS), ''],
    step(
      'graded while sampling',
      result.overlapS,
      result.overlapToFormula,
      `(max(rollout ${rollout}, reward ${reward}) + update ${update})`,
    ),
    step(
      'sampled ahead, one engine',
      result.pipelinedOneEngineS,
      result.pipelinedOneEngineToFormula,
      `max(rollout ${rollout} + update ${update}, reward ${reward})`,
    ),
    step(
      'sampled ahead, two engines',
      result.pipelinedS,
      result.pipelinedToFormula,
      `max(rollout ${own[0]}, reward ${own[1]}, update ${own[2]})`,
    ),
    ['new weights to the sampler', two.weightsS.toFixed(3), 'part of the step above'],
  ]
  const { claim } = result
  const status: ResultLine = [
    `${claim.id}, ${result.rows} rollouts decoded together`,
    claim.status,
    `ratio ${claim.ratio.toFixed(2)} against ${claim.bound}, p ${claim.p.toFixed(3)} over ${claim.ratios.length} rounds`,
  ]
  return resultTable([...lines.map(([name, value, note]): ResultLine => [name, `${value} s`, note]), status])
}
