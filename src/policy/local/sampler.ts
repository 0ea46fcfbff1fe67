/** @file Generation: prompts in waves, one token a run for all rows, samples handed out as they finish. */

import { checkAutomaton } from '../../model/automaton.ts'
import { prefillGraph, stepGraph } from '../../model/decoding.ts'
import { TextStream, type Tokenizer } from '../../model/tokenizer.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { Executable, type Gate } from '../../tensor/index.ts'
import { DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { Sample, SampledToken, SampleRequest, TokenAlternative } from '../policy.ts'
import { KeyValueCache } from './cache.ts'
import type { Parameters } from './parameters.ts'
import { type ChoiceOptions, TokenChooser } from './token-choice.ts'

export interface SamplerOptions {
  threads: number
  spinning: boolean
  /** Rows that are decoded together. */
  maxRows: number
  gate?: Gate
}

/** Below this many bytes of weights they are fixed into the decoding graph after every update, which decodes faster. */
export const CONSTANT_WEIGHT_BYTES = 128 * 2 ** 20
/** The batch is rearranged when at most this share of its places is still in use. */
const REARRANGE_BELOW = 0.75

/** A sample on its way. */
interface Row {
  prompt: number
  index: number
  /** Position of the next token to be computed. */
  position: number
  tokens: number[]
  logprobs: number[]
  top: TokenAlternative[][]
  rng: Rng
  /** State of the automaton that the sample is held to. */
  state: number
  text: { stream: TextStream; tail: string } | null
}

interface Plan {
  request: SampleRequest
  choice: ChoiceOptions
  stops: ReadonlySet<number>
  stopStrings: readonly string[]
  /** The tokens that each state of the automaton lets pass; null: all pass. */
  allowed: readonly (readonly number[])[] | null
  emit: (sample: Sample) => void
  onToken?: (token: SampledToken) => void
}

/** Samples `first` .. `first + samples - 1` of some prompts, generated together. */
interface Wave {
  prompts: readonly number[]
  first: number
  samples: number
}

/** Cuts 0..count-1 into as few parts of at most `largest` as there can be, all of about the same size. */
const evenParts = (count: number, largest: number): { start: number; end: number }[] => {
  const parts = Math.ceil(count / largest)
  const each = Math.ceil(count / Math.max(1, parts))
  return Array.from({ length: parts }, (_, i) => ({ start: i * each, end: Math.min(count, (i + 1) * each) }))
}

/**
 * Refuses a prompt that leaves no room for so many new tokens.
 * @param prompt what it is called in the message
 * @throws DataError
 */
export const assertRoom = (prompt: string, length: number, maxTokens: number, maxPositions: number): void => {
  if (length + maxTokens <= maxPositions) return
  throw new DataError(
    `${prompt}: ${length} tokens and ${maxTokens} new ones exceed the context of ${maxPositions}`,
    { hint: 'shorten the prompt or lower maxTokens' },
  )
}

export class Sampler {
  readonly #parameters: Parameters
  readonly #options: SamplerOptions
  readonly #loadTokenizer: () => Tokenizer | null
  #tokenizer: Tokenizer | null = null
  readonly #chooser: TokenChooser
  #prefill: Executable | null = null
  #step: Executable | null = null
  #stepVersion = -1

  /** The tokenizer is loaded when the first request with stop strings comes. */
  constructor(parameters: Parameters, options: SamplerOptions, loadTokenizer: () => Tokenizer | null) {
    this.#parameters = parameters
    this.#options = options
    this.#loadTokenizer = loadTokenizer
    this.#chooser = new TokenChooser(parameters.config.vocabSize)
  }

  get #threading() {
    const { threads, spinning, gate } = this.#options
    return { threads, spinning, gate }
  }

  /** See `Policy.sample`. */
  async sample(
    request: SampleRequest,
    onSample?: (sample: Sample) => void,
    onToken?: (token: SampledToken) => void,
  ): Promise<Sample[]> {
    this.#check(request)
    const samples = request.samplesPerPrompt ?? 1
    const results = new Array<Sample>(request.prompts.length * samples)
    const emit = (sample: Sample) => {
      results[sample.prompt * samples + sample.index] = sample
      onSample?.(sample)
    }
    const plan: Plan = { ...this.#plan(request), emit, onToken }
    for (const wave of this.#waves(request.prompts, samples)) await this.#runWave(plan, wave)
    return results
  }

  #check(request: SampleRequest): void {
    const { prompts, maxTokens, samplesPerPrompt = 1, stopStrings, promptSeeds, automaton } = request
    const { maxPositions, vocabSize } = this.#parameters.config
    if (automaton) checkAutomaton(automaton, vocabSize)
    if (automaton?.states[0].size === 0)
      throw new DataError('automaton: expected tokens that a sample may begin with, got none')
    for (const [name, count] of Object.entries({ maxTokens, samplesPerPrompt }))
      if (!(Number.isInteger(count) && count > 0))
        throw new DataError(`${name}: expected a positive whole number, got ${count}`)
    if (promptSeeds && promptSeeds.length !== prompts.length)
      throw new DataError(`promptSeeds: expected ${prompts.length}, one a prompt, got ${promptSeeds.length}`)
    prompts.forEach((prompt, i) => {
      if (prompt.length === 0)
        throw new DataError(`prompt ${i} is empty`, { hint: 'give it at least one token, such as BOS' })
      assertRoom(`prompt ${i}`, prompt.length, maxTokens, maxPositions)
      const wrong = prompt.find(token => !(token >= 0 && token < vocabSize))
      if (wrong !== undefined)
        throw new DataError(`prompt ${i}: token ${wrong} is outside the vocabulary of ${vocabSize}`, {
          hint: 'the tokenizer does not belong to this model',
        })
    })
    if (stopStrings?.length) this.#tokenizer ??= this.#loadTokenizer()
    if (stopStrings?.length && !this.#tokenizer)
      throw new DataError('stop strings need a tokenizer', {
        hint: 'use stopTokens, or a checkpoint with a tokenizer',
      })
  }

  #plan(request: SampleRequest): Omit<Plan, 'emit'> {
    const { temperature = 1, topK = 0, topP = 1, topLogprobs: alternatives = 0, stopStrings = [] } = request
    const stops = new Set(request.stopTokens ?? this.#parameters.config.eosTokenIds)
    const allowed = request.automaton?.states.map(tokens => [...tokens.keys()]) ?? null
    return { request, choice: { temperature, topK, topP, alternatives }, stops, stopStrings, allowed }
  }

  /** Prompts of similar length go together, so that little is padded; a group too large for one wave takes several. */
  #waves(prompts: readonly TokenIds[], samples: number): Wave[] {
    const order = prompts.map((_, i) => i).sort((a, b) => prompts[b].length - prompts[a].length || a - b)
    const together = Math.min(samples, this.#options.maxRows)
    return evenParts(order.length, Math.floor(this.#options.maxRows / together)).flatMap(({ start, end }) =>
      evenParts(samples, together).map(part => ({
        prompts: order.slice(start, end),
        first: part.start,
        samples: part.end - part.start,
      })),
    )
  }

  async #prefillExecutable(): Promise<Executable> {
    this.#prefill ??= await Executable.compile(
      prefillGraph(this.#parameters.config, this.#parameters.asInputs()),
      this.#threading,
    )
    return this.#prefill
  }

  async #stepExecutable(): Promise<Executable> {
    const fixed = this.#parameters.count * 4 <= CONSTANT_WEIGHT_BYTES
    const current = this.#step && (!fixed || this.#stepVersion === this.#parameters.version)
    if (!current) {
      await this.#step?.release()
      const weights = fixed ? this.#parameters.asConstants() : this.#parameters.asInputs()
      this.#step = await Executable.compile(stepGraph(this.#parameters.config, weights), this.#threading)
      this.#stepVersion = this.#parameters.version
    }
    return this.#step!
  }

  async #runWave(plan: Plan, wave: Wave): Promise<void> {
    const { prompts } = plan.request
    const { samples } = wave
    const { logits, cache } = await this.#runPrompts(
      wave.prompts.map(i => prompts[i]),
      samples,
    )
    const vocabulary = this.#parameters.config.vocabSize
    const rows: (Row | null)[] = wave.prompts.flatMap(prompt =>
      Array.from({ length: samples }, (_, g) => this.#newRow(plan, prompt, wave.first + g)),
    )
    const batch = new RunningBatch(rows, samples, cache)
    this.#advance(plan, batch, row =>
      logits.subarray(Math.floor(row / samples) * vocabulary).subarray(0, vocabulary),
    )
    const step = await this.#stepExecutable()
    const weights = this.#parameters.feeds(step.model.inputs)
    while (batch.live > 0) {
      batch.compact()
      const outputs = await step.run({ ...batch.values(), ...weights })
      cache.append(outputs.fresh.data as Float32Array)
      const next = outputs.logits.data as Float32Array
      this.#advance(plan, batch, row => next.subarray(row * vocabulary, (row + 1) * vocabulary))
    }
  }

  #newRow(plan: Plan, prompt: number, index: number): Row {
    const { request, stopStrings } = plan
    return {
      prompt,
      index,
      position: request.prompts[prompt].length,
      tokens: [],
      logprobs: [],
      top: [],
      state: 0,
      rng: new Rng(`${request.promptSeeds?.[prompt] ?? `${request.seed ?? 0}/${prompt}`}/${index}`),
      text: stopStrings.length > 0 ? { stream: new TextStream(this.#tokenizer!), tail: '' } : null,
    }
  }

  async #runPrompts(prompts: readonly TokenIds[], samples: number) {
    const longest = Math.max(...prompts.map(prompt => prompt.length))
    const tokens = new BigInt64Array(prompts.length * longest)
    const positions = new BigInt64Array(tokens.length)
    const last = new BigInt64Array(prompts.length)
    prompts.forEach((prompt, p) => {
      for (let s = 0; s < longest; s++) {
        tokens[p * longest + s] = BigInt(prompt[s] ?? 0)
        positions[p * longest + s] = BigInt(s)
      }
      last[p] = BigInt(p * longest + prompt.length - 1)
    })
    const prefill = await this.#prefillExecutable()
    const outputs = await prefill.run({
      tokens: { data: tokens, dims: [tokens.length] },
      positions: { data: positions, dims: [prompts.length, longest] },
      last: { data: last, dims: [prompts.length] },
      ...this.#parameters.feeds(prefill.model.inputs),
    })
    const lengths = prompts.map(prompt => prompt.length)
    const cache = new KeyValueCache(this.#parameters.config, outputs, lengths, longest, samples)
    return { logits: outputs.logits.data as Float32Array, cache }
  }

  /** Draws the next token of every live row and lets finished ones go. */
  #advance(plan: Plan, batch: RunningBatch, logitsOf: (row: number) => Float32Array): void {
    batch.rows.forEach((row, at) => {
      if (!row) return
      const { token, logprob, top } = this.#chooser.choose(
        logitsOf(at),
        plan.choice,
        row.rng.next(),
        plan.allowed?.[row.state],
      )
      row.state = plan.request.automaton?.states[row.state].get(token) ?? 0
      row.tokens.push(token)
      row.logprobs.push(logprob)
      if (top) row.top.push(top)
      plan.onToken?.({ prompt: row.prompt, index: row.index, token, logprob, ...(top && { top }) })
      const reason = finishReason(plan, row, token)
      if (!reason) return
      batch.finish(at)
      plan.emit({
        prompt: row.prompt,
        index: row.index,
        tokens: Int32Array.from(row.tokens),
        logprobs: Float32Array.from(row.logprobs),
        ...(plan.choice.alternatives && { top: row.top }),
        finishReason: reason,
      })
    })
  }
}

const finishReason = (plan: Plan, row: Row, token: number): Sample['finishReason'] | null => {
  if (plan.stops.has(token) || containsStopString(plan, row, token)) return 'stop'
  if (plan.allowed?.[row.state].length === 0) return 'stop'
  return row.tokens.length >= plan.request.maxTokens ? 'length' : null
}

/** Only the end of the text can complete a stop string, so only a tail as long as the longest one is kept. */
const containsStopString = ({ stopStrings }: Plan, { text }: Row, token: number): boolean => {
  if (!text) return false
  const tail = text.tail + text.stream.push(token)
  const longest = Math.max(...stopStrings.map(stop => stop.length))
  text.tail = tail.slice(-longest)
  return stopStrings.some(stop => tail.includes(stop))
}

/** Rows [P, G] of a wave; places of finished samples stay empty until the batch is compacted. */
class RunningBatch {
  rows: (Row | null)[]
  live: number
  #samples: number
  readonly #cache: KeyValueCache

  constructor(rows: (Row | null)[], samples: number, cache: KeyValueCache) {
    this.rows = rows
    this.live = rows.length
    this.#samples = samples
    this.#cache = cache
  }

  finish(at: number): void {
    this.rows[at] = null
    this.live--
  }

  values() {
    const dims = [this.rows.length / this.#samples, this.#samples]
    const tokens = BigInt64Array.from(this.rows, row => BigInt(row ? row.tokens[row.tokens.length - 1] : 0))
    const positions = BigInt64Array.from(this.rows, row => BigInt(row ? row.position++ : 0))
    return { tokens: { data: tokens, dims }, positions: { data: positions, dims }, ...this.#cache.values() }
  }

  /** Lets finished rows leave the batch when that frees enough places: prompts without live rows go, groups shrink. */
  compact(): void {
    if (this.live > REARRANGE_BELOW * this.rows.length) return
    const groups = Array.from({ length: this.rows.length / this.#samples }, (_, p) => this.#liveRows(p))
    const prompts = groups.flatMap((rows, p) => (rows.length > 0 ? [p] : []))
    const samples = Math.max(...groups.map(rows => rows.length))
    if (prompts.length * samples > REARRANGE_BELOW * this.rows.length) return
    const kept = prompts.map(p => groups[p])
    const filled = kept.map(rows => Array.from({ length: samples }, (_, g) => rows[g] ?? rows[0]))
    this.#cache.keep(prompts, filled)
    this.rows = kept.flatMap(rows =>
      Array.from({ length: samples }, (_, g) => (rows[g] === undefined ? null : this.rows[rows[g]])),
    )
    this.#samples = samples
  }

  #liveRows(prompt: number): number[] {
    const first = prompt * this.#samples
    return Array.from({ length: this.#samples }, (_, g) => first + g).filter(row => this.rows[row])
  }
}
