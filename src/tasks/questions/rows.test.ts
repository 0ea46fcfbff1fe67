import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GradusError } from '../../util/errors.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { answerVerdict } from './answers.ts'
import { questionTaskSchema } from './config.ts'
import { loadQuestion, QUESTION_FORMATS, type QuestionFormat } from './formats.ts'
import { type Question, questionText } from './question.ts'
import { QUESTION_ROWS, writeQuestions } from './rows.fixture.ts'
import { PAPER_SPLITS, questionFiles, readQuestions, splitQuestions } from './rows.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-questions-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (format: QuestionFormat, rows?: unknown[]) =>
  readQuestions(writeQuestions(folder, format, rows), format).questions
const filesOf = (more: object) => questionTaskSchema.parse(more)

describe('rows of public files', () => {
  it('are questions of one shape', () => {
    expect(read('dapo')[2]).toEqual({ id: '12', question: 'What is 2 squared?', kind: 'math', gold: '4' })
    expect(read('aime')[0]).toEqual({
      id: 'aime-1',
      question: 'What is 0 plus one?',
      kind: 'math',
      gold: '001',
    })
    expect(read('math500')[1]).toMatchObject({ id: 'test/halves/1.json', gold: '\\frac{1}{2}' })
    expect(read('strategyqa').slice(0, 2)).toEqual([
      { id: 'q0', question: 'Is 0 an even number?', kind: 'yes-no', gold: 'yes' },
      { id: 'q1', question: 'Is 1 an even number?', kind: 'yes-no', gold: 'no' },
    ])
    const [writing] = read('longbench-write')
    expect(writing).toMatchObject({ kind: 'open', requiredLength: 100 })
    expect(writing.rubric?.criteria.map(({ title }) => title)).toEqual([
      'Relevance',
      'Accuracy',
      'Coherence',
      'Clarity',
      'Breadth and Depth',
      'Reading Experience',
    ])
    const [bench] = read('writingbench')
    expect(bench).toMatchObject({ id: '16', kind: 'open', question: 'Write chapter 0.' })
    expect(bench.rubric?.criteria).toHaveLength(5)
    expect(bench.rubric?.criteria[0].levels?.at(-1)).toEqual({ low: 9, high: 10, text: 'excellent' })
  })

  it('show the options of a choice in an order that depends on the question alone', () => {
    const rows = read('truthfulqa')
    const rightOf = ({ options = [], gold = '' }: Question) => options[gold.charCodeAt(0) - 65]
    expect(rows.map(rightOf)).toEqual(QUESTION_ROWS.truthfulqa.map((_, i) => `It is ${i + 1}`))
    // The file has the right one first, always.
    expect(new Set(rows.map(({ gold }) => gold)).size).toBeGreaterThan(1)
    const turned = [...QUESTION_ROWS.truthfulqa].reverse()
    const again = new Map(read('truthfulqa', turned).map(row => [row.question, row.options]))
    for (const { question, options } of rows) expect(again.get(question)).toEqual(options)
    expect(questionText(rows[0])).toMatch(/^What number comes after 0\?\n\nA\. .+\nB\. .+\nC\. .+\nD\. .+$/)
  })

  it('of GPQA and SuperGPQA are choices', () => {
    const rows = read('gpqa')
    expect(rows.map(({ id, options = [], gold = '' }) => [id, options[gold.charCodeAt(0) - 65]])).toEqual(
      rows.map((_, i) => [`rec${i}`, `the one of ${i}`]),
    )
    expect(new Set(rows.map(({ gold }) => gold)).size).toBeGreaterThan(1)
    expect(rows[0].options).toContain('none')
    expect(read('supergpqa').map(({ id, gold }) => [id, gold])).toEqual([
      ...[0, 2, 4].flatMap(i => [
        [`u${i}`, 'A'],
        [`u${i + 1}`, 'E'],
      ]),
    ])
  })

  it('of LogiQA are inferences and choices, and its first version is text', () => {
    const [inference, choice, other] = read('logiqa')
    expect(inference).toMatchObject({ kind: 'yes-no', gold: 'yes' })
    expect(inference.question).toBe(
      'Wet stones shine\nStone 0 is wet\nConclusion: Stone 0 shines.\n\nDoes the conclusion follow from what stands before it?',
    )
    expect(choice).toMatchObject({ id: '1', kind: 'choice', gold: 'B' })
    expect(questionText(choice)).toMatch(/^Of 1 stones one is wet\.\n\nWhat follows\?\n\nA\. All shine\nB\. /)
    expect(other.gold).toBe('no')
    const path = join(folder, 'logiqa-1.txt')
    const block = (letter: string, options: string[]) => ['', letter, 'A text.', 'A question?', ...options]
    const first = [
      ...block('b', ['A.one', 'B.two', 'C? three', 'D four']),
      ...block('d', ['A.a', 'B.A', 'C.c', 'D.d']),
    ]
    writeFileSync(path, first.join('\n'))
    expect(
      readQuestions(path, 'logiqa').questions.map(({ id, options, gold }) => [id, options, gold]),
    ).toEqual([
      ['logiqa-1', ['one', 'two', 'three', 'four'], 'B'],
      ['logiqa-2', ['a', 'A', 'c', 'd'], 'D'],
    ])
    writeFileSync(path, first.slice(0, -1).join('\n'))
    expect(() => readQuestions(path, 'logiqa')).toThrow(
      `${path}:10: expected the letter of an answer and six more lines, got "d" and 5`,
    )
  })

  it('that a published file leaves empty are left out and counted, not those of another shape', () => {
    const [inference, choice] = QUESTION_ROWS.logiqa as object[]
    const empty = [
      { ...inference, conclusion: ' ' },
      { ...choice, options: ['All shine', ''] },
    ]
    const path = writeQuestions(folder, 'logiqa', [inference, ...empty, choice])
    const { questions, notes } = readQuestions(path, 'logiqa')
    expect(questions.map(({ id }) => id)).toEqual(['logiqa-1', '1'])
    expect(notes).toEqual([`2 rows of ${path} left out: nothing is asked there`])
    expect(splitQuestions(filesOf({ format: 'logiqa', file: path, holdOut: 1 })).notes).toEqual(notes)
    writeQuestions(folder, 'logiqa', empty)
    expect(() => readQuestions(path, 'logiqa')).toThrow('expected at least one question, got none')
    writeQuestions(folder, 'logiqa', [inference, { ...inference, conclusion: undefined }])
    expect(() => readQuestions(path, 'logiqa')).toThrow(`${path}:2: `)
  })

  it('may be plain ones of our own', () => {
    expect(read('plain').map(({ id, kind, gold }) => [id, kind, gold])).toEqual([
      ['sum', 'math', '42'],
      ['plain-2', 'math', '0.25'],
      ['plain-3', 'choice', 'B'],
      ['plain-4', 'yes-no', 'yes'],
      ['plain-5', 'open', undefined],
      ['plain-6', 'math', '15'],
    ])
    expect(read('plain')[4].requiredLength).toBe(12)
    expect(read('plain', [{ question: 'q', options: ['x', 'y'], answer: 'b' }])[0].gold).toBe('B')
  })

  it('have ids of their own, also where the file repeats them', () => {
    const ids = read('strategyqa', [QUESTION_ROWS.strategyqa[0], QUESTION_ROWS.strategyqa[0]]).map(
      ({ id }) => id,
    )
    expect(ids).toEqual(['q0', 'q0~2'])
  })

  it('that cannot be used are named by file and line', () => {
    const bad: [QuestionFormat, unknown, string][] = [
      ['dapo', { prompt: 'x' }, 'answer: expected an answer as text or as a number, got nothing'],
      ['dapo', { prompt: ' ', answer: '1' }, 'prompt: expected text, got " "'],
      ['aime', { question: 'x', answer: '1' }, 'problem: expected a string, got nothing'],
      ['strategyqa', { question: 'x', answer: 'yes' }, 'answer: expected a boolean, got "yes"'],
      [
        'truthfulqa',
        { question: 'x', mc1_targets: { a: 1, b: 1 } },
        'mc1_targets: expected exactly one option with 1',
      ],
      [
        'truthfulqa',
        { question: 'x', mc1_targets: { a: 0, '': 1 } },
        'mc1_targets: expected exactly one option with 1',
      ],
      [
        'truthfulqa',
        { question: 'x', mc1_targets: { a: 1, ' ': 0 } },
        'mc1_targets: expected 2 to 26 options',
      ],
      [
        'gpqa',
        { Question: 'x', 'Correct Answer': 'y' },
        'Incorrect Answer 1: expected a string, got nothing',
      ],
      [
        'supergpqa',
        { question: 'x', options: ['a', 'b'], answer_letter: 'C' },
        'answer_letter: expected one of the options or a letter from A to B, got "C"',
      ],
      ['logiqa', { conclusion: 'x', label: 'maybe' }, 'label: expected'],
      ['longbench-write', { prompt: 'x', length: 0 }, 'length: expected a number of more than 0'],
      ['writingbench', { query: 'x' }, 'no checklist'],
      ['writingbench', { query: 'x', checklist: [] }, 'checklist: expected criteria, got none'],
      ['plain', { question: 'x' }, 'answer: expected the right answer, got nothing'],
      ['plain', { question: 'x', answer: '1', gold: 2 }, 'gold: '],
      ['plain', { question: 'x', options: ['a', 'b'], answer: 'c' }, 'answer: expected one of the options'],
      ['plain', { question: 'x', kind: 'choice', answer: 'A' }, 'options: expected the options of a choice'],
      ['plain', { question: 'x', kind: 'open', answer: 'A' }, 'rubric: expected criteria, got none'],
      [
        'plain',
        { question: 'x', kind: 'yes-no', answer: 'maybe' },
        'answer: expected yes or no, got "maybe"',
      ],
      ['plain', 7, 'expected an object, got 7'],
    ]
    for (const [format, row, message] of bad) {
      const path = writeQuestions(folder, format, [QUESTION_ROWS[format][0], row])
      expect(() => readQuestions(path, format), message).toThrow(`${path}:2: `)
      expect(() => readQuestions(path, format), message).toThrow(message)
    }
    const path = join(folder, 'broken.jsonl')
    writeFileSync(path, '{"prompt": "x", "answer": "1"}\n{"prompt": ')
    expect(() => readQuestions(path, 'dapo')).toThrow(`${path}:2: expected JSON`)
    writeFileSync(path, '\n')
    expect(() => readQuestions(path, 'dapo')).toThrow('expected at least one question, got none')
    const rubric = {
      criteria: [{ id: 'a', text: 't', points: 1, verifier: { kind: 'rule', fn: 'no-such' } }],
    }
    const rules = writeQuestions(folder, 'plain', [{ question: 'x', rubric }])
    expect(() => readQuestions(rules, 'plain')).toThrow(`${rules}:1`)
  })
})

describe('rows of any kind', () => {
  const keys = [
    'prompt',
    'problem',
    'question',
    'answer',
    'mc1_targets',
    'length',
    'query',
    'checklist',
    'options',
    'rubric',
    'kind',
    'id',
    'index',
  ]
  const row = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(
      fc.constantFrom(...keys),
      fc.oneof(fc.jsonValue(), fc.constantFrom(0, 1, 'A', true, ['x', 'y'])),
    ),
    fc.constantFrom(...Object.values(QUESTION_ROWS).flat()),
  )

  it('are questions that can be shown and graded, or errors that a person can act on', () => {
    let read = 0
    fc.assert(
      fc.property(fc.constantFrom(...QUESTION_FORMATS), row, (format, value) => {
        let loaded: ReturnType<typeof loadQuestion>
        try {
          loaded = loadQuestion(format, value)
        } catch (error) {
          expect(error).toBeInstanceOf(GradusError)
          return
        }
        if (loaded === null) return
        read++
        const question: Question = { ...loaded, id: loaded.id ?? 'x' }
        expect(questionText(question)).not.toBe('')
        if (question.kind === 'open') expect(question.rubric?.criteria.length).toBeGreaterThan(0)
        else expect(answerVerdict(question, `\\boxed{${question.gold}}`).met).not.toBe(undefined)
        if (question.kind === 'choice' || question.kind === 'yes-no')
          expect(answerVerdict(question, `\\boxed{${question.gold}}`).met).toBe(true)
      }),
      { numRuns: 3000 },
    )
    // About 115 of 3,000 random ones are questions.
    expect(read).toBeGreaterThan(50)
  })
})

describe('the split of a file', () => {
  const sizes = ({ train, test }: { train: unknown[]; test: unknown[] }) => [train.length, test.length]

  it('is the same every time, and none is on both sides or there twice', () => {
    const file = writeQuestions(join(folder, 'twice'), 'dapo', [...QUESTION_ROWS.dapo, ...QUESTION_ROWS.dapo])
    const split = () => splitQuestions(filesOf({ format: 'dapo', file, holdOut: 3 }))
    expect(split()).toEqual(split())
    const { train, test, notes } = split()
    expect(sizes({ train, test })).toEqual([5, 3])
    expect(new Set([...train, ...test].map(({ question }) => question)).size).toBe(8)
    expect(notes).toEqual(['8 questions left out: there twice'])
  })

  it("is the paper's share where the file has other rows than the paper", () => {
    const file = writeQuestions(join(folder, 'share'), 'strategyqa')
    const { notes, ...split } = splitQuestions(filesOf({ format: 'strategyqa', file }))
    expect(sizes(split)).toEqual([18, 2])
    expect(notes).toEqual([
      "the paper has 2,061 questions to train on and 229 to test on; of this file's 20 in the same proportion: 18 questions to train on and 2 to test on",
    ])
  })

  it("is the paper's own where the file has as many rows", () => {
    for (const [format, { train, test }] of Object.entries(PAPER_SPLITS)) {
      const rows = Array.from({ length: train + test }, (_, i) => ({ question: `q${i}`, answer: 1 }))
      const file = writeQuestions(join(folder, 'own'), 'plain', rows)
      // Any rows will do: which paper is meant follows from the format alone.
      const split = splitQuestions(filesOf({ format: 'plain', file, holdOut: test }))
      expect([format, ...sizes(split)]).toEqual([format, train, test])
    }
    const rows = Array.from({ length: 2290 }, (_, i) => ({
      qid: `q${i}`,
      question: `Is it ${i}?`,
      answer: true,
    }))
    const file = writeQuestions(join(folder, 'whole'), 'strategyqa', rows)
    const { notes, ...split } = splitQuestions(filesOf({ format: 'strategyqa', file }))
    expect([...sizes(split), notes]).toEqual([2061, 229, []])
  })

  it('may come from two files, in two formats', () => {
    const file = writeQuestions(folder, 'dapo')
    const rows = [...QUESTION_ROWS.aime, { problem: 'What is 3 squared?', answer: '9' }]
    const testFile = writeQuestions(join(folder, 'test'), 'aime', rows)
    const { notes, ...split } = splitQuestions(
      filesOf({ format: 'dapo', file, testFile, testFormat: 'aime' }),
    )
    expect(sizes(split)).toEqual([7, 7])
    expect(notes).toEqual(['1 training questions left out: also among the test questions'])
  })

  it('has further tests, none of whose questions are trained on', () => {
    const tests = {
      more: { file: writeQuestions(folder, 'gpqa'), format: 'gpqa' as const },
      seen: { file: writeQuestions(folder, 'dapo', QUESTION_ROWS.dapo.slice(0, 2)), format: 'dapo' as const },
    }
    const files = { ...filesOf({ format: 'dapo', file: writeQuestions(join(folder, 'all'), 'dapo') }), tests }
    const split = splitQuestions({ ...files, testFile: writeQuestions(folder, 'aime'), testFormat: 'aime' })
    expect([...sizes(split), split.tests.more.length, split.tests.seen.length]).toEqual([6, 6, 6, 2])
    expect(split.notes).toEqual(['2 training questions left out: also among the test questions'])
    const shared = new Set(split.tests.seen.map(({ question }) => question))
    const held = splitQuestions({ ...files, holdOut: 3 })
    expect(held.train.some(({ question }) => shared.has(question))).toBe(false)
    expect(held.test).toHaveLength(3)
    expect(questionFiles(files)).toEqual([files.file, tests.more.file, tests.seen.file])
  })

  it('is even in type and length, and in domain and language', () => {
    const types = ['News', 'Letters', 'Reports']
    const writing = Array.from({ length: 60 }, (_, i) => ({
      ...{ prompt: `Write text ${i}.`, type: types[i % 3], length: 100 * (1 + Math.floor(i / 3)) },
    }))
    const file = writeQuestions(join(folder, 'even'), 'longbench-write', writing)
    const { train, test } = splitQuestions(filesOf({ format: 'longbench-write', file, holdOut: 30 }))
    for (const type of types) {
      const lengths = [train, test].map(side =>
        side.filter(({ stratum }) => stratum?.startsWith(type)).map(own => own.requiredLength ?? 0),
      )
      expect(lengths.map(({ length }) => length)).toEqual([10, 10])
      // Of two lengths that follow each other one is on either side.
      const [a, b] = lengths.map(own => own.sort((x, y) => x - y))
      expect(a.every((length, i) => Math.abs(length - b[i]) === 100)).toBe(true)
    }
    const [bench] = QUESTION_ROWS.writingbench as object[]
    const rows = Array.from({ length: 80 }, (_, i) => ({
      ...{ ...bench, index: i, query: `Write ${i}.`, domain1: `d${i % 2}`, lang: i < 16 ? 'zh' : 'en' },
    }))
    const benchFile = writeQuestions(join(folder, 'even'), 'writingbench', rows)
    const split = splitQuestions(filesOf({ format: 'writingbench', file: benchFile, holdOut: 20 }))
    const count = (stratum: string) => split.test.filter(own => own.stratum === stratum).length
    expect(['d0/b/en', 'd0/b/zh', 'd1/b/en', 'd1/b/zh'].map(count)).toEqual([8, 2, 8, 2])
    expect(sizes(split)).toEqual([60, 20])
  })

  it('must be said where no paper says it, and leave something on both sides', () => {
    const file = writeQuestions(folder, 'dapo')
    expect(() => splitQuestions(filesOf({ format: 'dapo' }))).toThrow(
      'task.file: expected the file of the questions',
    )
    expect(() => splitQuestions(filesOf({ format: 'dapo', file }))).toThrow('task.holdOut: expected how many')
    for (const holdOut of [0, 8])
      expect(() => splitQuestions(filesOf({ format: 'dapo', file, holdOut }))).toThrow(
        'task.holdOut: expected questions on both sides',
      )
  })
})

describe('the real files', () => {
  const FILES: [QuestionFormat, string, number, number, number][] = [
    ['dapo', 'dapo/train_2000.jsonl', 2000, 1888, 100],
    ['aime', 'aime/aime24.jsonl', 30, 20, 10],
    ['amc', 'amc/amc23.jsonl', 40, 30, 10],
    ['math500', 'math500/math500.jsonl', 200, 100, 100],
    ['strategyqa', 'strategyqa/train_500.jsonl', 500, 449, 50],
    ['truthfulqa', 'truthfulqa/mc.jsonl', 300, 240, 60],
    ['longbench-write', 'longbench-write/en.jsonl', 60, 30, 30],
    ['writingbench', 'writingbench/length_subset.jsonl', 111, 55, 56],
  ]
  /** Our own, and those that nobody may pass on or that are too large. */
  const NOT_HERE = ['plain', 'gpqa', 'supergpqa', 'logiqa']
  it('cover every format that is here', () => {
    expect(FILES.map(([format]) => format).sort()).toEqual(
      QUESTION_FORMATS.filter(name => !NOT_HERE.includes(name)).sort(),
    )
  })
  for (const [format, name, rows, train, test] of FILES)
    it(`${name} is read, and split`, ({ skip }) => {
      const file = sharedData(name)
      if (file === null) return skip(`no ../shared/data/${name} here`)
      expect(readQuestions(file, format).questions).toHaveLength(rows)
      const holdOut = PAPER_SPLITS[format] === undefined ? test : null
      const split = splitQuestions(filesOf({ format, file, holdOut }))
      expect([split.train.length, split.test.length]).toEqual([train, test])
    })
})
