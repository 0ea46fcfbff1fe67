import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readRecording } from '../../tasks/research/index.ts'
import {
  goodTeacher,
  type TeacherServer,
  teacherServer,
} from '../../tasks/research/scripted-teacher.fixture.ts'
import { cli, Sandbox, SLOW_MS } from '../cli.fixture.ts'

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const sandbox = new Sandbox()
let server: TeacherServer
let args: string[]
beforeAll(async () => {
  server = await teacherServer()
  const texts = sandbox.write('texts.jsonl', '{"id": "t", "text": "A lake lies behind the farm."}\n')
  const index = sandbox.path('texts.index')
  await cli(['search', 'build', texts, '--out', index])
  const tools = sandbox.write('tools.yaml', [{ kind: 'index', path: index }])
  const rows = Array.from({ length: 5 }, (_, i) => JSON.stringify({ id: `q${i}`, question: `Lake ${i}?` }))
  const questions = sandbox.write('questions.jsonl', rows.join('\n'))
  args = ['trajectories', 'record', questions, '--tools', tools, '--teacher', server.url, '--model', 'm']
  args.push('--concurrency', '1', '--out', sandbox.path('out.jsonl'))
}, SLOW_MS)
afterAll(async () => {
  await server.close()
  sandbox.remove()
})

describe.skipIf(process.platform === 'win32')('a process that is killed while it records', () => {
  it('has kept every attempt that was over, and the same command makes the others', {
    timeout: SLOW_MS,
  }, async () => {
    // The third attempt never gets an answer: two are over when the kill comes.
    server.script = turn => (turn.question.includes('2') ? null : goodTeacher(turn))
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = new Promise(resolve => child.once('exit', (_, signal) => resolve(signal)))
    let err = ''
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error(`it ended by itself: ${err}`)))
      child.stderr.on('data', chunk => {
        err += chunk
        if (err.includes('2 of 5')) resolve()
      })
    })
    const second = await cli(args)
    const holder = `out\\.jsonl\\.lock: this recording is being written by process ${child.pid} on `
    expect([second.code, second.err]).toEqual([1, expect.stringMatching(holder)])
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
    expect(existsSync(sandbox.path('out.jsonl'))).toBe(true)
    expect(readRecording(sandbox.path('out.jsonl')).rows.map(({ id }) => id)).toEqual(['q0', 'q1'])
    // Its lock is nobody's now.
    expect(existsSync(sandbox.path('out.jsonl.lock'))).toBe(true)
    server.script = goodTeacher
    server.requests = 0
    const { code, err: said } = await cli(args)
    expect(code).toBe(0)
    expect(said).toContain('2 attempts recorded before, 3 to make')
    expect(server.requests).toBe(6)
    expect(readRecording(sandbox.path('out.jsonl')).rows.map(({ id }) => id)).toEqual([
      'q0',
      'q1',
      'q2',
      'q3',
      'q4',
    ])
  })
})
