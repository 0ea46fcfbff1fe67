import { expect, it } from 'vitest'
import { recordsQuestion, recordsTask, relatedTo } from '../../tasks/records/index.ts'
import { type RecordsJudgeConfig, rubricemSchema } from './config.ts'
import { rubricemPresets } from './entry.ts'
import { attemptScores, rubricemEvaluation } from './evaluation.ts'
import { ScriptedAgent } from './scripted-agent.fixture.ts'
import { scriptedJudge } from './tasks.ts'

it('says of attempts with lessons how many were shown one: a reflection that cannot be read is none', async () => {
  const config = rubricemSchema.parse({
    ...rubricemPresets.quick.config,
    ...{ seed: 1, steps: 4 },
    evaluation: { problems: 6, problemsBetween: 3 },
  })
  const unseen = Array.from({ length: 6 }, (_, i) => recordsQuestion('unseen', i))
  const judge = scriptedJudge(config.judge as RecordsJudgeConfig, config.seed)
  const task = recordsTask({ tests: { unseen } }, { calls: 8, judge })
  const policy = new ScriptedAgent([...unseen, ...unseen.map(relatedTo)], prompt => prompt < 2)
  const evaluate = rubricemEvaluation(config, { task, policy })
  const rows = await evaluate(4, true)
  expect(rows.map(({ set, scores }) => [set, scores.referred?.value ?? null])).toEqual([
    ['unseen', null],
    ['within', 4 / 6],
    ['cross', 4 / 6],
    ['placebo', 4 / 6],
  ])
  expect(rows.every(({ primary }) => primary === 'right')).toBe(true)
  expect(rows[1].items![2].sample).toMatchObject({ prompt: task.question(unseen[2]) })
  // One sample a question: what is kept has the score of its question.
  for (const { items } of rows)
    expect(items!.map(({ sample }) => sample!.reward)).toEqual(items!.map(({ scores }) => scores.right))
  const lessonsOf = (set: number) => rows[set].items!.map(({ sample }) => sample!.lessons?.length ?? null)
  expect(lessonsOf(0)).toEqual(Array(6).fill(null))
  expect(lessonsOf(1)).toEqual(rows[1].items!.map(({ scores }) => scores.referred))
  expect(rows[1].items!.flatMap(({ sample }) => sample!.lessons!.map(({ how }) => how))[0]).toBe('within')
  // Between the first and the last step there is no memory.
  expect((await evaluate(2, false)).map(({ set, n }) => [set, n])).toEqual([['unseen', 3]])
  // Greedy answers beside samples are those to the main set.
  const more = { policy, task: { ...task, tests: { unseen, more: unseen } } }
  const setsOf = async (alone: boolean) =>
    (await rubricemEvaluation(config, more, alone)(2, false)).map(({ set }) => set)
  expect([await setsOf(false), await setsOf(true)]).toEqual([['unseen', 'unseen more'], ['unseen']])
})

it('knows nothing of an attempt whose world failed', () => {
  const scoresOf = (end: string) => {
    const stages = { truth: () => ({ answered: 0 }) }
    const attempt = { problem: null, rollout: { end } }
    return attemptScores({ stages } as never, attempt as never, { verdicts: [], score: 0 })
  }
  expect(scoresOf('stop')).toEqual({ right: 0, answered: 0 })
  expect(scoresOf('failed')).toEqual({ right: null, answered: null })
})
