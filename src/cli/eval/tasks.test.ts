import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { MEASURED_KINDS } from '../../measure/kinds.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { FakeInferenceServer } from '../../policy/served/fake-server.fixture.ts'
import { TASK_KINDS } from '../../recipes/common/task-kinds.ts'
import { ARITHMETIC_TEST_SEED, arithmeticProblem, arithmeticTask } from '../../tasks/arithmetic/index.ts'
import { PackingWorld, packingTask } from '../../tasks/checklist/index.ts'
import { logicGrader } from '../../tasks/logic/task.ts'
import { logicTestSet } from '../../tasks/logic/testsets.ts'
import { RECORDS_TEST_WORLD, recordsAnswer, recordsQuestion } from '../../tasks/records/index.ts'
import { scored } from '../../tasks/scored-response.ts'
import { startFakeOpenEnv } from '../../tools/openenv/fake-server.fixture.ts'
import { cli, Sandbox, SLOW_MS } from '../cli.fixture.ts'

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

it('names of tasks are those of the table, in help and errors', { timeout: SLOW_MS }, async () => {
  const names = Object.keys(MEASURED_KINDS)
  expect(names).toEqual(expect.arrayContaining(Object.keys(TASK_KINDS)))
  const { code, err } = await cli(['eval', '--task', 'reserch', '--model', 'none'])
  expect([code, err]).toEqual([
    2,
    expect.stringContaining(`--task: expected one of ${names.join(', ')}, got "reserch"`),
  ])
  expect(err).toContain('did you mean research?')
  const { out } = await cli(['eval', '--help'])
  for (const name of names) expect(out).toMatch(new RegExp(`^ {2}${name}(?: \\(--data\\))?: `, 'm'))
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
    const model = 'package:models/arithmetic-start'
    const rounded = await evaluate(...args, '--model', model, '--sample-bits', '8')
    expect([asked.model, rounded.model]).toEqual([model, `${model}, weights of 8 bits`])
    const { code, err } = await cli(['eval', ...args, '--model', out, '--sample-bits', '8'])
    expect([code, err]).toEqual([2, expect.stringContaining('--sample-bits: expected a model of this')])
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
    const found = await evaluate('--task', 'packing-thinking', '--limit', '2', '--model', model)
    expect(found).toMatchObject({ n: 2, primary: 'score', data: 'unseen trips' })
    expect(found.scores.score.value).toBeGreaterThanOrEqual(0)
  })

  it.each([
    [
      ['--task', 'arithmetic', '--model', 'package:models/packing-start'],
      "expected a model of the arithmetic task's",
    ],
    [['--task', 'packing', '--model', 'http://127.0.0.1:1/v1#m'], '--tokenizer: expected the folder'],
    [
      [
        ...['--task', 'arithmetic', '--model', 'http://127.0.0.1:1/v1#m', '--sample-bits', '8'],
        ...['--tokenizer', 'models/arithmetic-start'],
      ],
      '--sample-bits: expected a model of this machine',
    ],
    [['--task', 'arithmetic', '--model', 'x', '--sample-bits', '4'], 'Expected 8 or 32'],
    [
      ['--task', 'packing', '--model', 'package:models/packing-start', '--data', 'x.jsonl'],
      '--data: the task packing',
    ],
    [['--task', 'packing', '--model', 'package:models/packing-start', '--set', 'wrld=2'], 'wrld'],
    [['--task', 'questions', '--model', 'package:models/chat-start'], '--data: expected one file'],
    [
      ['--task', 'logic', '--model', 'package:models/logic-start', '--set', 'a=1'],
      '--set: a: expected one of',
    ],
    [
      ['--task', 'packing', '--model', 'package:models/packing-start', '--shuffle', '1'],
      'has no such option',
    ],
    [
      [
        ...['--task', 'logic', '--model', 'package:models/logic-start', '--generated', 'varied'],
        ...['--against', 'package:models/chat-start'],
      ],
      '--against: expected a model that is asked in the same words as --model',
    ],
    [['--task', 'research', '--model', 'x', '--data', 'x.jsonl'], 'x holds no model'],
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

describe('logic', { timeout: SLOW_MS }, () => {
  const model = 'package:models/logic-start'
  const args = ['--task', 'logic', '--generated', 'shortcut-free', '--hops', '1', '--limit', '6']
  const server = new FakeInferenceServer({
    models: ['m', 'judge'].map(id => ({ id, owned_by: 'vllm' })),
    chat: ({ model }) =>
      model === 'judge'
        ? JSON.stringify({ verdicts: [1, 2].map(number => ({ number, explanation: 'so', level: number })) })
        : '<reasoning>\n1. Nothing.\n</reasoning>\n<answer>True</answer>',
  })
  let url: string
  beforeAll(async () => {
    url = await server.listen()
  })
  afterAll(() => server.close())

  it('is graded as evaluations of trainings grade it, and again from what was kept, without a model', async () => {
    const out = sandbox.path('logic.jsonl')
    const asked = await evaluate(...args, '--model', model, '--out', out)
    const rows = rowsOf(out)
    const problems = logicTestSet('shortcut-free', { hops: 1, count: 6 })
    const solver = await LogicSolver.start({ backend: 'ground' })
    const grade = logicGrader(solver, { truth: 'only' })
    const said = await grade(rows.map(({ response }, i) => ({ problem: problems[i], response })))
    expect(rows.map(({ scores }) => scores.accuracy)).toEqual(
      said.map(({ grade }) => Number(grade.answerCorrect)),
    )
    expect(rows.map(({ scores }) => scores.correctAndProved)).toEqual(
      said.map(({ proved }) => Number(proved)),
    )
    expect(asked).toMatchObject({ n: 6, primary: 'correctAndProved', data: 'shortcut-free, 1 hop' })
    expect(Object.keys(asked.criteria)).toEqual(['C1', 'C2', 'C3', 'C4', 'C5'])
    const again = await evaluate(...args, '--model', out)
    expect([again.scores, again.criteria, again.byLabel]).toEqual([
      asked.scores,
      asked.criteria,
      asked.byLabel,
    ])
    const gate = ['--against', out, '--no-worse', 'accuracy=0.5', '--min-accuracy', '0']
    const paired = await evaluate(...args, '--model', model, ...gate)
    expect(paired.comparison.correctAndProved).toMatchObject({ n: 6, tied: 6 })
    expect(paired.against.baselines).toEqual(asked.baselines)
  })

  it('has a judge say C4 and C5 beside their proofs, in the words of any chat model', async () => {
    const found = await evaluate(...args, '--model', `${url}#m`, '--judge', `${url}#judge`)
    // Levels 1 and 2 of 2.
    expect(found.criteria['judged.C4']).toMatchObject({ value: 0.5, n: 6 })
    expect(found.criteria['judged.C5']).toMatchObject({ value: 1, n: 6 })
    expect(found.scores.accuracy.value).toBe(found.balance.predicted.True * (found.byLabel.True.n / 6))
    expect(server.seen.at(-1)?.body.messages[1].content).toContain(
      'Is the following statement true or false?',
    )
  })

  it('says where nothing can be said', async () => {
    const row = {
      id: 'clash',
      context: 'Every wumpus is a zumpus. Every wumpus is not a zumpus. Alex is a wumpus.',
      question: 'Is the following statement true or false? Alex is a zumpus.',
      options: ['A) True', 'B) False'],
      answer: 'A',
    }
    const data = sandbox.write('clash.jsonl', `${JSON.stringify(row)}\n`)
    const { code, err } = await cli(['eval', '--task', 'logic', '--model', model, '--data', data])
    expect(code).toBe(1)
    expect(err).toContain('1 row left out: clash (its premises contradict each other)')
  })
})

describe('research', { timeout: SLOW_MS }, () => {
  const server = new FakeInferenceServer({
    models: [{ id: 'judge', owned_by: 'vllm' }],
    chat: ({ messages }) => {
      const asked: string = messages.at(-1).content
      if (asked.includes('"criteria_met"'))
        return JSON.stringify({ explanation: 'so', criteria_met: !asked.includes('Guesses') })
      if (asked.includes('(article 2)')) {
        const scores = [6, 4].map((score, i) => ({ number: i + 1, justification: 'so', score }))
        return JSON.stringify({ verdicts: scores })
      }
      if (asked.includes('"score"')) return JSON.stringify({ explanation: 'so', score: 2 })
      return JSON.stringify({ verdicts: [{ number: 1, justification: 'so', level: 1 }] })
    },
  })
  afterAll(() => server.close())

  const lines = (rows: readonly object[]) => rows.map(row => `${JSON.stringify(row)}\n`).join('')
  const tools =
    "tools=[{kind: http, url: 'http://127.0.0.1:9/', params: {q: '{query}'}, results: hits, fields: {text: text}}]"
  const settings = ['--set', tools, 'scaffold=false', 'maxPromptTokens=14000']

  /** The options of a model that gives no answers, and of a file where all questions have the same. */
  const asked = (rows: readonly { id: string }[], name: string) => {
    const model = writeTinyChat(sandbox.path('tiny-research'), 16_000)
    const format = chatFormatOf(model, 'a test')
    // The agent's, what a tool said, the agent's.
    const pieces = [
      '<think>a</think><call_tool name="search">q</call_tool>',
      '\n<tool_output>\nyes\n</tool_output>\n',
      '<think>c</think><answer>The \\boxed{Cape 3}</answer>',
    ]
    const tokens = pieces.map(piece => format.tokens(piece))
    const start = tokens[0].length + tokens[1].length
    const end = start + tokens[2].length
    const attempt = {
      ...{ response: pieces.join(''), ids: tokens.flat() },
      episode: {
        mask: tokens.flatMap((own, i) => own.map(() => (i + 1) % 2)),
        turns: [
          { start: 0, end: tokens[0].length },
          { start, end },
        ],
        ...{ end: 'over', outcome: null },
      },
    }
    const data = sandbox.write(`${name}.jsonl`, lines(rows))
    const saved = sandbox.write(`${name}-attempts.jsonl`, lines(rows.map(({ id }) => ({ id, ...attempt }))))
    return {
      task: ['--task', 'research', ...settings, '--data', data, '--model', model],
      both: ['--max-tokens', '4', '--against', saved],
    }
  }

  it('is right by the answer, else by the judge of the criteria, after calls of tools', async () => {
    const url = await server.listen()
    const criteria = [{ title: 'both', description: 'Names both.' }]
    const questions = [
      { id: 'cape', question: 'Which cape?', answer: ['cape 3', 'third cape'] },
      { id: 'rivers', question: 'Which rivers?', criteria },
    ]
    const { task, both } = asked(questions, 'research')
    const refused = await cli(['eval', ...task])
    expect(refused.err).toContain('--judge: there are criteria that only a judge can grade')
    const found = await evaluate(...task, ...both, '--judge', `${url}#judge`)
    expect(found).toMatchObject({ n: 2, primary: 'right', scores: { right: { value: 0 }, f1: { n: 1 } } })
    expect(found.against.scores).toMatchObject({
      ...{ right: { value: 1, n: 1 }, f1: { value: 1, n: 1 }, opinion: { value: 0.5, n: 1 } },
      answered: { value: 1, n: 2 },
    })
    expect(found.against.criteria.both).toMatchObject({ value: 0.5, n: 1 })
  })

  it("has a benchmark's score by its own rubric, a call a criterion", async () => {
    const url = await server.listen()
    const rubrics = [
      { criterion: 'Names a cape', points: 5, tags: ['axis:accuracy'] },
      { criterion: 'Guesses', points: -3, tags: ['axis:accuracy'] },
      { criterion: 'Is brief', points: 3, tags: [] },
    ]
    const row = { id: 'cape', prompt_id: 'cape', prompt: [{ role: 'user', content: 'Which cape?' }], rubrics }
    const { task, both } = asked([row], 'healthbench')
    const before = server.seen.length
    const found = await evaluate(...task, ...both, '--judge', `${url}#judge`)
    // Of the model that gave no answer nothing was asked.
    expect(server.seen.length - before).toBe(3)
    expect(found).toMatchObject({ primary: 'score', scores: { score: { value: 0 } } })
    expect(found.against).toMatchObject({
      scores: { score: { value: 1, n: 1 }, answered: { value: 1 } },
      criteria: { accuracy: { value: 1 }, 'accuracy (penalties)': { value: 0 } },
    })
  })

  it("has RACE's share where reference articles are given, and says where they are not", async () => {
    const url = await server.listen()
    const row = {
      ...{ id: 'cape', prompt: 'Which cape?', dimension_weight: { insight: 1 } },
      criterions: { insight: [{ criterion: 'Depth', explanation: 'Goes deep', weight: 1 }] },
    }
    const { task, both } = asked([row], 'race')
    const articles = sandbox.write('articles.jsonl', lines([{ prompt: row.prompt, article: 'Cape 4.' }]))
    const judged = [...task, ...both, '--judge', `${url}#judge`]
    const found = await evaluate(...judged, '--set', `articles=${articles}`)
    // 6 of 10 against 4 of 10: 6 / (6 + 4).
    expect(found.against).toMatchObject({
      scores: { score: { value: 0.6, n: 1 } },
      criteria: { insight: { value: 0.6 }, 'insight (reference)': { value: 0.4 } },
    })
    const alone = await cli(['eval', '--threads', '1', ...judged, '--json'])
    expect(alone.err).toContain('without reference articles')
    expect(JSON.parse(alone.out).against.scores.score).toMatchObject({ value: 0.2 })
  })

  it('has what the judge makes of short answers beside exact match', async () => {
    const url = await server.listen()
    const questions = [{ id: 'cape', question: 'Which cape?', answer: 'third cape' }]
    const { task, both } = asked(questions, 'short')
    const found = await evaluate(...task, ...both, '--judge', `${url}#judge`)
    expect(found.against.scores).toMatchObject({
      ...{ right: { value: 0 }, correct: { value: 1, n: 1 }, attempted: { value: 1 } },
    })
    expect(found.scores).toMatchObject({ correct: { value: 0 }, attempted: { value: 0 } })
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
    const found = await evaluate('--task', 'questions', '--data', file, '--model', `${url}#m`)
    expect(found).toMatchObject({ primary: 'accuracy', scores: { accuracy: { value: 0.5 } }, criteria: {} })
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
    const found = await evaluate(...args, '--model', `${url}#m`, '--judge', `${url}#judge`, '--out', out)
    expect(found).toMatchObject({ primary: 'score', scores: { score: { value: 1 } } })
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
      Number(/<answer> (\w+)/.exec(response)?.[1] === recordsAnswer(questions[i])),
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
    const found = await evaluate(
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
    expect(found).toMatchObject({ n: 1, primary: 'score', criteria: { said: { n: 1 } } })
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
