import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { readEvals, readMetrics, readRollouts, readRunInfo, withoutTimings } from '../../runs/readers.ts'
import type { Tool } from '../../tools/index.ts'
import { type FakeOpenEnv, startFakeOpenEnv } from '../../tools/openenv/fake-server.fixture.ts'
import type { EnvironmentRunParts } from './check.ts'
import { environmentSchema } from './config.ts'
import { environmentEntry } from './entry.ts'
import { episodeReward, ownReward } from './evaluation.ts'
import { runEnvironment } from './run.ts'
import { toolsTask } from './tasks.ts'

const SLOW_MS = 120_000
const noGrader = { grade: async () => [] }

const verdict = (criterionId: string, met: boolean | null) =>
  ({ criterionId, met, source: met === null ? 'llm' : 'rule' }) as const

describe('what an episode is worth', () => {
  const weights = { environment: 2, rubric: 0.5, of: 'sum' } as const
  const outcome = { rewards: [0.25, null, 0.5], done: true, faults: 0 }

  it('is the environment’s reward and the score by the rubric, by their weights, raw parts beside it', () => {
    expect(ownReward(outcome, 'sum')).toBe(0.75)
    expect(ownReward(outcome, 'last')).toBe(0.5)
    expect(ownReward({ rewards: [null] }, 'sum')).toBe(0)
    const scored = { score: 0.5, verdicts: [verdict('a', true), verdict('b', false)] }
    // 2 x (0.25 + 0.5) + 0.5 x 0.5
    expect(episodeReward({ outcome, scored }, weights)).toEqual({
      reward: 1.75,
      parts: { environment: 0.75, rubric: 0.5, a: 1, b: 0 },
    })
    expect(episodeReward({ outcome, scored: null }, weights).reward).toBe(1.5)
    expect(episodeReward({ outcome: null, scored }, weights).reward).toBe(0.25)
  })

  it('is unknown where graders failed whose score counts', () => {
    const scored = { score: null, unjudged: true, verdicts: [verdict('a', null)] }
    expect(episodeReward({ outcome, scored }, weights).reward).toBeNull()
    expect(episodeReward({ outcome, scored }, { ...weights, rubric: 0 }).reward).toBe(1.5)
  })
})

let dir: string
let model: string
let rubric: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-environment-'))
  model = writeTinyChat(join(dir, 'model'))
  rubric = join(dir, 'rubric.yaml')
  const verifier = { kind: 'rule', fn: 'contains', params: { any: ['e'] } }
  writeFileSync(rubric, JSON.stringify({ criteria: [{ id: 'e', text: 'has an e', points: 1, verifier }] }))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const COMMON = {
  steps: 2,
  policy: { threads: 1 },
  rollout: { prompts: 2, samples: 2, maxTokens: 6 },
  evaluation: { problems: 2, problemsBetween: 2 },
  checkpoint: { every: 1 },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-3 } },
}

const run = (
  name: string,
  config: object,
  parts: EnvironmentRunParts = {},
  stopAfter = 99,
  resume = false,
) => {
  let steps = 0
  return runEnvironment(
    environmentSchema.parse({ ...COMMON, model: { folder: model }, ...config }),
    {
      dir: join(dir, name),
      resume,
      events: { onStep: () => void steps++, shouldStop: () => steps >= stopAfter },
    },
    parts,
  )
}

describe('a training in an OpenEnv server', () => {
  let server: FakeOpenEnv
  beforeEach(async () => {
    server = await startFakeOpenEnv(['tent', 'rope', 'map'])
  })
  afterEach(() => server.close())

  // Its turns end by themselves, which those of random weights do not.
  const task = (more: object = {}) => ({
    model: { folder: 'package:models/packing-start' },
    rollout: { prompts: 2, samples: 2, maxTokens: 24 },
    task: {
      ...{ kind: 'openenv', url: server.url, train: 3, test: 2, prompt: '{clue}', maxTurns: 2, rubric },
      ...{ action: { kind: 'text', field: 'guess' }, ...more },
    },
  })

  it(
    'leaves episodes of several turns, the environment’s reward beside the rubric’s; sessions are let go',
    async () => {
      const { finished } = await run('whole', task())
      expect(finished).toBe(true)
      const metrics = readMetrics(join(dir, 'whole'))
      expect(metrics[0]).toMatchObject({ environmentReward: 0, episodesOver: 0, actionFaults: 0, turns: 2 })
      expect(metrics[0].rubric).toBeTypeOf('number')
      const [row] = readRollouts(join(dir, 'whole'))
      expect(row.turns?.map(({ by }) => by)).toEqual(['policy', 'environment', 'policy'])
      expect(row.turns?.[1].text).toMatch(/^<unk>/)
      expect(row.parts).toMatchObject({ environment: 0 })
      expect(row.problemId).toMatch(/^seed [012]$/)
      const evals = readEvals(join(dir, 'whole'))
      expect(evals.at(-1)).toMatchObject({ set: 'unseen seeds', primary: 'environment', n: 2 })
      expect(evals.at(-1)?.scores.failed.value).toBe(0)
      expect(evals.at(-1)?.items?.[0].sample?.turns?.map(({ by }) => by)).toEqual([
        'policy',
        'environment',
        'policy',
      ])
      await expect.poll(() => server.sessions).toBe(0)
    },
    SLOW_MS,
  )

  it(
    'that was stopped and goes on, with the server elsewhere, writes the same rows',
    async () => {
      await run('stopped', task(), {}, 1)
      const other = await startFakeOpenEnv(server.words)
      try {
        const { finished } = await run('stopped', task({ url: other.url }), {}, 99, true)
        expect(finished).toBe(true)
      } finally {
        await other.close()
      }
      const rows = (name: string) => readMetrics(join(dir, name)).map(withoutTimings)
      expect(rows('stopped')).toEqual(rows('whole'))
    },
    SLOW_MS,
  )

  it(
    'whose server fails in one step loses that rollout and no other',
    async () => {
      server.wrong.step = [{ code: 'EXECUTION_ERROR', message: 'out of order' }]
      await run('failing', { ...task(), steps: 1 })
      const { failed } = readEvals(join(dir, 'failing'))[0].scores
      const shares = [failed.value, readMetrics(join(dir, 'failing'))[0].failedRollouts]
      expect(shares).toEqual([0.5, 0])
    },
    SLOW_MS,
  )

  it('is refused without a server, and leaves nothing behind', async () => {
    await expect(run('nobody', task({ url: 'http://127.0.0.1:9', attempts: 1 }))).rejects.toThrow(
      'http://127.0.0.1:9: cannot be reached',
    )
  })

  it('is planned without asking the server; what a run refuses the plan does', () => {
    const config = environmentSchema.parse({ ...COMMON, ...task() })
    const { lines } = environmentEntry.plan(config)
    expect(lines.join('\n')).toContain(`OpenEnv at ${server.url}, not asked yet: 3 seeds to train on`)
    expect(server.seen).toEqual([])
    const unpaid = environmentSchema.parse({ ...config, reward: { environment: 0, rubric: 0 } })
    expect(() => environmentEntry.plan(unpaid)).toThrow('reward: expected something that is paid for')
    const fleet = { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'judge' }] }
    const other = environmentSchema.parse({ ...COMMON, ...task(), judge: { fleet, heldOut: { fleet } } })
    expect(() => environmentEntry.plan(other)).toThrow('judge.heldOut: expected null')
  })

  it('plans a step by turns and tokens of episodes, which observations are part of', () => {
    const long = task({ maxTurns: 4, maxTokens: 200, maxObservationTokens: 10, rubric: null })
    const planned = (change: object) =>
      environmentEntry.plan(environmentSchema.parse({ ...COMMON, ...long, ...change }))
    const { work, json } = planned({ rollout: { prompts: 2, samples: 3, maxTokens: 20 } })
    const [role] = work!.roles
    expect(role).toMatchObject({
      name: 'policy',
      groups: 2,
      samples: 3,
      promptTokens: 10,
      newTokens: 110,
      turns: 4,
    })
    expect(json.tokensPerStep).toBe(6 * 110)
    expect(work!.judges).toEqual([])
    const capped = planned({ rollout: { prompts: 2, samples: 3, maxTokens: 100 } })
    expect(capped.work!.roles[0].newTokens).toBe(200)
  })

  it('plans the calls of a judge: one for each criterion that no rule checks, of each episode', () => {
    const judged = join(dir, 'judged.json')
    const verifier = { kind: 'rule', fn: 'contains', params: { any: ['e'] } }
    const soft = (id: string) => ({ id, text: `is ${id}`, points: 1 })
    const rule = { ...soft('e'), verifier }
    writeFileSync(judged, JSON.stringify({ criteria: [rule, soft('kind'), soft('clear')] }))
    const judge = { fleet: { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'judge' }] } }
    const config = {
      ...COMMON,
      ...task({ rubric: judged }),
      judge,
      rollout: { prompts: 2, samples: 3, maxTokens: 20 },
    }
    const { work, lines } = environmentEntry.plan(environmentSchema.parse(config))
    expect(work!.judges).toMatchObject([{ name: 'judge', callsPerStep: 6 * 2, shown: { role: 'policy' } }])
    expect(lines.join('\n')).toMatch(/judge calls {2}about 12 a step/)
  })
})

describe('a training with tools', () => {
  const tool: Tool = {
    name: 'look_up',
    description: 'Looks something up.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    call: async () => ({ text: 'found' }),
  }

  it(
    'has the rubrics of its rows, any model with a template, and any tools',
    async () => {
      const file = join(dir, 'rows.jsonl')
      const verifier = { kind: 'rule', fn: 'length', params: { max: 5 } }
      const row = (i: number) => ({
        prompt: `what is ${i}?`,
        criteria: [{ id: 'short', text: 'is short', points: 1, verifier }],
      })
      writeFileSync(file, Array.from({ length: 5 }, (_, i) => `${JSON.stringify(row(i))}\n`).join(''))
      const config = { task: { kind: 'tools', file, holdOut: 2 }, steps: 1, reward: { rubric: 3 } }
      await run('tools', config, { tools: [tool] })
      const [row0] = readRollouts(join(dir, 'tools'))
      expect(row0.prompt).toContain('look_up')
      expect(row0.verdicts).toMatchObject([{ criterionId: 'short', source: 'rule' }])
      expect(readMetrics(join(dir, 'tools'))[0].rubric).toBeTypeOf('number')
      expect(readEvals(join(dir, 'tools')).at(-1)).toMatchObject({ set: 'held-out rows', primary: 'rubric' })
      // One sample a problem: the score of what is kept is the problem's, whatever training pays for it.
      for (const { items } of readEvals(join(dir, 'tools')))
        expect(items!.map(({ sample }) => sample!.reward)).toEqual(items!.map(({ scores }) => scores.rubric))
      const { rubric } = readRunInfo(join(dir, 'tools'))
      expect(rubric).toMatchObject({ criteria: [{ id: 'short', check: expect.stringMatching(/^rule /) }] })
      await expect(run('none', config)).rejects.toThrow('task.tools: expected at least one tool')
    },
    SLOW_MS,
  )

  it('asks each row its own question, also where rows of both files have no ids', async () => {
    const files = ['trained', 'tested'].map(side => {
      const file = join(dir, `${side}.jsonl`)
      writeFileSync(file, `${JSON.stringify({ prompt: `a ${side} one?` })}\n`)
      return file
    })
    const [file, testFile] = files
    const { task } = environmentSchema.parse({ task: { kind: 'tools', file, testFile, rubric } })
    if (task.kind !== 'tools') throw new Error('another kind')
    const kit = await toolsTask(task, model, noGrader, [tool])
    const asked = [kit.train[0], kit.tests['held-out rows'][0]].map(row => kit.show(kit.prompt(row)))
    await kit.close()
    expect(asked).toEqual([
      expect.stringContaining('a trained one?'),
      expect.stringContaining('a tested one?'),
    ])
  })

  it(
    'takes those of a real MCP server over stdio: they are listed in the prompt, and answer a turn',
    async () => {
      const main = createRequire(import.meta.url).resolve(
        '@modelcontextprotocol/server-everything/package.json',
      )
      const file = join(dir, 'asked.jsonl')
      writeFileSync(file, '{"prompt": "one?"}\n{"prompt": "two?"}\n')
      const { task } = environmentSchema.parse({
        task: {
          ...{ kind: 'tools', file, holdOut: 1, rubric },
          tools: [
            {
              ...{ kind: 'mcp', command: process.execPath, only: ['echo'] },
              args: [join(dirname(main), 'dist', 'index.js'), 'stdio'],
              ...{ connectTimeoutMs: 100_000, timeoutMs: 100_000 },
            },
          ],
          toolTimeoutMs: 100_000,
        },
      })
      if (task.kind !== 'tools') throw new Error('another kind')
      const kit = await toolsTask(task, model, noGrader)
      try {
        const [row] = kit.train
        expect(kit.show(kit.prompt(row))).toMatch(/- echo\(message: string\): /)
        const episode = await kit.world.environment.start(row, 'k')
        const format = chatFormatOf(model, 'a test')
        const turn = format.tokens('<call_tool name="echo">{"message": "hi there"}</call_tool>')
        const said = await episode.reply(Int32Array.from(turn))
        expect(format.show(Array.from(said!))).toContain('<tool_output>\nEcho: hi there\n')
        await episode.close?.()
      } finally {
        await kit.close()
      }
    },
    SLOW_MS,
  )
})
