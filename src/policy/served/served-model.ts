/**
 * @file A model on an inference server: samples and scores of token ids. The server computes; its weights change only where an
 * adapter is loaded.
 */

import pMap from 'p-map'
import { modelAddress } from '../../chat/model-address.ts'
import { isFields } from '../../chat/response.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { parseWith } from '../../util/schema.ts'
import { handOut, refuseUnknown } from '../asked-elsewhere.ts'
import type { Policy, Sample, SampleRequest, ScoreItem, TokenScores } from '../policy.ts'
import { type ServedRuntime, ServerConnection, type ServerRequest } from './connection.ts'
import type { GroupRequest, ServedDialect, ServedSample } from './dialect.ts'
import type { DialectName } from './dialect-names.ts'
import { ServedError } from './errors.ts'
import { OPENAI_DIALECT } from './openai-dialect.ts'
import { type ServedOptions, type ServedSettings, servedSchema } from './settings.ts'
import { SGLANG_DIALECT } from './sglang-dialect.ts'

const OF_NAME: Record<DialectName, ServedDialect> = { openai: OPENAI_DIALECT, sglang: SGLANG_DIALECT }

/** What `/v1/models` says of a model. */
interface ListedModel {
  id: string
  ownedBy: string
  /** Most tokens of prompt and response, where it is said. */
  maxTokens: number | null
}

/** Settings of one continuation. */
export type ContinuationOptions = Pick<
  SampleRequest,
  'maxTokens' | 'temperature' | 'topK' | 'topP' | 'stopStrings' | 'seed'
>

interface Parts {
  connection: ServerConnection
  dialect: ServedDialect
  model: string
  maxTokens: number | null
  sendSeed: boolean
  concurrency: number
}

/** Seeds of servers are whole numbers; ours are names. A group takes as many from there on as it has samples. */
const seedNumber = (name: string): number => new Rng(name).int(2 ** 31 - 2 ** 16)

const NO_TOKENS =
  'vLLM 0.10.2 or later gives them (return_token_ids), SGLang by its own /generate (dialect: sglang), and gradus serve chat; without them a server can only be evaluated by text, as a chat model'

export class ServedModel implements Pick<Policy, 'sample' | 'score' | 'close'> {
  readonly #parts: Parts
  readonly #model: string
  /** Name of the adapter that it is; it lives by the connection of its base. */
  readonly #adapter: string | null

  private constructor(parts: Parts, adapter: string | null = null) {
    this.#parts = parts
    this.#model = parts.model
    this.#adapter = adapter
  }

  /**
   * Finds out what the server is and whether it has the model.
   * @throws ConfigError for settings that cannot be used; ServedError where the server cannot be had or has no such model
   */
  static async open(options: ServedOptions, runtime: ServedRuntime = {}): Promise<ServedModel> {
    const parsed = parseWith(servedSchema, options, 'inference server')
    const address = modelAddress(parsed.url, 'url')
    const settings = { ...parsed, url: address.url, model: parsed.model ?? address.model }
    const connection = new ServerConnection(settings, runtime)
    try {
      const listed = await listModels(connection)
      const found = pickModel(connection.origin, settings, listed)
      const dialect = OF_NAME[settings.dialect ?? (found.ownedBy === 'sglang' ? 'sglang' : 'openai')]
      return new ServedModel({
        connection,
        dialect,
        model: found.id,
        maxTokens: found.maxTokens,
        sendSeed: settings.sendSeed ?? dialect.name !== 'sglang',
        concurrency: settings.concurrency,
      })
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  /** What the server calls what is sampled from. */
  get name(): string {
    return this.#model
  }

  /** For messages and results: scheme, host and port. */
  get server(): string {
    return this.#parts.connection.origin
  }

  get dialect(): DialectName {
    return this.#parts.dialect.name
  }

  /** Most tokens of prompt and response; null where the server does not say. */
  get maxTokens(): number | null {
    return this.#parts.maxTokens
  }

  /** Requests sent, repetitions included. */
  get requests(): number {
    return this.#parts.connection.sent
  }

  /**
   * As `Policy.sample`: groups are asked for by themselves and handed out as they come, tokens with their sample. Log-probs are as
   * the server reckons them: of vLLM at temperature 1, unless it runs with `--logprobs-mode processed_logprobs`.
   * @throws ConfigError for grammars and alternatives; ServedError, of kind `no-tokens` where token ids or log-probs are missing
   */
  sample: Policy['sample'] = async (request, onSample, onToken) => {
    refuseUnknown(request)
    const { prompts, samplesPerPrompt = 1, seed = 0, promptSeeds } = request
    const group = async (prompt: TokenIds, p: number): Promise<Sample[]> => {
      const name = String(promptSeeds?.[p] ?? `${seed}/${p}`)
      const samples = await this.#group({ ...groupOf(request, name), prompt, samples: samplesPerPrompt })
      return samples.map((served, index) =>
        handOut({ prompt: p, index, ...this.#withTokens(served) }, onSample, onToken),
      )
    }
    // All are put in line: the connection lets through as many as it may.
    return (await pMap(prompts, group, { concurrency: 2 * this.#parts.concurrency })).flat()
  }

  /**
   * One continuation with its text, in tokens or in words, which the server then makes tokens of. Token ids and log-probs as far as
   * the server gives them. @throws ServedError
   */
  async continuation(prompt: TokenIds | string, options: ContinuationOptions): Promise<ServedSample> {
    const name = `${options.seed ?? 0}/0`
    const [sample] = await this.#group({ ...groupOf(options, name), prompt, samples: 1 })
    return sample
  }

  async #group(request: GroupRequest): Promise<ServedSample[]> {
    const { dialect, connection, sendSeed } = this.#parts
    const own = sendSeed ? request : { ...request, seed: null }
    const requests = dialect.groupRequests(this.#model, own)
    const samples = requests.map(each =>
      connection.ask(each, (answer, where) => dialect.readSamples(answer, where, own)),
    )
    return (await Promise.all(samples)).flat()
  }

  /** @throws ServedError of kind `no-tokens` */
  #withTokens({ tokens, logprobs, finishReason }: ServedSample): Omit<Sample, 'prompt' | 'index'> {
    const missing = tokens === null ? 'token ids' : logprobs === null ? 'log-probs' : null
    if (missing !== null)
      throw new ServedError(
        'no-tokens',
        `${this.server} (${this.#model}): expected ${missing} in its answer, got text alone`,
        { hint: NO_TOKENS },
      )
    return { tokens: tokens!, logprobs: logprobs!, finishReason }
  }

  /**
   * Log-probs of given tokens at temperature 1, by the server's weights of the moment.
   * @throws ConfigError for another temperature and for other weights; ServedError
   */
  score: Policy['score'] = (items, { temperature = 1, weights = 'current' } = {}) => {
    if (temperature !== 1)
      throw new ConfigError(`temperature: expected 1 where an inference server scores, got ${temperature}`, {
        hint: 'set it to 1',
      })
    if (weights === 'reference')
      throw new ConfigError('score: an inference server keeps no reference', {
        hint: 'score with the policy that is trained',
      })
    return pMap(items, item => this.#scores(item), { concurrency: 2 * this.#parts.concurrency })
  }

  async #scores({ promptTokens, tokens }: ScoreItem): Promise<TokenScores> {
    if (tokens.length === 0) return { logprobs: new Float32Array() }
    const all = [...promptTokens, ...tokens]
    const { dialect, connection } = this.#parts
    const logprobs = await connection.ask(dialect.scoreRequest(this.#model, all), (answer, where) =>
      dialect.readScores(answer, where, all),
    )
    return { logprobs: logprobs.slice(promptTokens.length) }
  }

  /**
   * Has the server load a LoRA of this model, and samples from it; its `close` has the server drop it.
   * @param name that nothing else at the server has: what it has cached of one name, it would take for the other's
   * @param folder as the server names it
   * @throws ServedError where the server cannot read it, or loads none
   */
  async withAdapter(name: string, folder: string): Promise<ServedModel> {
    const { connection, dialect } = this.#parts
    await connection.ask(dialect.loadAdapter(name, folder), assertTaken).catch(error => {
      throw adapterError(error, this.server, folder)
    })
    return new ServedModel({ ...this.#parts, model: dialect.adapterModel(this.#model, name) }, name)
  }

  /** Ends the connection; of an adapter: has the server drop it, and leaves the connection to its base. */
  async close(): Promise<void> {
    const { connection, dialect } = this.#parts
    if (this.#adapter === null) return connection.close()
    await connection.ask(dialect.unloadAdapter(this.#adapter), () => {})
  }
}

/** SGLang says with status 200 that it did not. @throws ServedError */
const assertTaken = (answer: unknown, where: string): void => {
  if (isFields(answer) && answer.success === false)
    throw new ServedError('refused', `${where}: ${answer.error_message ?? 'the server did not load it'}`)
}

/** @returns the error with what to do about it */
const adapterError = (error: unknown, server: string, folder: string): unknown => {
  if (!(error instanceof ServedError) || !['refused', 'model', 'malformed'].includes(error.kind)) return error
  return new ServedError(
    'refused',
    `${server}: expected it to load the adapter in ${folder} (${error.message})`,
    {
      hint: 'vLLM loads adapters while it runs with --enable-lora, --max-lora-rank and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True; SGLang with --enable-lora; both must see the folder under this name',
      status: error.status,
      cause: error,
    },
  )
}

const groupOf = (
  { maxTokens, temperature = 1, topK = 0, topP = 1, stopTokens, stopStrings = [] }: Partial<SampleRequest>,
  seedName: string,
): Omit<GroupRequest, 'prompt' | 'samples'> => ({
  maxTokens: maxTokens!,
  temperature,
  topK,
  topP,
  stopStrings,
  seed: seedNumber(seedName),
  ...(stopTokens !== undefined && { stopTokens }),
})

const MODELS: ServerRequest = { path: 'models', method: 'GET' }

/** Models of the server; none where it has no list of them. */
const listModels = (connection: ServerConnection): Promise<ListedModel[]> =>
  connection
    .ask(MODELS, answer => {
      const data = isFields(answer) && Array.isArray(answer.data) ? answer.data : []
      return data.filter(isFields).flatMap(({ id, owned_by, max_model_len }) =>
        typeof id === 'string'
          ? [
              {
                id,
                ownedBy: typeof owned_by === 'string' ? owned_by : '',
                maxTokens: typeof max_model_len === 'number' ? max_model_len : null,
              },
            ]
          : [],
      )
    })
    .catch(error => {
      if (error instanceof ServedError && error.status === 404) return []
      throw error
    })

/** @throws ServedError of kind `model` for one that is not served, and where none is named and there is not just one */
const pickModel = (
  origin: string,
  { model }: Pick<ServedSettings, 'model'>,
  listed: readonly ListedModel[],
): ListedModel => {
  const names = listed.map(({ id }) => id)
  const shown =
    names.length > 8 ? `${names.slice(0, 8).join(', ')} and ${names.length - 8} more` : names.join(', ')
  if (model === null) {
    if (listed.length === 1) return listed[0]
    throw new ServedError(
      'model',
      `${origin}: expected the name of a model, got none, and the server lists ${listed.length === 0 ? 'no models' : shown}`,
      { hint: 'name it behind the address, as in http://127.0.0.1:8000/v1#NAME' },
    )
  }
  const own = listed.find(({ id }) => id === model)
  if (own) return own
  // An adapter of SGLang's is named BASE:ADAPTER, and only some versions list it.
  const base = listed.find(({ id, ownedBy }) => ownedBy === 'sglang' && model.startsWith(`${id}:`))
  if (base) return { ...base, id: model }
  if (listed.length === 0) return { id: model, ownedBy: '', maxTokens: null }
  throw new ServedError('model', `${origin}: expected a model that it serves, got ${model}`, {
    hint: `it has ${shown}`,
  })
}
