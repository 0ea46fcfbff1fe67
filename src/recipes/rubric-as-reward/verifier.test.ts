import { describe, expect, it } from 'vitest'
import type { LogicGrade } from '../../grade/logic/grade.ts'
import type { Policy } from '../../policy/policy.ts'
import { logicGenerator } from '../../tasks/logic/generator.ts'
import { miniatureFormat } from '../logic/format.ts'
import { rubricAsRewardSchema } from './config.ts'
import { trainingGrader } from './controls.ts'
import { labelledOutputs, learnedJudge } from './verifier.ts'
import { verifierSchema } from './verifier-config.ts'

const format = miniatureFormat()
const problems = logicGenerator({ hops: 2, style: 'real', labels: 'two-way' }, 'verifier test')

const gradeOf = (truth: LogicGrade['truth'], excluded: LogicGrade['excluded'] = null) =>
  ({
    truth,
    excluded,
    criteria: { C1: 1, C2: 1, C3: 1, C4: 0.25, C5: 0.125 },
    correctAndProved: true,
  }) as LogicGrade

describe('labels of the start’s outputs', () => {
  it('say by proof whether C4 and C5 are full, and nothing of what cannot be judged', async () => {
    const asked: number[] = []
    const policy = {
      sample: async ({ prompts, samplesPerPrompt }: { prompts: unknown[]; samplesPerPrompt: number }) =>
        prompts.flatMap((_, prompt) =>
          Array.from({ length: samplesPerPrompt }, (_, index) => ({ prompt, index, tokens: [4, 5] })),
        ),
    } as unknown as Policy
    const rows = await labelledOutputs(
      {
        ...rubricAsRewardSchema.parse({ seed: 3 }),
        verifier: verifierSchema.parse({ problems: 2, samples: 2 }),
      },
      policy,
      {
        format,
        problems: index => {
          asked.push(index)
          return problems(index % 100)
        },
        gradeTruly: async () => [
          gradeOf({ C4: 1, C5: 0.9 }),
          gradeOf({ C4: null, C5: 1 }),
          gradeOf({ C4: 1, C5: 1 }, 'solver-failed'),
          gradeOf({ C4: 0.5, C5: 0 }),
        ],
      },
    )
    expect(rows.map(({ met }) => met)).toEqual([true, false, true, false, false])
    expect(new Set(rows.map(({ criterion }) => criterion)).size).toBe(2)
    expect(rows[0].prompt).toBe(format.show(problems(asked[0] % 100)))
    // Far from the problems that are trained on.
    expect(Math.min(...asked)).toBeGreaterThan(1_000_000)
  })
})

describe('a learned judge', () => {
  it('gives its probabilities as the credits of C4 and C5, in training alone', async () => {
    const judged: string[] = []
    const verifier = {
      probabilities: async (items: readonly { criterion: string; response: string }[]) => {
        judged.push(...items.map(({ criterion, response }) => `${response}: ${criterion}`))
        return items.map((_, i) => 0.123456 + i / 10)
      },
    }
    const grader = trainingGrader(
      { seed: 1, softCriteria: 'learned' },
      problems,
      async items => items.map((_, i) => gradeOf(null, i === 1 ? 'too-long' : null)),
      learnedJudge(verifier, format),
    )
    const items = ['one', 'two'].map(response => ({ problem: problems(0), response }))
    const [first, second] = await grader.grade(items)
    expect(judged.map(text => text.split(':')[0])).toEqual(['one', 'one', 'two', 'two'])
    expect(first.rewarded.criteria).toMatchObject({ C1: 1, C4: 0.1235, C5: 0.2235 })
    // Of what was left out nothing is known.
    expect(second.rewarded.criteria).toMatchObject({ C4: 0.25, C5: 0.125 })
  })
})
