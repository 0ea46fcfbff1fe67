/** @file Speed of `gradus serve reward` in a process of its own, with rules only, over one pool of connections. */

import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Pool } from 'undici'
import { GradusError } from '../util/errors.ts'
import { withRewardServer } from './server-process.ts'

/** Megabytes of a process, as Linux tells it. */
export const residentMb = (pid: number): number | null => {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? null : Number(kilobytes) / 1024
  } catch {
    return null
  }
}

const CONNECTIONS = 32
/** Share of the requests after which memory is first looked at: by then everything that is kept is there. */
const WARM_SHARE = 0.3

const CONFIG = {
  rubrics: {
    short: {
      criteria: [
        {
          id: 'right',
          text: 'Gives the right answer',
          points: 5,
          verifier: { kind: 'rule', fn: 'exact_answer' },
        },
        {
          id: 'brief',
          text: 'Uses at most 60 words',
          points: 2,
          verifier: { kind: 'rule', fn: 'length', params: { max: 60 } },
        },
        {
          id: 'rude',
          text: 'Insults the reader',
          points: -4,
          verifier: { kind: 'rule', fn: 'contains', params: { any: ['stupid', 'idiot'] } },
        },
      ],
    },
  },
}

export interface RewardSpeed {
  /** Requests of one item with three rules, each answered with its reward. */
  serverRequestsPerSecond: number
  serverRequests: number
  /** Resident memory of the server from the first third to the end; null where the system does not tell. */
  serverMemoryGrowthMb: number | null
}

const requestBody = (index: number): string =>
  JSON.stringify({
    items: [
      {
        id: `r${index}`,
        prompt: `What is ${index} plus one?`,
        response: `The answer is ${index + (index % 2)}.`,
        reference: String(index + 1),
        rubric: 'short',
      },
    ],
  })

const sendOne = async (pool: Pool, index: number): Promise<void> => {
  const headers = { 'content-type': 'application/json' }
  const options = { method: 'POST', path: '/v1/grade', headers, body: requestBody(index) } as const
  const { statusCode, body } = await pool.request(options)
  const text = await body.text()
  if (statusCode !== 200)
    throw new GradusError(`the reward server answered ${statusCode}: ${text.slice(0, 200)}`)
  const { results } = JSON.parse(text) as { results: { reward: number }[] }
  // Right and brief, or brief alone, of 7 points.
  const expected = index % 2 === 1 ? 1 : 2 / 7
  if (Math.abs(results[0].reward - expected) > 1e-12)
    throw new GradusError(`the reward server gave ${results[0].reward} where ${expected} is right`)
}

/** Ends when `isOver` says so; returns the requests made. */
const sendMany = async (pool: Pool, isOver: (sent: number) => boolean): Promise<number> => {
  let sent = 0
  const work = async () => {
    while (!isOver(sent)) await sendOne(pool, sent++)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  return sent
}

const measure = async (
  child: ChildProcess,
  pool: Pool,
  { durationMs, requests }: { durationMs: number; requests?: number },
): Promise<RewardSpeed> => {
  const until = (count: number | undefined, ms: number) => {
    const endMs = performance.now() + ms
    return (sent: number) => (count === undefined ? performance.now() >= endMs : sent >= count)
  }
  const part = (share: number) =>
    until(requests === undefined ? undefined : Math.ceil(share * requests), share * durationMs)
  const warm = await sendMany(pool, part(WARM_SHARE))
  const before = residentMb(child.pid!)
  const startMs = performance.now()
  const sent = await sendMany(pool, part(1 - WARM_SHARE))
  const seconds = (performance.now() - startMs) / 1000
  const after = residentMb(child.pid!)
  return {
    serverRequestsPerSecond: sent / seconds,
    serverRequests: warm + sent,
    serverMemoryGrowthMb: before === null || after === null ? null : after - before,
  }
}

/** Measures the reward server for a while, or over a number of requests. @throws GradusError for a wrong reward */
export const measureRewards = (limits: { durationMs: number; requests?: number }): Promise<RewardSpeed> =>
  withRewardServer(CONFIG, async ({ child, url }) => {
    const pool = new Pool(url, { connections: CONNECTIONS })
    const speed = await measure(child, pool, limits)
    await pool.close()
    return speed
  })
