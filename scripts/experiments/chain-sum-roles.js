#!/usr/bin/env node
/**
 * @file What RLCER starts from on a public chat model: sums of several terms, as the package reasoning-gym makes them; criteria in words
 * for the way to an answer, each with a rule; and demonstrations of a scripted teacher in both roles. The teacher works in various ways,
 * and now and then slips; only right answers are kept, and only rubrics that the format reward pays (the paper's section 5.1).
 *
 *   python3 -c 'import json, reasoning_gym as rg
 *   for row in rg.create_dataset("chain_sum", size=2600, seed=7, min_terms=3, max_terms=5, min_digits=1, max_digits=2):
 *     print(json.dumps(row))' > chain-sums.jsonl          # reasoning-gym 0.1.19
 *   node scripts/experiments/chain-sum-roles.js chain-sums.jsonl --out DIR [--train 256] [--test 128] [--demonstrations 1000]
 *
 * writes questions.jsonl, test.jsonl, criteria.json, and demonstrations.jsonl (half of them of each role). No sum is in two of them.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { formatProblems, PROPOSAL_CATEGORIES } from '../../dist/grade/proposal/format.js'
import { RuleGrader } from '../../dist/grade/rules/index.js'
import { maskAnswers } from '../../dist/tasks/questions/mask.js'
import { reasonerMessages, rubricatorMessages } from '../../dist/tasks/questions/prompts.js'
import { Rng } from '../../dist/util/rng.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string' },
    train: { type: 'string', default: '256' },
    test: { type: 'string', default: '128' },
    demonstrations: { type: 'string', default: '1000' },
  },
})
const [sumsFile] = positionals
if (values.out === undefined || sumsFile === undefined) {
  process.stderr.write('expected CHAIN_SUMS.jsonl --out DIR\n')
  process.exit(2)
}
const [train, test, demonstrations] = ['train', 'test', 'demonstrations'].map(key => Number(values[key]))
const rng = new Rng('chain sums')

const CALCULATION = '^-?\\d+ [+-] \\d+ = -?\\d+$'
const matches = (pattern, more = {}) => ({ fn: 'regex', params: { pattern, flags: 'm', ...more } })
/** Of a merit; of a flaw as many below 0. All the same: a small model learns the sums of its rubrics, and does not add up. */
const POINTS = 3
const MERITS = 9
/** Each with its place in the paper's list of categories: the merits, then the flaws. */
const CRITERIA = [
  [0, 'Lists the terms before adding them up.', matches('^Terms:')],
  [0, 'Has at least two lines that are one calculation each.', matches(CALCULATION, { min: 2 })],
  [0, 'Has at least three lines that are one calculation each.', matches(CALCULATION, { min: 3 })],
  [1, 'Checks a result by undoing a calculation.', matches('^Check: -?\\d+ [+-] \\d+ = -?\\d+')],
  [1, 'Says that the check agrees.', matches('agrees')],
  [2, 'Begins a calculation with the result of the one before.', matches('= (-?\\d+)\\n\\1 [+-] ')],
  [2, 'Says in a sentence what the answer is.', matches('^So the answer is')],
  [3, 'Has at most 40 words.', { fn: 'length', params: { max: 40 } }],
  [4, 'Says which terms are taken away.', matches('^Terms:.*, -\\d')],
  [2, 'Does several operations in one line.', matches('\\d [+-] \\d+ [+-] \\d+')],
  [3, 'Says that it begins again.', matches('^Wait')],
  [3, 'Has more than 40 words.', { fn: 'length', params: { min: 41 } }],
  [0, 'Shows no calculation.', matches('=', { negate: true })],
].map(([category, text, rule], i) => ({
  category: PROPOSAL_CATEGORIES[category],
  criterion: {
    id: `c${i + 1}`,
    text,
    points: i < MERITS ? POINTS : -POINTS,
    verifier: { kind: 'rule', ...rule },
  },
}))

/** How likely the teacher does each of these. */
const TEACHER = { terms: 0.5, joins: 0.25, check: 0.4, wait: 0.15, says: 0.7 }
/** How likely a line of its is wrong. */
const SLIP = 0.08
const signed = (sign, term) => `${sign < 0 ? '-' : '+'} ${term}`

/** The terms of `44 + 27 - 33`, with their signs. */
const termsOf = expression => {
  const [first, ...rest] = expression.split(' ')
  const others = rest.flatMap((part, i) =>
    i % 2 === 0 ? [[part === '-' ? -1 : 1, Number(rest[i + 1])]] : [],
  )
  return [[1, Number(first)], ...others]
}

/** One way to work a sum out. */
const workOut = expression => {
  const [[, first], ...rest] = termsOf(expression)
  const does = Object.fromEntries(
    Object.entries(TEACHER).map(([what, chance]) => [what, rng.next() < chance]),
  )
  const lines = does.terms ? [`Terms: ${[first, ...rest.map(([sign, term]) => sign * term)].join(', ')}`] : []
  let result = first
  for (let i = 0; i < rest.length; i++) {
    const joined = does.joins && i + 1 < rest.length && rng.next() < 0.6
    const taken = rest.slice(i, i + (joined ? 2 : 1))
    const slip = rng.next() < SLIP ? rng.pick([-10, -1, 1, 10]) : 0
    const next = taken.reduce((sum, [sign, term]) => sum + sign * term, result) + slip
    lines.push(`${result} ${taken.map(([sign, term]) => signed(sign, term)).join(' ')} = ${next}`)
    if (does.wait && i === 0) lines.push('Wait, I look at this line once more. It is as it should be.')
    const [sign, term] = taken.at(-1)
    if (does.check && i + taken.length === rest.length) {
      const back = next - sign * term
      lines.push(
        `Check: ${next} ${signed(-sign, term)} = ${back}, which ${joined || slip !== 0 ? 'may be' : 'agrees'}.`,
      )
    }
    result = next
    i += taken.length - 1
  }
  lines.push(does.says ? `So the answer is \\boxed{${result}}.` : `\\boxed{${result}}`)
  return { text: lines.join('\n'), result }
}

const grader = new RuleGrader()

/** A rubric of four merits and a flaw about a response, with true sums; null where no draw leaves room for improvement. */
const rubricAbout = async (prompt, response) => {
  const criteria = CRITERIA.map(({ criterion }) => criterion)
  const verdicts = await grader.grade({ prompt, response }, criteria)
  for (let attempt = 0; attempt < 20; attempt++) {
    const places = CRITERIA.map((_, i) => i)
    const merits = rng.shuffle(places.slice(0, MERITS)).slice(0, 4)
    const chosen = rng.shuffle([...merits, rng.pick(places.slice(MERITS))])
    const points = chosen.map(i => criteria[i].points)
    const sum = of => of.reduce((total, each) => total + each, 0)
    const text = JSON.stringify({
      question_domain: 'math/arithmetic',
      rubrics: chosen.map(i => ({
        category: CRITERIA[i].category,
        criterion: criteria[i].text,
        points: criteria[i].points,
      })),
      maximum_score: sum(points.filter(each => each > 0)),
      minimum_score: sum(points.filter(each => each < 0)),
      current_score: sum(chosen.map(i => (verdicts[i].met ? criteria[i].points : 0))),
    })
    if (formatProblems(text).length === 0) return text
  }
  return null
}

const known = new Set()
const sums = readFileSync(sumsFile, 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line))
  .filter(({ question }) => !known.has(question) && known.add(question))
const rowOf = ({ question, answer }, i) => ({ id: `sum-${i + 1}`, question, answer, kind: 'math' })
const rows = sums.map(rowOf)
const said = (messages, content) => ({ messages: [...messages, { role: 'assistant', content }] })

const taught = []
for (const [i, row] of rows.entries()) {
  if (i < train + test) continue
  if (taught.length >= demonstrations) break
  const { text, result } = workOut(sums[i].metadata.expression)
  const asked = reasonerMessages(row)
  // Rubrics are about wrong answers as well.
  if (String(result) === row.answer && taught.length % 2 === 0) {
    taught.push(said(asked, text))
    continue
  }
  const rubric = await rubricAbout(asked, maskAnswers(text))
  if (rubric !== null && taught.length % 2 === 1)
    taught.push(said(rubricatorMessages(row, maskAnswers(text)), rubric))
}
if (taught.length < demonstrations)
  throw new Error(`${taught.length} demonstrations of ${demonstrations}: more sums are needed`)

mkdirSync(values.out, { recursive: true })
const write = (name, lines) =>
  writeFileSync(join(values.out, name), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
write('questions.jsonl', rows.slice(0, train))
write('test.jsonl', rows.slice(train, train + test))
write('demonstrations.jsonl', taught)
const criteria = CRITERIA.map(({ criterion }) => criterion)
writeFileSync(join(values.out, 'criteria.json'), `${JSON.stringify({ criteria }, null, 1)}\n`)
