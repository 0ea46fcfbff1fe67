// How far did runs of `logic-cold-start` get with recitals of two rules (docs/recipes/rubric-as-reward.md)? The loss of
// metrics.jsonl, beside what those lose on the same demonstrations who know the rules shown but look nothing up.
//
//   node scripts/experiments/recital-loss.js RUN... [--last 20]
//
// Needs `npm run build`. The loss is a sum over the learnt tokens of a step, divided by all tokens of its responses. Vocabularies
// differ in the latter, so that only nats a response compare.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseSentence } from '../../dist/grade/logic/english.js'
import { readMetrics } from '../../dist/runs/readers.js'
import { demonstrations, startVocabulary } from '../../dist/tasks/logic/demonstrations.js'
import { decodeTokens } from '../../dist/tasks/logic/format.js'
import { readRule } from '../../dist/tasks/logic/rules.js'

const { values, positionals: runs } = parseArgs({
  options: { last: { type: 'string', default: '20' } },
  allowPositionals: true,
})
if (runs.length === 0) {
  console.error('usage: node scripts/experiments/recital-loss.js RUN... [--last 20]')
  process.exit(2)
}

const isProperty = ({ object }) => !object.endsWith('pus')
const rulesOf = ({ promptTokens }) =>
  decodeTokens(promptTokens)
    .split('.')
    .filter(text => text.trim() !== '')
    .map(text => readRule(parseSentence(`${text.trim()}.`)))

/** Nats that the first of two rules costs who knows both but not whose they are (the second is then known), or but for its sign. */
const unread = demonstration => {
  const [a, b] = rulesOf(demonstration)
  if (b === undefined || a.subject === b.subject) return { rule: 0, sign: 0 }
  const signs = isProperty(a) && isProperty(b) && a.negated !== b.negated
  return { rule: Math.LN2, sign: signs ? Math.LN2 : 0 }
}

const mean = numbers => numbers.reduce((sum, each) => sum + each, 0) / numbers.length

for (const run of runs) {
  const { config } = JSON.parse(readFileSync(join(run, 'config.json'), 'utf8'))
  const rows = readMetrics(run)
  const draw = demonstrations({ ...config.task, ...config }, startVocabulary(config.task).length)
  const shown = rows.slice(-Number(values.last)).flatMap(({ step }) => draw(step))
  const losses = shown.map(unread)
  const tokens = mean(shown.map(({ responseTokens }) => responseTokens.length))
  const loss = mean(rows.slice(-Number(values.last)).map(row => row.loss))
  console.log(
    JSON.stringify({
      run,
      step: rows.at(-1).step,
      loss: Number(loss.toFixed(4)),
      tokensAResponse: Number(tokens.toFixed(2)),
      natsAResponse: Number((loss * tokens).toFixed(3)),
      withoutLookingUp: Number(mean(losses.map(({ rule }) => rule)).toFixed(3)),
      withoutTheSign: Number(mean(losses.map(({ sign }) => sign)).toFixed(3)),
    }),
  )
}
