/** @file Secrets of tools: named in configurations, read from the environment, and taken out of every text that leaves a tool. */

import { z } from 'zod'
import { keyVariableSchema } from '../chat/credentials.ts'
import { ConfigError } from '../util/errors.ts'
import { secretInAddress, writtenOut, writtenOutArgument } from '../util/secret-words.ts'

export type ProcessEnv = Readonly<Record<string, string | undefined>>

const variableSchema = z.strictObject({
  env: keyVariableSchema.describe('Environment variable that holds the value.'),
  prefix: z.string().default('').describe('Text put before the value.'),
})

/** A value as it is, or the name of the environment variable that holds it, with what stands before it (`Bearer `). */
const valueSchema = z.union([z.string(), variableSchema])
export type ConfiguredValue = z.output<typeof valueSchema>

/**
 * Headers or parameters by name. Settings are kept in run folders: a secret that is written out is refused. The refinement is of all
 * of them, because a message about the one would show it.
 */
export const valuesSchema = z
  .record(z.string(), valueSchema)
  .refine(values => writtenOut(values) === undefined, {
    error: ({ input }) => {
      const name = writtenOut(input)
      return `no secret written out, as that of ${name}, which would be kept with the run; write ${name}: {env: NAME}, with NAME the environment variable that holds it, and prefix: "Bearer " where that stands before it`
    },
  })

/** JSON of a request; an object `{env: NAME}` in it is a secret's place. Whatever looks like one written out is refused. */
export const bodySchema = z.json().refine(body => writtenOut(body) === undefined, {
  error: ({ input }) => {
    const path = writtenOut(input)
    return `no secret written out, as that of ${path}, which would be kept with the run; write {env: NAME} in its place, with NAME the environment variable that holds it`
  },
})

/** Arguments of a command, which are kept as they are. */
export const argumentsSchema = z.array(z.string()).refine(args => writtenOutArgument(args) === undefined, {
  error: ({ input }) =>
    `no secret written out, as that of ${writtenOutArgument(input as string[])}, which would be kept with the run; name its environment variable in env, which the command reads it from`,
})

/**
 * Addresses are kept in run folders and cards, and stand in errors; secrets never do. For a refinement of the object that has the
 * address: the message of one of `url` would show it.
 */
export const hasNoSecretInUrl = ({ url }: { url?: string | undefined }): boolean =>
  url === undefined || secretInAddress(url) === undefined

export const secretInUrl = ({ input }: { input?: unknown }): string =>
  `an address without ${secretInAddress((input as { url: string }).url)}, which would be kept with the run; write it into headers as {env: NAME}, with NAME the environment variable that holds it`

const HIDDEN = '[secret]'
/** What is shorter is no secret, and stands in every text. */
const SHORTEST = 4

/** The value of an environment variable. @throws ConfigError naming the variable where it is not set */
const readVariable = (name: string, where: string, env: ProcessEnv): string => {
  const value = env[name]?.trim()
  if (value) return value
  throw new ConfigError(`${where}: expected the environment variable ${name} to be set, got nothing`, {
    hint: 'export it before the start, or leave it out of the configuration',
  })
}

/** As it is, and as it stands in addresses, forms and JSON. */
const formsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  new URLSearchParams({ value }).toString().slice('value='.length),
  JSON.stringify(value).slice(1, -1),
  // A form that was decoded by half.
  value.replaceAll(' ', '+'),
]

/** Values read from the environment, so that no text shows them. */
export class Secrets {
  readonly #env: ProcessEnv
  readonly #values = new Set<string>()

  constructor(env: ProcessEnv) {
    this.#env = env
  }

  /** @throws ConfigError for a variable that is not set */
  variable(name: string, where: string): string {
    const value = readVariable(name, where, this.#env)
    this.#add(value)
    return value
  }

  /** @throws ConfigError for a variable that is not set */
  resolve(value: ConfiguredValue, where: string): string {
    if (typeof value === 'string') return value
    const text = this.variable(value.env, where)
    if (/^basic\s+$/i.test(value.prefix)) this.#addBasic(text)
    return `${value.prefix}${text}`
  }

  /** User and password, which a server reads in base64. */
  #addBasic(text: string): void {
    const pair = Buffer.from(text, 'base64').toString('utf8')
    for (const open of [pair, pair.slice(pair.indexOf(':') + 1)]) this.#add(open)
  }

  #add(value: string): void {
    if (value.length >= SHORTEST) for (const form of formsOf(value)) this.#values.add(form)
  }

  /** JSON with the values of its variables. @throws ConfigError for a variable that is not set */
  resolveIn(body: unknown, where: string): unknown {
    if (body === null || typeof body !== 'object') return body
    const variable = variableSchema.safeParse(body)
    if (variable.success) return this.resolve(variable.data, where)
    if (Array.isArray(body)) return body.map((each, i) => this.resolveIn(each, `${where}[${i}]`))
    return Object.fromEntries(
      Object.entries(body).map(([key, each]) => [key, this.resolveIn(each, `${where}.${key}`)]),
    )
  }

  /** @throws ConfigError for a variable that is not set, and for a header that HTTP does not allow */
  headers(headers: Readonly<Record<string, ConfiguredValue>>, where: string): Record<string, string> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => {
        const at = `${where}: headers.${name}`
        const text = this.resolve(value, at)
        if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\u0020-\u007e\u0080-\u00ff]/.test(text))
          throw new ConfigError(
            `${at}: expected a header of one line, got characters that no header may have`,
          )
        return [name.toLowerCase(), text]
      }),
    )
  }

  /** A text with every secret taken out. */
  hide(text: string): string {
    let open = text
    for (const value of this.#longestFirst()) open = open.replaceAll(value, HIDDEN)
    return open
  }

  /** JSON with every secret taken out of its texts and names: what is read may spell a secret otherwise than it is sent. */
  hideIn<T>(value: T): T {
    return this.#values.size === 0 ? value : (this.#hiddenIn(value) as T)
  }

  #hiddenIn(value: unknown): unknown {
    if (typeof value === 'string') return this.hide(value)
    if (Array.isArray(value)) return value.map(each => this.#hiddenIn(each))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [this.hide(key), this.#hiddenIn(each)]),
    )
  }

  /** One secret may begin another: what is left of the longer one would be shown. */
  #longestFirst(): string[] {
    return [...this.#values].sort((a, b) => b.length - a.length)
  }
}
