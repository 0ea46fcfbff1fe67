import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readEvents } from '../../runs/readers.ts'
import { researchRuns, rowsOf } from './research-run.fixture.ts'

const { folder, madeSearch, startJudge, configOf, run, close } = researchRuns()
afterAll(close)

const TIMEOUT = 600_000
let config: ReturnType<typeof configOf>
let killed: string
let wanted: ReturnType<typeof rowsOf>

/** Three steps, each with a checkpoint; killed in the last evaluation, before the third one. */
beforeAll(async () => {
  const judge = await startJudge({ right: answer => /cape \d/.test(answer) })
  config = configOf(judge.url, await madeSearch(), {
    steps: 3,
    rollout: { prompts: 1, samples: 2, maxTokens: 2048 },
    reflection: { candidates: 2, maxTokens: 1024 },
    evaluation: { every: 0, problems: 1, reuse: false },
  })
  const whole = await run('whole', config)
  wanted = rowsOf(whole.dir)
  const diesAt = whole.policy.calls.lastIndexOf('sample')
  await expect(run('killed', config, { script: { diesAt } })).rejects.toThrow('the machine died')
  killed = join(folder, 'runs', 'killed')
}, TIMEOUT)

const LATEST = 'checkpoints/step-000002/recipe-state.json'
const EARLIER = 'checkpoints/step-000001/recipe-state.json'

const cut = (file: string) => (dir: string) => {
  const path = join(dir, file)
  writeFileSync(path, readFileSync(path).subarray(0, -30))
}
const change = (file: string, from: string, to: string) => (dir: string) => {
  const path = join(dir, file)
  const text = readFileSync(path, 'utf8')
  expect(text).toContain(from)
  writeFileSync(path, text.replace(from, to))
}
const empty = (file: string) => (dir: string) => writeFileSync(join(dir, file), '')
const remove = (file: string) => (dir: string) => rmSync(join(dir, file))

const resumed = async (name: string, damage: (dir: string) => void) => {
  const dir = join(folder, 'runs', name)
  cpSync(killed, dir, { recursive: true })
  damage(dir)
  await run(name, config, { resume: true })
  const warnings = readEvents(dir).filter(({ level }) => level === 'warning')
  return { rows: rowsOf(dir), warnings: warnings.map(({ message }) => message).join('\n') }
}

describe('a run that is damaged before it goes on', { timeout: TIMEOUT }, () => {
  it.each<[string, (dir: string) => void]>([
    ['a bank cut in the middle of a line', cut('bank.jsonl')],
    ['a bank with a line that was altered', change('bank.jsonl', 'Box the value', 'Hide the value')],
    ['an empty bank', empty('bank.jsonl')],
    ['no bank', remove('bank.jsonl')],
    ['rubrics cut after the checkpoint', cut('rubrics.jsonl')],
    ['rollouts and reflections cut after the checkpoint', cut('rollouts.jsonl')],
  ])('%s: the checkpoint knows better, and the run is the one that it was', async (name, damage) => {
    expect(await resumed(name, damage)).toEqual({ rows: wanted, warnings: '' })
  })

  it.each<[string, (dir: string) => void, string]>([
    ['cut', cut(LATEST), 'bytes, got'],
    ['altered', change(LATEST, 'Box the value', 'Hid the value'), 'its bytes are not those that were saved'],
    ['emptied', empty(LATEST), 'bytes, got 0'],
    ['removed', remove(LATEST), 'is missing'],
  ])("the recipe's state %s: the checkpoint before makes the same steps again", async (name, damage, why) => {
    const { rows, warnings } = await resumed(`state ${name}`, damage)
    expect(rows).toEqual(wanted)
    expect(warnings).toContain('checkpoint step-000002 is damaged: recipe-state.json')
    expect(warnings).toContain(why)
    expect(warnings).toContain('Going on from step-000001')
  })

  it.each<[string, (dir: string) => void, RegExp]>([
    [
      'states of all checkpoints altered',
      dir => {
        for (const file of [LATEST, EARLIER]) change(file, '"buffers"', '"baffers"')(dir)
      },
      /no checkpoint will do.*step-000002 is damaged: recipe-state\.json.*step-000001 is damaged.*from a copy/s,
    ],
    [
      'rubrics altered from the first row on',
      change('rubrics.jsonl', '"weight":3', '"weight":1'),
      /no checkpoint will do.*rubrics\.jsonl: its 2 rows up to step 2 are not those.*from a copy/s,
    ],
    [
      'no rubrics',
      remove('rubrics.jsonl'),
      /rubrics\.jsonl: expected 2 rows, the file is missing.*from a copy/s,
    ],
    ['no rollouts', remove('rollouts.jsonl'), /rollouts\.jsonl: expected \d+ rows, the file is missing/],
    [
      'a folder in place of the bank',
      dir => {
        rmSync(join(dir, 'bank.jsonl'))
        mkdirSync(join(dir, 'bank.jsonl'))
      },
      /bank\.jsonl: cannot be written: it is a folder/,
    ],
  ])('%s: refused by the name of the file, with a way out', async (name, damage, message) => {
    await expect(resumed(name, damage)).rejects.toThrow(message)
  })
})
