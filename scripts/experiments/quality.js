#!/usr/bin/env node
/**
 * @file What another model makes of answers, which no training pays: how likely it is to say that an answer is good (its
 * probability of Yes against No at that one place; its words are not asked for), and how likely the answer itself is to it.
 *
 *   node scripts/experiments/quality.js --judge MODEL [--limit N] [--threads N] answers.jsonl...
 *   node scripts/experiments/quality.js --judge MODEL --validate answers.jsonl
 *
 * Answers are files of `gradus eval --out`. `--validate` compares the answers with spoilt ones: another prompt's answer, the
 * request repeated, the beginning said again and again, the words in another order. A measure that cannot tell these apart is none.
 */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { bringModel } from '../../dist/model/bring-model.js'
import { chatFormatOf } from '../../dist/model/chat-format.js'
import { LocalPolicy } from '../../dist/policy/local/local-policy.js'
import { Rng } from '../../dist/util/rng.js'
import { bootstrapInterval, mean } from '../../dist/util/statistics.js'

const { values, positionals } = parseArgs({
  options: {
    judge: { type: 'string' },
    limit: { type: 'string' },
    threads: { type: 'string', default: '2' },
    validate: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
if (values.judge === undefined || positionals.length === 0) {
  process.stderr.write('expected --judge MODEL and files of answers\n')
  process.exit(2)
}

const MOST_CHARACTERS = 2000
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
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(({ sample = 0 }) => sample === 0)
    .slice(0, values.limit === undefined ? undefined : Number(values.limit))
    .map(({ id, prompt, response }) => ({
      id,
      prompt: typeof prompt === 'string' ? prompt : prompt.findLast(({ role }) => role === 'user').content,
      response,
    }))

const folder = await bringModel(values.judge)
const format = chatFormatOf(folder, 'the judge')
const [yes, no] = ['Yes', 'No'].map(word => format.tokens(word)[0])
const policy = await LocalPolicy.start({ folder }, { threads: Number(values.threads), spinning: false })

/** Probability of Yes against No, and nats a byte of the answer. */
const judge = async answers => {
  const asked = answers.map(answer => format.encode([{ role: 'user', content: question(answer) }]))
  const said = await policy.score(
    asked.flatMap(promptTokens => [yes, no].map(token => ({ promptTokens, tokens: [token] }))),
  )
  const texts = answers.map(({ prompt, response }) => ({
    promptTokens: format.encode([{ role: 'user', content: prompt }]),
    tokens: format.tokens(response.slice(0, MOST_CHARACTERS) || ' '),
  }))
  const likely = await policy.score(texts)
  return answers.map(({ id, response }, i) => {
    const [logYes, logNo] = [said[2 * i].logprobs[0], said[2 * i + 1].logprobs[0]]
    const bytes = Buffer.byteLength(response.slice(0, MOST_CHARACTERS)) || 1
    return {
      id,
      good: 1 / (1 + Math.exp(logNo - logYes)),
      natsPerByte: likely[i].logprobs.reduce((sum, x) => sum + x, 0) / bytes,
    }
  })
}

/** Chance that a true answer has the higher value of two, ties halved. */
const auc = (better, worse) => mean(better.flatMap(b => worse.map(w => (b > w ? 1 : b === w ? 0.5 : 0))))

const figure = numbers => {
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

for (const path of positionals) {
  const answers = answersIn(path)
  const own = await judge(answers)
  const line = { file: path, judge: values.judge, n: own.length }
  for (const name of ['good', 'natsPerByte']) line[name] = figure(own.map(each => each[name]))
  if (values.validate)
    line.spoilt = Object.fromEntries(
      await Promise.all(
        Object.entries(SPOILT).map(async ([name, spoil]) => {
          const worse = await judge(spoil(answers))
          const by = key =>
            auc(
              own.map(each => each[key]),
              worse.map(each => each[key]),
            )
          return [name, { aucGood: by('good'), aucNatsPerByte: by('natsPerByte') }]
        }),
      ),
    )
  else line.items = own
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
await policy.close()
