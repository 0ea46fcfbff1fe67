import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { cli, Sandbox } from '../src/cli/cli.fixture.ts'
import { faults } from '../src/cli/hostile.fixture.ts'
import { GOOD_RUBRIC } from '../src/cli/hostile-readers.fixture.ts'

/**
 * Small hostile files, by format: `expected.json` beside them holds the exit code and some words of the message. A file that
 * once did harm comes here.
 */
const sandbox = new Sandbox()
afterAll(() => sandbox.remove())
const rubric = sandbox.write('rubric.json', JSON.stringify(GOOD_RUBRIC))
const responses = sandbox.write('responses.jsonl', '{"response": "x"}\n')

const COMMANDS: Readonly<Record<string, (file: string) => string[]>> = {
  responses: file => ['grade', '--rubric', rubric, '--responses', file, '--json'],
  rubrics: file => ['grade', '--rubric', file, '--responses', responses, '--json'],
  settings: file => ['train', file, '--dry-run', '--json'],
  registrations: file => ['experiment', file, '--dry-run', '--json', '--work', sandbox.path('work')],
  rewards: file => ['serve', 'reward', '--check', '--config', file],
  graded: file => ['score', file, '--rule', 'signed'],
}

/** Formats that no command reads by itself: `src/model/corpus.test.ts` and `src/serve/hostile.test.ts` run them. */
const ELSEWHERE = ['model', 'requests']

const folder = (name = '') => fileURLToPath(new URL(`corpus/${name}`, import.meta.url))

it('has a command for every format', () => {
  expect(readdirSync(folder()).sort()).toEqual([...Object.keys(COMMANDS), ...ELSEWHERE].sort())
})

describe.each(Object.entries(COMMANDS))('%s', (format, args) => {
  const files: Record<string, { exit: number; says: string }> = JSON.parse(
    readFileSync(folder(`${format}/expected.json`), 'utf8'),
  )

  it('has a word on every file', () => {
    const there = readdirSync(folder(format)).filter(name => name !== 'expected.json')
    expect(there.sort()).toEqual(Object.keys(files).sort())
  })

  it.each(Object.entries(files))('%s', async (name, { exit, says }) => {
    const result = await cli(args(folder(`${format}/${name}`)))
    expect(faults(result, format !== 'rewards')).toEqual([])
    expect([result.code, result.err]).toEqual([exit, expect.stringContaining(says)])
  })
})
