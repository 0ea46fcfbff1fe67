/** @file What a step of rubricem makes of its machine: sampling, judging and learning at once, and rollouts of several turns. */

import type { StageJudge } from '../grade/evolving/index.ts'
import { HashedNgrams, RubricBank } from '../memory/index.ts'
import { LocalPolicy } from '../policy/local/local-policy.ts'
import { PairedPolicy } from '../policy/local/paired-policy.ts'
import type { Policy } from '../policy/policy.ts'
import { existingModel } from '../recipes/common/starting-model.ts'
import { samplingOf } from '../recipes/common/training.ts'
import type { RolledStep } from '../recipes/rubricem/attempts.ts'
import { type RecordsJudgeConfig, type RubricemConfig, rubricemSchema } from '../recipes/rubricem/config.ts'
import { rubricemPresets } from '../recipes/rubricem/presets.ts'
import { rubricem } from '../recipes/rubricem/recipe.ts'
import { scriptedJudge } from '../recipes/rubricem/tasks.ts'
import { type RecordsQuestion, recordsQuestion, recordsTask } from '../tasks/records/index.ts'
import type { Recipe } from '../train/recipe.ts'
import { StepRollouts } from '../train/rollout.ts'
import { median } from '../util/statistics.ts'
import { type FigureLine, figureTable, type OnProgress } from './figure-table.ts'
import { measuredLoop, measureSteps } from './measured-steps.ts'
import { SlowJudge } from './slow-judge.ts'

export interface RubricemBenchOptions {
  questions?: number
  /** Attempts at a question, and reflections on it. */
  samples?: number
  /** Of the judge of stages, milliseconds a call, and calls at a time. */
  latencyMs?: number
  slots?: number
  /** Steps of each kind in a round. */
  steps?: number
  rounds?: number
  threads?: number
  /** Rollouts that are decoded together. */
  rows?: number
  /** Checkpoint of the records task. */
  folder?: string
  onProgress?: OnProgress
}

/** Seconds a step, medians over the rounds. */
interface AtOnce {
  /** Each alone, nothing beside it: sampling with a judge that answers at once, all calls of a step's judge, the update. */
  sampleS: number
  judgeS: number
  updateS: number
  /** One after the other: what they would take together. */
  sumS: number
  /** All at once: one step sampled ahead, and two. */
  oneAhead: Together
  twoAhead: Together
}

/** Seconds a step of all three at once (`pipeline`), over the longest of them, and over their sum; medians over the rounds. */
interface Together {
  stepS: number
  toLongest: number
  toSum: number
}

/** Rollouts of several turns, single turns each of which is as long as one of them, and single turns that are all as long as their mean. */
interface TurnsBenchmark {
  /** Turns and tokens of a rollout, and how many of the tokens the policy wrote. */
  turns: number
  tokens: number
  ownTokens: number
  /** Tokens of rollouts a second. */
  severalRate: number
  singleRate: number
  evenRate: number
  /** severalRate over singleRate, the median of the rounds' own; the same by the processor's time, whatever else it has to do. */
  ratio: number
  processorRatio: number
  /** severalRate over evenRate: what rollouts of different lengths cost as well, which leave places of the decoder empty. */
  evenRatio: number
  /** Places of the decoder for each token that it computed, and tokens of prompts for each rollout. */
  placesPerToken: number
  promptTokensPerRollout: number
}

export interface RubricemBenchmark {
  questions: number
  samples: number
  threads: number
  latencyMs: number
  slots: number
  /** Calls of the judge in a step. */
  calls: number
  oneEngine: AtOnce
  /** One that samples, one that learns; they share the threads, at least one each. */
  twoEngines: AtOnce
  several: TurnsBenchmark
}

const DEFAULTS = {
  questions: 16,
  samples: 8,
  latencyMs: 50,
  slots: 16,
  steps: 2,
  rounds: 3,
  threads: 2,
  rows: 128,
  folder: 'package:models/records-start',
}
type Settings = typeof DEFAULTS

/** Look-ups that an agent may make. */
const CALLS = 6

const configOf = ({ questions, samples, folder }: Settings): RubricemConfig =>
  rubricemSchema.parse({
    ...rubricemPresets.quick.config,
    model: { folder },
    task: { kind: 'records', calls: CALLS },
    rollout: { ...(rubricemPresets.quick.config.rollout as object), prompts: questions, samples },
    reflection: { candidates: samples },
    // All steps are alike: fresh questions, and reflections on them.
    window: { steps: 1000 },
  })

/** What a step asked its judge, in the order in which it can be asked again. */
interface Asked {
  propose: Parameters<StageJudge<RecordsQuestion>['propose']>[0] | null
  scores: Parameters<StageJudge<RecordsQuestion>['score']>[0][]
}

/** A judge by script behind one that takes its time; notes what it was asked, by step and question. */
class TimedJudge implements StageJudge<RecordsQuestion> {
  readonly slow: SlowJudge
  readonly asked = new Map<number, Map<string, Asked>>()
  readonly #judge: StageJudge<RecordsQuestion>

  constructor(config: RubricemConfig, { latencyMs, slots }: Pick<Settings, 'latencyMs' | 'slots'>) {
    this.#judge = scriptedJudge(config.judge as RecordsJudgeConfig, config.seed)
    this.slow = new SlowJudge(latencyMs, slots)
  }

  #of(step: number, key: string): Asked {
    const questions = this.asked.get(step) ?? new Map<string, Asked>()
    this.asked.set(step, questions)
    const asked = questions.get(key) ?? { propose: null, scores: [] }
    questions.set(key, asked)
    return asked
  }

  propose: StageJudge<RecordsQuestion>['propose'] = async request => {
    this.#of(request.step, request.key).propose = request
    await this.slow.take()
    return this.#judge.propose(request)
  }

  score: StageJudge<RecordsQuestion>['score'] = async request => {
    this.#of(request.step, request.key).scores.push(request)
    await this.slow.take()
    return this.#judge.score(request)
  }
}

type Step = RolledStep<RecordsQuestion>

const taskWith = (judge: StageJudge<RecordsQuestion>) =>
  recordsTask({ stream: i => recordsQuestion('train/bench', i) }, { calls: CALLS, judge })

const recipeOf = (config: RubricemConfig, judge: StageJudge<RecordsQuestion>): Recipe<Step> => {
  const bank = new RubricBank({ embedder: new HashedNgrams() })
  return rubricem(config, { task: taskWith(judge), bank, evaluate: async () => [] })
}

/** Everything that a step asked of its judge once more, and nothing beside it: seconds, and calls. */
const judgeAlone = async (config: RubricemConfig, settings: Settings, asked: Map<string, Asked>) => {
  const judge = new TimedJudge(config, settings)
  const startMs = performance.now()
  await Promise.all(
    [...asked.values()].map(async ({ propose, scores }) => {
      if (propose) await judge.propose(propose)
      await Promise.all(scores.map(request => judge.score(request)))
    }),
  )
  return { seconds: (performance.now() - startMs) / 1000, calls: judge.slow.calls }
}

/** Each of the three alone, then all at once, in turns: a machine drifts, and what is compared has to drift together. */
const benchAtOnce = async (
  policy: Policy,
  settings: Settings,
  tell: (round: number) => void,
): Promise<AtOnce & { calls: number }> => {
  const config = configOf(settings)
  const { steps, rounds } = settings
  const found: (Omit<AtOnce, 'oneAhead' | 'twoAhead'> & { calls: number })[] = []
  const together: Record<1 | 2, Together[]> = { 1: [], 2: [] }
  for (let round = 1; round <= rounds; round++) {
    tell(round)
    const quick = new TimedJudge(config, { latencyMs: 0, slots: Number.POSITIVE_INFINITY })
    const alone = await measureSteps(policy, recipeOf(config, quick), measuredLoop(steps, false))
    const [sampleS, updateS] = [alone.timeS('sample'), alone.timeS('update')]
    const judged = await judgeAlone(config, settings, quick.asked.get(2)!)
    const { seconds: judgeS, calls } = judged
    const sumS = sampleS + judgeS + updateS
    for (const ahead of [1, 2] as const) {
      const slow = new TimedJudge(config, settings)
      const { stepS } = await measureSteps(policy, recipeOf(config, slow), measuredLoop(steps, ahead))
      together[ahead].push({
        stepS,
        toLongest: stepS / Math.max(sampleS, judgeS, updateS),
        toSum: stepS / sumS,
      })
    }
    found.push({ sampleS, judgeS, updateS, sumS, calls })
  }
  return { ...middleOf(found), oneAhead: middleOf(together[1]), twoAhead: middleOf(together[2]) }
}

/** The median of each figure. */
const middleOf = <Figures extends Record<keyof Figures, number>>(all: readonly Figures[]): Figures =>
  Object.fromEntries(
    Object.keys(all[0]).map(name => [name, median(all.map(figures => figures[name as keyof Figures]))]),
  ) as Figures

const processorMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const timed = async <T>(work: () => Promise<T>) => {
  const [startMs, before] = [performance.now(), processorMs()]
  const result = await work()
  return { result, ms: performance.now() - startMs, processorMs: processorMs() - before }
}

/** A step's attempts; single turns each as long as one of them; as many single turns that are exactly as long as their mean. */
const benchTurns = async (
  policy: LocalPolicy,
  settings: Settings,
  tell: (round: number) => void,
): Promise<TurnsBenchmark> => {
  const { questions, samples, rounds } = settings
  const config = configOf(settings)
  const task = taskWith(scriptedJudge(config.judge as RecordsJudgeConfig, config.seed))
  const count = questions * samples
  const questionsOf = (step: number) =>
    Array.from({ length: questions }, (_, i) => recordsQuestion('train/bench', step * questions + i))
  const several = async (step: number) => {
    const io = new StepRollouts(policy, { seed: 'bench', step })
    const groups = await io.rollOut<RecordsQuestion, null>({
      ...{ problems: questionsOf(step), samples, prompt: question => task.prompt(question) },
      sampling: samplingOf(config, task.stopTokens),
      environment: { world: task.world.environment, limits: task.world.limits },
      grade: async items => items.map(() => null),
    })
    return groups.flat().map(({ rollout }) => rollout)
  }
  const promptsOf = (step: number) => questionsOf(step).map(question => task.prompt(question))
  const single = async (step: number, lengths: readonly number[]) => {
    const prompts = promptsOf(step)
    const rows = lengths.map((maxTokens, row) => ({
      ...{ prompt: prompts[Math.floor(row / samples)], maxTokens, stream: `bench/${step}/${row}` },
    }))
    let tokens = 0
    await policy.converse(
      { ...samplingOf(config), stopTokens: [], rows, instant: true },
      async (_row, sample) => {
        tokens += sample.tokens.length
        return null
      },
    )
    return tokens
  }
  const even = async (step: number, maxTokens: number) => {
    const drawn = await policy.sample({
      ...samplingOf(config),
      ...{ maxTokens, samplesPerPrompt: samples, stopTokens: [], seed: `bench/${step}` },
      prompts: promptsOf(step),
    })
    return drawn.reduce((total, sample) => total + sample.tokens.length, 0)
  }
  const found: TurnsBenchmark[] = []
  // The first round warms up: graphs are compiled.
  for (let round = 0; round <= rounds; round++) {
    if (round > 0) tell(round)
    const before = await policy.samplingWork()
    const own = await timed(() => several(round))
    const after = await policy.samplingWork()
    const sum = (of: (rollout: (typeof own.result)[number]) => number) =>
      own.result.reduce((total, rollout) => total + of(rollout), 0)
    const tokens = sum(rollout => rollout.tokens.length)
    const lengths = own.result.map(rollout => Math.max(1, rollout.tokens.length))
    const alone = await timed(() => single(round, lengths))
    const meant = await timed(() => even(round, Math.max(1, Math.round(tokens / count))))
    const rateOf = ({ result, ms }: { result: number; ms: number }) => (1000 * result) / ms
    const severalRate = rateOf({ result: tokens, ms: own.ms })
    if (round === 0) continue
    found.push({
      turns: sum(({ turns }) => turns.length) / count,
      tokens: tokens / count,
      ownTokens: sum(({ mask }) => mask.reduce((a, b) => a + b, 0)) / count,
      ...{ severalRate, singleRate: rateOf(alone), evenRate: rateOf(meant) },
      ratio: severalRate / rateOf(alone),
      processorRatio: tokens / own.processorMs / (alone.result / alone.processorMs),
      evenRatio: severalRate / rateOf(meant),
      placesPerToken: (after.places - before.places) / Math.max(1, after.tokens - before.tokens),
      promptTokensPerRollout: (after.promptTokens - before.promptTokens) / count,
    })
  }
  return middleOf(found)
}

const closing = async <P extends Policy, T>(
  opened: Promise<P>,
  use: (policy: P) => Promise<T>,
): Promise<T> => {
  const policy = await opened
  return use(policy).finally(() => policy.close())
}

/** Measures steps and turns on a real policy. @throws CheckpointError for a folder without the records task's model */
export const benchRubricem = async (options: RubricemBenchOptions = {}): Promise<RubricemBenchmark> => {
  const { onProgress = () => {}, ...given } = options
  const settings: Settings = { ...DEFAULTS, ...given }
  const { threads, rounds, rows: maxRows, questions, samples, latencyMs, slots } = settings
  const source = { folder: existingModel(settings.folder, 'folder') }
  const tell = (what: string) => (round: number) => onProgress(`round ${round} of ${rounds}: ${what}`)
  const { several, one } = await closing(
    LocalPolicy.start(source, { threads, maxRows, spinning: false }),
    async policy => ({
      several: await benchTurns(policy, settings, tell('turns')),
      one: await benchAtOnce(policy, settings, tell('three at once, one engine')),
    }),
  )
  const own = Math.ceil(threads / 2)
  const pair = PairedPolicy.start(source, {
    sampler: { threads: own, maxRows, spinning: false },
    trainer: { threads: Math.max(1, threads - own), maxRows, spinning: false },
  })
  const two = await closing(pair, policy => benchAtOnce(policy, settings, tell('three at once, two engines')))
  const { calls, ...oneEngine } = one
  const { calls: _, ...twoEngines } = two
  return { questions, samples, threads, latencyMs, slots, calls, oneEngine, twoEngines, several }
}

/** The result for people, a line a figure. */
export const formatRubricemBenchmark = (result: RubricemBenchmark): string => {
  const { questions, samples, threads, latencyMs, slots, calls, several } = result
  const seconds = (value: number) => `${value.toFixed(2)} s`
  const stepLine = (
    name: string,
    ahead: string,
    { stepS, toLongest, toSum }: Together,
    sumS: number,
  ): FigureLine => [
    ...([name, seconds(stepS)] as const),
    `all at once, ${ahead} ahead: ${toLongest.toFixed(2)} x the longest, ${toSum.toFixed(2)} x the sum ${seconds(sumS)}`,
  ]
  const atOnce = (which: string, figures: AtOnce): FigureLine[] => [
    [
      `sampling, ${which}`,
      seconds(figures.sampleS),
      `alone; ${questions} questions x ${samples}, ${threads} threads`,
    ],
    [
      `judging, ${which}`,
      seconds(figures.judgeS),
      `alone; ${calls} calls of ${latencyMs} ms, ${slots} at a time`,
    ],
    [`update, ${which}`, seconds(figures.updateS), 'alone'],
    stepLine(`step, ${which}`, 'one step', figures.oneAhead, figures.sumS),
    stepLine('', 'two steps', figures.twoAhead, figures.sumS),
  ]
  const rate = (value: number) => `${value.toFixed(0)}/s`
  return figureTable([
    ...atOnce('one engine', result.oneEngine),
    ...atOnce('two engines', result.twoEngines),
    [
      'tokens, several turns',
      rate(several.severalRate),
      `${several.turns.toFixed(1)} turns, ${several.tokens.toFixed(0)} tokens, ${several.ownTokens.toFixed(0)} of them the policy's`,
    ],
    ['tokens, one turn', rate(several.singleRate), 'each as long as one of them'],
    ['tokens, one turn', rate(several.evenRate), 'all as long as their mean'],
    [
      'their ratio',
      several.ratio.toFixed(2),
      `${several.processorRatio.toFixed(2)} by the processor's time, to the last ${several.evenRatio.toFixed(2)}; ${several.placesPerToken.toFixed(2)} places a token, ${several.promptTokensPerRollout.toFixed(1)} tokens of prompts a rollout`,
    ],
  ])
}
