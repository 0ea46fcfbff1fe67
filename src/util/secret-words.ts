/** @file What looks like a secret where settings are written: by its name, or by itself. */

/** Names of secrets, written in lower case without what stands between the words: `api_key`, `tavilyApiKey`, `X-Amz-Signature`. */
const SECRET_NAME =
  /^(?:key|sig|pwd|auth|cookie)$|(?:api|access|auth|private|secret|subscription)key$|(?:token|secret|passwd|password|signature|credentials?|authorization)$/

/** Whether a name is one that secrets have. */
export const isSecretName = (name: string): boolean =>
  SECRET_NAME.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''))

/** Values that are secrets whatever they are called: what an authorization begins with, and the beginnings of well-known keys. */
const SECRET_VALUE = /^(?:bearer|basic)\s+\S|^(?:sk|pk|hf|ghp|gho|tvly|xox[abp])[-_][\w-]{8,}$/i

/** What is filled in for a call, so that it is no secret. */
const PLACEHOLDER = /\{(?:query|top)\}/

/** Whether a text looks like a secret that is written out: by its name, or by itself. */
const isWrittenOut = (name: string, text: string): boolean =>
  text !== '' && !PLACEHOLDER.test(text) && (isSecretName(name) || SECRET_VALUE.test(text.trim()))

/** The name of a value that is written out and looks like a secret; undefined where there is none. */
export const writtenOut = (values: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(values).find(name => {
    const value = values[name]
    return typeof value === 'string' && isWrittenOut(name, value)
  })

/** The same of JSON, at whatever depth: the path of its first, such as `auth.api_key`. What is in a list has the list's name. */
export const writtenOutIn = (value: unknown, name = '', path = name): string | undefined => {
  if (typeof value === 'string') return isWrittenOut(name, value) ? path : undefined
  if (value === null || typeof value !== 'object') return undefined
  for (const [key, inner] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`
    const found = writtenOutIn(inner, Array.isArray(value) ? name : key, at)
    if (found !== undefined) return found
  }
  return undefined
}

/** An option of a command line with its value: `--api-key=abc`, or the option alone, whose value is the next argument. */
const OPTION = /^--?([\w-]+)(?:=(.*))?$/s

/** The option, or the argument's place, whose value is written out and looks like a secret; undefined where there is none. */
export const writtenOutArgument = (args: readonly string[]): string | undefined => {
  for (const [i, argument] of args.entries()) {
    const [, option, value = args[i + 1] ?? ''] = OPTION.exec(argument) ?? []
    if (option !== undefined && !value.startsWith('-') && isWrittenOut(option, value))
      return argument.split('=')[0]
    if (isWrittenOut('', argument)) return `argument ${i + 1}`
  }
  return undefined
}
