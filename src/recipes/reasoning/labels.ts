/** @file Labels for a verifier to learn from: criteria on a policy's own responses, with the verdict of execution. */

import type { Policy } from '../../policy/policy.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { TaskWith } from '../../tasks/task.ts'
import type { ThoughtResponse } from '../../tasks/thinking.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { Rng } from '../../util/rng.ts'
import type { LabelledRow } from '../learned-verifier/labels.ts'

/** A response as a model that judges it reads it: its thinking, and the answer where that is not masked. */
export const judgedText = ({ thinking, answer }: ThoughtResponse): string =>
  answer === '' ? thinking : `${thinking}\n${answer}`

export interface LabelSource<Problem> {
  task: TaskWith<Problem, 'thinking' | 'rubricator'>
  /** Question i of a stream that training and tests do not see. */
  problem(index: number): Problem
  /** A sentence that the verifier can decide. */
  draw(problem: Problem, rng: Rng): string
}

export interface LabelSettings {
  /** Rows to be written. */
  count: number
  maxTokens: number
  seed: number | string
}

/** Criteria that are decided on one response. */
const CRITERIA = 6

/** Rows {criterion, prompt, response, met}; final answers are masked, as verifiers have them. */
const labelResponses = async <Problem>(
  policy: Policy,
  { task, problem, draw }: LabelSource<Problem>,
  { count, maxTokens, seed }: LabelSettings,
): Promise<LabelledRow[]> => {
  const { thinking, rubricator } = task
  const problems = Array.from({ length: Math.ceil(count / CRITERIA) }, (_, i) => problem(i))
  const samples = await policy.sample({
    prompts: problems.map(own => task.prompt(own)),
    samplesPerPrompt: 1,
    ...{ maxTokens, temperature: 1, seed: `labels/${seed}`, stopTokens: task.stopTokens },
  })
  const items = samples.map(({ prompt, tokens }) => {
    const own = problems[prompt]
    const rng = new Rng(`labels/${seed}/${prompt}`)
    const criteria = Array.from(
      { length: CRITERIA },
      (_, k): Criterion => ({ id: String(k), text: draw(own, rng), points: 1 }),
    )
    return { problem: own, response: rubricator.masked(own, thinking.read(tokens)), rubric: { criteria } }
  })
  const verdicts = await thinking.exact!.verify(items)
  const rows = items.flatMap(({ problem: own, response, rubric: { criteria } }, i) =>
    criteria.flatMap(({ text }, k): LabelledRow[] => {
      const { met } = verdicts[i][k]
      if (met === null) return []
      return [{ criterion: text, prompt: task.question(own), response: judgedText(response), met }]
    }),
  )
  return rows.slice(0, count)
}

/** Writes them as JSON Lines, which `gradus train learned-verifier --set data.file=...` reads. */
export const writeLabels = async <Problem>(
  file: string,
  policy: Policy,
  source: LabelSource<Problem>,
  settings: LabelSettings,
): Promise<void> => {
  const rows = await labelResponses(policy, source, settings)
  writeFileAtomic(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
}
