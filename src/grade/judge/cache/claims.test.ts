import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scriptedModel } from '../../../chat/scripted-model.ts'
import { llmJudge } from '../judge.ts'
import { outputOf, startChild } from './child.fixture.ts'
import { Claims } from './claims.ts'
import { VerdictCache } from './verdict-cache.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-claims-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const KEY = '0123456789abcdef0123456789abcdef'
const OTHER = KEY.replaceAll('0', 'f')
const path = () => join(folder, 'claims', KEY)
const claimOf = (pid: number, host = hostname()) => {
  mkdirSync(join(folder, 'claims'), { recursive: true })
  writeFileSync(path(), `${pid} ${host}`)
}
const GONE = 2 ** 22 - 3

describe('a claim', () => {
  it('is for one at a time, and leaves nothing behind', async () => {
    const [mine, same] = [new Claims(folder), new Claims(folder)]
    expect([await mine.take(KEY), await same.take(KEY), await mine.take(KEY)]).toEqual([true, false, false])
    const both = await Promise.all([same.take(OTHER), mine.take(OTHER), same.take(OTHER)])
    expect(both.filter(taken => taken)).toHaveLength(1)
    mine.release(KEY)
    while (existsSync(path())) await new Promise(resolve => setTimeout(resolve, 1))
    expect(await same.take(KEY)).toBe(true)
    same.close()
    mine.close()
    expect(readdirSync(folder)).toEqual([])
  })

  it.each([
    ['a living process', () => claimOf(process.ppid), false],
    ['a process on another host', () => claimOf(GONE, 'elsewhere'), false],
    ['a dead process', () => claimOf(GONE), true],
    ['a process that had the number of this one', () => claimOf(process.pid), true],
    ['no process, an empty file', () => writeEmpty(), false],
    ['another host, a minute ago', () => aged(-61), true],
    ['another host, in the future', () => aged(3600), true],
  ])('of %s is taken over: %#', async (_name, make, taken) => {
    make()
    expect(await new Claims(folder).take(KEY)).toBe(taken)
  })

  const writeEmpty = () => {
    mkdirSync(join(folder, 'claims'))
    writeFileSync(path(), '')
  }
  const aged = (seconds: number) => {
    claimOf(GONE, 'elsewhere')
    const at = Date.now() / 1000 + seconds
    utimesSync(path(), at, at)
  }

  it('that cannot be written is given: the question is asked', async () => {
    writeFileSync(join(folder, 'claims'), 'a file in its place')
    const claims = new Claims(folder)
    expect([await claims.take(KEY), await claims.take(KEY)]).toEqual([true, true])
    claims.close()
  })
})

describe('a cache that nobody else writes to', () => {
  it('claims nothing', async () => {
    const cache = VerdictCache.open(folder)
    cache.put('a', 1)
    cache.refresh()
    expect([await cache.claim('b'), await cache.claim('b')]).toEqual([true, true])
    expect(existsSync(join(folder, 'claims'))).toBe(false)
    cache.close()
  })
})

describe('a judge beside another process', () => {
  const item = { prompt: [{ role: 'user' as const, content: 'q' }], response: 'r' }
  const criteria = [{ id: 'a', text: 'Is kind', points: 1 }]
  /** Two caches of one folder, as two processes have them; each has seen the other write. */
  const two = () => {
    const caches = [0, 1].map(() => VerdictCache.open(folder, { refreshMs: 0 }))
    for (const [index, cache] of caches.entries()) cache.put(`seen ${index}`, true)
    for (const cache of caches) cache.refresh()
    return caches
  }
  const slow = (text: string) => {
    const model = scriptedModel(async () => {
      await new Promise(resolve => setTimeout(resolve, 150))
      return text
    })
    return model
  }

  it('waits for its verdict, and does not ask', async () => {
    const models = two().map(cache => ({ cache, model: slow('{"explanation": "x", "criteria_met": true}') }))
    const verdicts = await Promise.all(
      models.map(({ cache, model }) => llmJudge({ model, cache }).grade(item, criteria)),
    )
    expect(verdicts.map(([{ met }]) => met)).toEqual([true, true])
    expect(models.reduce((sum, { model }) => sum + model.calls, 0)).toBe(1)
    for (const { cache } of models) cache.close()
    expect(readdirSync(folder).filter(name => !name.endsWith('.verdicts'))).toEqual([])
  })

  it('asks when that had none', async () => {
    const [first, second] = two()
    const models = [slow('no idea'), slow('{"explanation": "x", "criteria_met": false}')]
    const lost = llmJudge({ model: models[0], cache: first, repairs: 0 }).grade(item, criteria)
    await new Promise(resolve => setTimeout(resolve, 20))
    const found = llmJudge({ model: models[1], cache: second }).grade(item, criteria)
    expect([(await lost)[0].met, (await found)[0].met]).toEqual([null, false])
    expect(models.map(({ calls }) => calls)).toEqual([1, 1])
    for (const cache of [first, second]) cache.close()
  })

  it('stops waiting when it is cancelled', async () => {
    const [first, second] = two()
    const model = slow('{"explanation": "x", "criteria_met": true}')
    const asked = llmJudge({ model, cache: first }).grade(item, criteria)
    await new Promise(resolve => setTimeout(resolve, 20))
    const controller = new AbortController()
    const waiting = llmJudge({ model, cache: second }).grade(item, criteria, { signal: controller.signal })
    await new Promise(resolve => setTimeout(resolve, 20))
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect((await asked)[0].met).toBe(true)
    for (const cache of [first, second]) cache.close()
  })

  it('in step asks about half of what both would', async () => {
    const script = `
      import { llmJudge } from ${JSON.stringify(new URL('../../../../dist/grade/judge/index.js', import.meta.url).href)}
      let calls = 0
      const model = { name: 'm', complete: async () => {
        calls++
        await new Promise(resolve => setTimeout(resolve, 20))
        return { text: '{"explanation": "x", "criteria_met": true}', finishReason: 'stop', usage: {} }
      } }
      const cache = VerdictCache.open(${JSON.stringify(folder)})
      const judge = llmJudge({ model, cache })
      let next = 0
      await Promise.all(Array.from({ length: 8 }, async () => {
        while (next < 1200) {
          const item = { prompt: [{ role: 'user', content: 'q' }], response: 'r' + next++ }
          const [{ met }] = await judge.grade(item, [{ id: 'a', text: 'Is kind', points: 1 }])
          if (met !== true) throw new Error('no verdict')
        }
      }))
      cache.close()
      say(String(calls))`
    const said = await Promise.all([0, 1].map(() => outputOf(startChild(script))))
    const calls = said.reduce((sum, text) => sum + Number(text), 0)
    // Without claims 2,400; in the first moments neither knows of the other.
    expect(calls).toBeGreaterThanOrEqual(1200)
    expect(calls).toBeLessThan(2100)
    expect(readdirSync(folder).filter(name => !name.endsWith('.verdicts'))).toEqual([])
  }, 120_000)
})
