import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { questionTaskSchema } from './config.ts'
import { questionSizes } from './sizes.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-figures-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('measures a file of more questions than a call takes arguments', () => {
  const file = join(folder, 'many.jsonl')
  const rows = Array.from({ length: 150_000 }, (_, i) => JSON.stringify({ question: `${i}?`, answer: 1 }))
  writeFileSync(file, rows.join('\n'))
  const task = questionTaskSchema.parse({ file, holdOut: 2 })
  const { train, longestPrompt, promptTokens } = questionSizes({ task, folder: null })
  expect(train).toBe(149_998)
  expect(longestPrompt).toBeGreaterThanOrEqual(promptTokens)
}, 120_000)
