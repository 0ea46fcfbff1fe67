/** @file Every kind of graph that this package compiles, for models of a few numbers, and what the runtime makes of a graph. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as ort from 'onnxruntime-node'
import type { ModelConfig } from '../model/config.ts'
import { prefillGraph, stepGraph } from '../model/decoding.ts'
import type { ModelSource } from '../policy/local/model-source.ts'
import { Parameters } from '../policy/local/parameters.ts'
import { GEMMA, TINY } from '../policy/local/tiny-model.fixture.ts'
import { scoringOutputs, trainingOutputs } from '../policy/local/trainer.ts'
import type { LossSpec } from '../rl/loss.ts'
import { LOSS_PRESETS, lossOf } from '../rl/loss-presets.ts'
import type { Tensor } from '../tensor/index.ts'
import type { OnnxModel } from '../tensor/onnx.ts'

export type Graph = Record<string, Tensor>

const LOSSES: Readonly<Record<string, LossSpec>> = {
  ...LOSS_PRESETS,
  ...Object.fromEntries(
    (['k1', 'k2', 'k3', 'abs'] as const).map(kind => [
      `kl ${kind}`,
      lossOf('trl:grpo', { kl: { kind, coef: 0.1 } }),
    ]),
  ),
  entropy: lossOf('trl:grpo', { entropyCoef: 0.01 }),
  'cross entropy': lossOf('trl:grpo', { crossEntropyCoef: 0.5 }),
  'value without clip': lossOf('verl:ppo', { value: { coef: 1, clip: null } }),
  reinforce: lossOf('trl:grpo', { policy: { kind: 'reinforce' } }),
  nothing: lossOf('trl:grpo', { policy: { kind: 'none' } }),
}

const LORA = { rank: 2, alpha: 4, targetModules: ['q_proj', 'down_proj'] } as const
const models: Readonly<Record<string, { config: ModelConfig; source?: Omit<ModelSource, 'init'> }>> = {
  llama: { config: TINY, source: { valueHead: true } },
  'llama with an adapter': { config: TINY, source: { valueHead: true, lora: LORA } },
  qwen2: {
    config: { ...TINY, family: 'qwen2', attentionBias: true, tieEmbeddings: false },
    source: { valueHead: true },
  },
  qwen3: { config: { ...TINY, family: 'qwen3', qkNorm: true, kvHeads: 4 }, source: { valueHead: true } },
  'gemma 3': { config: GEMMA, source: { valueHead: true } },
  'a large vocabulary': { config: { ...TINY, vocabSize: 8200, layers: 1 }, source: { valueHead: true } },
}

const LAYOUTS = [true, false].flatMap(withPrefix => [true, false].map(unpadded => ({ withPrefix, unpadded })))

/** Graphs of one model: prompt, one token, scores, and the gradient of every loss; with and without a shared prompt and padding. */
const graphsOf = async (
  config: ModelConfig,
  source: Omit<ModelSource, 'init'>,
): Promise<[string, Graph][]> => {
  const parameters = new Parameters({ ...source, init: { config, seed: 1 } })
  const [fixed, rounded] = [await parameters.asConstants(), await parameters.asConstants({}, 8)]
  return [
    ['prompt', prefillGraph(config, parameters.asInputs())],
    ...[true, false].flatMap((sharedPrompt): [string, Graph][] => {
      const name = sharedPrompt ? 'token' : 'token after a prompt of its own'
      return [
        [name, stepGraph(config, parameters.asInputs(), { sharedPrompt })],
        [`${name}, weights fixed`, stepGraph(config, fixed, { sharedPrompt })],
        [`${name}, weights in 8 bits`, stepGraph(config, rounded, { sharedPrompt })],
      ]
    }),
    ...LAYOUTS.flatMap((layout): [string, Graph][] => [
      ['scores', scoringOutputs(parameters, layout)],
      ...Object.entries(LOSSES).map(([name, spec]): [string, Graph] => [
        name,
        trainingOutputs(parameters, spec, layout),
      ]),
    ]),
  ]
}

/** By what they are for. */
export const productGraphs = async (): Promise<[string, Graph][]> => {
  const all = Object.entries(models).map(async ([name, { config, source = {} }]) => {
    const graphs = await graphsOf(config, source)
    return graphs.map(([purpose, graph]): [string, Graph] => [`${name}: ${purpose}`, graph])
  })
  return (await Promise.all(all)).flat()
}

/** Fields of a protobuf message that hold bytes, by number. */
function* byteFields(bytes: Uint8Array): Generator<[field: number, content: Uint8Array]> {
  let at = 0
  const varint = () => {
    let [value, shift] = [0, 1]
    for (;;) {
      const byte = bytes[at++]
      value += (byte & 127) * shift
      if (byte < 128) return value
      shift *= 128
    }
  }
  while (at < bytes.length) {
    const key = varint()
    const kind = key % 8
    if (kind === 0) varint()
    else if (kind === 1) at += 8
    else if (kind === 5) at += 4
    else {
      const length = varint()
      yield [Math.floor(key / 8), bytes.subarray(at, at + length)]
      at += length
    }
  }
}

const textOf = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)

/** Operators that are left when the runtime has rewritten a model, as the engine has it do. */
export const rewrittenOperators = async ({
  bytes,
  external,
}: Pick<OnnxModel, 'bytes' | 'external'>): Promise<string[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-graph-'))
  try {
    const path = join(folder, 'rewritten.onnx')
    const session = await ort.InferenceSession.create(bytes, {
      externalData: external,
      graphOptimizationLevel: 'basic',
      optimizedModelFilePath: path,
      logSeverityLevel: 3,
    })
    await session.release()
    const graphs = [...byteFields(readFileSync(path))].filter(([field]) => field === 7)
    const nodes = graphs.flatMap(([, graph]) => [...byteFields(graph)].filter(([field]) => field === 1))
    return nodes.map(([, node]) => {
      const fields = new Map(byteFields(node))
      const domain = textOf(fields.get(7))
      return `${domain && domain !== 'ai.onnx' ? `${domain}.` : ''}${textOf(fields.get(4))}`
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
