/** @file Memory that a run will need, estimated before anything is allocated, and whether this machine can do what a plan needs. */

import { availableParallelism, loadavg } from 'node:os'
import type { ModelConfig } from '../../model/config.ts'
import type { LoraConfig } from '../../model/lora-files.ts'
import { rowsWithRoom } from '../../policy/local/cache-room.ts'
import {
  fixesWeights,
  hasTwoLayouts,
  modelTensors,
  type SampleBits,
} from '../../policy/local/weight-sizes.ts'
import { isRemote, type PolicySettings } from '../../policy/open.ts'
import { formatBytes, formatInteger } from '../../util/format.ts'
import { memoryHere } from '../../util/memory-failure.ts'
import { cacheBytes, sizeOf } from './model-size.ts'
import { type PlannedTime, timeLine } from './step-time.ts'

/** Bytes by what they hold. */
export interface MemoryEstimate {
  /** Weights as float32, and the copy that the sampler's graph holds where it does; those of further engines. */
  weights: number
  /** Gradients and two moments of what is trained, and the frozen copy for the KL term. */
  optimizer: number
  /** Saved for the backward pass of one micro-batch. */
  activations: number
  /** Keys and values of the rows that are decoded together; the prompt's are shared by a group. */
  cache: number
  /** What a process has whatever the model: the program, its graphs, memory of the runtime. */
  process: number
  total: number
}

/** Rows that a request samples, and prompts among them; `maxRows` of them are decoded together. */
export interface Drawn {
  rows: number
  prompts: number
  maxRows: number
  promptTokens: number
  newTokens: number
}

export interface EstimateOptions {
  lora: LoraConfig | null
  /** A frozen reference besides the weights; an adapter has its base for that. */
  reference: boolean
  /** A second engine that samples, with weights of its own and memory through which it gets what was learnt. Default false. */
  secondEngine?: boolean
  /** Engines that share the work (`policy.engines`). Default 1. */
  engines?: number
  /** A critic that is a model of its own, and learns from the same batches. */
  critic?: { shape: ModelConfig; lora: LoraConfig | null } | null
  /** Padded tokens in a training graph at a time, and the longest sequence. */
  microBatchTokens: number
  sequence: number
  /** Layers are computed a second time for their gradient. Default false. */
  recompute?: boolean
  /** Memory of a computation is kept for the next (`policy.arena`). Default true. */
  arena?: boolean
  /** What is sampled at one time or another: rollouts, evaluations. */
  draws: readonly Drawn[]
  /** As `policy.sampleBits`; 32 by default. */
  sampleBits?: SampleBits
  /** Memory of the machine that it is for; this one's by default. */
  machineBytes?: number
}

const FLOAT = 4

/**
 * Floats kept for one token of all layers; of one: inputs of the projections, q, k, v and their gradients (about 16 widths), the
 * gated unit's branches (about 5), and attention's weights of its heads with what is made of them. Where layers are computed a second
 * time: the input of each, twice, and about two layers (an order of magnitude, as all of these: docs/engine.md has measured peaks).
 */
const activationFloats = (config: ModelConfig, sequence: number, recompute: boolean): number => {
  const { hiddenSize, intermediateSize, heads, layers } = config
  const layer = 16 * hiddenSize + 5 * intermediateSize + 1.1 * heads * sequence
  return recompute ? layers * 2 * hiddenSize + 2 * layer : layers * layer
}

/**
 * Times as much as one micro-batch needs by the above that each graph keeps, whose memory it uses again. Measured of SmolLM2-135M with
 * rank 16: .8 (2,040 tokens in sequences of 340; 2,980 in six of 1,280 that share a prompt); of Qwen2.5-0.5B .9; without an arena
 * 1.2 and 1.5.
 */
const KEPT = { arena: 0.85, freed: 1.3 }

/** The vocabulary is scored in chunks: this many logits a token at a time at most. */
const LOGIT_CHUNK = 8192

/**
 * Times as much as its gradient that an engine holds of gradients of what is trained: the sum, that of a later micro-batch, and what its
 * graph makes. 4.3 was measured where all of 19 million weights learn, hardly any of them a vocabulary's.
 */
const GRADIENTS = 4.5

/**
 * Further copies that a graph makes of the gradient of a vocabulary's rows, where they learn: by its chunks, and whole; where words are
 * read by the same rows, also of what is read, and the sum. 3.9 and 1.3 were measured (150,000 words of width 128).
 */
const TABLES = { tied: 4, own: 2 }

/**
 * Times as much as its keys and values that sampling takes: what the prompts' pass gives is there beside the cache that it goes into,
 * and both until garbage is collected. 2.0 to 2.7 were measured (30 layers of 3 heads, 4 prompts of 8 samples to 128 of one).
 */
const CACHES = 2.2

/** Bytes of keys and values of one request, whose rows are as many at a time as have room. */
const cachedBytes = (
  config: ModelConfig,
  { rows, prompts, maxRows, promptTokens, newTokens }: Drawn,
): number => {
  if (rows === 0) return 0
  const samples = Math.max(1, Math.round(rows / prompts))
  const most = rowsWithRoom(config, Math.min(rows, maxRows), samples, promptTokens, newTokens)
  const together = Math.ceil(rows / Math.ceil(rows / most))
  const places = together * newTokens + Math.ceil(together / samples) * promptTokens
  return CACHES * cacheBytes(sizeOf(config), FLOAT) * places
}

/** Tokens of a prompt with as many of its samples as a micro-batch takes; the prompt comes on top of the budget. */
const groupTokens = ({ rows, prompts, promptTokens, newTokens }: Drawn, microBatchTokens: number): number =>
  rows > prompts ? promptTokens + Math.min(microBatchTokens, Math.ceil(rows / prompts) * newTokens) : 0

/**
 * Times the weights of those that are held in 8 bits too, while they are rounded: 1.5 and 1.6 were measured (135 and 494 million). A
 * quarter is in each graph: one for groups that share a prompt, one for single samples.
 */
const ROUNDED = { once: 1.35, graph: 0.25 }

/** Times its weights that an engine holds, with those in the sampler's graphs. */
const copiesOf = (total: number, { sampleBits, draws, machineBytes }: EstimateOptions): number => {
  const drawn = draws.filter(({ rows }) => rows > 0)
  if (drawn.length === 0) return 1
  if (sampleBits !== 8) return fixesWeights(total, machineBytes) ? 2 : 1
  return ROUNDED.once + ROUNDED.graph * new Set(drawn.map(({ rows, prompts }) => rows > prompts)).size
}

/** Measured with models of .1 to 494 million weights. */
const PROCESS_BYTES = 4e8

type MemoryParts = Omit<MemoryEstimate, 'total'>

/** What a policy needs, with what its critic needs on top, which samples nothing. */
const besideCritic = (
  own: MemoryParts,
  { shape, lora }: NonNullable<EstimateOptions['critic']>,
  options: EstimateOptions,
): MemoryParts => {
  const alone = { reference: false, secondEngine: false, critic: null, draws: [] }
  const critic = estimateMemory(shape, { ...options, ...alone, lora })
  // It learns from the same micro-batches, with what their prompts share.
  const learnt = estimateMemory(shape, { ...options, ...alone, lora, draws: options.draws })
  return {
    ...own,
    weights: own.weights + critic.weights,
    optimizer: own.optimizer + critic.optimizer,
    activations: own.activations + learnt.activations,
  }
}

/** Estimates memory in bytes for sampling and training one model, and a critic of its own beside it. */
export const estimateMemory = (config: ModelConfig, options: EstimateOptions): MemoryEstimate => {
  const { total, trained } = modelTensors(config, options.lora)
  const second = options.secondEngine ? total + trained : 0
  const { engines = 1 } = options
  const others = engines - 1
  const own = total * copiesOf(total, options)
  const passedOn = others > 0 ? trained : 0
  const weights = FLOAT * (engines * own + second + passedOn)
  const reference = Number(options.reference && options.lora === null)
  // Of moments each engine has its pieces; the first one gets those of the others for a checkpoint, and keeps them.
  const moments = 2 + (2 * others) / engines
  // Each has whole gradients, and hands on what of them are pieces of the others.
  const gradients = engines * GRADIENTS + others
  const table = config.vocabSize * config.hiddenSize * (config.tieEmbeddings ? TABLES.tied : TABLES.own)
  const tables = options.lora === null ? engines * table : 0
  const optimizer = FLOAT * (trained * (gradients + moments + engines * reference) + tables)
  const { sequence, recompute = false, arena = true } = options
  const perToken = activationFloats(config, sequence, recompute) + 3 * Math.min(config.vocabSize, LOGIT_CHUNK)
  // A sequence longer than a micro-batch still goes through whole, and each engine has one of its own.
  const groups = options.draws.map(drawn => groupTokens(drawn, options.microBatchTokens))
  const tokens = Math.max(options.microBatchTokens, engines * sequence, ...groups)
  const graphs = hasTwoLayouts(total) ? 2 : 1
  const activations = perToken * tokens * FLOAT * (arena ? graphs * KEPT.arena : KEPT.freed)
  const ofEngine = ({ rows, prompts, maxRows, ...drawn }: Drawn): Drawn => {
    const [own, ownPrompts, most] = [rows, prompts, maxRows].map(count => Math.ceil(count / engines))
    return { ...drawn, rows: own, prompts: ownPrompts, maxRows: most }
  }
  const cache = engines * Math.max(0, ...options.draws.map(drawn => cachedBytes(config, ofEngine(drawn))))
  const alone = { weights, optimizer, activations, cache, process: PROCESS_BYTES }
  const parts = options.critic ? besideCritic(alone, options.critic, options) : alone
  return { ...parts, total: Object.values(parts).reduce((sum, bytes) => sum + bytes, 0) }
}

/** Share of a machine's memory that what fits itself to it may take, beside the system, graders and other work. */
export const MEMORY_SHARE = 0.7

/**
 * Rows that fit into the memory of a machine as they are decoded together, were all as long as they may be; one at least.
 * @param drawn with the rows that are wanted at most
 */
export const rowsThatFit = (
  config: ModelConfig,
  drawn: Pick<Drawn, 'maxRows' | 'promptTokens' | 'newTokens'>,
  { sampleBits, machineBytes = memoryHere() }: Pick<EstimateOptions, 'sampleBits' | 'machineBytes'> = {},
): number => {
  // Nothing learns.
  const still = { lora: null, reference: false, microBatchTokens: 0, sequence: 0, sampleBits, machineBytes }
  const fits = (rows: number): boolean => {
    const draws = [{ ...drawn, rows, prompts: rows }]
    const { weights, cache, process } = estimateMemory(config, { ...still, draws })
    return weights + cache + process <= MEMORY_SHARE * machineBytes
  }
  let rows = drawn.maxRows
  while (rows > 1 && !fits(rows)) rows--
  return rows
}

/** What each part comes from, and which setting makes it smaller. */
const REMEDIES: Readonly<Record<Exclude<keyof MemoryEstimate, 'total' | 'activations' | 'process'>, string>> =
  {
    weights: 'all parameters in 32 bits, and those in the graph that samples; only a smaller model has fewer',
    optimizer: 'gradients and moments of what is trained; model.lora trains less',
    cache: 'keys and values of all rows; lower policy.maxRows or rollout.maxTokens',
  }

/** A micro-batch of one whole sequence cannot be cut further. */
const activationRemedy = ({
  sequence,
  microBatchTokens,
  recompute = false,
  lengthSetting = 'rollout.maxTokens',
}: MicroBatch): string => {
  const uncut = microBatchTokens <= sequence
  const layers = recompute ? 'two layers' : 'all layers'
  const held = uncut ? `one sequence of up to ${formatInteger(sequence)} tokens` : 'a micro-batch'
  const lower = `lower ${uncut ? lengthSetting : 'policy.microBatchTokens'}`
  return `${layers} of ${held} at once; ${recompute ? lower : `policy.recompute=true keeps little more than one, or ${lower}`}`
}

type MicroBatch = Pick<EstimateOptions, 'sequence' | 'microBatchTokens' | 'recompute'> & {
  /** What makes the longest sequence shorter. Default `rollout.maxTokens`. */
  lengthSetting?: string
}

/** The estimate for people: its parts, and the largest of those that settings change, with what makes it smaller. */
export const memoryLines = (memory: MemoryEstimate, batch: MicroBatch): string[] => {
  const { total, process: _whatever, ...parts } = memory
  const [name, bytes] = (Object.entries(parts) as [keyof typeof parts, number][]).reduce((a, b) =>
    b[1] > a[1] ? b : a,
  )
  const why = name === 'activations' ? activationRemedy(batch) : REMEDIES[name]
  const of = (part: keyof MemoryEstimate) => formatBytes(memory[part])
  return [
    `memory       about ${of('total')}: weights ${of('weights')}, optimiser ${of('optimizer')}, activations ${of('activations')}, cache ${of('cache')}, the process itself ${of('process')}`,
    `             mostly ${name} ${Math.round((100 * bytes) / total)}% (${why})`,
  ]
}

/** Hours after which an end is no longer waited for. */
const MOST_HOURS = 72

export interface Needs {
  /** Null where the model is not known yet. */
  memory: MemoryEstimate | null
  /** On two cores; null where it is not known, or the work is done elsewhere. */
  hours: number | null
}

export interface Feasibility {
  /** Null where too little is known to say. */
  feasible: boolean | null
  /** What stands against it; empty where nothing does. */
  because: string[]
  /** Why a run does not begin: weights and optimiser, which it has whatever comes, are more than there is. Null where it may. */
  refused: string | null
}

/** @param available bytes of memory */
export const feasibility = ({ memory, hours }: Needs, available = memoryHere()): Feasibility => {
  const needs = (bytes: number, what: string): string[] =>
    bytes > available
      ? [`${what} about ${formatBytes(bytes)} of memory and there are ${formatBytes(available)}`]
      : []
  const because = [
    ...(memory === null ? [] : needs(memory.total, 'it needs')),
    ...(hours !== null && hours > MOST_HOURS ? [`it would take about ${formatInteger(hours)} hours`] : []),
  ]
  const [refused = null] =
    memory === null ? [] : needs(memory.weights + memory.optimizer, 'its weights and optimiser alone need')
  const isKnown = memory !== null && hours !== null
  return { feasible: because.length > 0 ? false : isKnown ? true : null, because, refused }
}

const OFFERS_CRITIC = 'offers one (ppo_critic, as SkyRL does on its FSDP backend)'
const WITHOUT_CRITIC = 'a reward is then compared with those of its group, in place of PPO'

/** Before all else: a critic that this machine is too small for, or that a server may not have. Nobody is asked. */
export const criticLines = (
  policy: Pick<PolicySettings, 'kind'>,
  here: Feasibility | undefined,
  hasCritic: boolean,
): string[] => {
  if (!hasCritic) return []
  if (policy.kind === 'tinker')
    return [
      `critic       needs a server that ${OFFERS_CRITIC}: the run asks for it first, and ends there where there is none. critic: null needs none: ${WITHOUT_CRITIC}`,
    ]
  return here?.feasible === false
    ? [
        `critic       is not learnt at this size in this process, but by a training service that ${OFFERS_CRITIC}. With critic: null any service trains it: ${WITHOUT_CRITIC}`,
      ]
    : []
}

/** From this much longer on, other work on this machine is reported. */
const SLOWER = 1.25

/**
 * How much longer this machine takes beside what it does now; none where that is little.
 * @param threads that the run wants
 * @param load processes that run or wait, on average over a minute
 */
export const loadLines = (threads: number, load = loadavg()[0], cores = availableParallelism()): string[] => {
  const longer = (load + threads) / Math.max(cores, threads)
  return longer < SLOWER
    ? []
    : [
        `load         other work wants ${load.toFixed(1)} of ${cores} cores now: beside it about ${longer.toFixed(1)} times as long`,
      ]
}

/** What of a plan's settings a training service would refuse (`remote.ts`), where it is there. */
interface TrainedHere {
  policy: Pick<PolicySettings, 'kind'> & { threads?: number }
  critic?: unknown
  model?: { lora?: unknown }
  rollout?: { temperature: number }
  reflection?: { enabled: boolean; temperature: number }
}

/** The settings that have a training service take it. */
const asServicesTake = ({ critic, model, rollout, reflection }: TrainedHere): string =>
  [
    'policy.kind: tinker',
    ...((critic ?? null) === null ? [] : ['critic: null unless it offers one']),
    ...((model?.lora ?? null) === null ? [] : ['model.lora: null']),
    ...((rollout?.temperature ?? 1) === 1 ? [] : ['rollout.temperature: 1']),
    ...(reflection?.enabled && reflection.temperature !== 1 ? ['reflection.temperature: 1'] : []),
  ].join(', ')

/**
 * Time and feasibility as a plan prints them; nothing where a server does the work.
 * @param time null where the model is not known yet
 * @param without what the time supposes, and what is not in it
 */
export const machinePlan = (
  config: TrainedHere,
  time: PlannedTime | null,
  memory: MemoryEstimate | null,
  without?: string,
): { lines: string[]; json: Partial<PlannedTime> & { here?: Feasibility } } => {
  const { policy } = config
  if (isRemote(policy as PolicySettings)) return { lines: [], json: {} }
  const hours = time?.hours ?? null
  const here = feasibility({ memory, hours })
  const elsewhere = `take a smaller model or fewer steps, or train it elsewhere (${asServicesTake(config)})`
  const said =
    here.feasible === null
      ? 'unknown before the model is there'
      : here.feasible
        ? 'feasible on this machine'
        : `not feasible on this machine: ${here.because.join(', and ')}; ${elsewhere}`
  return {
    lines: [
      ...(time === null ? [] : [timeLine(time, without), ...loadLines(policy.threads ?? 1)]),
      `here         ${said}`,
    ],
    json: { ...time, here },
  }
}
