import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GradeItem, Grader } from '../../grade/grader.ts'
import { type ChatFormat, chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { rewardOf, scored } from '../scored-response.ts'
import { mainTest, type Task } from '../task.ts'
import { type QuestionTaskConfig, questionTaskSchema } from './config.ts'
import { needResponseJudge, openQuestions } from './open.ts'
import { reasonerMessages, rubricatorMessages } from './prompts.ts'
import type { Question } from './question.ts'
import { writeQuestions } from './rows.fixture.ts'
import { readQuestions } from './rows.ts'
import { questionSizes } from './sizes.ts'
import { questionTask, readThought } from './task.ts'

const END = 257
let folder: string
let model: string
let format: ChatFormat
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-questions-'))
  model = writeTinyChat(join(folder, 'model'), 8192)
  format = chatFormatOf(model, 'a test')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const config = (more: object = {}): QuestionTaskConfig => questionTaskSchema.parse(more)
const taskOf = (more: object = {}, grader?: Grader) => questionTask(format, { ...config(more), grader })
const bytes = (text: string) => [...Buffer.from(text)]
const ended = (text: string) => [...bytes(text), END]
const math: Question = { id: 'sum', question: 'What is 20 + 22?', kind: 'math', gold: '42' }

/** Says of each criterion what `credit` says of its id; null: no verdict. */
const graderOf = (credit: (id: string) => number | null, seen: GradeItem[] = []): Grader => ({
  async grade(item, criteria) {
    seen.push(item)
    return criteria.map(({ id }): Verdict => {
      const given = credit(id)
      const verdict = { criterionId: id, source: 'model' as const }
      return given === null ? { ...verdict, met: null } : { ...verdict, met: given > 0.5, credit: given }
    })
  },
})
const score = async (task: Task<Question>, problem: Question, tokens: number[]) => {
  const [graded] = await scored(task).grade([{ problem, tokens: Int32Array.from(tokens) }])
  return graded
}

describe('what a model wrote', () => {
  it('is parted at the end of thinking, also where the template opened it', () => {
    const task = taskOf({ thinkTags: 'required' })
    for (const text of ['<think>\nadd\n</think>\nIt is \\boxed{42}.', 'add\n</think>It is \\boxed{42}.'])
      expect(task.thinking.read(ended(text))).toMatchObject({
        thinking: 'add',
        answer: 'It is \\boxed{42}.',
        closed: true,
      })
    expect(task.thinking.read(ended('<think>add and add'))).toMatchObject({
      thinking: 'add and add',
      answer: '',
      closed: false,
    })
  })

  it('is thinking as a whole where tags are optional, and closed unless it was cut off', () => {
    const task = taskOf()
    expect(task.thinking.read(ended('add: \\boxed{42}'))).toEqual({
      text: 'add: \\boxed{42}',
      thinking: 'add: \\boxed{42}',
      answer: '',
      closed: true,
    })
    expect(task.thinking.read(bytes('add: \\boxed{42}')).closed).toBe(false)
    expect(task.thinking.read([]).closed).toBe(false)
    expect(task.thinking.read(bytes('add</think>42'))).toMatchObject({
      thinking: 'add',
      answer: '42',
      closed: true,
    })
  })

  it('is parted where tags are special tokens, which text leaves out', () => {
    const CLOSE = 1000
    const special: ChatFormat = {
      ...format,
      read: tokens => ({
        text: String.fromCharCode(...Array.from(tokens).filter(token => token < 256)),
        ends: [],
      }),
      show: tokens =>
        Array.from(tokens, token =>
          token === CLOSE ? '</think>' : token === END ? '<|im_end|>' : String.fromCharCode(token),
        ).join(''),
    }
    for (const [before, after] of [
      ['add', 'It is 42'],
      ['', 'x'],
      ['a longer thought', ''],
    ])
      expect(readThought(special, [...bytes(before), CLOSE, ...bytes(after), END])).toMatchObject({
        thinking: before,
        answer: after,
        closed: true,
      })
    expect(readThought(special, ended('nothing of the kind')).closed).toBe(false)
  })
})

describe('answers', () => {
  it('count behind the end of thinking alone, where tags are required', async () => {
    const task = taskOf({ thinkTags: 'required' })
    const scores = []
    for (const text of [
      '<think>add</think>\\boxed{42}',
      '<think>\\boxed{42}</think>\\boxed{41}',
      '<think>add: \\boxed{42}',
      '\\boxed{42}',
      '<think>add</think>',
    ])
      scores.push((await score(task, math, ended(text))).score)
    expect(scores).toEqual([1, 0, 0, 0, 0])
  })

  it('count anywhere where they are optional, but not of a response that was cut off', async () => {
    const task = taskOf()
    expect(await score(task, math, ended('add: \\boxed{42}'))).toMatchObject({ score: 1, wellFormed: true })
    expect(await score(task, math, bytes('add: \\boxed{42}, but'))).toMatchObject({
      score: 0,
      wellFormed: false,
    })
    expect(await score(task, math, ended('<think>add</think>so \\boxed{42}'))).toMatchObject({ score: 1 })
    const [{ met, explanation }] = (await score(task, math, ended('\\boxed{41}'))).verdicts
    expect([met, explanation]).toEqual([false, 'answered 41, not 42'])
    expect((await score(task, math, ended('Dear me.'))).wellFormed).toBe(false)
  })

  it('that could not be compared are paid nothing, and their verdict stays null', async () => {
    const pair = { ...math, gold: '1, 2' }
    const graded = await score(taskOf(), pair, ended('\\boxed{2, 1}'))
    expect([rewardOf(graded), graded.verdicts[0].met, graded.wellFormed]).toEqual([0, null, true])
  })
})

describe('open questions', () => {
  const open: Question = {
    id: 'o',
    question: 'Write.',
    kind: 'open',
    rubric: {
      criteria: [
        { id: 'a', text: 'Good', points: 1 },
        { id: 'b', text: 'Bad', points: -1 },
        { id: 'c', text: 'Fine', points: 1 },
      ],
    },
  }
  const text = '<think>Hm.</think>one two three four'

  it('are graded by their rubric on the answer alone: the mean of what is good', async () => {
    const seen: GradeItem[] = []
    const task = taskOf(
      { thinkTags: 'required' },
      graderOf(id => (id === 'c' ? 0 : 1), seen),
    )
    const graded = await score(task, open, ended(text))
    expect(graded.score).toBeCloseTo(1 / 3, 12)
    expect(seen).toEqual([
      { id: 'o', prompt: [{ role: 'user', content: 'Write.' }], response: 'one two three four' },
    ])
  })

  it('leave out criteria without a verdict; without any, nothing is known', async () => {
    const some = taskOf(
      {},
      graderOf(id => (id === 'b' ? null : id === 'a' ? 1 : 0)),
    )
    expect((await score(some, open, ended(text))).score).toBe(0.5)
    const none = await score(
      taskOf(
        {},
        graderOf(() => null),
      ),
      open,
      ended(text),
    )
    expect([none.score, none.unjudged, rewardOf(none)]).toEqual([null, true, null])
  })

  it('without an answer are worth nothing, and no judge is asked', async () => {
    const seen: GradeItem[] = []
    const task = taskOf(
      { thinkTags: 'required' },
      graderOf(() => 1, seen),
    )
    for (const response of ['<think>on and on', '<think>done</think>']) {
      const graded = await score(task, open, ended(response))
      expect([graded.score, rewardOf(graded), graded.unjudged]).toEqual([0, 0, undefined])
    }
    expect(seen).toEqual([])
  })

  it('of LongBench-Write are half length, half quality', async () => {
    const [question] = readQuestions(writeQuestions(folder, 'longbench-write'), 'longbench-write').questions
    const levels = [5, 4, 3, 5, 2, 5]
    const ids = question.rubric!.criteria.map(({ id }) => id)
    const task = taskOf(
      { thinkTags: 'required' },
      graderOf(id => (levels[ids.indexOf(id)] - 1) / 4),
    )
    const words = (count: number) => `<think>x</think>${'word '.repeat(count)}`
    const quality = levels.reduce((sum, level) => sum + (level - 1) * 25, 0) / 6
    for (const [count, length] of [
      [100, 100],
      [50, 50],
      [250, 50],
      [20, 0],
    ])
      expect((await score(task, question, ended(words(count)))).score).toBeCloseTo(
        (length + quality) / 200,
        12,
      )
    expect((await score(task, question, ended('<think>x</think>'))).score).toBe(0)
  })

  it('are paid in training by criteria that hold or do not, whatever their length (RiT Eq. 5)', async () => {
    const [question] = readQuestions(writeQuestions(folder, 'longbench-write'), 'longbench-write').questions
    const ids = question.rubric!.criteria.map(({ id }) => id)
    const asked: Criterion[] = []
    const met = graderOf(id => Number(ids.indexOf(id) < 4))
    const binary: Grader = {
      grade(item, criteria) {
        asked.push(...criteria)
        return met.grade(item, criteria)
      },
    }
    const grader = graderOf(() => 0)
    const task = scored(questionTask(format, { ...config(), grader, binary }))
    // 100 words are asked for: the paper's ORM writes 1.77 times as many as that.
    const tokens = Int32Array.from(ended(`<think>x</think>${'word '.repeat(177)}`))
    const [trained] = await task.grade([{ problem: question, tokens, step: 3 }])
    expect(trained.score).toBeCloseTo(4 / 6, 12)
    expect(asked[0].levels).toBeUndefined()
    expect(asked[0].text).toContain('It holds where this is so: all of it serves what was asked for')
    const [tested] = await task.grade([{ problem: question, tokens }])
    expect(tested.score).toBeCloseTo((1 - 0.77 / 3) / 2, 12)
    const [former] = await scored(questionTask(format, { ...config(), grader })).grade([
      { problem: question, tokens, step: 3 },
    ])
    expect(former.score).toBe(tested.score)
    const late: Criterion = { id: 'a', text: 'Good', points: 1 }
    const open = { id: 'o', question: 'Write.', kind: 'open' as const, rubric: { criteria: [late] } }
    await task.grade([{ problem: open, tokens, step: 1 }])
    expect(asked.at(-1)).toEqual(late)
  })

  it('need a grader', async () => {
    await expect(score(taskOf(), open, ended(text))).rejects.toThrow('expected a grader for an open question')
  })
})

describe('roles', () => {
  it('a reasoner is prompted by the question, and by hints', () => {
    const task = taskOf()
    const hints: Criterion[] = [{ id: 'a', text: 'Checks the sum', points: 2 }]
    expect(task.prompt(math)).toEqual(format.encode(reasonerMessages(math)))
    expect(format.show(task.prompt(math, hints))).toContain('Checks the sum')
  })

  it('a rubricator by the question and a response', () => {
    const task = taskOf()
    const response = task.rubricator.masked(
      math,
      task.thinking.read(ended('<think>add: \\boxed{4}</think>\\boxed{42}')),
    )
    expect(JSON.stringify(response)).not.toMatch(/42|\{4\}/)
    expect(task.rubricator.prompt(math, response)).toEqual(
      format.encode(rubricatorMessages(math, response.text)),
    )
    expect(
      task.rubricator.masked({ ...math, kind: 'open' }, task.thinking.read(ended('\\boxed{4}'))).text,
    ).toBe('\\boxed{4}')
  })

  it('what a rubricator thought before it wrote is no part of its rubric', () => {
    const task = taskOf()
    expect(task.rubricator.text(ended('<think>hm</think>\n{"rubrics": []}'))).toBe('{"rubrics": []}')
    expect(task.rubricator.text(ended('{"rubrics": []}'))).toBe('{"rubrics": []}')
    expect(task.rubricator.text(ended('<think>{"rubrics": []}'))).toBe('<think>{"rubrics": []}')
  })

  it('of a response that is too long for the prompt the middle is left out', () => {
    const bare = format.encode(rubricatorMessages(math, '')).length
    const long = taskOf().thinking.read(ended(`START ${'<'.repeat(1500)} ${'x'.repeat(3000)} END`))
    for (const room of [0, 60, 400, 2000]) {
      const prompt = taskOf({ maxRubricatorTokens: bare + room }).rubricator.prompt(math, long)
      expect(prompt.length).toBeLessThanOrEqual(bare + room)
      const shown = format.show(prompt)
      if (room >= 400) {
        for (const part of ['START', 'END', 'left out']) expect(shown).toContain(part)
        expect(prompt.length).toBeGreaterThan(bare + room / 3)
      }
    }
  })
})

describe('questions of a file', () => {
  const openFile = (more: object, grader?: Grader) =>
    openQuestions({ task: config(more), folder: model, maxTokens: 100, ...(grader && { grader }) })

  it('are opened with their prompts, those that are too long left out', () => {
    const file = writeQuestions(join(folder, 'open'), 'dapo')
    const task = openFile({ format: 'dapo', file, holdOut: 2 })
    const { train, notes } = task
    const [, test] = mainTest(task)
    expect([train.length, test.length, notes, task.id(train[0])]).toEqual([6, 2, [], train[0].id])
    const rows = [
      { question: 'Long '.repeat(100), answer: 1 },
      ...Array.from({ length: 9 }, (_, i) => ({ question: `q${i}`, answer: i })),
    ]
    const mixed = writeQuestions(join(folder, 'open'), 'plain', rows)
    const cut = openFile({ file: mixed, holdOut: 3, maxPromptTokens: 200 })
    expect(cut.train.length + mainTest(cut)[1].length).toBe(9)
    expect(cut.notes).toEqual([
      expect.stringMatching(/^1 (?:training|test) questions left out: longer than 200 tokens$/),
    ])
    // A rubricator is asked in some thousand characters.
    const asked = { task: config({ file: mixed, holdOut: 3 }), folder: model }
    expect(() => openQuestions({ ...asked, maxTokens: 6000, rubricator: true })).toThrow('questions')
    expect(openQuestions({ ...asked, maxTokens: 6000 }).train).toHaveLength(7)
    const tight = { ...asked, task: config({ file: mixed, holdOut: 3, maxRubricatorTokens: 300 }) }
    expect(() => openQuestions({ ...tight, maxTokens: 100, rubricator: true })).toThrow(
      'task.maxRubricatorTokens: expected questions about which a rubricator is asked in at most 300 tokens',
    )
    expect(() => openQuestions({ ...asked, maxTokens: 100_000 })).toThrow(
      /rollout\.maxTokens: expected room for a question in a context of \d+, got responses of up to 100000/,
    )
    expect(() => openFile({ file: mixed, holdOut: 3, maxPromptTokens: 5 })).toThrow(
      'task.maxPromptTokens: expected questions of at most 5 tokens',
    )
  })

  it('need a judge where they are open', () => {
    const file = writeQuestions(join(folder, 'open'), 'writingbench')
    expect(() => openFile({ format: 'writingbench', file })).toThrow(
      'expected a judge for the open questions',
    )
    const { train } = openFile(
      { format: 'writingbench', file },
      graderOf(() => 1),
    )
    expect([needResponseJudge(train), needResponseJudge([math])]).toEqual([true, false])
  })

  it('are counted for a plan as they are encoded', () => {
    const file = writeQuestions(join(folder, 'plan'), 'writingbench')
    const task = config({ format: 'writingbench', file })
    const values = questionSizes({ task, folder: model })
    const { questions } = readQuestions(file, 'writingbench')
    const lengths = questions.map(question => format.encode(reasonerMessages(question)).length)
    expect(values).toMatchObject({ train: 3, test: 3, judged: 5, assumed: false, tokensEstimated: false })
    expect(values.promptTokens).toBeCloseTo(lengths.reduce((a, b) => a + b) / 6, 9)
    expect(values.longestPrompt).toBe(Math.max(...lengths))
    const beside = questions.map(question => format.encode(rubricatorMessages(question, '')).length)
    expect(values.rubricatorTokens).toBeCloseTo(beside.reduce((a, b) => a + b) / 6, 9)
    const characters = questionSizes({ task, folder: null })
    expect(characters.tokensEstimated).toBe(true)
    expect(characters.promptTokens).toBeLessThan(values.promptTokens)
  })

  it('are planned as published where the file is not there', () => {
    const task = config({ format: 'strategyqa', file: join(folder, 'absent.jsonl') })
    expect(questionSizes({ task, folder: null })).toMatchObject({
      train: 2061,
      test: 229,
      assumed: true,
      tokensEstimated: true,
      judged: 0,
    })
    expect(() => questionSizes({ task: config({ format: 'dapo' }), folder: null })).toThrow('task.file')
  })
})
