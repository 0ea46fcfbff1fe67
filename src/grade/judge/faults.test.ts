import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FleetOptions, JudgeFleet } from '../../chat/index.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { workerUrl } from '../../util/worker-url.ts'
import { VerdictCache } from './cache/index.ts'
import { llmJudge } from './judge.ts'
import { caseTag, ruleTag, ScriptedProcess, scriptedTruth } from './scripted/index.ts'

/** GRADUS_FULL_FAULTS=1 runs all 20,000 verdicts of the promise. */
const VERDICTS = process.env.GRADUS_FULL_FAULTS === '1' ? 20_000 : 2_000
const RULES = 10
const CASES = VERDICTS / RULES
const UNUSABLE_EVERY = 40
const FAULTS = {
  serverError: 0.05,
  rateLimit: 0.03,
  malformed: 0.05,
  hang: 0.02,
  cut: 0.01,
  unusableEvery: UNUSABLE_EVERY,
}
const FLEET = {
  model: 'scripted',
  concurrency: 100,
  attemptTimeoutMs: 1_500,
}
const PACE: Omit<FleetOptions, 'endpoints'> = { backoffMs: 20, breaker: { pauseMs: 50 } }

const criteria: Criterion[] = Array.from({ length: RULES }, (_, i) => ({
  id: `c${i}`,
  text: `Does as ${ruleTag(i)} says`,
  points: i % 3 === 2 ? -2 : 3,
}))
const itemOf = (index: number) => ({
  prompt: [{ role: 'user' as const, content: 'Do it.' }],
  response: `I did it in ${caseTag(index)}.`,
})

let folder: string
let server: ScriptedProcess
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-faults-'))
  server = await ScriptedProcess.start({ latencyMs: 5, faults: FAULTS, logFile: join(folder, 'log') })
})
afterAll(async () => {
  await server.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** What the server says that it sent: for each pair, how often each outcome. */
const injected = () => {
  const pairs = new Map<string, Map<string, number>>()
  for (const line of readFileSync(join(folder, 'log'), 'utf8').split('\n').slice(0, -1)) {
    const [caseIndex, ruleIndex, outcome] = line.split(' ')
    const name = `${caseIndex}/${ruleIndex}`
    const outcomes = pairs.get(name) ?? new Map<string, number>()
    pairs.set(name, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1))
  }
  return pairs
}

const gradeAll = async (cache: VerdictCache, onCase: (done: number) => void = () => {}) => {
  const fleet = new JudgeFleet({ endpoints: [{ url: server.url, ...FLEET }], ...PACE })
  const judge = llmJudge({ model: fleet, cache })
  let done = 0
  const verdicts = await Promise.all(
    Array.from({ length: CASES }, async (_, index) => {
      const given = await judge.grade(itemOf(index), criteria)
      onCase(++done)
      return given
    }),
  )
  const stats = { judge: judge.stats(), fleet: fleet.stats() }
  await judge.close()
  return { verdicts, stats }
}

it('a judge that fails in every way and restarts: all answered, none invented, nulls as injected', async () => {
  const cache = VerdictCache.open(join(folder, 'cache'))
  let restarted: Promise<void> | undefined
  const { verdicts, stats } = await gradeAll(cache, done => {
    if (done > CASES / 3) restarted ??= server.restart('after the restart')
  })
  await restarted
  const pairs = injected()
  const nulls: string[] = []
  for (const [index, given] of verdicts.entries()) {
    expect(given.map(({ criterionId }) => criterionId)).toEqual(criteria.map(({ id }) => id))
    for (const [rule, { met }] of given.entries()) {
      if (met === null) nulls.push(`${index}/${rule}`)
      else expect(met, `${index}/${rule}`).toBe(scriptedTruth(index, rule))
    }
  }
  const neverRight = [...pairs].filter(([, outcomes]) => !outcomes.has('ok')).map(([name]) => name)
  // Sent but not received: answers that were on their way when the server was killed.
  const lost = nulls.filter(name => pairs.get(name)?.has('ok'))
  expect(lost.length).toBeLessThanOrEqual(2)
  expect(nulls.filter(name => !lost.includes(name)).sort()).toEqual(neverRight.sort())
  expect(nulls.length).toBeGreaterThanOrEqual(VERDICTS / UNUSABLE_EVERY)
  expect(nulls.length).toBeLessThan(1.5 * (VERDICTS / UNUSABLE_EVERY) + 0.006 * VERDICTS)
  // Every kind of fault did happen.
  const sent = [...pairs.values()].flatMap(outcomes => [...outcomes.keys()])
  expect(new Set(sent).size).toBe(8)
  expect(Object.keys(stats.fleet.endpoints[0].failures).sort()).toEqual(
    ['malformed', 'rate-limit', 'server', 'timeout', 'unreachable'].sort(),
  )
  expect(stats.fleet).toMatchObject({ queued: 0, inFlight: 0 })
  expect(stats.judge.verdicts).toBe(VERDICTS)
  expect(cache.stats()).toMatchObject({ entries: VERDICTS - nulls.length, damaged: 0 })
  cache.close()
}, 300_000)

it('killed with -9 in the middle: what was kept is right, and the next run asks only for the rest', async () => {
  const cacheFolder = join(folder, 'killed')
  const script = `
    import { VerdictCache, JudgeFleet, llmJudge } from ${JSON.stringify(workerUrl(import.meta.url, './index.js').href)}
    const fleet = new JudgeFleet({ endpoints: [${JSON.stringify({ url: server.url, ...FLEET })}], ...${JSON.stringify(PACE)} })
    const judge = llmJudge({ model: fleet, cache: VerdictCache.open(${JSON.stringify(cacheFolder)}) })
    const criteria = ${JSON.stringify(criteria)}
    let done = 0
    await Promise.all(Array.from({ length: ${CASES} }, async (_, i) => {
      const response = 'I did it in case-' + i + '.'
      await judge.grade({ prompt: [{ role: 'user', content: 'Do it.' }], response }, criteria)
      if (++done === ${Math.floor(CASES / 3)}) process.kill(process.pid, 'SIGKILL')
    }))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  const [, signal] = await once(child, 'exit')
  expect(signal).toBe('SIGKILL')
  const cache = VerdictCache.open(cacheFolder)
  const kept = cache.stats()
  expect(kept.entries).toBeGreaterThan(0.9 * (VERDICTS / 3) * (1 - 1 / UNUSABLE_EVERY))
  expect(kept.entries).toBeLessThan(VERDICTS)
  const { verdicts, stats } = await gradeAll(cache)
  for (const [index, given] of verdicts.entries())
    for (const [rule, { met }] of given.entries())
      if (met !== null) expect(met, `${index}/${rule}`).toBe(scriptedTruth(index, rule))
  expect(stats.judge.cachedCalls).toBe(kept.entries)
  expect(stats.judge.calls).toBe(VERDICTS - kept.entries)
  cache.close()
}, 300_000)
