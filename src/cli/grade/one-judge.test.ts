import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { HttpJudge } from '../../grade/judge/http-judge.fixture.ts'
import { openJudging } from '../../recipes/common/judging.ts'
import { trainingJudgeSchema } from '../../recipes/options/held-out-judge.ts'
import { parseRewardConfig } from '../../serve/reward/config-file.ts'
import { rewardApp, rewardService } from '../../serve/reward/index.ts'
import { cli, Sandbox } from '../cli.fixture.ts'

let server: HttpJudge
const sandbox = new Sandbox()
beforeAll(async () => {
  server = await HttpJudge.start(response => response.includes('water'))
})
afterEach(() => {
  server.calls = 0
})
afterAll(async () => {
  await server.close()
  sandbox.remove()
})

const CRITERIA = [
  { id: 'useful', text: 'Is of use', points: 3 },
  { id: 'rude', text: 'Is rude', points: -1 },
]
const QUESTION = 'What helps?'
const RESPONSE = 'drink water'
const VERDICTS = [true, true]
const cache = () => sandbox.path('verdicts')
const fleet = () => ({ endpoints: [{ url: server.url, model: 'm' }] })

const byCommand = async (): Promise<(boolean | null)[]> => {
  const rubric = sandbox.write('rubric.json', JSON.stringify({ criteria: CRITERIA }))
  const rows = sandbox.write('rows.jsonl', `${JSON.stringify({ prompt: QUESTION, response: RESPONSE })}\n`)
  const options = ['--judge', server.url, '--model', 'm', '--cache', cache()]
  const { code, out, err } = await cli([
    'grade',
    '--rubric',
    rubric,
    '--responses',
    rows,
    ...options,
    '--json',
  ])
  expect([code, err]).toEqual([0, expect.stringContaining('judge: 2 verdicts')])
  return JSON.parse(out).verdicts.map(({ met }: { met: boolean }) => met)
}

const byServer = async (): Promise<(boolean | null)[]> => {
  const config = parseRewardConfig({
    rubrics: { rubric: { criteria: CRITERIA } },
    judges: { main: { kind: 'llm', fleet: fleet() } },
    judge: 'main',
    cache: { folder: cache() },
  })
  const parts = await rewardService(config)
  const body = JSON.stringify({ items: [{ prompt: QUESTION, response: RESPONSE }] })
  const answer = await rewardApp(parts).request('/v1/grade', { method: 'POST', body })
  const { results } = JSON.parse(await answer.text())
  await parts.service.close()
  return results[0].verdicts.map(({ met }: { met: boolean }) => met)
}

const byRecipe = async (): Promise<(boolean | null)[]> => {
  const config = trainingJudgeSchema.parse({
    fleet: fleet(),
    ask: { preset: 'plain' },
    cache: { folder: cache() },
  })
  const { grader, close } = openJudging(config)
  const item = { prompt: [{ role: 'user' as const, content: QUESTION }], response: RESPONSE }
  const verdicts = await grader.grade(item, CRITERIA)
  await close()
  return verdicts.map(({ met }) => met)
}

it('a judge is the same one for commands, the reward server and recipes: what one has asked, the others know', async () => {
  expect(await byCommand()).toEqual(VERDICTS)
  expect(server.calls).toBe(2)
  expect(await byServer()).toEqual(VERDICTS)
  expect(await byRecipe()).toEqual(VERDICTS)
  expect(server.calls).toBe(2)
})
