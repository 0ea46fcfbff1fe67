/** @file What tasks have in common whose model also writes rubrics: labels for a learned verifier, and words of a plan. */

import { join } from 'node:path'
import type { Policy } from '../../policy/policy.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { mainTest, type TaskWith } from '../../tasks/task.ts'
import type { ThoughtResponse } from '../../tasks/thinking.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { Rng } from '../../util/rng.ts'
import type { LabelledRow } from '../learned-verifier/labels.ts'
import { type ConfigOf, type LearntTask, taskEvaluation } from './learnt.ts'

/** A response as a model that judges it reads it: its thinking, and the answer where that is not masked. */
export const judgedText = ({ thinking, answer }: ThoughtResponse): string =>
  answer === '' ? thinking : `${thinking}\n${answer}`

/** Criteria that are decided on one response. */
const CRITERIA = 6

/** Rows {criterion, prompt, response, met}; final answers are masked, as verifiers have them. */
const labelResponses = async <Problem>(
  policy: Policy,
  { task, draw }: Pick<Roles<Problem>, 'task' | 'draw'>,
  { seed, evaluation: { maxTokens }, task: { labels: count } }: ConfigOf<{ labels: number }>,
): Promise<LabelledRow[]> => {
  const { thinking, rubricator } = task
  // Of a stream that training and tests do not see.
  const problems = Array.from({ length: Math.ceil(count / CRITERIA) }, (_, i) => task.stream!(i))
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

interface Roles<Problem> {
  /** Whose stream has the problems that labels are written about. */
  task: TaskWith<Problem, 'thinking' | 'rubricator'>
  /** A sentence that a verifier can decide. */
  draw(problem: Problem, rng: Rng): string
  tested: Parameters<typeof taskEvaluation<Problem>>[2]
  /** Of a plan. */
  words: { evaluation: string; more?: readonly string[] }
}

/** Evaluation, with labels on what the trained model writes where they are asked for. */
export const learnRoles = <Problem>(
  config: ConfigOf<{ labels: number; rubricators: number; hinted: number }>,
  { task, draw, tested, words }: Roles<Problem>,
): Pick<LearntTask, 'primarySet' | 'evaluate' | 'words'> => {
  const { labels: count, rubricators, hinted } = config.task
  return {
    primarySet: mainTest(task)[0],
    evaluate: (policy, dir) => {
      const evaluate = taskEvaluation(config, policy, tested)
      return async (step, last) => {
        if (last && count > 0) {
          // JSON Lines, which `gradus train learned-verifier --set data.file=...` reads.
          const rows = await labelResponses(policy, { task, draw }, config)
          writeFileAtomic(join(dir, 'labels.jsonl'), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
        }
        return evaluate(step, last)
      }
    },
    words: {
      training: `${100 * rubricators}% of them rubrics, ${100 * hinted}% of the others with hints`,
      evaluation: words.evaluation,
      more: [
        ...(words.more ?? []),
        ...(count > 0 ? [`labels       ${count} rows for a learned verifier, in labels.jsonl`] : []),
      ],
    },
  }
}
