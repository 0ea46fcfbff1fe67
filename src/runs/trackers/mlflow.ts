/**
 * @file MLflow by its REST API, version 2.0 (mlflow.org/docs/latest/api_reference/rest-api.html): a run in an experiment, its
 * settings as params, its metrics by log-batch within the limits of that call, its end as its status.
 */

import { shortHash } from '../../util/canonical.ts'
import { valueInside } from '../../util/own-value.ts'
import type { SettingsOf } from './config.ts'
import {
  type EndStatus,
  type Opened,
  type OpenTrackerOptions,
  type RunFacts,
  type TrackedPoint,
  type Tracker,
  type TrackerEnv,
  TrackerError,
} from './tracker.ts'
import { askTracker, refusal, serverUrl, type TrackerConnection, type TrackerResponse } from './transport.ts'

/** Of one log-batch request, as the API documents them. */
const MOST_METRICS = 1000
const MOST_PARAMS = 100
/** Shorter than any server's limit: that of params was 500 characters before it became 6,000. */
const MOST_VALUE = 500
const MOST_NAME = 250
/** What the run is found by again. */
const IDENTITY_TAG = 'gradus.identity'
/** How many params the run has, once it has all. */
const PARAMS_TAG = 'gradus.params'

const STATUS: Record<EndStatus, string> = { finished: 'FINISHED', stopped: 'KILLED', failed: 'FAILED' }

/**
 * A name as MLflow takes it: letters, digits, `_ . - /` and spaces, a path that is its own shortest form. Other characters become
 * their code points, so that different names stay different.
 */
export const mlflowName = (name: string): string => {
  const spelt = name.replace(/[^\p{L}\p{N}_./ -]/gu, mark => `_${mark.codePointAt(0)!.toString(16)}_`)
  const path = spelt
    .split('/')
    .map(part => (part === '' ? '_' : /^\.+$/.test(part) ? part.replaceAll('.', '_2e_') : part))
    .join('/')
  return path.length <= MOST_NAME ? path : `${wholeStart(path, MOST_NAME - 17)}-${shortHash(name)}`
}

const shortened = (value: string): string =>
  value.length <= MOST_VALUE ? value : `${wholeStart(value, MOST_VALUE - 1)}…`

/** Without half a character at its end, which no database takes. */
const wholeStart = (text: string, length: number): string =>
  text.slice(0, length).replace(/[\ud800-\udbff]$/, '')

const piecesOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))

/** A token, or a name with a password, as MLflow's own client reads them from the environment. */
const authorization = ({
  MLFLOW_TRACKING_TOKEN: token,
  MLFLOW_TRACKING_USERNAME: name,
  MLFLOW_TRACKING_PASSWORD: password,
}: TrackerEnv): Record<string, string> => {
  if (name && password)
    return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` }
  return token ? { authorization: `Bearer ${token}` } : {}
}

const isText = (value: string | undefined): value is string => value !== undefined && value !== ''

interface MlflowError {
  error_code?: unknown
  message?: unknown
}

export class Mlflow implements Tracker {
  readonly where: string
  readonly exportOptions: readonly string[]
  readonly takesOnce = 'metric'
  readonly mostPoints = 100
  readonly #connection: TrackerConnection
  readonly #experiment: string
  #run = ''

  /** @throws TrackerError for an address that is none, or missing */
  constructor(
    { uri, experiment }: SettingsOf<'mlflow'>,
    { env = process.env, signal, timeoutMs = 10_000 }: OpenTrackerOptions = {},
  ) {
    const url = serverUrl({
      ...{ kind: 'mlflow', uri, variable: 'MLFLOW_TRACKING_URI', env },
      credentials:
        'give them as MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN',
    })
    const headers = authorization(env)
    const { MLFLOW_TRACKING_TOKEN, MLFLOW_TRACKING_PASSWORD } = env
    const secrets = [headers.authorization?.split(' ')[1], MLFLOW_TRACKING_TOKEN, MLFLOW_TRACKING_PASSWORD]
    this.#connection = { url, headers, secrets: secrets.filter(isText), timeoutMs, signal }
    this.#experiment = experiment ?? env.MLFLOW_EXPERIMENT_NAME ?? 'gradus'
    this.where = `MLflow at ${url}`
    this.exportOptions = ['--mlflow', url, '--experiment', this.#experiment]
  }

  async open(run: RunFacts, identity: string): Promise<Opened> {
    const experiment = await this.#experimentId()
    const known = await this.#find(experiment, identity)
    if (known !== null) {
      this.#run = known.id
      if (!known.hasParams) await this.#params(run)
      await this.#update('RUNNING')
      return 'known'
    }
    const tags = { ...run.tags, [IDENTITY_TAG]: identity, 'mlflow.source.name': 'gradus' }
    const created = await this.#post('runs/create', {
      experiment_id: experiment,
      run_name: run.name,
      start_time: run.createdAtMs,
      tags: Object.entries(tags).map(([key, value]) => ({ key, value: shortened(value) })),
    })
    this.#run = text(created, 'run', 'info', 'run_id')
    await this.#params(run)
    return 'new'
  }

  /** Once a run: params cannot be changed, and a resume may have changed some settings. */
  async #params({ settings }: RunFacts): Promise<void> {
    const params = Object.entries(settings).map(([name, value]) => ({
      key: mlflowName(name),
      value: shortened(value),
    }))
    for (const some of piecesOf(params, MOST_PARAMS))
      await this.#post('runs/log-batch', { run_id: this.#run, params: some })
    await this.#post('runs/set-tag', { run_id: this.#run, key: PARAMS_TAG, value: String(params.length) })
  }

  async log(points: readonly TrackedPoint[]): Promise<void> {
    const scalars = points.flatMap(({ step, atMs, metrics }) =>
      Object.entries(metrics).map(([name, value]) => ({
        key: mlflowName(name),
        value,
        timestamp: atMs,
        step,
      })),
    )
    for (const some of piecesOf(scalars, MOST_METRICS))
      await this.#post('runs/log-batch', { run_id: this.#run, metrics: some })
  }

  async end(status: EndStatus, atMs: number): Promise<void> {
    await this.#update(STATUS[status], atMs)
  }

  async replace(): Promise<void> {
    await this.#post('runs/set-tag', {
      run_id: this.#run,
      key: 'gradus.replaced',
      value: 'steps of this run were made again with other metrics; a later run of the same name has them',
    })
    await this.#update('KILLED', Date.now())
  }

  async #update(status: string, endMs?: number): Promise<void> {
    await this.#post('runs/update', {
      run_id: this.#run,
      status,
      ...(endMs !== undefined && { end_time: endMs }),
    })
  }

  /** Of the experiment by its name, which is made where there is none. */
  async #experimentId(): Promise<string> {
    const found = await this.#byName()
    if (found !== null) return found
    const made = await this.#ask('POST', 'experiments/create', { name: this.#experiment })
    if (made.status === 200) return text(made.json, 'experiment_id')
    // Another run has made it since.
    const again = errorOf(made).error_code === 'RESOURCE_ALREADY_EXISTS' ? await this.#byName() : null
    if (again !== null) return again
    throw this.#refusal(made)
  }

  async #byName(): Promise<string | null> {
    const path = `experiments/get-by-name?experiment_name=${encodeURIComponent(this.#experiment)}`
    const found = await this.#ask('GET', path)
    if (errorOf(found).error_code === 'RESOURCE_DOES_NOT_EXIST') return null
    if (found.status !== 200) throw this.#refusal(found)
    if (text(found.json, 'experiment', 'lifecycle_stage') === 'deleted')
      throw new TrackerError(`${this.where}: experiment ${this.#experiment} is deleted`, {
        hint: 'restore it there, or name another one',
        lasting: true,
      })
    return text(found.json, 'experiment', 'experiment_id')
  }

  async #find(experiment: string, identity: string): Promise<{ id: string; hasParams: boolean } | null> {
    const found = await this.#post('runs/search', {
      experiment_ids: [experiment],
      filter: `tags."${IDENTITY_TAG}" = '${identity}'`,
      max_results: 1,
    })
    const [run] = listAt(found, 'runs')
    if (run === undefined) return null
    const hasParams = listAt(run, 'data', 'tags').some(tag => valueInside(tag, ['key']) === PARAMS_TAG)
    return { id: text(run, 'info', 'run_id'), hasParams }
  }

  async #post(path: string, body: unknown): Promise<unknown> {
    const answer = await this.#ask('POST', path, body)
    if (answer.status !== 200) throw this.#refusal(answer)
    // Whatever stands between here and there answers with pages of its own: nothing has arrived then.
    if (answer.json === null || typeof answer.json !== 'object')
      throw new TrackerError(`${this.where}: ${path}: expected an answer in JSON, got another`)
    return answer.json
  }

  #ask(method: 'GET' | 'POST', path: string, body?: unknown) {
    return askTracker(this.#connection, method, `/api/2.0/mlflow/${path}`, body)
  }

  #refusal(answer: TrackerResponse): TrackerError {
    const hint =
      answer.status === 401 || answer.status === 403
        ? 'MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, say who is asking'
        : answer.status === 404 && answer.json === null
          ? 'is that the address of an MLflow server?'
          : undefined
    return refusal(this.#connection, this.where, answer, errorOf(answer).message, hint)
  }
}

const errorOf = ({ status, json }: TrackerResponse): MlflowError =>
  status !== 200 && json !== null && typeof json === 'object' ? (json as MlflowError) : {}

/** A list inside an answer; what is no list has nothing in it. */
const listAt = (value: unknown, ...path: string[]): unknown[] => {
  const found = valueInside(value, path)
  return Array.isArray(found) ? found : []
}

/** A text inside an answer. @throws TrackerError where it is not there */
const text = (value: unknown, ...path: string[]): string => {
  const found = valueInside(value, path)
  if (typeof found === 'string') return found
  throw new TrackerError(`mlflow: expected ${path.join('.')} in the server's answer, got nothing`, {
    lasting: true,
  })
}
