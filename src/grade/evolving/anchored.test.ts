import { expect, it } from 'vitest'
import { JudgeError } from '../../util/errors.ts'
import { judgeGroup, rubricRow } from './evolve.ts'
import { draft, rollout } from './evolving.fixture.ts'
import { evolvingMetrics } from './metrics.ts'
import type { Level, StagedRollout, StageJudge } from './rubrics.ts'
import { scriptedStageJudge } from './scripted-judge.ts'
import { evolvingSchema } from './settings.ts'

const EXACT = evolvingSchema.parse({
  refuse: { similarity: null, tagChecks: false, otherStages: false, orders: false },
})

const anchor = (name: string, good: boolean, shown: StagedRollout = rollout(name)) => ({
  ...{ problem: `about ${name}`, shown, good },
})
const ANCHORS = [anchor('good1', true), anchor('good2', true), anchor('bad1', false), anchor('bad2', false)]

/** Levels by rubric and rollout; 1 elsewhere. */
const LEVELS: Record<string, Record<string, Level>> = {
  tells: { good1: 2, good2: 2, bad1: 0, bad2: 1, x: 2, y: 0 },
  always: { good1: 2, good2: 2, bad1: 2, bad2: 2, x: 2, y: 0 },
  flaw: { good1: 0, good2: 0, bad1: 2, bad2: 2, x: 0, y: 2 },
  backwards: { good1: 2, good2: 2, bad1: 0, bad2: 0, x: 2, y: 0 },
}

const judgeOf = (seen: string[] = []) =>
  scriptedStageJudge<string>({
    seed: 1,
    propose: () => [
      draft(1, 'tells'),
      draft(2, 'always', { weight: 3 }),
      draft(3, 'flaw', { sign: 'negative' }),
      draft(4, 'backwards', { sign: 'negative' }),
    ],
    level: ({ question, rollout: { key }, rubric: { title } }) => {
      seen.push(`${question}: ${key}`)
      return LEVELS[title][key] ?? 1
    },
  })

const judged = (anchors: typeof ANCHORS | null, judge: StageJudge<string> = judgeOf()) =>
  judgeGroup(
    judge,
    {
      ...{ step: 5, question: 'q?', key: 'q', rollouts: [rollout('x'), rollout('y')] },
      ...(anchors && { anchors: { minAgreement: 0.7, of: () => anchors } }),
    },
    EXACT,
  )

it('keeps out new rubrics that do not tell good trajectories from bad ones, and pays nothing for them', async () => {
  const seen: string[] = []
  const group = await judged(ANCHORS, judgeOf(seen))
  expect(group.rubrics.map(({ title }) => title)).toEqual(['tells', 'flaw'])
  expect(group.refused.map(({ title, rule, reason }) => [title, rule, reason])).toEqual([
    [
      'always',
      'anchors',
      'anchors: good answers earn 100.0% and bad ones 100.0%, agreement 50.0%, below 70.0%',
    ],
    [
      'backwards',
      'anchors',
      'anchors: good answers earn 0.0% and bad ones 100.0%, agreement 0.0%, below 70.0%',
    ],
  ])
  // Without anchors stage 2 pays x for what everybody meets on the anchors.
  expect(group.rollouts.map(({ rewards_K }) => rewards_K[1])).toEqual([0, 0])
  expect((await judged(null)).rollouts.map(({ rewards_K }) => rewards_K[1])).toEqual([1, 0])
  expect(group.after.active.map(({ title }) => title)).toEqual(['tells', 'flaw'])
  // Each anchor is judged as an answer to its own question.
  expect(new Set(seen)).toContain('about bad1: bad1')
  expect(rubricRow(group).refused).toHaveLength(2)
})

it('says nothing of a stage that an anchor lacks', async () => {
  const planless = rollout('good1', ['', 'r', 'v', 'a'])
  const group = await judged([anchor('good1', true, planless), anchor('bad1', false)])
  expect(group.refused.find(({ title }) => title === 'tells')?.reason).toBe(
    'anchors: the judge says nothing of good answers',
  )
})

it('keeps all out while the judge fails on the anchors, and stops for what every call would meet', async () => {
  const failing = (error: Error): StageJudge<string> => ({
    propose: judgeOf().propose,
    score: async request => {
      if (request.rollout.key in { x: 1, y: 1 }) return judgeOf().score(request)
      throw error
    },
  })
  const group = await judged(ANCHORS, failing(new JudgeError('rate-limit', 'busy')))
  expect(group.rubrics).toEqual([])
  expect(group.refused).toHaveLength(4)
  await expect(judged(ANCHORS, failing(new Error('no such model')))).rejects.toThrow('no such model')
})

it('tells how many of the rubrics that go on are met by nearly all', async () => {
  const group = await judged(null)
  // On x 2 and on y 0: none is met by nearly all.
  expect(evolvingMetrics([group]).alwaysMet).toBe(0)
  const statistics = group.statistics.map((own, i) => ({ ...own, score: i === 0 ? 0.95 : own.score }))
  expect(evolvingMetrics([{ ...group, statistics }]).alwaysMet).toBe(0.25)
})
