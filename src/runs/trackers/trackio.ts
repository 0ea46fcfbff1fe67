/**
 * @file trackio by the HTTP API of its server, version 1: POST /api/<function> with {kwargs}, as trackio 0.31's own client sends
 * it (`trackio/remote_client.py`, `trackio/server.py`). Every row has a `log_id`, of which the server takes each once.
 */

import { shortHash } from '../../util/canonical.ts'
import type { SettingsOf } from './config.ts'
import {
  type EndStatus,
  type Opened,
  type OpenTrackerOptions,
  type RunFacts,
  type TrackedPoint,
  type Tracker,
  TrackerError,
} from './tracker.ts'
import { askTracker, refusal, serverUrl, type TrackerConnection } from './transport.ts'

const API_VERSION = 1

export class Trackio implements Tracker {
  readonly where: string
  readonly exportOptions: readonly string[]
  readonly takesOnce = 'row'
  readonly mostPoints = 200
  readonly #connection: TrackerConnection
  readonly #project: string
  #run: { project: string; run: string; run_id: string; config: Record<string, string> } | null = null

  /** @throws TrackerError for an address that is none, or missing */
  constructor(
    { uri, project }: SettingsOf<'trackio'>,
    { env = process.env, signal, timeoutMs = 10_000 }: OpenTrackerOptions = {},
  ) {
    const url = serverUrl({
      ...{ kind: 'trackio', uri, variable: 'TRACKIO_SERVER_URL', env },
      credentials: 'give the write token as TRACKIO_WRITE_TOKEN',
    })
    const token = env.TRACKIO_WRITE_TOKEN
    this.#connection = {
      url,
      headers: token ? { 'x-trackio-write-token': token } : {},
      secrets: token ? [token] : [],
      timeoutMs,
      signal,
    }
    this.#project = project
    this.where = `trackio at ${url}`
    this.exportOptions = ['--trackio', url, '--project', project]
  }

  async open({ name, settings, tags }: RunFacts, identity: string): Promise<Opened> {
    const answer = await askTracker(this.#connection, 'GET', '/version')
    const version = (answer.json as { api_version?: unknown } | null)?.api_version
    if (answer.status >= 400 || version === undefined)
      throw refusal(
        this.#connection,
        this.where,
        answer,
        undefined,
        'is that the address of a trackio server (trackio show)?',
      )
    if (version !== API_VERSION)
      throw new TrackerError(
        `${this.where}: expected version ${API_VERSION} of its API, got ${String(version)}`,
        { hint: 'trackio import reads what gradus export --csv or --tensorboard writes', lasting: true },
      )
    const config = { ...tags, ...settings }
    this.#run = { project: this.#project, run: name, run_id: identity, config }
    const runs = await this.#call('get_runs_for_project', { project: this.#project })
    const known = Array.isArray(runs) && runs.some(run => (run as { id?: unknown } | null)?.id === identity)
    return known ? 'known' : 'new'
  }

  async log(points: readonly TrackedPoint[]): Promise<void> {
    if (points.length === 0) return
    const run = this.#run!
    const logs = points.map(({ key, step, digest, metrics }) => ({
      ...run,
      metrics,
      step,
      log_id: shortHash([run.run_id, key, digest]),
    }))
    await this.#call('bulk_log', { logs, hf_token: null })
  }

  /** trackio keeps no status of a run. */
  async end(_status: EndStatus): Promise<void> {}

  /** Nor does it take marks on one: the run with the later rows is the one that holds. */
  async replace(): Promise<void> {}

  async #call(name: string, kwargs: Record<string, unknown>): Promise<unknown> {
    const answer = await askTracker(this.#connection, 'POST', `/api/${name}`, { kwargs })
    const { data, error } = (answer.json ?? {}) as { data?: unknown; error?: unknown }
    // Whatever stands between here and there answers with pages of its own: nothing has arrived then.
    if (answer.status === 200 && (answer.json === null || typeof answer.json !== 'object'))
      throw new TrackerError(`${this.where}: ${name}: expected an answer in JSON, got another`)
    if (answer.status === 200 && (error === undefined || error === null)) return data
    const words = typeof error === 'string' ? error : undefined
    const status = answer.status === 200 ? 400 : answer.status
    const hint = /token/i.test(words ?? '')
      ? 'TRACKIO_WRITE_TOKEN holds the token that trackio show prints'
      : undefined
    throw refusal(this.#connection, this.where, { ...answer, status }, words, hint)
  }
}
