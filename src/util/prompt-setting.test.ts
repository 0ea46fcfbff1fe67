import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { fillPrompt, promptSetting } from './prompt-setting.ts'
import { parseWith } from './schema.ts'

const dir = mkdtempSync(join(tmpdir(), 'gradus-prompts-'))
afterAll(() => rmSync(dir, { recursive: true }))

const schema = z.object({ prompt: promptSetting(['question', 'response'], ['more']) })
const read = (prompt: string) => parseWith(schema, { prompt }, 'a.yaml').prompt
const fileOf = (text: string) => {
  const path = join(dir, 'p.txt')
  writeFileSync(path, text)
  return path
}

it('becomes the text of its file, wherever that lies, and then stays what it is', () => {
  const text = 'Read {question}.\n\n{response}'
  expect(read(fileOf(`${text}\n`))).toBe(text)
  expect(read(read(fileOf(text)))).toBe(text)
})

it('has values in place of its placeholders, and keeps braces that are none', () => {
  const prompt = read(
    '{question}: \\boxed{}, x^{2}, \\frac{a}{b}, {"a": 1}, {{answer}}; {response}, {question}',
  )
  expect(fillPrompt(prompt, { question: '{response} $&', response: 'R' })).toBe(
    '{response} $&: \\boxed{}, x^{2}, \\frac{a}{b}, {"a": 1}, {answer}; R, {response} $&',
  )
})

it.each([
  [
    '{question} and no more',
    'a prompt with {question} and {response}, got "{question} and no more"; write {response} where',
  ],
  ['{question} {resp} {response}', 'take {resp} out, or write {{resp}} for the word in braces'],
  ['{{question}} {response}', 'write {question} where'],
  ['{{question} {response}', 'a prompt with as many braces before a word as after it'],
  [
    'nowhere.txt',
    'a file with a prompt, or a prompt with {question} and {response}, got "nowhere.txt"; nowhere.txt',
  ],
])('refuses %s with the key and what to do', (prompt, message) => {
  expect(() => read(prompt)).toThrow(message)
  expect(() => read(prompt)).toThrow(/^a\.yaml: prompt: expected a/)
})

it('refuses a file that lacks a placeholder by its path', () => {
  const path = fileOf('{question}')
  expect(() => read(path)).toThrow(/got "\/.*; write \{response\} where that is to stand/)
})
