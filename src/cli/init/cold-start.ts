/**
 * @file What `gradus init train --cold-start` adds: answers of the model to plain requests, edited until they follow instructions,
 * and settings to learn them before the rubric.
 */

import { join } from 'node:path'
import { AnswerFile, type SavedAnswer } from '../../measure/answers.ts'
import { type Ask, askAll, askInText } from '../../measure/ask.ts'
import {
  demonstrationsOf,
  type InstructionDemonstration,
  inProportion,
  plainRequests,
  type Request,
  withoutLastSentence,
} from '../../tasks/instructions/index.ts'
import { shortHash } from '../../util/canonical.ts'
import { DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { AnswerProgress } from '../eval/answer-progress.ts'
import { openTalking } from '../eval/answering.ts'
import { abortThenQuit } from '../interrupts.ts'
import { Interrupted, type Io } from '../io.ts'
import type { Files, FittedSettings } from './model-training.ts'

/** Demonstrations where nothing else is said: a pass over them takes about half an hour of two cores with 135 million weights. */
const DEMONSTRATIONS = 3600
/** As many come of one request, on average: rows of few requests are learnt by heart. */
const OF_ONE_REQUEST = 3
/** An instruction may want two answers. */
const ANSWERS = 2
/** Cooler than rollouts: what is shown should make sense. Of an answer to a request for something short the beginning is enough. */
const ASKED = { temperature: 0.6, maxTokens: 220, seed: '1' } as const
const LONG = { ...ASKED, maxTokens: 600 }
/** Of prompt and response: two answers, or one and what is put around it. */
const MOST_TOKENS = 1024
/** Rows a step: small, since many steps teach more than many rows in each. */
const BATCH = 8
const HELD_OUT = 32

/** What is shown does not depend on what the model draws: steps may be larger than on rewards. */
const FACTOR = 3.75

const settingsText = (
  model: string,
  { lora, learningRate, microBatchTokens, recompute }: FittedSettings,
  rows: number,
): string => `# Learns demonstrations.jsonl, to begin with: gradus train cold-start.yaml, then gradus train train.yaml --from runs/cold-start-seed1
recipe: sft
model:
  folder: ${JSON.stringify(model)}
  lora: { rank: ${lora.rank}, alpha: ${lora.alpha} }
data: demonstrations.jsonl
holdOut: ${HELD_OUT}
batch: ${BATCH}
steps: ${Math.max(1, Math.floor((rows - HELD_OUT) / BATCH))} # each row once
maxTokens: ${MOST_TOKENS}
optimizer:
  learningRate: { kind: cosine, peak: ${FACTOR * learningRate}, warmup: 10 }
policy: { microBatchTokens: ${microBatchTokens}${recompute ? ', recompute: true' : ''} }
checkpoint: { every: 50 }
`

/** What the model answers to each request; kept in `folder`, and asked for once. */
const answersTo = async (
  requests: readonly Request[],
  folder: string,
  model: string,
  io: Io,
): Promise<SavedAnswer[][]> => {
  const problems = requests.map(({ ask, isLong }, i) => ({
    id: `request-${i + 1}`,
    messages: [{ role: 'user' as const, content: ask }],
    isLong,
  }))
  const { signal, release } = abortThenQuit(io)
  let close: (() => Promise<void>) | undefined
  const progress = new AnswerProgress(requests.length * ANSWERS, io)
  try {
    const opened = { model, threads: 2, maxTokens: LONG.maxTokens, signal }
    const talking = await openTalking(opened, '--model', io)
    close = talking.close
    const by = shortHash([talking.chat.name, talking.chat.variant, ASKED, LONG])
    const [brief, long] = [ASKED, LONG].map(settings => askInText(talking.chat, settings))
    const ask: Ask<(typeof problems)[number]> = (problem, ...rest) =>
      (problem.isLong ? long : brief)(problem, ...rest)
    const asked = { ...talking, ask, model, by, settings: ASKED, samples: ANSWERS }
    const file = new AnswerFile(join(folder, 'answers.jsonl'), by)
    // Rows that are decoded together take the room of the longest. Long ones come first, or the time left is told too short.
    const byLength = problems.toSorted((a, b) => Number(b.isLong) - Number(a.isLong))
    const { answers_P } = await askAll(asked, byLength, { onAnswer: progress.onAnswer, signal }, file)
    file.finish(answers_P.flat())
    const byId = new Map(byLength.map(({ id }, p) => [id, answers_P[p]]))
    return problems.map(({ id }) => byId.get(id)!)
  } catch (error) {
    // What is being sampled ends for nobody.
    if (error instanceof Interrupted) close = undefined
    throw error
  } finally {
    progress.close()
    release()
    await close?.()
  }
}

const lineOf = ({ prompt, response }: InstructionDemonstration): string => {
  const messages = [
    { role: 'user', content: prompt },
    { role: 'assistant', content: response },
  ]
  return `${JSON.stringify({ messages })}\n`
}

/**
 * Asks the model, which takes minutes, and edits what it says.
 * @param model as settings name it
 * @param count of demonstrations, as far as there are enough answers that can be edited
 * @throws DataError where next to no answer can be edited; what opening a model throws; Interrupted
 */
export const coldStartFiles = async (
  folder: string,
  model: string,
  fit: FittedSettings,
  io: Io,
  count = DEMONSTRATIONS,
): Promise<Files> => {
  const requests = plainRequests(Math.ceil(count / OF_ONE_REQUEST), 'cold start')
  const answers_P = await answersTo(requests, folder, model, io)
  const rng = new Rng('demonstrations')
  const all = requests.map((request, p) => {
    const whole = answers_P[p].map(({ response, finishReason }) =>
      finishReason === 'length' ? withoutLastSentence(response) : response,
    )
    return demonstrationsOf(request, whole, rng)
  })
  const rows = inProportion(all, count, rng)
  const least = BATCH + HELD_OUT
  if (rows.length < least)
    throw new DataError(
      `--cold-start: expected at least ${least} rows out of answers of ${model}, got ${rows.length}`,
      { hint: 'take a model that answers in sentences, or leave --cold-start out' },
    )
  return new Map([
    ['demonstrations.jsonl', rng.shuffle(rows).map(lineOf).join('')],
    ['cold-start.yaml', settingsText(model, fit, rows.length)],
  ])
}
