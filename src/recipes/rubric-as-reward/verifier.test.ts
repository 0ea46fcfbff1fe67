import { describe, expect, it } from 'vitest'
import type { LogicGrade } from '../../grade/logic/grade.ts'
import { logicVerdicts } from '../../grade/logic/rubric.ts'
import type { LogicSolver } from '../../grade/logic/solver.ts'
import type { Policy } from '../../policy/policy.ts'
import { logicGenerator } from '../../tasks/logic/generator.ts'
import { miniatureFormat } from '../../tasks/logic/prompts.ts'
import { type LogicResponse, logicTask, type TrainedLogicTask } from '../../tasks/logic/task.ts'
import { labelledVerifierSchema, rubricAsRewardSchema } from './config.ts'
import { softlyJudged } from './controls.ts'
import { labelledOutputs, learnedJudge } from './verifier.ts'

const problems = logicGenerator({ hops: 2, style: 'real', labels: 'two-way' }, 'verifier test')
const CRITERIA = { C1: 1, C2: 1, C3: 1, C4: 0.25, C5: 0.125 }

const saidOf = (
  truth: LogicGrade['truth'],
  excluded: LogicGrade['excluded'] = null,
  text = '',
): LogicResponse => ({
  verdicts: logicVerdicts({ criteria: CRITERIA, truth }, truth !== null),
  wellFormed: true,
  ...(excluded !== null && { score: null }),
  ...{ grade: {} as LogicGrade, excluded, proved: true, flags: {}, response: { text, ends: [] } },
})

/** A task whose graders say this, whatever they are asked about. */
const saying = (said: LogicResponse[], stream: TrainedLogicTask['stream'] = problems): TrainedLogicTask => ({
  ...logicTask(miniatureFormat(), {} as LogicSolver),
  ...{ stream, grade: async () => said },
})

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
        verifier: labelledVerifierSchema.parse({ problems: 2, samples: 2 }),
      },
      policy,
      saying(
        [
          saidOf({ C4: 1, C5: 0.9 }),
          saidOf({ C4: null, C5: 1 }),
          saidOf({ C4: 1, C5: 1 }, 'solver-failed'),
          saidOf({ C4: 0.5, C5: 0 }),
        ],
        index => {
          asked.push(index)
          return problems(index % 100)
        },
      ),
    )
    expect(rows.map(({ met }) => met)).toEqual([true, false, true, false, false])
    expect(new Set(rows.map(({ criterion }) => criterion)).size).toBe(2)
    expect(rows[0].prompt).toBe(miniatureFormat().show(problems(asked[0] % 100)))
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
    const task = saying([saidOf(null, null, 'one'), saidOf(null, 'too-long', 'two')])
    const items = [0, 0].map(i => ({ problem: problems(i), tokens: new Int32Array(), criteria: [] }))
    const [first, second] = await softlyJudged(task, learnedJudge(verifier, task)).grade(items)
    expect(judged.map(text => text.split(':')[0])).toEqual(['one', 'one', 'two', 'two'])
    const creditsOf = ({ verdicts }: LogicResponse) => verdicts.map(({ credit }) => credit)
    expect(creditsOf(first)).toEqual([1, 1, 1, 0.1235, 0.2235])
    expect(first.verdicts.map(({ source }) => source).slice(3)).toEqual(['model', 'model'])
    // Of what was left out nothing is known.
    expect(creditsOf(second)).toEqual(Object.values(CRITERIA))
  })
})
