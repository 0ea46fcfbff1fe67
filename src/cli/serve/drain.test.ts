import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { Sandbox } from '../cli.fixture.ts'
import { type RewardProcess, startReward } from './reward.fixture.ts'

const TIMEOUT_MS = 120_000
const sandbox = new Sandbox()
const running: RewardProcess[] = []
afterAll(async () => {
  for (const each of running) await each.stop('SIGKILL')
  sandbox.remove()
})

const verifier = { kind: 'rule', fn: 'contains', params: { any: ['yes'] } }
const start = async (limits: object) => {
  const config = {
    rubrics: { one: { criteria: [{ id: 'a', text: 'Says yes', points: 1, verifier }] } },
    limits,
  }
  const server = await startReward(sandbox.write('drain.yaml', config), ['--quiet'])
  running.push(server)
  return server
}

const BODY = JSON.stringify({ prompt: 'p', response: 'yes' })
const REQUEST = `POST /slime HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`

class Client {
  readonly socket: Socket
  text = ''
  error = ''

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', chunk => {
      this.text += chunk
    })
    socket.on('error', error => {
      this.error = (error as NodeJS.ErrnoException).code ?? error.message
    })
  }

  static async open(server: RewardProcess): Promise<Client> {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    const client = new Client(socket)
    // The kernel takes it, also for a process that does not run.
    await once(socket, 'connect')
    return client
  }

  get answers(): number {
    return this.text.split('HTTP/1.1 200').length - 1
  }

  async ended(): Promise<string> {
    if (!this.socket.destroyed && !this.socket.readableEnded)
      await Promise.race([once(this.socket, 'end'), once(this.socket, 'close')])
    return this.error || String(this.answers)
  }
}

/** The process stands still, as with a busy loop: the kernel goes on to take connections and bytes for it. */
const whileStopped = async (server: RewardProcess, work: () => Promise<void>) => {
  server.child.kill('SIGSTOP')
  await sleep(100)
  await work()
  server.child.kill('SIGTERM')
  await sleep(100)
  server.child.kill('SIGCONT')
}

describe('a stop while the process is too busy to look', () => {
  it.each([{ drainNoticeMs: 500 }, { drainNoticeMs: 0 }])(
    'with %j loses no request that was sent',
    {
      timeout: TIMEOUT_MS,
    },
    async limits => {
      const server = await start(limits)
      const known = await Promise.all(Array.from({ length: 30 }, () => Client.open(server)))
      for (const { socket } of known) socket.write(REQUEST)
      while (known.some(({ answers }) => answers < 1)) await sleep(10)
      const fresh: Client[] = []
      await whileStopped(server, async () => {
        for (const { socket } of known) socket.write(REQUEST)
        for (let n = 0; n < 60; n++) {
          const client = await Client.open(server)
          client.socket.write(REQUEST)
          fresh.push(client)
        }
        await sleep(100)
      })
      expect(await Promise.all(fresh.map(client => client.ended()))).toEqual(Array(60).fill('1'))
      expect(await Promise.all(known.map(client => client.ended()))).toEqual(Array(30).fill('2'))
      expect(await server.ended()).toBe(0)
      expect(server.log.at(-1)).toMatchObject({ event: 'stopped', unanswered: 0 })
    },
  )

  it('is 1 and says so where a request could not be answered in time', { timeout: TIMEOUT_MS }, async () => {
    const server = await start({ drainNoticeMs: 0, drainMs: 500 })
    const half = await Client.open(server)
    half.socket.write(REQUEST.slice(0, 60))
    await sleep(200)
    expect(await server.stop()).toBe(1)
    expect(server.log.at(-1)).toMatchObject({ event: 'stopped', unanswered: 1 })
    await half.ended()
  })
})
