import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readResearchQuestions, researchQuestions } from './questions.ts'

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
