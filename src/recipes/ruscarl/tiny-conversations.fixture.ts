/** @file A file of conversations small enough for tests, settings of a run on it, and a judge by rule. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedModel } from '../../chat/scripted-model.ts'

/** Made-up rows in HealthBench's format. */
export const ROWS = Array.from({ length: 6 }, (_, i) => ({
  prompt_id: `question-${i}`,
  prompt: [{ role: 'user', content: `What helps against hiccups number ${i}?` }],
  rubrics: [
    { criterion: `Names remedy ${i}`, points: 5, tags: ['axis:accuracy'] },
    { criterion: 'Is an even number of characters', points: 3, tags: ['axis:completeness'] },
    { criterion: 'Promises a cure', points: -4, tags: ['axis:accuracy'] },
    {
      criterion: 'Mentions water',
      points: 2,
      tags: ['verifier:rule', 'function:contains', 'parameters:{"any": ["water"]}'],
    },
  ],
}))

/** Writes rows as JSON Lines and returns the file. */
export const writeRows = (folder: string, rows: readonly unknown[] = ROWS): string => {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'rows.jsonl')
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return path
}

/** A judge whose verdicts depend on the text that it is shown. An unsteady one cannot be read every tenth call. */
export const tinyJudge = (steady = false) =>
  scriptedModel(({ messages }, call) => {
    if (!steady && call % 10 === 9) return 'no idea'
    const text = messages.map(({ content }) => content).join('')
    return JSON.stringify({ explanation: 'by rule', criteria_met: text.length % 2 === 0 })
  })

/** Settings of a run on them, as a configuration file has them. */
export const tinyConversations = (folder: string, file: string, more: Record<string, unknown> = {}) => ({
  model: { folder },
  task: { kind: 'conversations', file, holdOut: 2 },
  judge: {
    fleet: { endpoints: [{ url: 'http://127.0.0.1:9', model: 'nobody', sendTopK: true }] },
    ask: { retries: 0 },
  },
  steps: 3,
  engine: { threads: 1 },
  rollout: { prompts: 2, samples: 3, maxTokens: 12 },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-3 } },
  evaluation: { problems: 2 },
  scaffold: { decay: { kind: 'linear' } },
  ...more,
})
