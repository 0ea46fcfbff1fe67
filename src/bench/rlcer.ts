/** @file What rlcer costs beside plain training: verification of a step's rubrics, a whole step, and a language model as verifier. */

import { proposalSettingsSchema, readProposal } from '../grade/proposal/index.ts'
import { rlcerPresets } from '../recipes/rlcer/presets.ts'
import {
  arithmeticProblem,
  arithmeticVerifier,
  DEFAULT_ERRORS,
  DEFAULT_RUBRICATOR,
  demonstrate,
  demonstrateRubric,
  drawHabits,
  encodeText,
  evidenceOf,
  readResponse,
} from '../tasks/arithmetic/index.ts'
import type { ThoughtResponse } from '../tasks/thinking.ts'
import { Rng } from '../util/rng.ts'
import { median } from '../util/statistics.ts'
import { type FigureLine, figureTable, type OnProgress } from './figure-table.ts'
import { benchJudged, type JudgedBenchmark } from './rlcer-judged.ts'
import { configOf, DEFAULTS, type RlcerBenchSettings, timeOf, warmRows } from './rlcer-runs.ts'

export interface RlcerBenchOptions {
  questions?: number
  /** Reasoners of a question, and as many rubricators. */
  samples?: number
  /** Of a scripted rubric. */
  criteria?: number
  /** Of the language model that plays verifier, milliseconds a call, and calls at a time. */
  latencyMs?: number
  slots?: number
  /** Steps of each kind in a round; the first is not counted. */
  steps?: number
  rounds?: number
  threads?: number
  /** Checkpoint of the arithmetic task. */
  folder?: string
  /** Hold rubricators to the grammar: what a model that has not learnt it needs. */
  constrained?: boolean
  onProgress?: OnProgress
}

export interface RlcerBenchmark {
  questions: number
  samples: number
  threads: number
  /**
   * Reading all rubrics of a step and executing them on all responses: the first time, the median of later ones, and the median of
   * the processor's own time, which a busy machine leaves as it is.
   */
  verification: { rubrics: number; verdicts: number; firstMs: number; medianMs: number; processorMs: number }
  /** A step of rlcer beside a plain one (RLVR) with as many rollouts of reasoners alone, and its longest stages. */
  step: { rlcerS: number; plainS: number; ratio: number; sampleS: number; updateS: number }
  judged: JudgedBenchmark
}

/** Responses and rubrics as texts, so that every repetition reads them anew. */
const scriptedStep = ({ questions, samples, criteria }: RlcerBenchSettings) =>
  Array.from({ length: questions }, (_, q) => {
    const problem = arithmeticProblem('bench', q)
    const rng = new Rng(`bench/${q}`)
    const texts = Array.from({ length: samples }, (_, n) => {
      const own = rng.fork(n)
      return encodeText(demonstrate(problem, drawHabits(own), DEFAULT_ERRORS, own).text)
    })
    const habits = { ...DEFAULT_RUBRICATOR, criteria: { min: criteria, max: criteria } }
    const rubrics = texts.map((tokens, n) => {
      const { thinking } = readResponse(tokens)
      return demonstrateRubric(problem, evidenceOf(problem, thinking, null), habits, rng.fork(`rubric ${n}`))!
        .text
    })
    return { problem, texts, rubrics }
  })

const REPEATS = 9

/** What the recipe does between a rubricator's text and its verdicts. */
const benchVerification = async (settings: RlcerBenchSettings): Promise<RlcerBenchmark['verification']> => {
  const step = scriptedStep(settings)
  const format = proposalSettingsSchema.parse({})
  let verdicts = 0
  const times: number[] = []
  const own: number[] = []
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const responses = step.map(({ texts }) => texts.map((tokens): ThoughtResponse => readResponse(tokens)))
    const verifier = arithmeticVerifier()
    verdicts = 0
    const before = process.cpuUsage()
    const startMs = performance.now()
    for (const [q, { problem, rubrics }] of step.entries())
      for (const text of rubrics) {
        const { criteria } = readProposal(text, format)
        const lists = await verifier.verify(
          responses[q].map(response => ({ problem, response, rubric: { criteria } })),
        )
        verdicts += lists.reduce((sum, { length }) => sum + length, 0)
      }
    times.push(performance.now() - startMs)
    const { user, system } = process.cpuUsage(before)
    own.push((user + system) / 1000)
  }
  const rubrics = settings.questions * settings.samples
  return {
    ...{ rubrics, verdicts, firstMs: times[0] },
    medianMs: median(times.slice(1)),
    processorMs: median(own.slice(1)),
  }
}

/** Both kinds in turns: a machine drifts, and what is compared has to drift together. */
const benchStep = async (settings: RlcerBenchSettings, tell: OnProgress): Promise<RlcerBenchmark['step']> => {
  const { rounds, samples } = settings
  const plain = configOf(settings, {
    reasonerReward: 'outcome',
    rubricator: { enabled: false },
    rollout: {
      ...(rlcerPresets.quick.config.rollout as object),
      prompts: settings.questions,
      samples: 2 * samples,
    },
  })
  const found: RlcerBenchmark['step'][] = []
  for (let round = 1; round <= rounds; round++) {
    tell(`round ${round} of ${rounds}: steps of rlcer, and plain ones`)
    const own = await warmRows(configOf(settings, {}))
    const others = await warmRows(plain)
    const [rlcerS, plainS] = [timeOf(own, 'total'), timeOf(others, 'total')]
    found.push({
      rlcerS,
      plainS,
      ratio: rlcerS / plainS,
      sampleS: timeOf(own, 'sample'),
      updateS: timeOf(own, 'update'),
    })
  }
  const middle = (name: keyof RlcerBenchmark['step']) => median(found.map(each => each[name]))
  return {
    rlcerS: middle('rlcerS'),
    plainS: middle('plainS'),
    ratio: middle('ratio'),
    sampleS: middle('sampleS'),
    updateS: middle('updateS'),
  }
}

/** Measures verification, steps, and a slow verifier. @throws CheckpointError for a folder without the arithmetic task's model */
export const benchRlcer = async (options: RlcerBenchOptions = {}): Promise<RlcerBenchmark> => {
  const { onProgress = () => {}, ...given } = options
  const settings: RlcerBenchSettings = { ...DEFAULTS, ...given }
  onProgress('verification')
  const verification = await benchVerification(settings)
  const step = await benchStep(settings, onProgress)
  onProgress('a language model as verifier: asked anew, and from the cache')
  const judged = await benchJudged(settings)
  const { questions, samples, threads } = settings
  return { questions, samples, threads, verification, step, judged }
}

/** The result for people, a line a figure. */
export const formatRlcerBenchmark = ({
  questions,
  samples,
  threads,
  verification,
  step,
  judged,
}: RlcerBenchmark): string => {
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const seconds = (value: number) => `${value.toFixed(2)} s`
  const lines: FigureLine[] = [
    [
      'verification of a step',
      ms(verification.medianMs),
      `${verification.rubrics} rubrics on ${samples} responses each, ${verification.verdicts} verdicts; the first time ${ms(verification.firstMs)}, of the processor ${ms(verification.processorMs)}`,
    ],
    [
      'step, rlcer',
      seconds(step.rlcerS),
      `${questions} questions x ${samples} reasoners x ${samples} rubricators, ${threads} threads; sampling ${seconds(step.sampleS)}, update ${seconds(step.updateS)}`,
    ],
    [
      'step, plain',
      seconds(step.plainS),
      `as many rollouts; rlcer takes ${step.ratio.toFixed(2)} times as long`,
    ],
    [
      'slow verifier, asked anew',
      seconds(judged.freshS),
      `${judged.calls} calls of ${judged.latencyMs} ms, ${judged.slots} at a time: ${seconds(judged.callsS)} alone, rollouts ${seconds(judged.sampleS)} alone; ${(100 * judged.overlap).toFixed(0)}% of the shorter hidden`,
    ],
    ['slow verifier, from the cache', seconds(judged.sampleS), `${judged.cachedCalls} calls`],
  ]
  return figureTable(lines)
}
