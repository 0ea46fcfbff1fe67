/**
 * @file What `gradus init train --cold-start` adds: answers of the model to plain requests, edited until they follow instructions,
 * and settings to learn them before the rubric.
 */

import { join } from 'node:path'
import { AnswerFile, askAll } from '../../measure/index.ts'
import { Progress } from '../../runs/progress.ts'
import { demonstrationsOf, plainRequests } from '../../tasks/instructions/index.ts'
import { shortHash } from '../../util/canonical.ts'
import { DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { openTalking } from '../eval/answering.ts'
import { Interrupted, type Io } from '../io.ts'
import type { FittedSettings } from './model-settings.ts'
import type { Files } from './model-training.ts'

const REQUESTS = 300
/** An instruction may want two answers. */
const ANSWERS = 2
/** Cooler than rollouts: what is shown should make sense. */
const ASKED = { temperature: 0.6, maxTokens: 128, seed: '1' } as const
/** Rows a step. */
const BATCH = 32

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
holdOut: ${BATCH}
batch: ${BATCH}
steps: ${Math.max(1, Math.floor((rows - BATCH) / BATCH))} # each row once
maxTokens: 512
optimizer:
  learningRate: { kind: cosine, peak: ${FACTOR * learningRate}, warmup: 3 }
policy: { microBatchTokens: ${microBatchTokens}${recompute ? ', recompute: true' : ''} }
checkpoint: { every: 20 }
`

/** What is shown does not depend on what the model draws: steps may be larger than on rewards. */
const FACTOR = 4

/**
 * Asks the model, which takes minutes; answers are kept in `folder`, and asked for once.
 * @param model as settings name it
 * @throws what opening a model throws; Interrupted
 */
export const coldStartFiles = async (
  folder: string,
  model: string,
  fit: FittedSettings,
  io: Io,
  count = REQUESTS,
): Promise<Files> => {
  const requests = plainRequests(count, 'cold start')
  const problems = requests.map(({ ask }, i) => ({
    ...{ id: `request-${i + 1}`, messages: [{ role: 'user' as const, content: ask }] },
    ...{ rubric: { criteria: [] }, rates: new Map() },
  }))
  const stop = new AbortController()
  const release = io.onInterrupt(() => stop.abort(new Interrupted()))
  const talking = await openTalking(
    { model, threads: 2, maxTokens: ASKED.maxTokens, signal: stop.signal },
    '--model',
    io,
  )
  const progress = new Progress({
    total: count * ANSWERS,
    label: 'answers',
    unit: 'answer',
    stream: io.err,
  })
  try {
    const by = shortHash([talking.chat.name, talking.chat.variant, ASKED])
    const asked = { ...talking, model, by, settings: ASKED, samples: ANSWERS }
    const file = new AnswerFile(join(folder, 'answers.jsonl'), by)
    const events = { onAnswer: (count: number) => progress.update(count, {}), signal: stop.signal }
    const { answers_P } = await askAll(asked, problems, events, file)
    file.finish(answers_P.flat())
    const rng = new Rng('demonstrations')
    const rows = requests.flatMap((request, p) =>
      answers_P[p].length < ANSWERS
        ? []
        : demonstrationsOf(
            request,
            answers_P[p].map(({ response }) => response),
            rng,
          ),
    )
    if (rows.length <= BATCH)
      throw new DataError(
        `--cold-start: expected more than ${BATCH} answers of ${model} that can be edited, got ${rows.length}`,
      )
    const lines = rng.shuffle(rows).map(
      ({ prompt, response }) =>
        `${JSON.stringify({
          messages: [
            { role: 'user', content: prompt },
            { role: 'assistant', content: response },
          ],
        })}\n`,
    )
    return new Map([
      ['demonstrations.jsonl', lines.join('')],
      ['cold-start.yaml', settingsText(model, fit, rows.length)],
    ])
  } finally {
    progress.close()
    release()
    await talking.close()
  }
}
