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

it('counts the questions of all sets for tests, read and as published', () => {
  const write = (name: string, count: number) => {
    const rows = Array.from({ length: count }, (_, i) => ({ question: `${name} ${i}?`, answer: 1 }))
    writeFileSync(join(folder, name), rows.map(row => JSON.stringify(row)).join('\n'))
    return join(folder, name)
  }
  const tests = { more: { file: write('more.jsonl', 4), format: 'plain' as const } }
  const task = { ...questionTaskSchema.parse({ file: write('own.jsonl', 5), holdOut: 2 }), tests }
  expect(questionSizes({ task, folder: null })).toMatchObject({ train: 3, test: 6, assumed: false })
  const absent = { ...tests, amc: { file: join(folder, 'absent.jsonl'), format: 'amc' as const } }
  const planned = questionSizes({ task: { ...task, tests: absent }, folder: null })
  // Two that are held out, and as published 100 and 40.
  expect(planned).toMatchObject({ test: 142, assumed: true })
})
