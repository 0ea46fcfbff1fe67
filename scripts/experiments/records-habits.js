// How far habits of research get in the archives of docs/recipes/rubricem.md: the scripted agent of the demonstrations on test
// questions, without a model.
//
//   npm run build
//   node scripts/experiments/records-habits.js
import { parseArgs } from 'node:util'
import {
  demonstrateResearch,
  drawResearchHabits,
  encodeRecords,
  readTrajectory,
  recordsAnswer,
  recordsQuestion,
  trajectoryPieces,
  truthOf,
} from '../../dist/tasks/records/index.js'
import { Rng } from '../../dist/util/rng.js'

const { values } = parseArgs({ options: { questions: { type: 'string', default: '4096' } } })
const questions = Array.from({ length: Number(values.questions) }, (_, i) =>
  recordsQuestion('held-out:records', i),
)
const CALLS = 8
/** Every relation, another field after each miss, what was found. */
const BEST = {
  ...{ forgets: 0, alternatives: 0, trusts: 1, onNone: 'retry', onOld: 'retry', remembers: true },
  ...{ ticks: 'true', cites: 'all', bold: false, misreads: 0 },
}

/** The fields of the question's archive, as a reference tells them. */
const known = question => [
  { advice: [], lessons: truthOf(question).map(({ field }) => ({ kind: 'use', field })) },
]

const isRight = (question, habits, references, rng) => {
  const segments = demonstrateResearch(question, references, habits, { calls: CALLS, scaffold: true }, rng)
  const encoded = segments.map(({ text, own }) => ({ tokens: encodeRecords(text), own }))
  const mask = encoded.flatMap(({ tokens, own }) => tokens.map(() => Number(own)))
  const { answer } = readTrajectory(
    trajectoryPieces(
      encoded.flatMap(({ tokens }) => tokens),
      mask,
    ),
  )
  return answer?.person === recordsAnswer(question)
}

const print = (what, asked, attempt) => {
  const right = asked.filter((question, i) => attempt(question, new Rng(`habits/${i}`))).length
  console.log(`${what.padEnd(50)} ${((100 * right) / asked.length).toFixed(1)}% of ${asked.length}`)
}

const drawn = (question, rng) => isRight(question, drawResearchHabits(rng), [], rng)
const best = (question, rng) => isRight(question, BEST, [], rng)
print('habits of the demonstrations', questions, drawn)
print('the same, best of three tries', questions, (question, rng) =>
  [1, 2, 3].some(i => drawn(question, rng.fork(i))),
)
print('the best habits', questions, best)
for (const hops of [2, 3, 4])
  print(
    `the best habits, ${hops} relations`,
    questions.filter(({ relations }) => relations.length === hops),
    best,
  )
print('the best habits, told the fields of the archive', questions, (question, rng) =>
  isRight(question, BEST, known(question), rng),
)
