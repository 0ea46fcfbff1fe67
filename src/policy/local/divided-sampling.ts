/** @file What is sampled, divided among engines of the same weights. */

import type { ConverseRequest, Sample, SampledToken, SampleRequest, TurnReply } from '../policy.ts'
import type { LocalPolicy } from './local-policy.ts'
import {
  checkConversation,
  checkSampleRequest,
  type PartialSampleRequest,
  promptSeed,
} from './sample-request.ts'
import { groupSize, type Wave, wavesOf } from './waves.ts'

/** Waits for all of them, then throws what was thrown first. */
export const settleAll = async <T>(promises: readonly Promise<T>[]): Promise<T[]> => {
  const thrown: unknown[] = []
  const noted = promises.map(promise =>
    promise.catch((error: unknown) => {
      thrown.push(error)
      throw error
    }),
  )
  const settled = await Promise.allSettled(noted)
  if (thrown.length > 0) throw thrown[0]
  return settled.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
}

/** What a request asks of one wave; streams are named as in the whole. */
const partOfRequest = (request: SampleRequest, { prompts, first, samples }: Wave): PartialSampleRequest => ({
  ...request,
  prompts: prompts.map(prompt => request.prompts[prompt]),
  promptSeeds: prompts.map(prompt => promptSeed(request, prompt)),
  samplesPerPrompt: samples,
  firstSample: first,
})

/** Gives what was drawn in a wave its prompt's number in the whole request. */
const inWhole =
  ({ prompts }: Wave) =>
  <Drawn extends { prompt: number }>(drawn: Drawn): Drawn => ({ ...drawn, prompt: prompts[drawn.prompt] })

/** Samples in waves of so many rows: each engine takes the next one as soon as it has finished one. See `Policy.sample`. */
export const sampleAmong = async (
  engines: readonly LocalPolicy[],
  maxRows: number,
  request: SampleRequest,
  onSample?: (sample: Sample) => void,
  onToken?: (token: SampledToken) => void,
): Promise<Sample[]> => {
  checkSampleRequest(request, engines[0].config)
  const { prompts, samplesPerPrompt: group = 1 } = request
  const results = new Array<Sample>(prompts.length * group)
  // When one has failed, nothing of the others is of use.
  let failed = false
  const keep = (sample: Sample) => {
    if (failed) return
    results[sample.prompt * group + sample.index] = sample
    onSample?.(sample)
  }
  const waves = wavesOf(prompts, group, maxRows, { engines: engines.length })
  const work = async (engine: LocalPolicy): Promise<void> => {
    for (let wave = waves.shift(); wave; wave = waves.shift()) {
      const named = inWhole(wave)
      await engine.sample(
        partOfRequest(request, wave),
        sample => keep(named(sample)),
        onToken && (token => failed || onToken(named(token))),
      )
    }
  }
  const stopping = (error: unknown): never => {
    failed = true
    waves.length = 0
    throw error
  }
  await settleAll(engines.map(engine => work(engine).catch(stopping)))
  return results
}

/** Neighbours that share a prompt stay together, where there are enough prompts for all engines. See `Policy.converse`. */
export const converseAmong = async (
  engines: readonly LocalPolicy[],
  request: ConverseRequest,
  reply: TurnReply,
): Promise<void> => {
  checkConversation(request, engines[0].config)
  const { rows } = request
  const size = groupSize(rows.map(({ prompt }) => prompt))
  const unit = rows.length / size < engines.length ? 1 : size
  const startOf = (at: number) => unit * Math.floor((at * rows.length) / unit / engines.length)
  // When one has failed, no further turn is of use: replies may be dear.
  let failed = false
  const talk = async (engine: LocalPolicy, at: number): Promise<void> => {
    const from = startOf(at)
    const own = rows.slice(from, startOf(at + 1))
    if (own.length === 0) return
    const answer: TurnReply = async (row, turn) =>
      failed ? null : reply(from + row, { ...turn, prompt: from + row })
    await engine.converse({ ...request, rows: own }, answer).catch(error => {
      failed = true
      throw error
    })
  }
  await settleAll(engines.map(talk))
}
