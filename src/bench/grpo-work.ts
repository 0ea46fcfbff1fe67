/** @file What `gradus bench grpo` trains: the shipped model on logic, or a chat model on instructions that rules check. */

import { checkInstruction } from '../grade/instructions/index.ts'
import { extractLabel } from '../grade/logic/answer.ts'
import { chatFormatOf } from '../model/chat-format.ts'
import { fetchModel } from '../model/fetch-model.ts'
import type { ModelSource } from '../policy/local/model-source.ts'
import type { TokenIds } from '../rl/datum.ts'
import { instructionRows } from '../tasks/instructions/index.ts'
import { decodeTokens, encodePrompt, LOGIC_TOKENS, logicGenerator } from '../tasks/logic/index.ts'
import { resolveShipped } from '../util/package.ts'
import { adapterOf } from './engine-work.ts'

/** A prompt of the workload, for peers that train the same model: of a chat model the user's message. */
export interface GrpoPrompt {
  prompt: string
  promptTokens: number[]
  answer?: string
}

/** Problems, the model that they are for, and what is right. */
export interface GrpoWork {
  model: string
  source: ModelSource & { folder: string }
  /** The i-th problem: its prompt, and whether a response to it is right. */
  problemAt(i: number): GrpoPrompt & { isRight(tokens: TokenIds): boolean }
  stopTokens: readonly number[]
  /** Prompts and samples of a step, and most tokens of a sample. */
  size: { prompts: number; samples: number; maxTokens: number; steps: number; rounds: number }
}

const SHIPPED = 'models/logic-start'
const HOPS = 5

const logicWork = (): GrpoWork => {
  const generated = logicGenerator({ hops: HOPS, style: 'real', labels: 'two-way' }, 'bench grpo')
  return {
    model: SHIPPED,
    source: { folder: resolveShipped(`package:${SHIPPED}`) },
    problemAt: i => {
      const problem = generated(i)
      const promptTokens = encodePrompt(problem)
      return {
        ...{ prompt: decodeTokens(promptTokens), promptTokens, answer: problem.label },
        isRight: tokens => extractLabel(decodeTokens(tokens)).label === problem.label,
      }
    },
    stopTokens: [LOGIC_TOKENS.eos],
    size: { prompts: 32, samples: 8, maxTokens: 96, steps: 5, rounds: 3 },
  }
}

/** Rows that are written before the first step; after them it begins anew. */
const ROWS = 320
const MAX_TOKENS = 96

/** @param rank of the adapter that is trained; 0: all weights are */
const instructionWork = async (model: string, rank: number): Promise<GrpoWork> => {
  const folder = await fetchModel(model)
  const format = chatFormatOf(folder, 'gradus bench grpo')
  const rows = instructionRows(ROWS, 'bench grpo', MAX_TOKENS)
  return {
    model,
    source: { folder, ...adapterOf(rank) },
    problemAt: i => {
      const { prompt, criteria } = rows[i % ROWS]
      const { id, kwargs } = criteria[0].verifier!.params as { id: string; kwargs: Record<string, unknown> }
      return {
        ...{ prompt, promptTokens: format.encode([{ role: 'user', content: prompt }]) },
        isRight: tokens => checkInstruction(id, kwargs, format.answer(tokens), { prompt }),
      }
    },
    stopTokens: format.stopTokens,
    size: { prompts: 8, samples: 8, maxTokens: MAX_TOKENS, steps: 2, rounds: 2 },
  }
}

/** @param model in place of the shipped one: a folder, a name on the hub, a GGUF file */
export const grpoWork = async (model: string | undefined, loraRank = 32): Promise<GrpoWork> =>
  model === undefined ? logicWork() : instructionWork(model, loraRank)

/** The first prompts of the workload, in the order in which steps take them. */
export const grpoPrompts = (work: GrpoWork, count: number): GrpoPrompt[] =>
  Array.from({ length: count }, (_, i) => {
    const { isRight: _isRight, ...prompt } = work.problemAt(i)
    return prompt
  })
