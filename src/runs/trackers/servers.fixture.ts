/** @file MLflow and trackio as far as trackers use them, with the rules of theirs that a client can break, and bad days. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a server does with the next requests: answers with a status or these words, never answers, cuts the line, or works and never says so. */
type Mood = 'well' | number | Handled | 'hang' | 'cut' | 'silent'

export interface Handled {
  status: number
  body: unknown
}

/** A request's body as the test's own client sends it. */
// biome-ignore lint/suspicious/noExplicitAny: whatever JSON there is
type Body = Record<string, any>

abstract class FakeServer {
  mood: Mood = 'well'
  /** Moods of the next requests, before `mood`. */
  next: Mood[] = []
  /** Path, and the headers that were sent. */
  readonly requests: { path: string; headers: IncomingMessage['headers'] }[] = []
  url = ''
  #server: Server | null = null

  async start(port = 0): Promise<this> {
    const server = createServer((request, response) => void this.#serve(request, response))
    this.#server = server
    await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return this
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  /** As if it were killed: connections break. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = null
    server?.closeAllConnections()
    await new Promise(resolve => (server ? server.close(resolve) : resolve(null)))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const url = new URL(request.url!, this.url)
    this.requests.push({ path: url.pathname, headers: request.headers })
    const mood = this.next.shift() ?? this.mood
    if (mood === 'hang') return
    if (mood === 'cut') return void request.socket.destroy()
    const text = Buffer.concat(chunks).toString()
    const { status, body } =
      typeof mood === 'number'
        ? { status: mood, body: `no service ${request.headers.authorization ?? ''}` }
        : typeof mood === 'object'
          ? mood
          : this.handle(url, text === '' ? {} : JSON.parse(text), text.length)
    if (mood === 'silent') return void request.socket.destroy()
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(status === 429 && { 'retry-after': '0' }),
    })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

  protected abstract handle(url: URL, body: Body, bytes: number): Handled
}

interface FakeMetric {
  key: string
  value: number
  timestamp: number
  step: number
}

export interface FakeRun {
  id: string
  name: string
  experiment: string
  status: string
  tags: Record<string, string>
  params: Record<string, string>
  metrics: FakeMetric[]
  /** Milliseconds since 1970, once it has ended. */
  endTime?: number
}

const error = (status: number, code: string, message: string): Handled => ({
  status,
  body: { error_code: code, message },
})

/** The rules are those of MLflow 3: `mlflow/utils/validation.py`, and the primary key of its table of metrics. */
export class FakeMlflow extends FakeServer {
  readonly experiments = new Map<string, string>()
  readonly runs: FakeRun[] = []

  protected handle(url: URL, body: Body, bytes: number): Handled {
    const path = url.pathname.replace('/api/2.0/mlflow/', '')
    if (path === 'experiments/get-by-name') {
      const name = url.searchParams.get('experiment_name')!
      const id = this.experiments.get(name)
      if (id === undefined) return error(404, 'RESOURCE_DOES_NOT_EXIST', `no experiment ${name}`)
      return { status: 200, body: { experiment: { experiment_id: id, name, lifecycle_stage: 'active' } } }
    }
    if (path === 'experiments/create') {
      if (this.experiments.has(body.name)) return error(400, 'RESOURCE_ALREADY_EXISTS', 'it exists')
      this.experiments.set(body.name, String(this.experiments.size + 1))
      return { status: 200, body: { experiment_id: this.experiments.get(body.name) } }
    }
    if (path === 'runs/search') {
      const [, tag, value] = /^tags\."([\w.]+)" = '(\w+)'$/.exec(body.filter)!
      const runs = this.runs.filter(
        run => body.experiment_ids.includes(run.experiment) && run.tags[tag] === value,
      )
      return { status: 200, body: runs.length === 0 ? {} : { runs: runs.slice(0, 1).map(infoOf) } }
    }
    if (path === 'runs/create') {
      const tags = Object.fromEntries(
        body.tags.map((tag: { key: string; value: string }) => [tag.key, tag.value]),
      )
      const run = {
        id: `r${this.runs.length + 1}`,
        name: body.run_name,
        experiment: body.experiment_id,
        status: 'RUNNING',
        tags,
        params: {},
        metrics: [],
      }
      this.runs.push(run)
      return { status: 200, body: { run: infoOf(run) } }
    }
    const run = this.runs.find(({ id }) => id === body.run_id)
    if (run === undefined) return error(404, 'RESOURCE_DOES_NOT_EXIST', `no run ${body.run_id}`)
    if (path === 'runs/update') {
      run.status = body.status
      run.endTime = body.end_time ?? run.endTime
    } else if (path === 'runs/set-tag') run.tags[body.key] = body.value
    else if (path === 'runs/log-batch') return this.#logBatch(run, body, bytes)
    else return { status: 404, body: 'not found' }
    return { status: 200, body: {} }
  }

  #logBatch(run: FakeRun, { metrics = [], params = [] }: Body, bytes: number): Handled {
    if (metrics.length > 1000 || params.length > 100 || bytes > 1e6)
      return error(400, 'INVALID_PARAMETER_VALUE', 'too many')
    for (const { key, value } of [...metrics, ...params]) {
      const parts = key.split('/')
      if (
        !/^[\p{L}\p{N}_./ -]{1,250}$/u.test(key) ||
        parts.some((part: string) => ['', '.', '..'].includes(part))
      )
        return error(400, 'INVALID_PARAMETER_VALUE', `invalid name ${key}`)
      if (typeof value === 'string' && value.length > 500)
        return error(400, 'INVALID_PARAMETER_VALUE', 'too long')
    }
    for (const { key, value } of params) {
      if ((run.params[key] ?? value) !== value) return error(400, 'INVALID_PARAMETER_VALUE', `${key} changed`)
      run.params[key] = value
    }
    for (const metric of metrics as FakeMetric[]) {
      if (!Number.isInteger(metric.timestamp) || !Number.isFinite(metric.value))
        return error(400, 'INVALID_PARAMETER_VALUE', 'no number')
      const same = (other: FakeMetric) =>
        other.key === metric.key &&
        other.step === metric.step &&
        other.timestamp === metric.timestamp &&
        other.value === metric.value
      if (!run.metrics.some(same)) run.metrics.push(metric)
    }
    return { status: 200, body: {} }
  }
}

const infoOf = (run: FakeRun) => ({
  info: { run_id: run.id, status: run.status },
  data: { tags: Object.entries(run.tags).map(([key, value]) => ({ key, value })) },
})

export interface FakeLog {
  project: string
  run: string
  run_id: string
  metrics: Record<string, number>
  step: number
  config: Record<string, string>
  log_id: string
}

/** As `trackio/server.py` of trackio 0.43: every log_id once, a write token. */
export class FakeTrackio extends FakeServer {
  token = 'secret'
  apiVersion = 1
  readonly logs: FakeLog[] = []

  protected handle(url: URL, { kwargs = {} }: Body): Handled {
    if (url.pathname === '/version')
      return { status: 200, body: { version: '0.43.0', api_version: this.apiVersion } }
    if (url.pathname === '/api/get_runs_for_project') {
      const ids = new Set(
        this.logs.filter(({ project }) => project === kwargs.project).map(log => log.run_id),
      )
      return { status: 200, body: { data: [...ids].map(id => ({ id })) } }
    }
    if (url.pathname !== '/api/bulk_log') return { status: 404, body: { error: 'Unknown API' } }
    if (this.requests.at(-1)!.headers['x-trackio-write-token'] !== this.token)
      return { status: 400, body: { error: 'A write_token is required to log metrics' } }
    for (const log of kwargs.logs as FakeLog[])
      if (!this.logs.some(({ log_id }) => log_id === log.log_id)) this.logs.push(log)
    return { status: 200, body: { data: null } }
  }
}
