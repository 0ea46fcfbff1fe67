import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { afterAll, describe, expect, it } from 'vitest'
import { cli, Sandbox } from '../cli.fixture.ts'
import { type RewardProcess, startReward } from './reward.fixture.ts'

const sandbox = new Sandbox()
const running: RewardProcess[] = []
afterAll(async () => {
  for (const each of running) await each.stop('SIGKILL')
  sandbox.remove()
})
const start = async (config: string, args: string[] = [], env: NodeJS.ProcessEnv = {}) => {
  const started = await startReward(config, args, env)
  running.push(started)
  return started
}

const EXAMPLE = fileURLToPath(new URL('../../../examples/reward/reward.yaml', import.meta.url))
const TIMEOUT_MS = 120_000

describe('gradus init reward', () => {
  it('writes an example whose configuration is fine, and never over files that are there', async () => {
    const folder = sandbox.path('example')
    const { code, out } = await cli(['init', 'reward', folder])
    expect(code).toBe(0)
    expect(out.trim().split('\n')).toHaveLength(4)
    expect(await cli(['serve', 'reward', '--config', `${folder}/reward.yaml`, '--check'])).toMatchObject({
      code: 0,
    })
    const config = sandbox.write('example/reward.yaml', 'mine')
    const again = await cli(['init', 'reward', folder])
    expect(again.code).toBe(1)
    expect(again.err).toContain('--force')
    expect(readFileSync(config, 'utf8')).toBe('mine')
    expect((await cli(['init', 'reward', folder, '--force'])).code).toBe(0)
    expect(readFileSync(config, 'utf8')).toBe(
      `# yaml-language-server: $schema=reward.schema.json\n${readFileSync(EXAMPLE, 'utf8')}`,
    )
  })
})

describe('gradus serve reward', () => {
  it.each([
    [['--config', 'none.yaml'], 1, 'none.yaml: cannot be read'],
    [['--config', EXAMPLE, '--host', '0.0.0.0'], 1, 'can be reached from other machines'],
    [['--config', EXAMPLE, '--port', 'x'], 2, 'Expected a port'],
    [[], 2, '--config'],
  ])('%j ends with %i', async (args, code, message) => {
    const result = await cli(['serve', 'reward', ...args])
    expect(result.code).toBe(code)
    expect(result.err).toContain(message)
  })

  it('says which port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { code, err } = await cli(['serve', 'reward', '--config', EXAMPLE, '--port', String(port)])
    other.close()
    expect([code, err]).toEqual([1, expect.stringContaining(`port ${port} is taken`)])
  })

  it('grades the example request with a token, and cuts off what is too long', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const settings = readFileSync(EXAMPLE, 'utf8')
      .replace('short-answer.yaml', EXAMPLE.replace('reward.yaml', 'short-answer.yaml'))
      .concat('limits: { bodyBytes: 2000 }\n')
      .replace('# tokenEnv', 'tokenEnv')
    const server = await start(sandbox.write('token.yaml', settings), [], { GRADUS_TOKEN: 'tell-nobody' })
    const post = (body: string, headers: Record<string, string>) =>
      fetch(`${server.url}/v1/grade`, { method: 'POST', body, headers })
    const body = readFileSync(EXAMPLE.replace('reward.yaml', 'request.json'), 'utf8')
    expect((await post(body, {})).status).toBe(401)
    const authorization = 'Bearer tell-nobody'
    const answer = (await (await post(body, { authorization })).json()) as { results: { reward: number }[] }
    // By hand: right 5, brief 2, explains 3 of 10; brief 2, rude -4 of 10.
    expect(answer.results.map(({ reward }) => reward)).toEqual([1, -0.2])
    const long = await post('x'.repeat(3000), { authorization })
    expect([long.status, await long.json()]).toMatchObject([413, { error: { type: 'too_large' } }])
    expect(await server.stop()).toBe(0)
    expect(server.err).not.toContain('tell-nobody')
    expect(server.err).not.toContain('idiot')
  })
})

describe('a polite kill', () => {
  /** A judge that answers after a while. */
  const slowJudge = async (delayMs: number) => {
    const server = createServer((request, response) => {
      request.resume()
      const message = { role: 'assistant', content: '{"explanation": "Fine.", "criteria_met": true}' }
      const body = JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
      setTimeout(() => response.setHeader('content-type', 'application/json').end(body), delayMs)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

  const settings = (url: string) => ({
    rubrics: { fine: { criteria: [{ id: 'fine', text: 'Is fine', points: 1 }] } },
    judges: { main: { kind: 'llm', fleet: { endpoints: [{ url, model: 'slow' }] } } },
    judge: 'main',
    // Long enough for a busy machine to look at it in between.
    limits: { drainNoticeMs: 5000 },
  })

  const slime = (server: RewardProcess, text: string) =>
    fetch(`${server.url}/slime`, { method: 'POST', body: JSON.stringify({ prompt: 'p', response: text }) })

  it('loses nothing that was accepted; readyz says 503 first; new connections are refused', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const judge = await slowJudge(3000)
    const server = await start(sandbox.write('slow.yaml', settings(judge.url)))
    const accepted = Array.from({ length: 20 }, (_, index) => slime(server, `response ${index}`))
    // A connection of its own each time: an idle one may be closed by the drain just when it is used again.
    const look = (path: string) => fetch(`${server.url}${path}`, { headers: { connection: 'close' } })
    const metrics = async () => (await look('/metrics')).text()
    while (!(await metrics()).includes('gradus_items_active 20'))
      await new Promise(resolve => setTimeout(resolve, 20))
    server.child.kill('SIGTERM')
    let ready = 200
    while (ready === 200) ready = (await look('/readyz')).status
    expect(ready).toBe(503)
    const answers = await Promise.all(accepted)
    expect(await Promise.all(answers.map(answer => answer.json()))).toEqual(Array(20).fill(1))
    expect(await server.ended()).toBe(0)
    await expect(slime(server, 'late')).rejects.toThrow()
    expect(server.log.at(-1)).toMatchObject({ event: 'stopped', unanswered: 0 })
    judge.server.close()
  })

  it('twice quits at once', { timeout: TIMEOUT_MS }, async () => {
    const judge = await slowJudge(60_000)
    const server = await start(sandbox.write('slower.yaml', settings(judge.url)))
    const lost = slime(server, 'lost').catch(() => 'lost')
    while (!server.err.includes('listening')) await new Promise(resolve => setTimeout(resolve, 20))
    server.child.kill('SIGTERM')
    while (!server.err.includes('once more quits')) await new Promise(resolve => setTimeout(resolve, 20))
    expect(await server.stop('SIGTERM')).toBe(130)
    expect(await lost).toBe('lost')
    judge.server.closeAllConnections()
    judge.server.close()
  })

  it('in the middle of a stream of requests costs clients that try again nothing', {
    timeout: TIMEOUT_MS,
  }, async () => {
    let server = await start(EXAMPLE, ['--quiet'])
    const port = new URL(server.url).port
    const pool = new Pool(server.url, { connections: 8 })
    const answers: (number | undefined)[] = []
    const ask = async (index: number): Promise<void> => {
      const body = JSON.stringify({ prompt: 'p', response: `The answer is ${index}.`, label: '7' })
      for (;;) {
        try {
          const response = await pool.request({ method: 'POST', path: '/slime', body })
          const text = await response.body.text()
          if (response.statusCode !== 200) throw new Error(text)
          answers[index] = JSON.parse(text)
          return
        } catch {
          await new Promise(resolve => setTimeout(resolve, 30))
        }
      }
    }
    const asked = Array.from({ length: 300 }, (_, index) => ask(index))
    while (answers.length < 50) await new Promise(resolve => setTimeout(resolve, 1))
    expect(await server.stop('SIGTERM')).toBe(0)
    server = await start(EXAMPLE, ['--quiet', '--port', port])
    await Promise.all(asked)
    await pool.close()
    expect(answers).toEqual(Array.from({ length: 300 }, (_, index) => (index === 7 ? 0.7 : 0.2)))
    expect(await server.stop()).toBe(0)
  })
})
