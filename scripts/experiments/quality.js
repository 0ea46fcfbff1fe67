#!/usr/bin/env node
/**
 * @file What another model makes of answers, which no training pays: how likely it is to say Yes when it is asked whether an answer
 * is good (its probability at that one place; its words are not asked for), and with --likelihood how likely the answer is to it.
 *
 *   node scripts/experiments/quality.js --judge MODEL [--limit N] [--threads N] [--likelihood] answers.jsonl...
 *   node scripts/experiments/quality.js --judge MODEL --validate [--limit N] answers.jsonl
 *
 * Answers are files of `gradus eval --out`. `--validate` compares the answers with spoilt ones: another prompt's answer, the
 * request repeated, the beginning said again and again, the words in another order. A measure that cannot tell these apart is none.
 */

import { parseArgs } from 'node:util'
import { chatFormatOf } from '../../dist/model/chat-format.js'
import { fetchModel } from '../../dist/model/fetch-model.js'
import { LocalPolicy } from '../../dist/policy/local/local-policy.js'
import { Rng } from '../../dist/util/rng.js'
import { bootstrapInterval, mean } from '../../dist/util/statistics.js'
import { readText } from './answers.js'

const { values, positionals } = parseArgs({
  options: {
    judge: { type: 'string' },
    limit: { type: 'string' },
    threads: { type: 'string', default: '2' },
    validate: { type: 'boolean', default: false },
    likelihood: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
if (values.judge === undefined || positionals.length === 0) {
  process.stderr.write('expected --judge MODEL and files of answers\n')
  process.exit(2)
}

const MOST_CHARACTERS = 1200
const question = ({ prompt, response }) => `A user asked an assistant:
"""
${prompt.slice(0, MOST_CHARACTERS)}
"""

The assistant answered:
"""
${response.slice(0, MOST_CHARACTERS)}
"""

Is this a good answer: is it about what was asked, does it make sense, and is it written in readable language? Reply with Yes or No only.`

const answersIn = path =>
  readText(path)
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(({ sample = 0 }) => sample === 0)
    .slice(0, values.limit === undefined ? undefined : Number(values.limit))
    .map(({ id, prompt, response }) => ({
      id,
      prompt: typeof prompt === 'string' ? prompt : prompt.findLast(({ role }) => role === 'user').content,
      response,
    }))

const folder = await fetchModel(values.judge)
const format = chatFormatOf(folder, 'the judge')
const [yes] = format.tokens('Yes')
const policy = await LocalPolicy.start({ folder }, { threads: Number(values.threads), spinning: false })

/** Probability of Yes, and nats a byte of the answer where they are asked for. */
const judge = async answers => {
  const said = await policy.score(
    answers.map(answer => ({
      promptTokens: format.encode([{ role: 'user', content: question(answer) }]),
      tokens: [yes],
    })),
  )
  const likely =
    values.likelihood &&
    (await policy.score(
      answers.map(({ prompt, response }) => ({
        promptTokens: format.encode([{ role: 'user', content: prompt }]),
        tokens: format.tokens(response.slice(0, MOST_CHARACTERS) || ' '),
      })),
    ))
  return answers.map(({ id, response }, i) => {
    const good = Math.exp(said[i].logprobs[0])
    if (!likely) return { id, good }
    const bytes = Buffer.byteLength(response.slice(0, MOST_CHARACTERS)) || 1
    return { id, good, natsPerByte: likely[i].logprobs.reduce((sum, x) => sum + x, 0) / bytes }
  })
}

const higher = (a, b) => (a > b ? 1 : a === b ? 0.5 : 0)
/** Chance that a true answer has the higher value of two to any prompts, ties halved; paired: of two to the same prompt. */
const auc = (better, worse) => mean(better.flatMap(b => worse.map(w => higher(b, w))))

const interval = numbers => {
  const { low, high } = bootstrapInterval(numbers, { resamples: 2000, seed: 'quality' })
  return { mean: mean(numbers), interval: [low, high] }
}

const SPOILT = {
  "another prompt's": answers =>
    answers.map((own, i) => ({ ...own, response: answers[(i + 1) % answers.length].response })),
  'the request repeated': answers => answers.map(own => ({ ...own, response: own.prompt })),
  'the beginning again and again': answers =>
    answers.map(own => ({
      ...own,
      response: Array(12).fill(own.response.split(/\s+/).slice(0, 8).join(' ')).join(' '),
    })),
  'words in another order': answers =>
    answers.map(own => ({ ...own, response: new Rng(own.id).shuffle(own.response.split(/\s+/)).join(' ') })),
}

const names = values.likelihood ? ['good', 'natsPerByte'] : ['good']
for (const path of positionals) {
  const answers = answersIn(path)
  const own = await judge(answers)
  const line = { file: path, judge: values.judge, n: own.length }
  for (const name of names) line[name] = interval(own.map(each => each[name]))
  if (values.validate) {
    line.criteria = {}
    for (const [name, spoil] of Object.entries(SPOILT)) {
      const worse = await judge(spoil(answers))
      const by = key => {
        const [a, b] = [own, worse].map(side => side.map(each => each[key]))
        return { paired: mean(a.map((value, i) => higher(value, b[i]))), auc: auc(a, b) }
      }
      line.criteria[name] = Object.fromEntries(names.map(key => [key, by(key)]))
      process.stderr.write(`${name}: ${JSON.stringify(line.criteria[name])}\n`)
    }
  } else line.items = own
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
await policy.close()
