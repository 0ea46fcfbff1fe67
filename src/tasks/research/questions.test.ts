import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { readResearchQuestions, researchQuestions } from './questions.ts'
import { readReferenceArticles } from './race.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-research-questions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const write = (rows: readonly unknown[]): string => {
  const path = join(folder, `${files++}.jsonl`)
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return path
}

describe('questions for research', () => {
  it('have answers, criteria, both or neither, under one name or another', () => {
    const criteria = [
      { title: 'sources', description: 'Cites two sources' },
      { title: 'sources', description: 'Invents a source', weight: 3, sign: 'negative' },
    ]
    const rows = readResearchQuestions(
      write([
        { id: 7, question: 'a?', answer: 'x', more: true },
        { question: 'b?', reference: ['x', 2] },
        { question: 'c?', criteria },
        { id: '7', question: 'd?' },
      ]),
    )
    expect(rows.map(({ id, answers }) => [id, answers])).toEqual([
      ['7', ['x']],
      ['question-2', ['x', '2']],
      ['question-3', []],
      ['7~2', []],
    ])
    expect(rows[2].persistent).toEqual([
      {
        ...{ id: 'given.sources', stage: 4, sign: 'positive', title: 'sources' },
        ...{ description: 'Cites two sources', weight: 1, since: null },
      },
      {
        ...{ id: 'given.sources~2', stage: 4, sign: 'negative', title: 'sources' },
        ...{ description: 'Invents a source', weight: 3, since: null },
      },
    ])
  })

  it('ask for sets in rows of DeepSearchQA', () => {
    const of = (answer: string | null, answer_type: string) => {
      const file = write([{ problem: 'Which?', problem_category: 'History', answer, answer_type }])
      const [{ question, answers, members }] = readResearchQuestions(file, { question: 'problem' })
      return [question, answers, members]
    }
    expect(of('Belgium, France', 'Set Answer')).toEqual([
      'Which?',
      ['Belgium, France'],
      ['Belgium', 'France'],
    ])
    expect(of('Bath, Maine', 'Single Answer')).toEqual(['Which?', ['Bath, Maine'], undefined])
    // Its four empty sets are written None, which tables read as nothing.
    expect(of(null, 'Set Answer')).toEqual(['Which?', ['None'], ['None']])
  })

  it.each([
    [{ answer: 'x' }, /:1: .*question: expected/],
    [{ question: ' ' }, /:1: question: expected text, got " "; write something/],
    [{ question: 'a?', answer: 'x', reference: 'y' }, /:1: expected answer or reference.*got both/],
    [{ question: 'a?', answer: [] }, /:1: .*answer/],
    [{ question: 'a?', answer: { text: 'x' } }, /:1: .*answer/],
    [{ question: 'a?', criteria: [{ title: 't' }] }, /:1: .*criteria\[0\]\.description/],
    [{ question: 'a?', criteria: [{ title: 't', description: 'd', weight: 0 }] }, /criteria\[0\]\.weight/],
    [{ question: 'a?', criteria: [{ title: 't', description: 'd', sign: '+' }] }, /criteria\[0\]\.sign/],
    [
      { question: 'a?', criteria: [{ title: 't', description: 'd', points: 1 }] },
      /criteria\[0\]\.points|points/,
    ],
    ['a?', /:1: /],
  ])('that cannot be used are named by file and line: %j', (row, message) => {
    expect(() => readResearchQuestions(write([row]))).toThrow(message)
  })

  it('are rows of benchmarks, each with its own rubric', () => {
    const healthbench = {
      ...{ prompt_id: 'h', prompt: [{ role: 'user', content: 'Hm?' }] },
      rubrics: [{ criterion: 'Asks back', points: 5, tags: ['axis:context'] }],
    }
    const drb = {
      ...{ id: 1, prompt: 'Report.', dimension_weight: { insight: 0.5, depth: 1.5 } },
      criterions: {
        insight: [{ criterion: 'N', explanation: 'E', weight: 1 }],
        depth: [{ criterion: 'N', explanation: 'F', weight: 1 }],
      },
    }
    const items = (...rubric: object[]) => ({ id: 'r', query: 'What is known?', rubric })
    const researchQa = items({ rubric_item: 'Says it?', type: 'Cite' })
    const researchRubrics = {
      ...{ sample_id: 's', prompt: 'Plan.', rubrics: [{ criterion: 'C', axis: 'Explicit', weight: -3 }] },
    }
    const read = (row: object) => readResearchQuestions(write([row]))[0]
    expect(read(healthbench)).toMatchObject({
      ...{ id: 'h', question: 'Hm?', answers: [], persistent: [{ id: 'given.c0', weight: 5 }] },
      benchmark: {
        prompt: [{}],
        rubric: { criteria: [{ text: 'Asks back', points: 5, category: 'context' }] },
      },
    })
    expect(read(drb).benchmark?.rubric.criteria).toMatchObject([
      { text: 'N: E', points: 0.25, levels: { length: 5, 0: { low: 0 }, 4: { high: 10 } } },
      { text: 'N: F', points: 0.75, category: 'depth' },
    ])
    expect(read(researchQa)).toMatchObject({
      ...{ id: 'r', question: 'What is known?' },
      benchmark: { rubric: { criteria: [{ text: 'Says it?', points: 1, levels: { length: 5 } }] } },
    })
    // Its files are lists.
    const list = join(folder, 'test.json')
    writeFileSync(list, JSON.stringify([researchQa, { ...researchQa, id: 'r2' }]))
    expect(readResearchQuestions(list).map(({ id }) => id)).toEqual(['r', 'r2'])
    expect(read(researchRubrics)).toMatchObject({
      ...{ id: 's', benchmark: { rubric: { criteria: [{ text: 'C', points: -3, category: 'Explicit' }] } } },
    })
    // Rows with a question of ours stay ours, whatever else they have.
    const weighed = { question: 'a?', answer: 'x', rubric: [{ title: 't', description: 'd', weight: 1 }] }
    expect(read(weighed)).toMatchObject({ answers: ['x'] })
    expect(read(weighed)).not.toHaveProperty('benchmark')
    expect(read({ question: 'a?', answer: 'x', rubric: { criteria: [] } })).not.toHaveProperty('benchmark')
    expect(() => read({ rubrics: [{ description: 'd', weight: 1 }] })).toThrow(
      /item row1: expected a question/,
    )
  })

  it('of DeepResearch Bench have the reference article of their prompt, where articles are given', () => {
    const row = (prompt: string) => ({
      ...{ id: 1, prompt, dimension_weight: { insight: 1 } },
      criterions: { insight: [{ criterion: 'N', explanation: 'E', weight: 1 }] },
    })
    const articles = readReferenceArticles(write([{ id: 51, prompt: 'Report.', article: 'It is so.' }]))
    const read = (prompt: string) => readResearchQuestions(write([row(prompt)]), undefined, articles)[0]
    const { benchmark, persistent } = read('Report.')
    expect([benchmark!.reference, persistent.length]).toEqual(['It is so.', 1])
    expect(benchmark!.rubric.criteria.map(({ id, text, category }) => [id, text, category])).toEqual([
      ['insight.0', 'N: E', 'insight'],
      ['insight.0 (reference)', 'N: E', 'insight (reference)'],
    ])
    expect(() => read('Other.')).toThrow(
      /item 1: expected an article to its prompt in .*jsonl, got none among 1/,
    )
    const none = readReferenceArticles()
    expect(readResearchQuestions(write([row('a')]), undefined, none)[0].benchmark!.reference).toBeNull()
    expect(() => readReferenceArticles(write([{ prompt: 'a' }]))).toThrow(/:1: article/)
  })

  const FILES = [
    ['healthbench/rows.jsonl', 200],
    ['deep-research-bench/criteria.jsonl', 50],
    ['scholarqa-cs/rubrics.jsonl', 55],
  ] as const
  it.skipIf(sharedData(FILES[0][0]) === null).each(FILES)(
    'are in %s, %d of them (skipped where ../shared/data is absent)',
    (name, count) => {
      const questions = readResearchQuestions(sharedData(name)!)
      expect(questions).toHaveLength(count)
      for (const { question, benchmark } of questions)
        expect([question === '', benchmark!.rubric.criteria.length > 0]).toEqual([false, true])
    },
  )

  it.skipIf(sharedData('hotpotqa/questions.jsonl') === null)('are in hotpotqa/questions.jsonl', () => {
    const questions = readResearchQuestions(sharedData('hotpotqa/questions.jsonl')!)
    expect(questions.filter(({ answers, benchmark }) => answers.length === 1 && !benchmark)).toHaveLength(60)
  })

  const rows = Array.from({ length: 20 }, (_, i) => ({ question: `q${i}?`, answer: 'x' }))

  it.each([
    [5, 5],
    [0.1, 2],
    [0.5, 10],
  ])('are held out by number or share: %d of 20', (holdOut, count) => {
    const file = write(rows)
    const { train, test, notes } = researchQuestions({ file, testFile: null, holdOut })
    expect([train.length, test.length, notes]).toEqual([20 - count, count, []])
    const again = researchQuestions({ file, testFile: null, holdOut })
    expect(again.test.map(({ question }) => question)).toEqual(test.map(({ question }) => question))
    const tested = new Set(test.map(({ question }) => question))
    expect(train.some(({ question }) => tested.has(question))).toBe(false)
  })

  it('come from a file of their own, and nothing of it is trained on; what nothing is known of is not tested', () => {
    const testFile = write([rows[0], { question: 'mute?' }, { question: 'new?', answer: 'x' }, rows[0]])
    const { train, test, notes } = researchQuestions({ file: write(rows), testFile, holdOut: 0.1 })
    expect([train.length, test.map(({ question }) => question)]).toEqual([19, ['q0?', 'new?']])
    expect(notes).toEqual([
      '1 training questions left out: also among the test questions',
      '1 test questions left out: neither an answer nor criteria',
    ])
  })

  it('come from further files by name, and nothing of these is trained on', () => {
    const more = write([rows[3], { question: 'mute?' }])
    const file = write(rows)
    const { train, tests, notes } = researchQuestions({
      ...{ file, testFile: null, holdOut: 5, tests: { more: { file: more } } },
    })
    expect(tests!.more.map(({ question }) => question)).toEqual(['q3?'])
    expect(train.some(({ question }) => question === 'q3?')).toBe(false)
    expect(notes).toContain('1 test questions left out: neither an answer nor criteria')
  })

  it('of a benchmark are named by the line that is broken, and by the set that has none to test', () => {
    const row = {
      prompt: [{ role: 'user', content: 'a?' }],
      rubrics: [{ criterion: 'C', points: 1, tags: [] }],
    }
    const cut = join(folder, 'cut.jsonl')
    writeFileSync(cut, `${JSON.stringify(row)}\n{"prompt": [`)
    expect(() => readResearchQuestions(cut)).toThrow(/cut\.jsonl:2/)
    const mute = write([{ question: 'mute?' }])
    expect(() =>
      researchQuestions({ file: write(rows), testFile: null, holdOut: 5, tests: { more: { file: mute } } }),
    ).toThrow(/task\.tests\.more: expected questions with an answer or criteria, got none among 1/)
  })

  it('are needed on both sides', () => {
    const file = write(rows)
    expect(() => researchQuestions({ file: null, testFile: null, holdOut: 1 })).toThrow(
      /task\.file: expected/,
    )
    expect(() => researchQuestions({ file, testFile: null, holdOut: 0 })).toThrow(
      /task\.holdOut: expected questions on both sides, got 20 to train on and 0 to test on/,
    )
    expect(() => researchQuestions({ file, testFile: null, holdOut: 20 })).toThrow(/got 0 to train on and 20/)
    const mute = write([{ question: 'mute?' }])
    expect(() => researchQuestions({ file, testFile: mute, holdOut: 1 })).toThrow(
      /task\.testFile: .*; 1 more have neither an answer nor criteria/,
    )
  })
})
