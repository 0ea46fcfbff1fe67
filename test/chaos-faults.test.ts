import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Child, orphansOf, processesOf } from '../scripts/chaos/child.js'
import { CLOCK, DISK } from '../scripts/chaos/disturb.js'
import { ChaosJudge, LASTING, PASSING, readSeal } from '../scripts/chaos/judge.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-chaos-faults-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What a module prints as JSON, run beside a preload. */
const printed = (preload: string, env: Record<string, string>, code: string) =>
  JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', code], {
      cwd: folder,
      env: { ...process.env, ...env, NODE_OPTIONS: `--import=${preload}` },
      encoding: 'utf8',
    }),
  )

const HOUR_MS = 3_600_000

describe('a clock that jumps', () => {
  const jump = (jumps: object[]) => ({ GRADUS_CHAOS_CLOCK: JSON.stringify(jumps) })

  it('moves Date in every thread, and no monotonic clock', () => {
    const code = `
      import { Worker } from 'node:worker_threads'
      const now = () => [Date.now(), new Date().getTime(), Date.parse(Date()), Number(process.hrtime.bigint() / 1000000n)]
      const inside = "import { parentPort } from 'node:worker_threads'; parentPort.postMessage([Date.now(), new Date().getTime()])"
      const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(inside)))
      worker.on('message', inWorker => console.log(JSON.stringify({ here: now(), inWorker, fixed: new Date(0).getTime(), is: new Date() instanceof Date })))`
    const beforeMs = Date.now()
    const monotonicMs = Number(process.hrtime.bigint() / 1_000_000n)
    const { here, inWorker, fixed, is } = printed(CLOCK, jump([{ atMs: 0, shiftMs: -HOUR_MS }]), code)
    for (const ms of [...here.slice(0, 3), ...inWorker]) {
      expect(ms).toBeGreaterThan(beforeMs - HOUR_MS - 2_000)
      expect(ms).toBeLessThan(beforeMs - HOUR_MS / 2)
    }
    expect(here[3] - monotonicMs).toBeGreaterThanOrEqual(0)
    expect(here[3] - monotonicMs).toBeLessThan(HOUR_MS / 2)
    expect([fixed, is]).toEqual([0, true])
  })

  it('jumps in the middle', () => {
    const code = `
      const before = Date.now()
      await new Promise(resolve => setTimeout(resolve, 400))
      console.log(JSON.stringify(Date.now() - before))`
    expect(
      printed(
        CLOCK,
        jump([
          { atMs: 0, shiftMs: 0 },
          { atMs: 1, shiftMs: 0 },
        ]),
        code,
      ),
    ).toBeLessThan(HOUR_MS)
    const jumps = [
      { atMs: 0, shiftMs: 0 },
      { atMs: 300, shiftMs: 24 * HOUR_MS },
    ]
    // On a machine so busy that it starts in more than 300 ms, the jump lies before both.
    const passed = printed(CLOCK, jump(jumps), code)
    expect(passed > 24 * HOUR_MS || passed < HOUR_MS).toBe(true)
    const late = [
      { atMs: 0, shiftMs: 0 },
      ...Array.from({ length: 400 }, (_, i) => ({ atMs: i * 100, shiftMs: i * HOUR_MS })),
    ]
    expect(printed(CLOCK, jump(late), code)).toBeGreaterThan(2 * HOUR_MS)
  })
})

describe('a bad disk', () => {
  const disk = (settings: object) => ({ GRADUS_CHAOS_DISK: JSON.stringify(settings) })
  const write = `
    import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync, openSync, writeSync, fsyncSync } from 'node:fs'
    const tried = action => { try { action(); return 'ok' } catch (error) { return error.code } };`

  it('is full after so many changes, for so many, and then has room again', () => {
    const code = `${write}
      console.log(JSON.stringify([0, 1, 2, 3, 4].map(i => tried(() => writeFileSync('full-' + i, 'content')))))`
    const full = disk({ kind: 'full', after: 2, count: 2 })
    expect(printed(DISK, full, code)).toEqual(['ok', 'ok', 'ENOSPC', 'ENOSPC', 'ok'])
  })

  it('may take a part of what is written', () => {
    const code = `${write}
      const fd = openSync('half-fd', 'w')
      console.log(JSON.stringify([
        tried(() => writeFileSync('half', '0123456789')), readFileSync('half', 'utf8'),
        tried(() => appendFileSync('half', 'abcd')), readFileSync('half', 'utf8'),
        tried(() => writeSync(fd, 'x')), tried(() => fsyncSync(fd)), statSync('half-fd').size,
      ]))`
    const full = disk({ kind: 'full', after: 0, count: 100, half: true })
    expect(printed(DISK, full, code)).toEqual(['ENOSPC', '01234', 'ENOSPC', '01234ab', 'ENOSPC', 'ENOSPC', 0])
  })

  it('leaves standard streams alone', () => {
    const code = `${write} writeSync(1, '"said"')`
    expect(printed(DISK, disk({ kind: 'full', after: 0, count: 100 }), code)).toBe('said')
  })

  it('is slow', () => {
    const code = `${write}
      const began = performance.now()
      for (let i = 0; i < 20; i++) writeFileSync('slow', 'x')
      console.log(JSON.stringify([performance.now() - began, readFileSync('slow', 'utf8')]))`
    const [ms, content] = printed(DISK, disk({ kind: 'slow', share: 1, mostMs: 40 }), code)
    // Twenty waits of 20 ms in the mean; less than 100 in all has a chance of 1 in 10^6.
    expect(ms).toBeGreaterThan(100)
    expect(content).toBe('x')
  })
})

describe('a judge that fails as it is told', () => {
  const answers = (way: string) => way !== 'hang' && !way.startsWith('cut')
  const ask = async (judge: ChaosJudge, content: string) => {
    const body = JSON.stringify({ messages: [{ role: 'user', content }] })
    const response = await fetch(`${judge.url}/chat/completions`, {
      method: 'POST',
      body,
      redirect: 'manual',
    })
    return { status: response.status, text: await response.text() }
  }

  it('seals what it decides, and only that', async () => {
    const judge = new ChaosJudge('a')
    await judge.start()
    const { text } = await ask(judge, 'a question')
    const answer = JSON.parse(JSON.parse(text).choices[0].message.content)
    expect(readSeal(answer.explanation)).toEqual({ id: expect.any(String), met: answer.criteria_met })
    expect([...judge.given.values()]).toEqual([answer.criteria_met])
    judge.faults = {
      share: 1,
      times: Number.POSITIVE_INFINITY,
      ways: LASTING.filter(answers),
    }
    const seen = new Set<number>()
    for (let i = 0; i < 60; i++) {
      const { status, text: said } = await ask(judge, `question ${i}`)
      seen.add(status)
      expect(said).not.toMatch(/seal [0-9a-f]{16} (true|false)/)
    }
    expect(judge.given.size).toBe(1)
    expect(judge.failed.size).toBe(60)
    expect(seen).toContain(500)
    await judge.stop()
  })

  it('answers after so many failures, and keeps its address when it was down', async () => {
    const judge = new ChaosJudge('b')
    await judge.start()
    const { url } = judge
    judge.faults = { share: 1, times: 2, ways: PASSING.filter(answers) }
    await ask(judge, 'x')
    await ask(judge, 'x')
    expect(judge.given.size).toBe(0)
    await judge.stop()
    await expect(ask(judge, 'x')).rejects.toThrow()
    await judge.start()
    expect(judge.url).toBe(url)
    await ask(judge, 'x')
    expect(judge.given.size).toBe(1)
    await judge.stop()
  })
})

describe('a command as a process', () => {
  it('is told from others by its trial; a hang is found, with its stack', async () => {
    const child = new Child(['--version'], { trial: 'quick' })
    expect(await child.ended).toMatchObject({ code: 0, hung: false })
    expect(child.out).toMatch(/^\d+\.\d+\.\d+/)
    const loop = `data:text/javascript,${encodeURIComponent('const spin = () => { for (;;) {} }; spin()')}`
    const hanging = new Child(['--version'], {
      trial: 'hanging',
      preloads: [loop],
      limitMs: 1_500,
      reports: folder,
    })
    if (process.platform === 'linux') expect(processesOf('hanging')).toEqual([hanging.pid])
    const ended = await hanging.ended
    expect(ended).toMatchObject({ code: null, signal: 'SIGKILL', hung: true })
    expect(await orphansOf('hanging')).toEqual([])
  })
})
