import { expect, it } from 'vitest'
import { rlcerSchema } from './config.ts'
import { rlcerEvaluation } from './evaluate.ts'
import { lettersTask, lettersVerifier, rubricOf, ScriptedPolicy } from './letters.fixture.ts'

const evaluation = { hinted: false, rubrics: 0, problems: 2, problemsBetween: 1, samples: 2, maxTokens: 40 }
const config = rlcerSchema.parse({ steps: 4, rollout: { maxTokens: 8 }, evaluation })
const task = { ...lettersTask, tests: { letters: ['a', 'b'], more: ['c', 'd', 'e'], few: ['f'] } }

const evaluated = async (step: number, alone?: boolean) => {
  const policy = new ScriptedPolicy(prompt => `abc</think>${'adf'.includes(prompt[0]) ? 'right' : 'wrong'}`)
  const evaluate = rlcerEvaluation(config, { policy, task, verifier: lettersVerifier, alone })
  const rows = await evaluate(step, step === 4)
  expect(policy.sampled.every(({ maxTokens }) => maxTokens === 40)).toBe(true)
  return rows.map(({ set, n, scores }) => [set, n, scores.accuracy.value])
}

it('measures every set of questions apart, with a limit of tokens of its own', async () => {
  // Responses have more than the eight tokens of training: cut off there none would be right.
  const all = [
    ['unseen', 2, 0.5],
    ['unseen more', 2, 0.5],
    ['unseen few', 1, 1],
  ]
  expect(await evaluated(0)).toEqual(all)
  expect(await evaluated(4)).toEqual(all)
  expect((await evaluated(2)).map(([set, n]) => [set, n])).toEqual([
    ['unseen', 1],
    ['unseen more', 1],
    ['unseen few', 1],
  ])
  expect(await evaluated(0, true)).toEqual(all.slice(0, 1))
})

it('hints every set of questions where it hints at all, at the start and the end', async () => {
  const rubric = rubricOf(['a', 'b', 'c', 'd', 'e'].map(letter => [`has ${letter}`, 1]))
  // Right where there are hints.
  const policy = new ScriptedPolicy(prompt =>
    prompt.endsWith('!') ? rubric : `abc</think>${prompt.includes('+') ? 'right' : 'wrong'}`,
  )
  const hinted = { ...config, rubricator: { ...config.rubricator, maxTokens: 2000 } }
  const settings = { ...hinted, evaluation: { ...config.evaluation, hinted: true } }
  const evaluate = rlcerEvaluation(settings, { policy, task, verifier: lettersVerifier })
  const rows = await evaluate(0, false)
  const found = rows.slice(3).map(({ set, n, scores }) => [set, n, scores.accuracy.value])
  expect(found).toEqual([
    ['hinted', 2, 1],
    ['placebo', 2, 1],
    ['hinted more', 2, 1],
    ['placebo more', 2, 1],
    ['hinted few', 1, 1],
    // A question by itself has no other one's hints.
    ['placebo few', 1, 0],
  ])
  expect(await evaluate(2, false)).toHaveLength(3)
})
