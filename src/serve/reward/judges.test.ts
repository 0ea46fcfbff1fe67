import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { caseTag, ruleTag, scriptedTruth } from '../../grade/judge/scripted/index.ts'
import { ScriptedServer, type ScriptedServerOptions } from '../../grade/judge/scripted/server.ts'
import { type AppParts, rewardApp } from './app.ts'
import { parseRewardConfig } from './config-file.ts'
import { rewardService } from './open.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-judges-'))
const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
  rmSync(folder, { recursive: true, force: true })
})

const startJudge = async (options: ScriptedServerOptions = {}) => {
  const server = new ScriptedServer(options)
  opened.push(server)
  return server.listen()
}

const RULES = [0, 1, 2]
const rubric = {
  criteria: RULES.map(index => ({
    id: `r${index}`,
    text: `Fulfils ${ruleTag(index)}.`,
    points: index === 2 ? -1 : 1,
  })),
}

const llm = (url: string, retries = 0) => ({
  kind: 'llm' as const,
  fleet: {
    endpoints: [{ url, model: 'scripted', price: { inputPerMillion: 1, outputPerMillion: 2 } }],
    retries,
    startupMs: 100,
  },
})

const service = async (judges: object, judge: unknown, cache?: string): Promise<AppParts> => {
  const config = parseRewardConfig({
    rubrics: { rubric },
    judges,
    judge,
    ...(cache && { cache: { folder: cache } }),
  })
  const parts = await rewardService(config, { folder })
  opened.push(parts.service)
  return parts
}

const grade = async (parts: AppParts, count: number) => {
  const items = Array.from({ length: count }, (_, index) => ({ response: `I am ${caseTag(index)}.` }))
  const body = JSON.stringify({ items })
  const response = await rewardApp(parts).request('/v1/grade', { method: 'POST', body })
  return { status: response.status, json: JSON.parse(await response.text()) }
}

const get = async (parts: AppParts, path: string) => (await rewardApp(parts).request(path)).text()

const truths = (index: number) => RULES.map(rule => scriptedTruth(index, rule))
/** Spec 1.6: earned points over positive points. */
const signed = (met: boolean[]) => (Number(met[0]) + Number(met[1]) - Number(met[2])) / 2

describe('a judge behind an endpoint', () => {
  it('gives verdicts; the cache answers the second time; metrics tell both', async () => {
    const url = await startJudge()
    const parts = await service({ main: llm(url) }, 'main', 'verdicts')
    for (const _ of [1, 2]) {
      const { json } = await grade(parts, 10)
      for (const [index, { reward, verdicts }] of json.results.entries()) {
        expect(verdicts.map(({ met }: { met: boolean }) => met)).toEqual(truths(index))
        expect(reward).toBe(signed(truths(index)))
      }
    }
    const metrics = await get(parts, '/metrics')
    expect(metrics).toContain('gradus_cache_lookups_total{result="hit"} 30')
    expect(metrics).toContain('gradus_cache_lookups_total{result="miss"} 30')
    expect(metrics).toContain('gradus_judge_seconds_count{judge="main",outcome="answered"} 30')
    expect(metrics).toMatch(/gradus_judge_tokens_total\{judge="main",kind="prompt"\} [1-9]/)
    expect(metrics).toMatch(/gradus_judge_cost_total\{judge="main"\} 0\.\d*[1-9]/)
    expect(JSON.parse(await get(parts, '/readyz'))).toEqual({
      ready: true,
      checks: { cache: 'ok', 'judge.main': 'ok', accepting: 'ok' },
    })
  })

  it('that cannot be reached makes nulls, no zeros, and the service says that it is not ready', async () => {
    const parts = await service({ main: llm('http://127.0.0.1:9') }, 'main')
    const { status, json } = await grade(parts, 1)
    expect(status).toBe(200)
    expect(json.results[0]).toMatchObject({ reward: null, nulls: { positive: 2, negative: 1 } })
    const { ready, checks } = JSON.parse(await get(parts, '/readyz'))
    expect([ready, checks['judge.main'] === 'ok']).toEqual([false, false])
  })

  it('fails some calls: what is left of the rubric is scored, and the nulls are counted by sign', async () => {
    const url = await startJudge({ faults: { serverError: 0.3 }, seed: 'nulls' })
    const parts = await service({ main: llm(url) }, 'main')
    const { json } = await grade(parts, 40)
    const sum = (sign: 'positive' | 'negative') =>
      json.results.reduce(
        (total: number, { nulls }: { nulls: Record<string, number> }) => total + nulls[sign],
        0,
      )
    expect(sum('positive')).toBeGreaterThan(5)
    const metrics = await get(parts, '/metrics')
    expect(metrics).toContain(`gradus_null_rate{sign="positive"} ${sum('positive') / 80}`)
    expect(metrics).toContain(`gradus_null_rate{sign="negative"} ${sum('negative') / 40}`)
    for (const [index, { verdicts }] of json.results.entries())
      for (const [rule, { met }] of verdicts.entries())
        expect([null, scriptedTruth(index, rule)]).toContain(met)
  })
})

describe('several judges', () => {
  const scripted = (word: string) => ({
    kind: 'scripted' as const,
    script: [{ criterion: 'fulfils', metWhen: [word] }],
    otherwise: null,
  })

  it('vote', async () => {
    const judges = { a: scripted('I am'), b: scripted('am'), c: scripted('nobody') }
    const { json } = await grade(await service(judges, { panel: ['a', 'b', 'c'] }), 1)
    expect(json.results[0].verdicts.map(({ met }: { met: boolean }) => met)).toEqual([true, true, true])
    const strict = await service(judges, { panel: ['a', 'b', 'c'], rule: 'unanimous' })
    expect((await grade(strict, 1)).json.results[0].verdicts[0].met).toBe(false)
  })

  it('or one asks the other where it is unsure', async () => {
    const judges = { light: { kind: 'scripted', script: [] }, strong: scripted('I am') }
    const { json } = await grade(await service(judges, { light: 'light', strong: 'strong' }), 1)
    expect(json.results[0].verdicts.map(({ met }: { met: boolean }) => met)).toEqual([true, true, true])
  })
})
