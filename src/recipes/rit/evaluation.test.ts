import { expect, it } from 'vitest'
import { ritSchema } from './config.ts'
import { ritEvaluation } from './evaluation.ts'

it('says nothing of k answers to a problem of which fewer could be judged', async () => {
  const config = ritSchema.parse({ evaluation: { problems: 2, samples: 3 } })
  const answer = { tokens: Int32Array.of(1), logprobs: Float32Array.of(0), finishReason: 'stop' }
  const policy = {
    sample: async ({ prompts }: { prompts: readonly unknown[] }) =>
      prompts.flatMap((_, prompt) => [0, 1, 2].map(index => ({ ...answer, prompt, index }))),
  }
  const task = {
    ...{
      train: [],
      tests: { unseen: ['a', 'b'] },
      label: 'letters',
      notes: [],
      stopTokens: [],
      isBinary: true,
    },
    ...{ id: String, question: String, show: String, prompt: () => [1], rubric: () => ({ criteria: [] }) },
    thinking: { read: () => ({ text: '', thinking: '', answer: '', closed: true }) },
    grade: async (items: readonly unknown[]) =>
      items.map((_, i) => ({ verdicts: [], wellFormed: true, score: i === 0 ? null : 1 })),
  }
  const ritTask = { task, truth: { verify: async (items: readonly unknown[]) => items.map(() => []) } }
  const parts = { policy, ritTask, rubricOf: () => ({ criteria: [] }) } as never
  const [{ items }] = await ritEvaluation<string>(config, parts, () => [])(1, true)
  const ofK = { 'avg@3': 1, 'pass@3': 1 }
  expect(items!.map(({ scores }) => scores)).toEqual([
    expect.not.objectContaining(ofK),
    expect.objectContaining(ofK),
  ])
  expect(Object.keys(items![0].scores)).toEqual(['accuracy', 'pass@1', 'thinkingWords'])
})
