/**
 * @file `gradus bench soak`: very many requests of all kinds, good and hostile, to a reward server in a process of its own,
 * whose judge fails often: does everything get an answer, does memory stay flat, does it always say how it is?
 */

import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import { ScriptedProcess } from '../../grade/judge/scripted/index.ts'
import { median, quantile } from '../../util/descriptive.ts'
import { workerUrl } from '../../util/worker-url.ts'
import { type OnProgress, resultTable, round } from '../result-table.ts'
import { residentMb } from '../reward-speed.ts'
import { type ServingProcess, withRewardServer } from '../server-process.ts'
import { JUDGE_FAULTS, type SoakRequest, soakConfig, soakRequest } from './mix.ts'
import { type SentReply, send } from './senders.ts'
import type { Look } from './watcher.ts'

/** Oddities that are kept to be read. */
const MOST_EXAMPLES = 10

class SoakTally {
  /** Answers by kind and status; `left` for clients that went away, `failed` for those who got nothing. */
  readonly byKind: Record<string, Record<string, number>> = {}
  readonly statuses: Record<string, number> = {}
  readonly examples: string[] = []
  requests = 0
  /** Requests that got no answer though the client waited. */
  unanswered = 0
  /** Answers of another status than the request's kind has. */
  unexpected = 0
  /** Answers with a wrong reward, or a verdict that no judge gave. */
  wrong = 0
  verdicts = 0
  nullVerdicts = 0

  add(request: SoakRequest, replies: readonly SentReply[]): void {
    this.requests += replies.length
    for (const reply of replies) this.#reply(request, reply)
  }

  #reply(request: SoakRequest, reply: SentReply): void {
    const { kind, expected } = request
    const outcome = reply === 'left' ? 'left' : 'failed' in reply ? 'failed' : String(reply.status)
    const ofKind = this.byKind[kind] ?? {}
    this.byKind[kind] = { ...ofKind, [outcome]: (ofKind[outcome] ?? 0) + 1 }
    if (reply === 'left') return
    if ('failed' in reply) {
      this.unanswered += 1
      this.#example(`${kind}: no answer: ${reply.failed}`)
      return
    }
    this.statuses[outcome] = (this.statuses[outcome] ?? 0) + 1
    if (!expected.includes(reply.status)) {
      this.unexpected += 1
      this.#example(`${kind}: ${reply.status} ${reply.text.slice(0, 200)}`)
    } else if (reply.status === 200) this.#answer(request, reply.text)
  }

  #answer({ kind, check, verdicts }: SoakRequest, text: string): void {
    const answer: unknown = JSON.parse(text)
    const fault = check?.(answer) ?? null
    if (fault !== null) {
      this.wrong += 1
      this.#example(`${kind}: ${fault}`)
    }
    const counted = verdicts?.(answer)
    this.verdicts += counted?.all ?? 0
    this.nullVerdicts += counted?.nulls ?? 0
  }

  #example(text: string): void {
    if (this.examples.length < MOST_EXAMPLES) this.examples.push(text)
  }
}

export interface SoakOptions {
  /** Requests at least; 200,000 by default. */
  requests?: number
  /** Requests under way at once; 32 by default. */
  inWork?: number
  seed?: string
  onProgress?: OnProgress
}

export interface SoakResult
  extends Pick<SoakTally, 'requests' | 'statuses' | 'byKind' | 'unanswered' | 'unexpected' | 'wrong'> {
  seconds: number
  /** Share of judged criteria that had no verdict; the judge fails on purpose. */
  nullShare: number | null
  /** `GET /healthz` on a new connection every 50 ms, from a thread of its own. */
  health: { looks: number; failed: number; p50Ms: number; p99Ms: number; maxMs: number }
  /** Longest delay of the server's event loop between two looks at /metrics, a second apart: median and worst. */
  loopDelay: { medianMs: number; maxMs: number }
  /** Resident memory of the server: median of the part from a third on to a half, of the last sixth, their difference. */
  memory: { thirdMb: number; endMb: number; growthMb: number; peakMb: number; curveMb: number[] } | null
  /** Counters of the server at the end, as /metrics has them. */
  counters: Record<string, number>
  /** A polite kill in the middle of a last burst. */
  drain: { sent: number; unanswered: number; exitCode: number | null }
  cores: number
  /** Why this soak is not passed; empty when it is. */
  failures: string[]
}

const BURST = 60
const CURVE_POINTS = 60
const MEMORY_EVERY_MS = 500
const COUNTERS =
  /^gradus_(?:http_refused_total|unhandled_errors_total|grading_thread_restarts|worker_\w+)(?:\{[^}]*\})? \S+$/gm

const tenths = (value: number): number => round(value, 1)

/** Samples a process's memory until it is stopped. */
const watchMemory = (pid: number) => {
  const samplesMb: number[] = []
  const timer = setInterval(() => {
    const mb = residentMb(pid)
    if (mb !== null) samplesMb.push(mb)
  }, MEMORY_EVERY_MS)
  return () => {
    clearInterval(timer)
    return samplesMb
  }
}

const memoryOf = (samplesMb: readonly number[]): SoakResult['memory'] => {
  if (samplesMb.length < 6) return null
  const part = (from: number, to: number) =>
    median(samplesMb.slice(Math.floor(from * samplesMb.length), Math.ceil(to * samplesMb.length)))
  const [thirdMb, endMb] = [part(1 / 3, 1 / 2), part(5 / 6, 1)]
  const step = Math.max(1, samplesMb.length / CURVE_POINTS)
  const curveMb = Array.from({ length: Math.min(CURVE_POINTS, samplesMb.length) }, (_, n) =>
    Math.round(samplesMb[Math.floor(n * step)]),
  )
  return {
    thirdMb: tenths(thirdMb),
    endMb: tenths(endMb),
    growthMb: tenths(endMb - thirdMb),
    peakMb: tenths(samplesMb.reduce((a, b) => Math.max(a, b))),
    curveMb,
  }
}

const watchHealth = (url: string) => {
  const worker = new Worker(workerUrl(import.meta.url, './watcher.js'), { workerData: { url } })
  return async (): Promise<Look[]> => {
    const looks = once(worker, 'message')
    worker.postMessage('over')
    return (await looks)[0]
  }
}

const healthOf = (looks: readonly Look[]): Pick<SoakResult, 'health' | 'loopDelay'> => {
  const found = looks.flatMap(look => ('ms' in look && look.delayMs === undefined ? [look.ms] : []))
  const delays = looks.flatMap(look => ('ms' in look && look.delayMs !== undefined ? [look.delayMs] : []))
  const max = (values: number[]) => values.reduce((a, b) => Math.max(a, b), 0)
  return {
    health: {
      looks: looks.length,
      failed: looks.filter(look => 'failed' in look).length,
      p50Ms: tenths(quantile(found, 0.5)),
      p99Ms: tenths(quantile(found, 0.99)),
      maxMs: tenths(max(found)),
    },
    loopDelay: { medianMs: tenths(delays.length > 0 ? median(delays) : 0), maxMs: tenths(max(delays)) },
  }
}

const countersOf = async (url: string): Promise<Record<string, number>> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const lines = text.match(COUNTERS) ?? []
  return Object.fromEntries(
    lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
}

/** Sends requests until there were enough of them. */
const load = async (
  url: string,
  tally: SoakTally,
  { requests = 200_000, inWork = 32, seed = 'soak', onProgress = () => {} }: SoakOptions,
): Promise<void> => {
  const pool = new Pool(url, { connections: inWork, headersTimeout: 90_000, bodyTimeout: 90_000 })
  const address = new URL(url)
  let next = 0
  let said = 0
  const work = async () => {
    while (tally.requests < requests) {
      const request = soakRequest(seed, next++)
      tally.add(request, await send(pool, address, request))
      if (tally.requests - said >= requests / 20) {
        said = tally.requests
        onProgress(
          `${said} of ${requests} requests, ${tally.unanswered} unanswered, ${tally.unexpected} unexpected`,
        )
      }
    }
  }
  await Promise.all(Array.from({ length: inWork }, work))
  await pool.close()
}

/** A burst, and in the middle of it a polite kill: who gets no answer? */
const drainUnderLoad = async ({ child, url }: ServingProcess, seed: string): Promise<SoakResult['drain']> => {
  const pool = new Pool(url, { connections: BURST })
  const tally = new SoakTally()
  const sent = Array.from({ length: BURST }, async (_, index) => {
    let request = soakRequest(`${seed}/drain`, index)
    for (let n = 1; request.expected.length === 0 || request.manner === 'stuck'; n++)
      request = soakRequest(`${seed}/drain`, index + n * BURST)
    tally.add(request, await send(pool, new URL(url), request))
  })
  const exit = once(child, 'exit')
  await new Promise(resolve => setTimeout(resolve, 50))
  child.kill('SIGTERM')
  await Promise.all(sent)
  await pool.close()
  const [exitCode] = (await exit) as [number | null]
  return { sent: tally.requests, unanswered: tally.unanswered, exitCode }
}

const failuresOf = (result: Omit<SoakResult, 'failures'>): string[] => {
  const { unanswered, unexpected, wrong, health, drain, statuses, memory } = result
  const found: [boolean, string][] = [
    [unanswered > 0, `${unanswered} requests got no answer`],
    [unexpected > 0, `${unexpected} answers had a status that their kind must not get`],
    [(statuses['500'] ?? 0) > 0, `${statuses['500']} answers were 500`],
    [wrong > 0, `${wrong} answers were wrong`],
    [health.failed > 0, `${health.failed} looks at /healthz failed`],
    [
      drain.unanswered > 0 || drain.exitCode !== 0,
      `the drain left ${drain.unanswered}, exit ${drain.exitCode}`,
    ],
    [memory !== null && memory.growthMb > 0.2 * memory.thirdMb, `memory grew by ${memory?.growthMb} MB`],
  ]
  return found.flatMap(([failed, what]) => (failed ? [what] : []))
}

const soak = async (server: ServingProcess, options: SoakOptions): Promise<SoakResult> => {
  const { seed = 'soak', onProgress = () => {} } = options
  const tally = new SoakTally()
  const [memory, health] = [watchMemory(server.child.pid!), watchHealth(server.url)]
  const startMs = performance.now()
  await load(server.url, tally, options)
  const seconds = (performance.now() - startMs) / 1000
  const [samples, looks] = [memory(), await health()]
  const counters = await countersOf(server.url)
  onProgress('a polite kill')
  const drain = await drainUnderLoad(server, seed)
  const { requests, statuses, byKind, unanswered, unexpected, wrong } = tally
  const result = {
    ...{ requests, seconds: tenths(seconds), statuses, byKind, unanswered, unexpected, wrong },
    nullShare: tally.verdicts === 0 ? null : round(tally.nullVerdicts / tally.verdicts, 4),
    ...healthOf(looks),
    memory: memoryOf(samples),
    ...{ counters, drain, cores: availableParallelism() },
  }
  return { ...result, failures: [...failuresOf(result), ...tally.examples] }
}

/** Soaks a reward server. What went wrong stands in `failures`; only what could not be measured throws. */
export const benchSoak = async (options: SoakOptions = {}): Promise<SoakResult> => {
  const { seed = 'soak' } = options
  const judge = await ScriptedProcess.start({ latencyMs: 5, faults: JUDGE_FAULTS, seed })
  try {
    return await withRewardServer(soakConfig(judge.url), server => soak(server, options))
  } finally {
    await judge.kill()
  }
}

/** The values beside what they should be. */
export const formatSoak = (result: SoakResult): string => {
  const { health, memory, drain, statuses } = result
  const counts = Object.entries(statuses).map(([status, count]) => `${count} x ${status}`)
  return resultTable([
    [`${result.cores} cores`, '', 'must be'],
    [`requests in ${result.seconds} s`, `${result.requests}`, ''],
    ['statuses', counts.join(', '), 'no 500'],
    ['unanswered / unexpected / wrong', `${result.unanswered} / ${result.unexpected} / ${result.wrong}`, '0'],
    ['criteria without a verdict, of those judged', `${result.nullShare ?? '-'}`, 'about 1 in 40'],
    [
      'health, median / 99% / worst',
      `${health.p50Ms} / ${health.p99Ms} / ${health.maxMs} ms`,
      'below 100 ms',
    ],
    ['delay of the event loop, worst', `${result.loopDelay.maxMs} ms`, ''],
    [
      'memory after a third, at the end',
      memory === null ? 'unknown' : `${memory.thirdMb}, ${memory.endMb} MB`,
      'flat',
    ],
    ['stopped under load: unanswered, exit', `${drain.unanswered}, ${drain.exitCode}`, '0, 0'],
    ...result.failures.map(failure => ['FAILED', failure, ''] as [string, string, string]),
  ])
}
