import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HttpJudge } from '../../grade/judge/http-judge.fixture.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import type { RolloutRow } from '../../runs/rows.ts'
import { writeRows } from '../../tasks/conversation/rows.fixture.ts'
import { grpoSchema } from './config.ts'
import { grpoEntry } from './entry.ts'

let folder: string
let model: string
let file: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-grpo-'))
  model = writeTinyChat(join(folder, 'model'))
  const likely = { kind: 'rule', fn: 'likelihood', params: { min: -5.5 } }
  file = writeRows(
    join(folder, 'data'),
    ['hello', 'good morning', 'who are you', 'name a fruit', 'say something'].map(prompt => ({
      prompt,
      criteria: [{ id: 'language', text: 'Is likely.', points: 1, verifier: likely }],
    })),
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const configOf = (more: Record<string, unknown> = {}) =>
  grpoSchema.parse({
    model: { folder: model },
    task: { file, holdOut: 2 },
    policy: { threads: 1, engines: 1 },
    rollout: { prompts: 2, samples: 3, maxTokens: 12 },
    optimizer: { learningRate: { kind: 'constant', peak: 3e-2 } },
    loss: { preset: 'gradus:ruscarl', kl: { kind: 'none' } },
    evaluation: { problems: 2 },
    checkpoint: { every: 2 },
    ...more,
  })

/** What was said of each kept response's likelihood. */
const verdictsOf = (dir: string) =>
  readFileSync(join(dir, 'rollouts.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map(line => (JSON.parse(line) as RolloutRow).verdicts)
    .map(verdicts => verdicts?.find(({ criterionId }) => criterionId === 'language')?.explanation)

describe("grpo on rows of one's own", () => {
  it('scores likelihood by the weights that it started from, also after a resume', async () => {
    const [dir, whole] = [join(folder, 'run'), join(folder, 'whole')]
    await grpoEntry.run(configOf({ steps: 2 }), { dir, resume: false })
    await grpoEntry.run(configOf({ steps: 3 }), { dir, resume: true })
    await grpoEntry.run(configOf({ steps: 3 }), { dir: whole, resume: false })
    expect(verdictsOf(dir)).toEqual(verdictsOf(whole))
    for (const found of verdictsOf(dir)) expect(found).toMatch(/^-\d+\.\d\d nats a token$/)
    expect(JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8'))).toMatchObject({
      recipe: 'grpo',
      config: { recipe: 'grpo', task: { file, holdOut: 2 } },
    })
  })

  it('does not begin where the judge decides nothing', async () => {
    const judge = await HttpJudge.start(() => 'perhaps' as never)
    const fleet = { endpoints: [{ url: judge.url, model: 'judge' }] }
    const prompts = ['hello', 'good morning', 'who are you', 'name a fruit', 'say something', 'good evening']
    const judged = writeRows(
      join(folder, 'judged'),
      prompts.map(prompt => ({ prompt, criteria: [{ id: 'kind', text: 'Is kind.', points: 1 }] })),
    )
    const config = configOf({
      ...{ steps: 2, task: { file: judged, holdOut: 4 }, evaluation: { problems: 4 } },
      judge: { fleet, ask: { retries: 0, repairs: 0 } },
    })
    await expect(grpoEntry.run(config, { dir: join(folder, 'undecided'), resume: false })).rejects.toThrow(
      /the judge decided nothing: all of 4 verdicts before the first step are missing/,
    )
    await judge.close()
  })

  it('has no settings of a scaffold, and no other task', () => {
    expect(() => configOf({ scaffold: {} })).toThrow(/scaffold/)
    expect(() => configOf({ task: { kind: 'packing' } })).toThrow(/kind/)
    expect(grpoEntry.plan(configOf()).lines.join('\n')).toContain('conversations to train on')
  })
})
