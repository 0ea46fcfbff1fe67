import { describe, expect, it } from 'vitest'
import type { EvalRow } from '../../runs/rows.ts'
import { besideGreedy, evaluation } from './evaluation.ts'

interface Settings {
  evaluation: { greedy: boolean; samples: number; temperature: number; scaffolded: boolean }
}
const settings = (changes: Partial<Settings['evaluation']> = {}): Settings => ({
  evaluation: { greedy: true, samples: 4, temperature: 0.7, scaffolded: true, ...changes },
})

/** Rows that tell how they were asked for. */
const evaluationOf =
  (asked: string[]) =>
  ({ evaluation: { samples, temperature, scaffolded } }: Settings, alone: boolean) =>
  async (step: number): Promise<EvalRow[]> => {
    asked.push(
      `${step}: ${samples} at ${temperature}${scaffolded ? ', scaffolded' : ''}${alone ? ', alone' : ''}`,
    )
    const value = temperature === 0 ? 0.9 : 0.5
    const row = {
      ...{
        step,
        n: 2,
        samples,
        temperature,
        primary: 'rubric',
        scores: { rubric: { value }, other: { value: 1 } },
      },
      items: ['a', 'b'].map(id => ({ id, scores: { rubric: value } })),
    }
    return [
      { ...row, set: 'plain' },
      { ...row, set: 'more' },
    ]
  }

describe('besideGreedy', () => {
  it('adds the score of greedy answers to the first row, at the start and the end alone', async () => {
    const asked: string[] = []
    const evaluate = besideGreedy(settings(), evaluationOf(asked))
    const [plain, more] = await evaluate(0, false)
    expect(plain.scores).toEqual({
      rubric: { value: 0.5 },
      other: { value: 1 },
      'greedy.rubric': { value: 0.9 },
    })
    expect(plain.items?.map(({ scores }) => scores)).toEqual(
      Array(2).fill({ rubric: 0.5, 'greedy.rubric': 0.9 }),
    )
    expect(more.scores).not.toHaveProperty('greedy.rubric')
    await evaluate(5, false)
    await evaluate(9, true)
    const [sampled, greedy] = ['4 at 0.7, scaffolded', '1 at 0, alone']
    expect(asked).toEqual([`0: ${sampled}`, `0: ${greedy}`, `5: ${sampled}`, `9: ${sampled}`, `9: ${greedy}`])
  })

  it('asks once where it is not wanted, or where samples are greedy themselves', async () => {
    for (const own of [settings({ greedy: false }), settings({ samples: 1, temperature: 0 })]) {
      const asked: string[] = []
      const rows = await besideGreedy(own, evaluationOf(asked))(0, false)
      expect(asked).toHaveLength(1)
      expect(rows[0].scores).not.toHaveProperty('greedy.rubric')
    }
  })
})

it('tells the answers of an evaluation apart for a judge of training that errs at random', async () => {
  const keys: (string | undefined)[] = []
  const task = {
    ...{ train: [], tests: { unseen: ['a', 'b'] }, label: 'letters', notes: [], stopTokens: [] },
    ...{ id: String, question: String, show: String, prompt: () => [1], rubric: () => ({ criteria: [] }) },
    grade: async (items: readonly { key?: string }[]) => {
      keys.push(...items.map(({ key }) => key))
      return items.map(() => ({ verdicts: [], wellFormed: true, score: 1 }))
    },
  }
  const config = {
    ...{ steps: 2, rollout: { maxTokens: 2 } },
    evaluation: { problems: 2, problemsBetween: 2, samples: 2, temperature: 1, topK: 0, topP: 1 },
  }
  const answer = { tokens: Int32Array.of(2), logprobs: Float32Array.of(0), finishReason: 'stop' as const }
  const sample = async ({ prompts }: { prompts: readonly unknown[] }) =>
    prompts.flatMap((_, prompt) => [0, 1].map(index => ({ ...answer, prompt, index })))
  const truth: typeof task = { ...task, grade: items => task.grade(items).finally(() => keys.splice(0)) }
  await evaluation<string>(config, { sample }, { truth, trainingJudge: task })(1, false)
  expect(new Set(keys).size).toBe(4)
})
