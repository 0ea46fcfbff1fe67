/**
 * @file Generation: prompts in waves, one token a run for all rows, samples handed out as they finish. Rows of several turns stay
 * where they are between turns, with all that was computed of them; what is said to a turn is computed a token a run as well,
 * beside the tokens that others draw.
 */

import type { Tokenizer } from '../../model/tokenizer.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type {
  ConverseRequest,
  NextTurn,
  Sample,
  SampledToken,
  SampleRequest,
  TurnReply,
  TurnStart,
} from '../policy.ts'
import { StopSearch } from '../stop-search.ts'
import { rowsWithRoom } from './cache-room.ts'
import type { Parameters } from './parameters.ts'
import { type Row, RunningBatch } from './running-batch.ts'
import {
  assertKnown,
  assertRoom,
  checkConversation,
  checkSampleRequest,
  type PartialSampleRequest,
  promptSeed,
} from './sample-request.ts'
import { type NetworkOptions, SamplingNetwork } from './sampling-network.ts'
import { type ChoiceOptions, TokenChooser } from './token-choice.ts'
import { groupSize, type Wave, waveParts, wavesWithRoom } from './waves.ts'

export interface SamplerOptions extends NetworkOptions {
  /** Rows that are decoded together. */
  maxRows: number
  /** See `Trainer.nextLogits`: where one token is all that is drawn, prompts share what they begin with. */
  nextLogits(prompts: readonly TokenIds[]): Promise<Float32Array[]>
}

/** What sampling has computed so far; counts, which no clock has a say in. */
export interface SamplerWork {
  /** Tokens of prompts, without padding. */
  promptTokens: number
  /** Runs of the network after the prompts, and rows that computed a token in them. */
  steps: number
  tokens: number
  /** Places that those rows were computed in, empty and waiting ones included. */
  places: number
}

interface Plan {
  prompts: readonly TokenIds[]
  /** That a row may come to hold after its prompt. */
  newTokens: number
  choice: ChoiceOptions
  stops: ReadonlySet<number>
  stopStrings: readonly string[]
  automaton?: SampleRequest['automaton']
  /** The tokens that each state of the automaton lets pass; null: all pass. */
  allowed: readonly (readonly number[])[] | null
  start: (prompt: number, index: number) => TurnStart
  /** Takes a sample that is finished, or a turn of one: then what follows it. */
  emit: (sample: Sample) => Promise<NextTurn | null> | undefined
  onToken?: (token: SampledToken) => void
  /** Rows go on with the next step after their turn; else when all that are computed beside them wait as well. */
  instant: boolean
  /** See `RunningBatch`. */
  mayPart: boolean
}

/** Rows that have room in this process: a device has memory of its own, and samples of one token have no cache. */
const roomOf =
  ({ config }: Pick<Parameters, 'config'>, { running, maxRows }: SamplerOptions) =>
  (newTokens: number) =>
  (samples: number, promptTokens: number): number =>
    running.provider === 'webgpu' || newTokens === 1
      ? maxRows
      : rowsWithRoom(config, maxRows, samples, promptTokens, newTokens)

export class Sampler {
  readonly #parameters: Parameters
  readonly #maxRows: number
  readonly #room: ReturnType<typeof roomOf>
  readonly #network: SamplingNetwork
  readonly #nextLogits: SamplerOptions['nextLogits']
  readonly #loadTokenizer: () => Tokenizer | null
  #tokenizer: Tokenizer | null = null
  readonly #chooser: TokenChooser
  readonly #work: SamplerWork = { promptTokens: 0, steps: 0, tokens: 0, places: 0 }

  /** The tokenizer is loaded when the first request with stop strings comes. */
  constructor(parameters: Parameters, options: SamplerOptions, loadTokenizer: () => Tokenizer | null) {
    this.#parameters = parameters
    this.#maxRows = options.maxRows
    this.#room = roomOf(parameters, options)
    this.#network = new SamplingNetwork(parameters, options)
    this.#nextLogits = options.nextLogits
    this.#loadTokenizer = loadTokenizer
    this.#chooser = new TokenChooser(parameters.config.vocabSize)
  }

  /** See `Policy.sample`. */
  async sample(
    request: PartialSampleRequest,
    onSample?: (sample: Sample) => void,
    onToken?: (token: SampledToken) => void,
  ): Promise<Sample[]> {
    checkSampleRequest(request, this.#parameters.config)
    this.#loadTokenizerFor(request)
    const { prompts, samplesPerPrompt: samples = 1, firstSample = 0, maxTokens } = request
    const results = new Array<Sample>(prompts.length * samples)
    const emit = (sample: Sample) => {
      results[sample.prompt * samples + sample.index - firstSample] = sample
      onSample?.(sample)
      return undefined
    }
    const start = (prompt: number, index: number) => ({
      maxTokens,
      stream: `${promptSeed(request, prompt)}/${index}`,
    })
    const plan: Plan = {
      ...this.#plan(request),
      prompts,
      newTokens: maxTokens,
      start,
      emit,
      onToken,
      instant: true,
      mayPart: false,
    }
    for (const wave of wavesWithRoom(prompts, samples, this.#maxRows, this.#room(maxTokens), firstSample))
      await (maxTokens === 1 ? this.#drawOne(plan, wave) : this.#runWave(plan, wave))
    return results
  }

  /** See `Policy.converse`. */
  async converse(request: ConverseRequest, reply: TurnReply): Promise<void> {
    const { rows, instant } = request
    if (rows.length === 0) return
    checkConversation(request, this.#parameters.config)
    this.#loadTokenizerFor(request)
    const samples = groupSize(rows.map(({ prompt }) => prompt))
    const rowAt = (prompt: number, index: number) => prompt * samples + index
    const plan: Plan = {
      ...this.#plan(request),
      prompts: rows.filter((_, row) => row % samples === 0).map(({ prompt }) => prompt),
      newTokens: this.#parameters.config.maxPositions - Math.min(...rows.map(({ prompt }) => prompt.length)),
      start: (prompt, index) => rows[rowAt(prompt, index)],
      emit: ({ prompt, index, ...turn }) => {
        const row = rowAt(prompt, index)
        return reply(row, { ...turn, prompt: row, index: 0 })
      },
      instant,
      mayPart: true,
    }
    // Parts run beside each other: both graphs have to be there.
    await this.#network.prefill()
    await this.#network.step({ sharedPrompt: samples > 1 })
    for (const wave of wavesWithRoom(plan.prompts, samples, this.#maxRows, this.#room(plan.newTokens))) {
      const parts = instant ? [wave] : waveParts(wave)
      const ended = await Promise.allSettled(parts.map(part => this.#runWave(plan, part)))
      for (const end of ended) if (end.status === 'rejected') throw end.reason
    }
  }

  /** What was computed since the start. */
  get work(): SamplerWork {
    return { ...this.#work }
  }

  #loadTokenizerFor({ stopStrings }: Pick<SampleRequest, 'stopStrings'>): void {
    if (!stopStrings?.length) return
    this.#tokenizer ??= this.#loadTokenizer()
    if (!this.#tokenizer)
      throw new DataError('stop strings need a tokenizer', {
        hint: 'use stopTokens, or a checkpoint with a tokenizer',
      })
  }

  #plan(
    request: Omit<SampleRequest, 'prompts' | 'maxTokens'>,
  ): Pick<Plan, 'choice' | 'stops' | 'stopStrings' | 'automaton' | 'allowed'> {
    const { temperature = 1, topK = 0, topP = 1, topLogprobs: alternatives = 0, stopStrings = [] } = request
    const stops = new Set(request.stopTokens ?? this.#parameters.config.eosTokenIds)
    const { automaton } = request
    const allowed = automaton?.states.map(tokens => [...tokens.keys()]) ?? null
    const choice = { temperature, topK, topP, alternatives }
    return { choice, stops, stopStrings, allowed, ...(automaton && { automaton }) }
  }

  #promptsOf(plan: Plan, wave: Wave): TokenIds[] {
    const prompts = wave.prompts.map(i => plan.prompts[i])
    this.#work.promptTokens += prompts.reduce((sum, { length }) => sum + length, 0)
    return prompts
  }

  /** A wave whose samples have one token each: nothing has to be kept for a second one. */
  async #drawOne(plan: Plan, wave: Wave): Promise<void> {
    const logits = await this.#nextLogits(this.#promptsOf(plan, wave))
    for (const [at, prompt] of wave.prompts.entries())
      for (let g = 0; g < wave.samples; g++)
        this.#draw(plan, this.#newRow(plan, prompt, wave.first + g), logits[at])
  }

  async #runWave(plan: Plan, wave: Wave): Promise<void> {
    const { samples } = wave
    const prompts = this.#promptsOf(plan, wave)
    const { logits, cache } = await this.#network.readPrompts(prompts, samples, plan.newTokens)
    const vocabulary = this.#parameters.config.vocabSize
    const rows: (Row | null)[] = wave.prompts.flatMap(prompt =>
      Array.from({ length: samples }, (_, g) => this.#newRow(plan, prompt, wave.first + g)),
    )
    const batch = new RunningBatch(rows, samples, cache, plan.mayPart)
    try {
      this.#advance(plan, batch, row =>
        logits.subarray(Math.floor(row / samples) * vocabulary).subarray(0, vocabulary),
      )
      const step = await this.#network.step(cache.layout)
      const weights = await this.#parameters.feeds(step.model.inputs)
      while (await this.#goOn(plan, batch)) {
        await batch.compact()
        const { values, computed } = batch.values()
        const outputs = await step.execute({ ...values, ...weights })
        await cache.append(outputs, computed)
        this.#count(computed)
        const next = outputs.values.logits.data as Float32Array
        this.#advance(plan, batch, row => next.subarray(row * vocabulary, (row + 1) * vocabulary))
      }
    } catch (error) {
      cache.release(false)
      throw error
    }
    cache.release(true)
  }

  #count(computed: readonly boolean[]): void {
    this.#work.steps++
    this.#work.places += computed.length
    this.#work.tokens += computed.filter(Boolean).length
  }

  /**
   * Begins the next turn of rows that wait for it: of all, when it is time. That depends on steps alone, so a slow reply changes
   * nothing but the time.
   * @returns whether there is anything left to compute
   */
  async #goOn(plan: Plan, batch: RunningBatch): Promise<boolean> {
    const waiting = batch.rows.flatMap((row, at) => (row?.reply ? [{ row, at, reply: row.reply }] : []))
    const due = plan.instant || waiting.length === batch.live ? waiting : []
    const replies = await Promise.all(due.map(({ reply }) => reply))
    due.forEach(({ row, at }, i) => {
      const next = replies[i]
      if (next) this.#beginTurn(plan, row, next)
      else batch.finish(at)
    })
    return batch.live > 0
  }

  #newRow(plan: Plan, prompt: number, index: number): Row {
    const { maxTokens, stream } = plan.start(prompt, index)
    const position = plan.prompts[prompt].length
    return { prompt, index, position, ahead: [], reply: null, ...this.#freshTurn(plan, maxTokens, stream) }
  }

  #freshTurn({ stopStrings }: Plan, maxTokens: number, stream: string) {
    return {
      ...{ maxTokens, tokens: [], logprobs: [], top: [], state: 0, rng: new Rng(stream) },
      search: stopStrings.length > 0 ? new StopSearch(this.#tokenizer!, stopStrings) : null,
    }
  }

  #beginTurn(plan: Plan, row: Row, { tokens, maxTokens, stream }: NextTurn): void {
    const { maxPositions, vocabSize } = this.#parameters.config
    const what = `row ${row.prompt}.${row.index}`
    if (tokens.length === 0) throw new DataError(`${what}: expected something said to its turn, got nothing`)
    assertKnown(`what is said to ${what}`, tokens, vocabSize)
    row.ahead.push(...tokens)
    assertRoom(what, row.position + row.ahead.length, maxTokens, maxPositions)
    Object.assign(row, this.#freshTurn(plan, maxTokens, stream))
    row.reply = null
  }

  /** Draws the next token of every row of which all known ones are computed; finished samples and turns are handed out. */
  #advance(plan: Plan, batch: RunningBatch, logitsOf: (row: number) => Float32Array): void {
    batch.rows.forEach((row, at) => {
      if (!row || row.reply || row.ahead.length > 0) return
      const reply = this.#draw(plan, row, logitsOf(at))
      if (reply === null) return
      if (!reply) {
        batch.finish(at)
        return
      }
      // Until it is waited for, a failure must not count as unhandled.
      reply.catch(() => {})
      row.reply = reply
    })
  }

  /** Draws a row's next token. @returns what taking the sample or turn brought that ends with it; null where none ends */
  #draw(plan: Plan, row: Row, logits: Float32Array): ReturnType<Plan['emit']> | null {
    const { token, logprob, top } = this.#chooser.choose(
      logits,
      plan.choice,
      row.rng.next(),
      plan.allowed?.[row.state],
    )
    row.state = plan.automaton?.states[row.state].get(token) ?? 0
    row.ahead.push(token)
    row.tokens.push(token)
    row.logprobs.push(logprob)
    if (top) row.top.push(top)
    plan.onToken?.({ prompt: row.prompt, index: row.index, token, logprob, ...(top && { top }) })
    const reason = finishReason(plan, row, token)
    if (!reason) return null
    return plan.emit({
      prompt: row.prompt,
      index: row.index,
      tokens: Int32Array.from(row.tokens),
      logprobs: Float32Array.from(row.logprobs),
      ...(plan.choice.alternatives && { top: row.top }),
      finishReason: reason,
    })
  }
}

const finishReason = (plan: Plan, row: Row, token: number): Sample['finishReason'] | null => {
  if (plan.stops.has(token) || row.search?.isAt(token)) return 'stop'
  if (plan.allowed?.[row.state].length === 0) return 'stop'
  return row.tokens.length >= row.maxTokens ? 'length' : null
}
