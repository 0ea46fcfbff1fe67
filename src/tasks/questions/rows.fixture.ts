/** @file Files of questions in every format, small enough for tests; rows made up here. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { QuestionFormat } from './formats.ts'

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

const bands = { '1-2': 'bad', '3-4': 'poor', '5-6': 'fair', '7-8': 'good', '9-10': 'excellent' }

/** Six rows or more of each format. */
export const QUESTION_ROWS: Record<QuestionFormat, unknown[]> = {
  plain: [
    { id: 'sum', question: 'What is 20 + 22?', answer: 42 },
    { question: 'What is 1/4 as a decimal?', answer: '0.25' },
    { question: 'Which is a fruit?', options: ['a brick', 'a pear', 'a shoe'], answer: 'a pear' },
    { question: 'Is the sea salty?', kind: 'yes-no', answer: true },
    {
      question: 'Write a haiku.',
      rubric: {
        criteria: [
          { id: 'lines', text: 'Has three lines', points: 1 },
          { id: 'rhyme', text: 'Rhymes', points: -1 },
        ],
      },
      length: 12,
    },
    { question: 'What is 3 * 5?', answer: '15' },
  ],
  dapo: times(8, i => ({ prompt: `What is ${i} squared?`, answer: `${i * i}`, index: 10 + i })),
  aime: times(6, i => ({ problem: `What is ${i} plus one?`, answer: `00${i + 1}` })),
  amc: times(6, i => ({ problem: `What is twice ${i}?`, answer: `${2 * i}.0` })),
  math500: times(6, i => ({
    problem: `Halve ${i}.`,
    solution: '...',
    answer: `\\frac{${i}}{2}`,
    unique_id: `test/halves/${i}.json`,
  })),
  strategyqa: times(20, i => ({
    qid: `q${i}`,
    term: 't',
    question: `Is ${i} an even number?`,
    answer: i % 2 === 0,
    facts: [],
    decomposition: [],
  })),
  truthfulqa: times(10, i => ({
    question: `What number comes after ${i}?`,
    mc0_targets: {},
    mc1_targets: { [`It is ${i + 1}`]: 1, [`It is ${i + 2}`]: 0, [`It is ${i - 1}`]: 0, 'There is none': 0 },
    mc2_targets: {},
  })),
  gpqa: times(6, i => ({
    'Record ID': `rec${i}`,
    Question: `Which particle has charge ${i}?`,
    'Correct Answer': `the one of ${i}`,
    'Incorrect Answer 1': 'an electron',
    'Incorrect Answer 2': 'a neutron',
    'Incorrect Answer 3': 'none\n',
    Subdomain: 'Physics (general)',
  })),
  supergpqa: times(6, i => ({
    uuid: `u${i}`,
    question: `Which valve is number ${i}?`,
    // Options may be letters themselves: the letter of the answer is what counts.
    options: ['B', 'C', 'A', 'none', `valve ${i}`],
    answer: i % 2 === 0 ? 'B' : `valve ${i}`,
    answer_letter: i % 2 === 0 ? 'A' : 'E',
    discipline: 'Engineering',
  })),
  logiqa: times(20, i =>
    i % 2 === 0
      ? {
          ...{ label: i % 4 === 0 ? 'entailed' : 'not entailed', minor_premise: ` Stone ${i} is wet` },
          ...{ major_premise: i % 4 === 0 ? ['Wet stones shine', ' '] : 'Dry stones do not shine' },
          conclusion: `Stone ${i} shines.`,
        }
      : {
          ...{ id: i, text: `Of ${i} stones one is wet.`, question: 'What follows?', answer: i % 3 },
          ...{ options: ['All shine', 'One shines', 'None shines', 'Two shine'], type: {} },
        },
  ),
  'longbench-write': times(6, i => ({
    prompt: `Write ${100 * (i + 1)} words about stones.`,
    type: 'Popular Science',
    length: 100 * (i + 1),
  })),
  writingbench: times(6, i => ({
    index: 16 + i,
    domain1: 'a',
    domain2: 'b',
    query: `Write chapter ${i}.`,
    checklist: times(5, k => ({ name: `Aspect ${k}`, criteria_description: `How good ${k} is`, ...bands })),
  })),
}

/** Writes rows as JSON Lines and returns the file. */
export const writeQuestions = (
  folder: string,
  format: QuestionFormat,
  rows = QUESTION_ROWS[format],
): string => {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${format}.jsonl`)
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return path
}
