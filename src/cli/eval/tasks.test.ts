import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { FakeInferenceServer } from '../../policy/served/fake-server.fixture.ts'
import { TASK_KINDS } from '../../recipes/common/task-kinds.ts'
import { ARITHMETIC_TEST_SEED, arithmeticProblem, arithmeticTask } from '../../tasks/arithmetic/index.ts'
import { PackingWorld, packingTask } from '../../tasks/checklist/index.ts'
import { answerOf, RECORDS_TEST_WORLD, recordsQuestion } from '../../tasks/records/index.ts'
import { scored } from '../../tasks/scored-response.ts'
import { startFakeOpenEnv } from '../../tools/openenv/fake-server.fixture.ts'
import { cli, Sandbox, SLOW_MS } from '../cli.fixture.ts'
import { TASK_NAMES } from './options.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const evaluate = async (...args: string[]) => {
  const { code, out, err } = await cli(['eval', '--threads', '1', ...args, '--json'])
  expect(code, err).toBe(0)
  return JSON.parse(out)
}
const rowsOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))

it('every task of the table is one of the command', () => {
  expect(TASK_NAMES).toEqual(expect.arrayContaining(Object.keys(TASK_KINDS)))
})

describe('tasks in tokens of their own', { timeout: SLOW_MS }, () => {
  it('arithmetic is graded as trainings grade it, and again from what was kept', async () => {
    const out = sandbox.path('arithmetic.jsonl')
    const args = ['--task', 'arithmetic', '--set', 'operations.min=2', 'operations.max=2', '--limit', '4']
    const asked = await evaluate(...args, '--model', 'package:models/arithmetic-start', '--out', out)
    const rows = rowsOf(out)
    const operations = { min: 2, max: 2 }
    const problems = rows.map((_, i) => arithmeticProblem(ARITHMETIC_TEST_SEED, i, { operations }))
    expect(rows.map(({ id }) => id)).toEqual(problems.map(({ id }) => id))
    const items = problems.map((problem, i) => ({ problem, tokens: Int32Array.from(rows[i].ids) }))
    const graded = await scored(arithmeticTask()).grade(items)
    expect(rows.map(({ scores }) => scores.accuracy)).toEqual(graded.map(({ score }) => score))
    expect(asked).toMatchObject({ task: 'arithmetic', primary: 'accuracy', n: 4, data: 'unseen problems' })
    const sound = graded.filter(({ verdicts }) =>
      verdicts.some(own => own.criterionId === 'sound' && own.met),
    )
    expect(asked.criteria).toEqual({ sound: expect.objectContaining({ value: sound.length / 4 }) })
    const again = await evaluate(...args, '--model', out)
    expect([again.scores, again.criteria]).toEqual([asked.scores, asked.criteria])
  })

  it('packing has the rubric of its world, two models are compared, and a page shows them', async () => {
    const [out, page] = [sandbox.path('packing.jsonl'), sandbox.path('packing.html')]
    const model = 'package:models/packing-start'
    const own = ['--task', 'packing', '--set', 'world=7', '--limit', '3']
    const asked = await evaluate(...own, '--model', model, '--out', out)
    const rows = rowsOf(out)
    const task = packingTask(new PackingWorld(7))
    const items = rows.map(({ ids }, i) => ({
      problem: task.tests['unseen trips'][i],
      tokens: Int32Array.from(ids),
    }))
    const graded = await scored(task).grade(items)
    expect(rows.map(({ scores }) => scores.score)).toEqual(graded.map(({ score }) => score))
    expect(Object.keys(asked.criteria)).toContain('wanted-1')
    const paired = await evaluate(...own, '--model', out, '--against', model, '--html', page)
    expect(paired.comparison.score).toMatchObject({ n: 3, tied: 3, difference: 0 })
    expect(readFileSync(page, 'utf8')).toContain('rubric score')
  })

  it('packing with thinking is worth nothing below 0', async () => {
    const model = 'package:models/packing-thinking-start'
    const told = await evaluate('--task', 'packing-thinking', '--limit', '2', '--model', model)
    expect(told).toMatchObject({ n: 2, primary: 'score', data: 'unseen trips' })
    expect(told.scores.score.value).toBeGreaterThanOrEqual(0)
  })

  it.each([
    [
      ['--task', 'arithmetic', '--model', 'package:models/packing-start'],
      "expected a model of the arithmetic task's",
    ],
    [['--task', 'packing', '--model', 'http://127.0.0.1:1/v1#m'], '--tokenizer: expected the folder'],
    [
      ['--task', 'packing', '--model', 'package:models/packing-start', '--data', 'x.jsonl'],
      '--data: the task packing',
    ],
    [['--task', 'packing', '--model', 'package:models/packing-start', '--set', 'wrld=2'], 'wrld'],
    [['--task', 'questions', '--model', 'package:models/chat-start'], '--data: expected one file'],
    [['--task', 'logic', '--model', 'package:models/logic-start', '--set', 'a=1'], '--set: the task logic'],
  ])('%j is refused', async (args, words) => {
    const { code, err } = await cli(['eval', ...args])
    expect(err).toContain(words)
    expect(code).toBeGreaterThan(0)
  })

  it('answers in words alone cannot be graded', async () => {
    const task = packingTask(new PackingWorld())
    const [trip] = task.tests['unseen trips']
    const saved = sandbox.write('words.jsonl', `${JSON.stringify({ id: task.id(trip), response: 'a b' })}\n`)
    const { code, err } = await cli(['eval', '--task', 'packing', '--model', saved, '--limit', '1'])
    expect([code, err]).toEqual([1, expect.stringContaining("expected the answer's tokens in ids")])
  })
})

describe('questions', { timeout: SLOW_MS }, () => {
  const said: Record<string, string> = {
    sum: 'So it is \\boxed{42}.',
    sea: '<think>is it?</think> \\boxed{no}',
  }
  const server = new FakeInferenceServer({
    models: ['m', 'judge'].map(id => ({ id, owned_by: 'vllm' })),
    chat: ({ model, messages }) => {
      if (model === 'judge') return JSON.stringify({ explanation: 'so', criteria_met: true })
      const asked: string = messages.at(-1).content
      return asked.includes('20 + 22') ? said.sum : asked.includes('sea') ? said.sea : 'A poem.'
    },
  })
  let url: string
  let file: string
  beforeAll(async () => {
    url = await server.listen()
    const rows = [
      { id: 'sum', question: 'What is 20 + 22?', answer: 42 },
      { id: 'sea', question: 'Is the sea salty?', kind: 'yes-no', answer: true },
    ]
    file = sandbox.write('questions.jsonl', rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  })
  afterAll(() => server.close())

  it('are put in words as trainings put them, to a model on a server as well', async () => {
    const told = await evaluate('--task', 'questions', '--data', file, '--model', `${url}#m`)
    expect(told).toMatchObject({ primary: 'accuracy', scores: { accuracy: { value: 0.5 } }, criteria: {} })
    expect(server.seen.at(-1)?.body.messages[0].content).toContain('inside \\boxed{}')
  })

  it('that are open go to a judge, whose verdicts are kept', async () => {
    const row = {
      id: 'poem',
      question: 'A poem.',
      rubric: { criteria: [{ id: 'lines', text: 'Three.', points: 1 }] },
    }
    const open = sandbox.write('open.jsonl', `${JSON.stringify(row)}\n`)
    const out = sandbox.path('poem.jsonl')
    const args = ['--task', 'questions', '--data', open]
    const told = await evaluate(...args, '--model', `${url}#m`, '--judge', `${url}#judge`, '--out', out)
    expect(told).toMatchObject({ primary: 'score', scores: { score: { value: 1 } } })
    const before = server.seen.length
    expect((await evaluate(...args, '--model', out)).criteria.lines.value).toBe(1)
    expect(server.seen.length).toBe(before)
  })
})

describe('episodes', { timeout: SLOW_MS }, () => {
  it('in archives are right where they answer with the person asked for, and graded again from what was kept', async () => {
    const out = sandbox.path('records.jsonl')
    const args = [
      '--task',
      'records',
      '--limit',
      '8',
      '--model',
      'package:models/records-start',
      '--out',
      out,
    ]
    const asked = await evaluate(...args)
    const rows = rowsOf(out)
    const questions = rows.map((_, i) => recordsQuestion(RECORDS_TEST_WORLD, i, { hops: { min: 2, max: 4 } }))
    expect(rows.map(({ id }) => id)).toEqual(questions.map(({ id }) => id))
    const right = rows.map(({ response }, i) =>
      Number(/<answer> (\w+)/.exec(response)?.[1] === answerOf(questions[i])),
    )
    expect(rows.map(({ scores }) => scores.accuracy)).toEqual(right)
    expect(new Set(right)).toEqual(new Set([0, 1]))
    expect(rows[0].episode.turns.length).toBeGreaterThan(1)
    expect(asked).toMatchObject({ n: 8, primary: 'accuracy', data: 'unseen' })
    expect((await evaluate(...args)).scores).toEqual(asked.scores)
    const { out: words } = await cli(['eval', '--threads', '1', ...args])
    expect(words).toContain('greedy, at most 40 tokens a turn')
  })

  it('with tools are rows of a file, scored by their criteria', async () => {
    const verifier = { kind: 'rule', fn: 'length', params: { min: 1 } }
    const criteria = [{ id: 'said', text: 'Says something.', points: 1, verifier }]
    const data = sandbox.write('asked.jsonl', `${JSON.stringify({ id: 'one', prompt: 'one?', criteria })}\n`)
    const model = writeTinyChat(sandbox.path('tiny-tools'))
    const tools =
      "tools=[{kind: http, url: 'http://127.0.0.1:9/', params: {q: '{query}'}, results: hits, fields: {text: text}}]"
    const told = await evaluate(
      '--task',
      'tools',
      '--set',
      tools,
      '--data',
      data,
      '--model',
      model,
      '--max-tokens',
      '4',
    )
    expect(told).toMatchObject({ n: 1, primary: 'score', criteria: { said: { n: 1 } } })
  })

  it('of an OpenEnv server are paid by it, scored by a rubric, and graded again from what was kept', async () => {
    const server = await startFakeOpenEnv(['tent', 'rope', 'map'])
    // Its turns end by themselves, which those of random weights do not.
    const [model, out] = ['package:models/packing-start', sandbox.path('episodes.jsonl')]
    const verifier = { kind: 'rule', fn: 'length', params: { min: 1 } }
    const rubric = sandbox.write('said.yaml', {
      criteria: [{ id: 'said', text: 'Says something.', points: 1, verifier }],
    })
    const settings = [
      `url=${server.url}`,
      "prompt='{clue}'",
      'maxTurns=2',
      'train=1',
      'test=2',
      `rubric=${rubric}`,
    ]
    const args = [
      '--task',
      'openenv',
      '--set',
      ...settings,
      '--max-tokens',
      '24',
      '--temperature',
      '1',
      '--set',
      'action={kind: text, field: guess}',
    ]
    try {
      const asked = await evaluate(...args, '--model', model, '--out', out)
      expect(asked).toMatchObject({ n: 2, primary: 'environment', data: 'unseen seeds' })
      // The seeds that a training of these settings is tested on.
      expect(rowsOf(out).map(({ id }) => id)).toEqual(['seed 1', 'seed 2'])
      expect(rowsOf(out)[0].episode.outcome.rewards.length).toBeGreaterThan(0)
      const acted = server.seen.filter(({ type }) => type === 'step').length
      const again = await evaluate(...args, '--model', model, '--out', out)
      expect(again.scores).toEqual(asked.scores)
      expect(server.seen.filter(({ type }) => type === 'step').length).toBe(acted)
    } finally {
      await server.close()
    }
  })
})
