/** @file Learning to chat a little: answers to short requests, and a judge's verdicts on answers. */

import { join } from 'node:path'
import type { z } from 'zod'
import { type ChatFormat, chatFormat, chatFormatOf } from '../../model/chat-format.ts'
import { ChatTemplate } from '../../model/chat-template.ts'
import { loadConfig, readCompanionFiles, saveCheckpoint } from '../../model/checkpoint.ts'
import { createTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import { loadWeights } from '../../model/weights.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import type { Policy } from '../../policy/policy.ts'
import { latestCheckpoint } from '../../runs/readers.ts'
import type { EvalRow } from '../../runs/rows.ts'
import type { requestsStartSchema } from '../../tasks/requests/cold-start.ts'
import {
  CHAT_TEMPLATE,
  chatTokenizer,
  drawDialogue,
  drawJudgement,
  readRequestVerdict,
  requestDemonstrations,
  TOKENS,
} from '../../tasks/requests/index.ts'
import type { ModelShape } from '../../train/config.ts'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { mean, meanKnown, valuesByName } from '../../util/statistics.ts'
import { scoresOf } from '../common/evaluated-set.ts'
import { miniatureShape } from '../common/miniature.ts'
import type { SftConfig } from './config.ts'
import type { ConfigOf, LearntTask } from './learnt.ts'

export interface FreshChat {
  source: ModelSource & Required<Pick<ModelSource, 'init'>>
  tokenizer: Tokenizer
  format: ChatFormat
}

/** Of the longest questions to the judge, in the smallest vocabulary. */
const LEAST_POSITIONS = 256

/**
 * Fresh weights with the tokenizer files that make the saved checkpoint complete.
 * @throws ConfigError for heads that do not divide the width, and for a context that is too short
 */
export const freshChatModel = (shape: ModelShape, vocabulary: number, seed: number | string): FreshChat => {
  if (shape.maxPositions < LEAST_POSITIONS)
    throw new ConfigError(
      `model.shape.maxPositions: expected at least ${LEAST_POSITIONS}, got ${shape.maxPositions}; a longer question to the judge would not fit`,
    )
  const files = chatTokenizer(vocabulary, shape.maxPositions)
  const tokenizer = createTokenizer(
    JSON.parse(files['tokenizer.json']),
    JSON.parse(files['tokenizer_config.json']),
  )
  const end = tokenizer.idOf(TOKENS.end)!
  const config = miniatureShape(shape, {
    vocabSize: tokenizer.vocabSize,
    bosTokenId: tokenizer.idOf(TOKENS.start)!,
    eosTokenIds: [end],
  })
  return {
    source: { init: { config, seed, embeddingStd: shape.embeddingStd, files } },
    tokenizer,
    format: chatFormat(tokenizer, new ChatTemplate(CHAT_TEMPLATE), config),
  }
}

const REQUEST_SET = 'fresh requests'
const JUDGE_SET = 'fresh questions to the judge'

/** What both sets are asked with: a policy, its prompts, and so many conversations of the set. */
interface Asking extends Pick<SftConfig['evaluation'], 'problems' | 'maxTokens'> {
  policy: Policy
  format: ChatFormat
}

/** How both are decoded. */
const GREEDY = { samples: 1, temperature: 0 }

/** Conversations drawn from a stream of their own, and the likeliest answer to each as text. */
const ask = async <Drawn extends { messages: Parameters<ChatFormat['encode']>[0] }>(
  { policy, format, problems, maxTokens }: Asking,
  stream: string,
  draw: (rng: Rng) => Drawn,
): Promise<{ drawn: Drawn[]; answers: string[] }> => {
  const drawn = Array.from({ length: problems }, (_, i) => draw(new Rng(`${stream}/${i}`)))
  const samples = await policy.sample({
    prompts: drawn.map(({ messages }) => format.encode(messages)),
    ...{ maxTokens, temperature: GREEDY.temperature, seed: 'evaluation' },
    stopTokens: format.stopTokens,
  })
  return { drawn, answers: samples.map(({ tokens }) => format.answer(tokens)) }
}

/** Mean by name, in the order of the names. */
const meansByName = (values: readonly (readonly [name: string, value: number])[]): Record<string, number> =>
  Object.fromEntries(
    valuesByName(values)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, own]) => [name, mean(own)]),
  )

/** Mean of the shares of met and of unmet criteria that are judged so; no verdict is not right. Null where one side is empty. */
const balancedAccuracy = (
  truth: readonly boolean[],
  verdicts: readonly (boolean | null)[],
): number | null => {
  const rights = [true, false].map(side =>
    truth.flatMap((met, i) => (met === side ? [Number(verdicts[i] === side)] : [])),
  )
  return rights.some(values => values.length === 0) ? null : mean(rights.map(mean))
}

/** Requests: right answers by kind, instructions that are followed. */
const requestRow = async (asking: Asking, step: number): Promise<EvalRow> => {
  const { drawn, answers } = await ask(asking, 'chat test', drawDialogue)
  const items = drawn.map(({ kind, request, instruction }, i) => ({
    id: `${kind} ${i}`,
    kind,
    scores: {
      ...(request.isRight && { right: Number(request.isRight(answers[i])) }),
      ...(instruction && { followed: Number(instruction.isFollowed(answers[i])) }),
    } as Record<string, number>,
  }))
  return {
    ...{ step, set: REQUEST_SET, n: drawn.length, ...GREEDY, primary: 'right' },
    scores: scoresOf(items, ['right', 'followed']),
    scoreNames: { right: 'right answers', followed: 'instructions followed' },
    criteria: meansByName(
      items.flatMap(({ kind, scores }) => ('right' in scores ? [[kind, scores.right] as const] : [])),
    ),
    items: items.map(({ id, scores }) => ({ id, scores })),
  }
}

/** Questions to the judge: agreement with the truth, in all and by family of criteria. */
const judgeRow = async (asking: Asking, step: number): Promise<EvalRow> => {
  const { drawn, answers } = await ask(asking, 'judge test', drawJudgement)
  const verdicts = answers.map(readRequestVerdict)
  const truth = drawn.map(({ met }) => met)
  const agrees = drawn.map(({ family, met }, i) => [family, Number(verdicts[i] === met)] as const)
  const accepted = truth.filter((_, i) => verdicts[i] === true)
  return {
    ...{ step, set: JUDGE_SET, n: drawn.length, ...GREEDY, primary: 'agreement' },
    scores: {
      ...scoresOf(
        agrees.map(([family, value], i) => ({ id: `${family} ${i}`, scores: { agreement: value } })),
        ['agreement'],
      ),
      balanced: { value: balancedAccuracy(truth, verdicts) },
      precision: { value: meanKnown(accepted.map(Number)) },
    },
    scoreNames: { agreement: 'right verdicts', balanced: 'balanced accuracy', precision: 'precision of met' },
    judgeNullRate: mean(verdicts.map(verdict => Number(verdict === null))),
    criteria: meansByName(agrees),
  }
}

/** Rows of both sets, greedily. */
export const evaluateChat = async (
  policy: Policy,
  format: ChatFormat,
  { problems, maxTokens }: Pick<Asking, 'problems' | 'maxTokens'>,
  step: number,
): Promise<EvalRow[]> => {
  const asking = { policy, format, problems, maxTokens }
  return [await requestRow(asking, step), await judgeRow(asking, step)]
}

/** Of the run, beside its checkpoints: the model in half precision, half as large, which is what ships. */
const MODEL_FOLDER = 'model'

/** The last checkpoint's model without the state of its training, in half precision. */
const saveSmall = (dir: string): void => {
  const checkpoint = latestCheckpoint(dir)
  if (checkpoint === null) return
  const config = loadConfig(checkpoint)
  const content = { config, weights: loadWeights(checkpoint, config), files: readCompanionFiles(checkpoint) }
  saveCheckpoint(join(dir, MODEL_FOLDER), content, { dtype: 'float16' })
}

/** @param folder of a chat model that is there; null: fresh weights, or a model that comes later */
export const learnRequests = (
  config: ConfigOf<z.output<typeof requestsStartSchema>>,
  folder: string | null,
): LearntTask => {
  const { seed, batch, model, evaluation } = config
  const { vocabulary, judged, promptWeight } = config.task
  const fresh = folder === null ? freshChatModel(model.shape, vocabulary, seed) : null
  const format = fresh?.format ?? chatFormatOf(folder!, 'recipe "sft"')
  return {
    draw: requestDemonstrations({ batch, seed, judged, promptWeight }, format),
    fresh: () => fresh!.source,
    assertModel: () => {},
    rooms: () => [],
    primarySet: REQUEST_SET,
    isSampledOnce: true,
    evaluate: policy => step => evaluateChat(policy, format, evaluation, step),
    words: {
      training: `${100 * judged}% of them verdicts of a judge`,
      evaluation: 'unseen requests, and unseen questions to the judge',
    },
    finish: saveSmall,
  }
}
