/** @file A file of conversations small enough for tests. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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
