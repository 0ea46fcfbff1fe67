/**
 * @file `gradus bench fleet`: thousands of judge calls a second over a fleet of servers with stragglers, failures, quotas and
 * outages, through the fleet that trainings use, on a clock that costs no time. What the scheduler itself takes of a processor
 * is real.
 */

import { type ChatResponse, type EndpointStats, JudgeFleet, VirtualClock } from '../../chat/index.ts'
import { JudgeError } from '../../util/errors.ts'
import { formatInteger, percent, wholePercent } from '../../util/format.ts'
import { Rng } from '../../util/rng.ts'
import { type OnProgress, type ResultLine, resultTable } from '../result-table.ts'
import {
  type EndpointNature,
  FLEET_SCENARIO,
  type FleetScenario,
  naturesOf,
  requestsPerMinuteOf,
  SimulatedEndpoint,
} from './endpoint.ts'

export interface FleetBenchmarkOptions extends Partial<FleetScenario> {
  onProgress?: OnProgress
}

/** One endpoint, as the fleet and as the server itself saw it. */
interface EndpointResult
  extends Pick<EndpointNature, 'name' | 'kind'>,
    Pick<SimulatedEndpoint, 'attempts' | 'answered' | 'mostInFlight' | 'mostInAMinute'>,
    Pick<EndpointStats, 'failures' | 'timesOpened'> {
  /** Share of its slots that were held, over the time in which calls came. */
  utilisation: number
  requestsPerMinute: number | null
  /** Milliseconds from the end of its outage to its first answer; null where it had none, or never answered again. */
  backAfterMs: number | null
}

export interface FleetBenchmark {
  scenario: FleetScenario
  calls: number
  answered: number
  /** Calls that ended with an error, by kind, and a message of each. */
  failed: number
  failures: Record<string, { calls: number; message: string }>
  /** Calls whose answer was another call's, or that ended twice. None, if all is well. */
  wrong: number
  /** Answers a second of the clock while calls came. */
  answeredPerSecond: number
  /** From asking to the answer, waiting and all attempts included, by the clock; of answered calls. */
  latencyMs: { p50: number; p95: number; p99: number; longest: number }
  queueWaitMs: { p50: number | null; p99: number | null; longest: number | null }
  attempts: number
  /** Calls that needed more than one attempt, and attempts that had no answer. */
  retried: number
  wastedAttempts: number
  breakerOpened: number
  /** From the last call's coming to the last one's end, in seconds of the clock. */
  drainSeconds: number
  processor: {
    /** Microseconds a call: all of it, the simulated servers and the clock alone, and what is between. */
    allMicros: number
    worldMicros: number
    schedulerMicros: number
    /** Calls that one core schedules in a second. */
    callsPerCoreSecond: number
  }
  endpoints: EndpointResult[]
}

/** A thing that is asked: the fleet, or the servers without it. */
type Ask = (request: { messages: { role: 'user'; content: string }[] }) => Promise<ChatResponse>

/** What became of the calls. */
class Outcomes {
  readonly latencies: number[] = []
  readonly failures: FleetBenchmark['failures'] = {}
  failed = 0
  wrong = 0
  retried = 0
  answeredInTime = 0
  lastEndMs = 0
  readonly #ended: Uint8Array
  readonly #lastMs: number

  /** @param lastMs when calls stop coming */
  constructor(calls: number, lastMs: number) {
    this.#ended = new Uint8Array(calls)
    this.#lastMs = lastMs
  }

  answered(call: number, { text, attempts = 1 }: ChatResponse, latencyMs: number, nowMs: number): void {
    this.#end(call, nowMs)
    if (text !== String(call)) this.wrong++
    if (attempts > 1) this.retried++
    if (nowMs <= this.#lastMs) this.answeredInTime++
    this.latencies.push(latencyMs)
  }

  failedWith(call: number, error: unknown, nowMs: number): void {
    this.#end(call, nowMs)
    this.failed++
    const kind = error instanceof JudgeError ? error.kind : 'other'
    this.failures[kind] ??= { calls: 0, message: error instanceof Error ? error.message : String(error) }
    this.failures[kind].calls++
  }

  #end(call: number, nowMs: number): void {
    if (this.#ended[call]++ > 0) this.wrong++
    this.lastEndMs = Math.max(this.lastEndMs, nowMs)
  }
}

/** Times at which groups of calls come: a Poisson process, the same for every run of a seed. */
const arrivalsOf = ({ callsPerSecond, callsAtOnce, seconds, seed }: FleetScenario): number[] => {
  const rng = new Rng(seed).fork('arrivals')
  const meanMs = (1000 * callsAtOnce) / callsPerSecond
  const times: number[] = []
  for (let atMs = 0; ; ) {
    atMs -= meanMs * Math.log(1 - rng.next())
    if (atMs >= 1000 * seconds) return times
    times.push(atMs)
  }
}

const processorMicros = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Lets all calls come and end. @returns what became of them, and the processor's microseconds */
const play = async (scenario: FleetScenario, clock: VirtualClock, ask: Ask, onProgress: OnProgress) => {
  const arrivals = arrivalsOf(scenario)
  const outcomes = new Outcomes(arrivals.length * scenario.callsAtOnce, 1000 * scenario.seconds)
  let call = 0
  let open = 0
  const begin = () => {
    const number = call++
    const startMs = clock.now()
    open++
    ask({ messages: [{ role: 'user', content: String(number) }] }).then(
      response => {
        open--
        outcomes.answered(number, response, clock.now() - startMs, clock.now())
      },
      (error: unknown) => {
        open--
        outcomes.failedWith(number, error, clock.now())
      },
    )
  }
  const startMicros = processorMicros()
  const arrive = (next: number) => {
    for (let i = 0; i < scenario.callsAtOnce; i++) begin()
    if (next < arrivals.length) clock.after(arrivals[next] - clock.now(), () => arrive(next + 1))
  }
  if (arrivals.length > 0) clock.after(arrivals[0], () => arrive(1))
  for (let second = 0; second < scenario.seconds || open > 0; second++) {
    await clock.pass(1000)
    // Nobody but this loop moves the clock: the process stays free for signals and progress.
    await new Promise(resolve => setImmediate(resolve))
    if (second % 10 === 9) onProgress(`${second + 1} s of the clock, ${formatInteger(open)} calls under way`)
  }
  return { outcomes, calls: call, micros: processorMicros() - startMicros }
}

const serversOf = (scenario: FleetScenario, clock: VirtualClock): SimulatedEndpoint[] => {
  const rng = new Rng(scenario.seed)
  return naturesOf(scenario).map(
    nature => new SimulatedEndpoint(nature, scenario, clock, rng.fork(nature.name)),
  )
}

const fleetOf = (scenario: FleetScenario, servers: readonly SimulatedEndpoint[], clock: VirtualClock) => {
  const byName = new Map(servers.map(server => [server.nature.name, server]))
  const rng = new Rng(scenario.seed).fork('retries')
  return new JudgeFleet(
    {
      endpoints: servers.map(({ nature }) => ({
        name: nature.name,
        url: `http://${nature.name}`,
        model: 'judge',
        concurrency: scenario.concurrency,
        attemptTimeoutMs: scenario.attemptTimeoutMs,
        requestsPerMinute: requestsPerMinuteOf(nature, scenario),
      })),
    },
    { clock, random: () => rng.next(), connect: ({ name }) => byName.get(name!)! },
  )
}

/** The same calls on the same servers, each asked in turn, without anything between: what the simulation itself costs. */
const worldAlone = async (scenario: FleetScenario): Promise<number> => {
  const clock = new VirtualClock()
  const servers = serversOf(scenario, clock)
  let next = 0
  const ask: Ask = request => servers[next++ % servers.length].complete(request)
  const { micros, calls } = await play(scenario, clock, ask, () => {})
  return micros / calls
}

const quantile = (sorted: readonly number[], q: number): number =>
  sorted.length === 0 ? 0 : sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)]

const endpointResult = (
  server: SimulatedEndpoint,
  endpoint: EndpointStats,
  scenario: FleetScenario,
): EndpointResult => {
  const { nature, busyMs, backAtMs } = server
  return {
    name: nature.name,
    kind: nature.kind,
    attempts: server.attempts,
    answered: server.answered,
    failures: endpoint.failures,
    timesOpened: endpoint.timesOpened,
    utilisation: busyMs / (scenario.concurrency * scenario.seconds * 1000),
    mostInFlight: server.mostInFlight,
    mostInAMinute: server.mostInAMinute,
    requestsPerMinute: requestsPerMinuteOf(nature, scenario) ?? null,
    backAfterMs: backAtMs === null ? null : backAtMs - nature.outage!.toMs,
  }
}

/** Plays the scenario. Everything but `processor` is the same for the same seed. */
export const benchFleet = async (options: FleetBenchmarkOptions = {}): Promise<FleetBenchmark> => {
  const { onProgress = () => {}, ...changes } = options
  const scenario = { ...FLEET_SCENARIO, ...changes }
  const clock = new VirtualClock()
  const servers = serversOf(scenario, clock)
  const fleet = fleetOf(scenario, servers, clock)
  const { outcomes, calls, micros } = await play(
    scenario,
    clock,
    request => fleet.complete(request),
    onProgress,
  )
  const stats = fleet.stats()
  await fleet.close()
  onProgress('the same without a scheduler')
  const worldMicros = await worldAlone(scenario)
  const sorted = outcomes.latencies.toSorted((a, b) => a - b)
  const allMicros = micros / calls
  const schedulerMicros = Math.max(0, allMicros - worldMicros)
  const attempts = servers.reduce((sum, server) => sum + server.attempts, 0)
  return {
    scenario,
    calls,
    answered: sorted.length,
    failed: outcomes.failed,
    failures: outcomes.failures,
    wrong: outcomes.wrong,
    answeredPerSecond: outcomes.answeredInTime / scenario.seconds,
    latencyMs: {
      p50: quantile(sorted, 0.5),
      p95: quantile(sorted, 0.95),
      p99: quantile(sorted, 0.99),
      longest: quantile(sorted, 1),
    },
    queueWaitMs: {
      p50: stats.queueWait.p50Ms,
      p99: stats.queueWait.p99Ms,
      longest: stats.queueWait.maxMs,
    },
    attempts,
    retried: outcomes.retried,
    wastedAttempts: attempts - sorted.length,
    breakerOpened: stats.endpoints.reduce((sum, { timesOpened }) => sum + timesOpened, 0),
    drainSeconds: Math.max(0, outcomes.lastEndMs / 1000 - scenario.seconds),
    processor: {
      allMicros,
      worldMicros,
      schedulerMicros,
      callsPerCoreSecond: schedulerMicros === 0 ? 0 : 1e6 / schedulerMicros,
    },
    endpoints: servers.map((server, i) => endpointResult(server, stats.endpoints[i], scenario)),
  }
}

const KIND_WORDS: Readonly<Record<EndpointNature['kind'], string>> = {
  usual: 'as usual',
  slow: 'three times as slow',
  quota: '429 beyond a quota',
  metered: 'limit known to the fleet',
  refusing: 'away for a sixth of the time',
  restarting: 'the same, half of it silently',
  hanging: 'the same, all of it silently',
}

const kindLine = (kind: EndpointNature['kind'], all: readonly EndpointResult[]): ResultLine[] => {
  const own = all.filter(endpoint => endpoint.kind === kind)
  if (own.length === 0) return []
  const sum = (pick: (endpoint: EndpointResult) => number) =>
    own.reduce((total, endpoint) => total + pick(endpoint), 0)
  const backs = own.flatMap(({ backAfterMs }) => (backAfterMs === null ? [] : [backAfterMs]))
  const back = backs.length > 0 ? `, back after ${(Math.max(...backs) / 1000).toFixed(1)} s at most` : ''
  return [
    [
      `${own.length} ${KIND_WORDS[kind]}`,
      `${formatInteger(sum(endpoint => endpoint.answered))} answered`,
      `of ${formatInteger(sum(endpoint => endpoint.attempts))}; busy ${wholePercent(sum(endpoint => endpoint.utilisation) / own.length)}, breaker opened ${sum(endpoint => endpoint.timesOpened)} times${back}`,
    ],
  ]
}

/** The result for people. */
export const formatFleetBenchmark = (result: FleetBenchmark): string => {
  const { scenario, latencyMs, processor, endpoints } = result
  const ms = (value: number | null) => (value === null ? '–' : `${formatInteger(value)} ms`)
  const failures = Object.entries(result.failures).map(([kind, { calls }]) => `${calls} ${kind}`)
  return resultTable([
    [
      'calls asked for',
      formatInteger(result.calls),
      `${formatInteger(scenario.callsPerSecond)}/s for ${scenario.seconds} s of the clock, ${scenario.endpoints} endpoints of ${scenario.concurrency}`,
    ],
    [
      'answered',
      formatInteger(result.answered),
      `${formatInteger(result.answeredPerSecond)}/s while calls came, all ${result.drainSeconds.toFixed(1)} s after the last`,
    ],
    ['failed', formatInteger(result.failed), failures.join(', ')],
    ['mixed up or answered twice', formatInteger(result.wrong), 'should be none'],
    ['latency, median', ms(latencyMs.p50), ''],
    ['latency, 95th percentile', ms(latencyMs.p95), ''],
    ['latency, 99th percentile', ms(latencyMs.p99), `longest ${ms(latencyMs.longest)}`],
    ['queue, 99th percentile', ms(result.queueWaitMs.p99), `longest ${ms(result.queueWaitMs.longest)}`],
    [
      'attempts',
      formatInteger(result.attempts),
      `${formatInteger(result.wastedAttempts)} without an answer (${percent(result.wastedAttempts / Math.max(1, result.attempts))}), ${formatInteger(result.retried)} calls asked again`,
    ],
    ['breakers opened', `${result.breakerOpened} times`, ''],
    ...(Object.keys(KIND_WORDS) as EndpointNature['kind'][]).flatMap(kind => kindLine(kind, endpoints)),
    [
      'scheduler, processor time a call',
      `${processor.schedulerMicros.toFixed(1)} us`,
      `${processor.allMicros.toFixed(1)} us with the simulated servers, ${processor.worldMicros.toFixed(1)} us of them alone`,
    ],
    [
      'calls that one core schedules',
      `${formatInteger(processor.callsPerCoreSecond)}/s`,
      `asked for ${formatInteger(scenario.callsPerSecond)}/s`,
    ],
  ])
}
