// `gradus serve reward` under load: killed, drained, paused, on a bad disk or with a bad judge; every request is accounted for.
import { writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { inventedVerdicts, verdictsOfCache } from './checks.js'
import { disturb } from './disturb.js'
import { RUBRIC, responses } from './fixtures.js'

const CLIENTS = 6
const LOAD_MS = 4_000
const STARTS_WITHIN_MS = 90_000
/** Requests that are sent right before the last SIGTERM. */
const LAST_BURST = 20
const LATENCY_MS = 30
const QUESTIONS = 60
const GENTLE = { codes: [0], signals: [] }

const writeConfig = trial =>
  writeFileSync(
    trial.path('reward.json'),
    JSON.stringify({
      rubrics: { chaos: { criteria: RUBRIC.criteria } },
      judges: {
        main: {
          kind: 'llm',
          fleet: {
            endpoints: [{ url: trial.judge.url, model: 'chaos', attemptTimeoutMs: 5_000 }],
            ...{
              retries: 12,
              backoffMs: 20,
              longestBackoffMs: 300,
              longestRetryAfterMs: 300,
              startupMs: 60_000,
            },
            breaker: { pauseMs: 50, longestPauseMs: 500 },
          },
        },
      },
      judge: 'main',
      cache: { folder: trial.path('verdicts') },
      routes: [{ kind: 'grade', path: '/v1/grade' }],
    }),
  )

/** The service over its restarts: always on one port. */
class Service {
  port = 0
  child = null
  /** When it was down: from the signal until it listened again; `gentle` where it had to answer what it had. */
  downs = []

  constructor(trial) {
    this.trial = trial
  }

  /** @returns whether it listens; false where it refused to start */
  async start(attempt) {
    this.child = this.trial.start(
      ['serve', 'reward', '--config', this.trial.path('reward.json'), '--port', String(this.port), '--quiet'],
      attempt,
    )
    const untilMs = performance.now() + STARTS_WITHIN_MS
    while (this.child.isRunning && performance.now() < untilMs) {
      const found = /rewards at http:\/\/127\.0\.0\.1:(\d+),/.exec(this.child.err)
      if (found) {
        this.port = Number(found[1])
        const down = this.downs.at(-1)
        if (down) down.toMs ??= performance.now()
        return true
      }
      await wait(10)
    }
    return false
  }

  noteDown(gentle) {
    this.downs.push({ fromMs: performance.now(), toMs: null, gentle })
  }
}

/** One request. @returns what became of it, with the times at which it was sent off whole and came to its end */
const post = (port, items, agent) =>
  new Promise(resolve => {
    const record = {
      items,
      begunMs: performance.now(),
      sentMs: null,
      endMs: 0,
      status: null,
      body: null,
      error: null,
    }
    const done = changes => resolve(Object.assign(record, changes, { endMs: performance.now() }))
    const body = JSON.stringify({ items })
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = httpRequest(
      { host: '127.0.0.1', port, path: '/v1/grade', method: 'POST', headers, agent },
      response => {
        const chunks = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('end', () =>
          done({ status: response.statusCode, body: Buffer.concat(chunks).toString() }),
        )
        response.on('error', error => done({ error: error.code ?? error.message }))
      },
    )
    sent.on('finish', () => {
      // The kernel has it once the socket is connected and nothing waits in it.
      const { socket } = sent
      const note = () => {
        record.sentMs = performance.now()
      }
      if (socket && !socket.connecting && socket.writableLength === 0) note()
      else socket?.once('drain', note)
    })
    sent.on('error', error => done({ error: error.code ?? error.message }))
    sent.end(body)
  })

const RESPONSES = responses(QUESTIONS)

/** Requests one after the other until `over` says so. */
const client = async (service, number, over, records) => {
  const agent = new Agent({ keepAlive: number % 2 === 0 })
  for (let i = number; !over(); i += CLIENTS) {
    const items = Array.from({ length: 1 + (i % 3) }, (_, k) => RESPONSES[(i * 7 + k) % QUESTIONS])
    const record = await post(service.port, items, agent)
    records.push(record)
    if (record.error !== null) await wait(20)
  }
  agent.destroy()
}

/** What rules say of a response, by hand. */
const ruled = ({ id }) => {
  const number = Number(id.slice(1))
  return { brief: number % 3 !== 0, rude: number % 5 === 0 }
}

const wrongRules = ({ items, body }) =>
  JSON.parse(body).results.flatMap(({ verdicts }, i) => {
    const expected = ruled(items[i])
    return verdicts
      .filter(({ criterionId, met }) => criterionId in expected && expected[criterionId] !== met)
      .map(
        ({ criterionId, met }) =>
          `${items[i].id}: ${criterionId}: expected ${expected[criterionId]}, got ${met}`,
      )
  })

/** Whether the service's end accounts for a request without an answer. A gentle one accounts only for what came after it. */
const excused = ({ sentMs, begunMs, endMs }, downs) =>
  downs.some(({ fromMs, toMs, gentle }) => {
    const within = endMs >= fromMs && begunMs <= (toMs ?? Number.POSITIVE_INFINITY)
    return within && (!gentle || sentMs === null || sentMs >= fromMs)
  })

export const serveReference = async () => ({ ms: LOAD_MS, bytes: { all: 1 << 16, largest: 1 << 15 } })

export const serveTrial = async ({ fault, attempts: [attempt] }, _context, trial) => {
  await trial.openJudge(LATENCY_MS)
  writeConfig(trial)
  const service = new Service(trial)
  const started = await service.start(attempt)
  if (!started) {
    const refusal = { codes: attempt.fault === 'disk-full' ? [1] : [], signals: [] }
    await trial.end(service.child, refusal)
    if (!(await service.start())) throw new Error(`the service does not start: ${service.child.err}`)
  }
  const records = []
  const endMs = performance.now() + LOAD_MS
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    client(service, i, () => performance.now() > endMs, records),
  )
  if (attempt.faults) trial.judge.faults = attempt.faults
  const judging = fault === 'judge-restarts' ? trial.restartJudge(service.child, attempt) : null
  if (started) await disturbService(service, attempt, trial)
  await Promise.all(clients)
  await judging
  await drain(service, records, trial)
  account(fault, records, service, trial)
  await trial.checkOrphans()
  return fault === 'judge-lasting' ? 'accounted' : 'identical'
}

const ENDING = ['kill', 'signals', 'clock']

const disturbService = async (service, attempt, trial) => {
  trial.disturbances++
  const { child } = service
  if (attempt.fault === 'clock') attempt = { ...attempt, kill: null }
  if (attempt.fault === 'kill') attempt = { ...attempt, moment: 'random', at: attempt.at * 0.9 }
  // The moment of a signal is noted by whoever sends it.
  const send = child.signal.bind(child)
  child.signal = signal => {
    if (['SIGKILL', 'SIGTERM', 'SIGINT'].includes(signal) && child.isRunning) {
      const gentle = signal !== 'SIGKILL' && service.downs.length === 0
      if (service.downs.length === 0) service.noteDown(gentle)
      else service.downs[0].gentle = false
    }
    send(signal)
  }
  const expected = await disturb(child, attempt, { dir: trial.folder, expectedMs: LOAD_MS, trial: trial.id })
  child.signal = send
  if (!ENDING.includes(attempt.fault) || service.downs.length === 0) return
  await trial.end(child, expected)
  trial.resumes++
  if (!(await service.start())) throw new Error(`the service does not start again: ${service.child.err}`)
}

/** A burst, and SIGTERM right behind it: all of it has to be answered, and the process to end by itself. */
const drain = async (service, records, trial) => {
  const burst = Array.from({ length: LAST_BURST }, (_, i) => post(service.port, [RESPONSES[i]], new Agent()))
  await wait(100)
  service.noteDown(true)
  service.child.signal('SIGTERM')
  records.push(...(await Promise.all(burst)))
  await trial.end(service.child, GENTLE)
}

const account = (fault, records, { downs }, trial) => {
  const answered = records.filter(({ status }) => status === 200)
  const lost = records.filter(record => record.error !== null && !excused(record, downs))
  const refused = records.filter(({ status }) => status !== null && status !== 200)
  trial.note(
    `${records.length} requests: ${answered.length} answered, ${refused.length} refused, downs ${JSON.stringify(downs)}`,
  )
  trial.check(
    'every request is accounted for',
    lost.map(
      ({ error, begunMs, sentMs, endMs }) =>
        `${error}: begun ${begunMs}, sent ${sentMs}, ended ${endMs}; downs ${JSON.stringify(downs)}`,
    ),
  )
  trial.check(
    'refused only as documented',
    refused
      .filter(({ status }) => ![429, 503, 504].includes(status))
      .map(({ status, body }) => `status ${status}: ${body}`),
  )
  trial.check('some requests are answered', answered.length > 0 ? [] : [`none of ${records.length}`])
  trial.check('rules are not touched', answered.flatMap(wrongRules))
  const verdicts = answered
    .flatMap(({ body }) => JSON.parse(body).results.flatMap(result => result.verdicts ?? []))
    .filter(({ criterionId }) => ['explains', 'kind'].includes(criterionId))
  trial.check('no invented verdict', inventedVerdicts(verdicts, trial.judge.given))
  trial.check(
    'no invented verdict in the cache',
    inventedVerdicts(verdictsOfCache(trial.path('verdicts')), trial.judge.given),
  )
  const nulls = verdicts.filter(({ met }) => met === null).length
  if (fault !== 'judge-lasting')
    trial.check('no lost verdict', nulls > 0 ? [`${nulls} verdicts are null`] : [])
}
