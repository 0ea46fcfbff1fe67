import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { readEvals, readMetrics, readRunInfo, withoutTimings } from '../../runs/readers.ts'
import { writeRows } from '../../tasks/conversation/rows.fixture.ts'
import type { Task } from '../../tasks/task.ts'
import { resolveShipped } from '../../util/package.ts'
import { distillSchema } from './config.ts'
import { distillEntry } from './entry.ts'
import { runDistill } from './run.ts'

const SLOW_MS = 120_000

let folder: string
let chat: string
let rows: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-distill-'))
  chat = writeTinyChat(join(folder, 'chat'))
  rows = writeRows(
    join(folder, 'data'),
    ['hello', 'good morning', 'who are you', 'name a fruit', 'say something'].map(prompt => ({
      prompt,
      criteria: [{ id: 'kind', text: 'Is kind.', points: 1 }],
    })),
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const packing = (more: object = {}) =>
  distillSchema.parse({
    ...{ model: { folder: 'package:models/packing-start' }, steps: 3, policy: { threads: 1, engines: 1 } },
    rollout: { prompts: 2, samples: 2, maxTokens: 26 },
    optimizer: { learningRate: { kind: 'constant', peak: 1e-2 } },
    evaluation: { problems: 4, greedy: false },
    checkpoint: { every: 1 },
    ...more,
  })
const run = (name: string, config: ReturnType<typeof packing>, resume = false) =>
  runDistill(config, { dir: join(folder, name), resume })
const metricsOf = (name: string) => readMetrics(join(folder, name)).map(row => withoutTimings(row))

describe('distill in a run', () => {
  it('goes on after a stop bit by bit, its teacher the model that it began with', {
    timeout: SLOW_MS,
  }, async () => {
    await run('whole', packing({ rewards: { after: 2 } }))
    await run('stopped', packing({ rewards: { after: 2 }, steps: 1 }))
    await run('stopped', packing({ rewards: { after: 2 } }), true)
    expect(metricsOf('stopped')).toEqual(metricsOf('whole'))
    const [first, second, third] = metricsOf('whole')
    expect([first.reward, second.reward]).toEqual([undefined, undefined])
    expect(third.reward).toEqual(expect.any(Number))
    expect(third.teacherKl).toBeUndefined()
    // The policy that teaches itself is another teacher as soon as something was learnt.
    await run('itself', packing({ teacher: 'policy', steps: 2 }))
    const itself = metricsOf('itself')
    expect(itself[0].teacherKl).toBeCloseTo(first.teacherKl as number, 5)
    expect(itself[1].teacherKl).not.toBeCloseTo(second.teacherKl as number, 3)
  })

  it('trains an adapter, taught by the model without it', { timeout: SLOW_MS }, async () => {
    const config = packing({ model: { folder: 'package:models/packing-start', lora: { rank: 2, alpha: 4 } } })
    await run('adapter', config)
    const [first] = metricsOf('adapter')
    expect(first.teacherKl).toBeCloseTo(metricsOf('whole')[0].teacherKl as number, 4)
    expect(
      existsSync(join(folder, 'adapter', 'checkpoints', 'step-000003', 'adapter_model.safetensors')),
    ).toBe(true)
  })

  it.each([
    ['packing-thinking', 'packing-thinking-start', 56],
    ['arithmetic', 'arithmetic-start', 96],
  ])('shows %s what it can', { timeout: SLOW_MS }, async (kind, start, maxTokens) => {
    const config = packing({
      ...{ task: { kind }, model: { folder: `package:models/${start}` }, steps: 1 },
      rollout: { prompts: 2, samples: 2, maxTokens },
    })
    const { lines } = distillEntry.plan(config)
    expect(lines.join('\n')).toMatch(/teacher +the model that it starts from, shown the rubric: reads up to/)
    await run(kind, config)
    const [row] = metricsOf(kind)
    expect(row.scaffoldTokens).toBeGreaterThan(1)
    expect(row.teacherChanges).toBeGreaterThan(0)
    const sets = readEvals(join(folder, kind)).map(({ set }) => set)
    expect(sets.filter(set => set === 'full scaffold')).toHaveLength(2)
  })

  it('needs no judge for rows that only a judge could grade, but is not evaluated then', {
    timeout: SLOW_MS,
  }, async () => {
    const own = {
      ...{ model: { folder: chat }, task: { kind: 'conversations', file: rows, holdOut: 2 }, steps: 1 },
      rollout: { prompts: 2, samples: 1, maxTokens: 12 },
    }
    const warnings: string[] = []
    const dir = join(folder, 'rows')
    const events = { onWarning: (text: string) => warnings.push(text) }
    await runDistill(packing(own), { dir, resume: false, events })
    expect(distillEntry.plan(packing(own)).lines.join('\n')).toMatch(
      /evaluation +none: criteria that no rule checks/,
    )
    expect(warnings).toEqual([expect.stringMatching(/no judge .* not evaluated; `gradus eval`/)])
    expect(existsSync(join(dir, 'evals.jsonl')) ? readFileSync(join(dir, 'evals.jsonl'), 'utf8') : '').toBe(
      '',
    )
    expect(metricsOf('rows')[0].scaffoldTokens).toBeGreaterThan(20)
    expect(readRunInfo(dir)).toMatchObject({ recipe: 'distill', config: { recipe: 'distill' } })
    await expect(
      run(
        'judged',
        packing({ ...own, rewards: { after: 1 }, rollout: { prompts: 2, samples: 2, maxTokens: 12 } }),
      ),
    ).rejects.toThrow(/judge: expected one/)
  })

  it('refuses rows without a criterion to show', () => {
    const file = join(folder, 'bare.jsonl')
    const messages = (content: string) => [{ role: 'user', content }]
    const row = (i: number) => JSON.stringify({ prompt: messages(`hello ${i}`), rubrics: [] })
    writeFileSync(file, `${[1, 2, 3, 4].map(row).join('\n')}\n`)
    const task = { kind: 'conversations', file, holdOut: 2 }
    expect(() => distillEntry.plan(packing({ model: { folder: chat }, task }))).toThrow(
      /task: expected rows with criteria to train on, got none with any/,
    )
  })

  it('refuses a task whose prompts cannot show a rubric', async () => {
    const mute: Task<number> = {
      ...{ label: 'mute', train: [1, 2], tests: { unseen: [3] }, notes: [], id: String, question: String },
      ...{ prompt: problem => [problem], show: tokens => Array.from(tokens).join(' ') },
      rubric: () => ({ criteria: [{ id: 'a', text: 'a', points: 1 }] }),
      grade: async items => items.map(() => ({ verdicts: [], wellFormed: true })),
    }
    await expect(
      runDistill(packing(), { dir: join(folder, 'mute'), resume: false }, { task: mute }),
    ).rejects.toThrow(/task: expected one whose prompts can show their rubric, got mute/)
    expect(existsSync(join(folder, 'mute'))).toBe(false)
    expect(() => packing({ task: { kind: 'research' } })).toThrow(/task\.kind|task/)
  })
})

it('refuses rewards of groups of one, which tell nothing apart', () => {
  const config = packing({ rewards: { after: 1 }, rollout: { prompts: 2, samples: 1, maxTokens: 26 } })
  expect(() => distillEntry.plan(config)).toThrow(/rollout\.samples: expected at least 2 with rewards/)
})

it('plans the passes of the teacher, and judge calls of the steps with rewards alone', () => {
  const planOf = (more: object) => distillEntry.plan(packing({ steps: 10, ...more }))
  const [alone, paid, itself] = [{}, { rewards: { after: 5 } }, { teacher: 'policy' }].map(planOf)
  // Four samples a step, each behind a prompt with the rubric, of 26 tokens at most.
  const { data, teacherTokensPerStep } = alone.json as {
    data: { scaffoldedTokens: number; promptTokens: number }
    teacherTokensPerStep: number
  }
  expect(teacherTokensPerStep).toBeCloseTo(4 * (data.scaffoldedTokens + 26), 6)
  const passes = (data.scaffoldedTokens + 26) / (data.promptTokens + 26)
  const read = ({ work }: typeof alone) => Number(work!.reference) + work!.scorings
  expect(read(alone)).toBeCloseTo(passes, 6)
  expect(read(paid)).toBeCloseTo(passes / 2, 6)
  expect([alone.work!.reference, itself.work!.reference]).toEqual([true, false])
  expect(read(itself)).toBeCloseTo(passes, 6)
  // On a server they are tokens that it reads: those of five steps more.
  const model = resolveShipped('package:models/packing-start')
  const policy = { kind: 'tinker', url: 'http://127.0.0.1:9', model }
  const readThere = (more: object) =>
    (planOf({ model: {}, policy, ...more }).json as { remote: { prefillTokens: number } }).remote
      .prefillTokens
  const further = readThere({}) - readThere({ rewards: { after: 5 } })
  expect(further / (5 * teacherTokensPerStep)).toBeCloseTo(1, 6)
})

it('refuses what only conversations know, also on tasks that RuscaRL does not have', () => {
  const task = { kind: 'arithmetic' }
  const model = { folder: 'package:models/arithmetic-start' }
  const plan = (more: object) => () => distillEntry.plan(packing({ task, model, ...more }))
  expect(plan({ scaffold: { place: 'user' } })).toThrow(
    'scaffold.place: expected nothing with task "arithmetic", which is no conversation',
  )
})

it('refuses spoilt rubrics where the teacher is shown none', () => {
  const settings = { task: { kind: 'arithmetic' }, model: { folder: 'package:models/arithmetic-start' } }
  expect(() => distillEntry.plan(packing({ ...settings, noise: 'removed' }))).toThrow(
    'noise: expected "none" with task "arithmetic"',
  )
})
