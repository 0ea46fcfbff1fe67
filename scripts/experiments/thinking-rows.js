#!/usr/bin/env node
/**
 * @file Rows for RiT on a public chat model: requests with instructions, a rubric for the thinking before the answer and one for the
 * answer, both decided by rules; and demonstrations of a scripted teacher who thinks before the model's own edited answers. The teacher
 * leaves out parts of the thinking by chance, so that there is something to gain.
 *
 *   gradus init train smol --model MODEL --instructions --cold-start
 *   node scripts/experiments/thinking-rows.js smol/answers.jsonl --out DIR [--train 256] [--test 96] [--demonstrations 1000]
 *
 * writes questions.jsonl, test.jsonl, thinking.jsonl (rubrics by question) and demonstrations.jsonl.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  demonstrationsOf,
  inProportion,
  plainRequests,
} from '../../dist/tasks/instructions/demonstrations.js'
import { instructionRows } from '../../dist/tasks/instructions/rows.js'
import { wordCount } from '../../dist/tasks/instructions/text.js'
import { Rng } from '../../dist/util/rng.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string' },
    train: { type: 'string', default: '256' },
    test: { type: 'string', default: '96' },
    demonstrations: { type: 'string', default: '1000' },
  },
})
const [answersFile] = positionals
if (values.out === undefined || answersFile === undefined) {
  process.stderr.write('expected ANSWERS.jsonl --out DIR\n')
  process.exit(2)
}
const [train, test, demonstrations] = ['train', 'test', 'demonstrations'].map(key => Number(values[key]))
const rng = new Rng('thinking rows')

/** Most tokens of an answer; rows limit words by it. */
const ANSWER_TOKENS = 160
/** How likely the teacher is to write each part. */
const TEACHER = { rule: 0.6, plan: 0.6, check: 0.5 }
const MOST_THINKING_WORDS = 90
/** Requests that `gradus init train --cold-start` asks the model, long ones among them. */
const REQUESTS = 1200

const oneLine = text => text.replace(/\s+/g, ' ').trim()
const nameOf = ({ id }) => id.replaceAll('_', ' ')
const instructionsOf = criteria => criteria.filter(({ verifier }) => verifier.fn === 'instruction')
const rule = (id, text, fn, params, points = 1) => ({
  id,
  text,
  points,
  verifier: { kind: 'rule', fn, params },
})

/** Words and numbers by which an instruction is known again. */
const termsOf = text => [...new Set(text.toLowerCase().match(/[a-z]{4,}|\d+/g) ?? [])]

/** Thinking takes up each instruction, plans, and goes through them again. */
const thinkingRubric = criteria => [
  ...instructionsOf(criteria).map(({ id, text }) => {
    const terms = termsOf(text)
    const params = { terms, min: Math.max(1, Math.ceil(0.6 * terms.length)) }
    return rule(`takes-up-${id}`, `Takes up this: ${oneLine(text)}`, 'mention_count', params)
  }),
  rule('plan', 'Plans how many words to write, and how to begin.', 'regex', {
    pattern: 'Plan: .*\\d+ words',
  }),
  rule('check', 'Goes through the instructions again before it ends.', 'regex', { pattern: 'Check: \\w+' }),
  rule(
    'wordy',
    `Has more than ${MOST_THINKING_WORDS} words.`,
    'length',
    { min: MOST_THINKING_WORDS + 1 },
    -1,
  ),
]

const questionOf = ({ id, prompt, criteria }) => ({
  ...{ id, question: prompt },
  // Equation 5 counts criteria alike.
  rubric: {
    criteria: criteria.filter(own => own.id !== 'unasked_marks').map(own => ({ ...own, points: 1 })),
  },
})

/** What the teacher thinks before an answer that is there. */
const thoughtOf = ({ criteria, response }, ask) => {
  const chance = part => rng.next() < TEACHER[part]
  const start = response.trim().split(/\s+/).slice(0, 3).join(' ')
  const words = 10 * Math.max(1, Math.round(wordCount(response) / 10))
  return [
    `Asked: ${oneLine(ask).split(' ').slice(0, 20).join(' ')}`,
    ...criteria.filter(() => chance('rule')).map(({ text }) => `Rule: ${oneLine(text)}`),
    ...(chance('plan') ? [`Plan: about ${words} words, beginning with "${start}".`] : []),
    ...(chance('check') ? [`Check: ${criteria.map(nameOf).join(', ')}.`] : []),
  ].join('\n')
}

const answers = new Map()
for (const line of readFileSync(answersFile, 'utf8').trim().split('\n')) {
  const { prompt, response, finishReason } = JSON.parse(line)
  if (finishReason !== 'stop') continue
  const ask = prompt[0].content
  answers.set(ask, [...(answers.get(ask) ?? []), response])
}
const asked = plainRequests(REQUESTS, 'cold start').filter(({ ask, isLong }) => !isLong && answers.has(ask))
const askOf = new Map()
const all = asked.map(request =>
  demonstrationsOf(request, answers.get(request.ask), rng)
    .filter(({ response }) => wordCount(response) <= 0.6 * ANSWER_TOKENS)
    .map(each => {
      askOf.set(each, request.ask)
      return each
    }),
)
const shown = rng.shuffle(inProportion(all, demonstrations, rng)).map(each => ({
  messages: [
    { role: 'user', content: each.prompt },
    {
      role: 'assistant',
      content: `<think>\n${thoughtOf(each, askOf.get(each))}\n</think>\n\n${each.response}`,
    },
  ],
}))
const rows = instructionRows(train + test, 'thinking', ANSWER_TOKENS)
const files = {
  questions: rows.slice(0, train).map(questionOf),
  test: rows.slice(train).map(questionOf),
  thinking: rows.map(({ id, criteria }) => ({ id, criteria: thinkingRubric(criteria) })),
  demonstrations: shown,
}
mkdirSync(values.out, { recursive: true })
for (const [name, lines] of Object.entries(files))
  writeFileSync(join(values.out, `${name}.jsonl`), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
process.stderr.write(
  `${Object.entries(files)
    .map(([name, lines]) => `${lines.length} ${name}`)
    .join(', ')}\n`,
)
