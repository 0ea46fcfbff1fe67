/** @file What looks like a secret where settings are written: by its name, or by itself. */

/** Names of secrets, written in lower case without what stands between the words: `api_key`, `tavilyApiKey`, `X-Amz-Signature`. */
const SECRET_NAME =
  /^(?:key|sig|pwd|auth|cookie)$|(?:api|access|auth|private|secret|subscription)key$|(?:token|secret|passwd|password|signature|credentials?|authorization)$/

/** Whether a name is one that secrets have. */
export const isSecretName = (name: string): boolean =>
  SECRET_NAME.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''))

/** Values that are secrets whatever they are called: what an authorization begins with, and the beginnings of well-known keys. */
const AUTHORIZATION = /^(?:bearer|basic)\s+\S/i
/** In lower case as they are given out: `HF_ACCESS_TOKEN` is the name of a variable. */
const KNOWN_KEY = /^(?:sk|pk|hf|ghp|gho|tvly|xox[abp])[-_][\w-]{8,}$/
const isSecretValue = (text: string): boolean => AUTHORIZATION.test(text) || KNOWN_KEY.test(text)

/** What is filled in for a call, so that it is no secret. */
const PLACEHOLDER = /\{(?:query|top)\}/

/** Whether a text looks like a secret that is written out: by its name, or by itself. */
const isWrittenOut = (name: string, text: string): boolean =>
  text !== '' && !PLACEHOLDER.test(text) && (isSecretName(name) || isSecretValue(text.trim()))

/**
 * Where in JSON, at whatever depth, a secret is written out: the path of the first, such as `auth.api_key`; undefined where there is
 * none. What is in a list has the list's name.
 */
export const writtenOut = (value: unknown, name = '', path = name): string | undefined => {
  if (typeof value === 'string') return isWrittenOut(name, value) ? path : undefined
  if (value === null || typeof value !== 'object') return undefined
  for (const [key, inner] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`
    const found = writtenOut(inner, Array.isArray(value) ? name : key, at)
    if (found !== undefined) return found
  }
  return undefined
}

/** An option with its value or without (`--api-key=abc`, `--token`), or a variable with its value (`API_KEY=abc`). */
const OPTION = /^(-{0,2})([\w-]+?)(?:=(.*))?$/s

/** The option, or the argument's place, whose value is written out and looks like a secret; undefined where there is none. */
export const writtenOutArgument = (args: readonly string[]): string | undefined => {
  for (const [i, argument] of args.entries()) {
    const [, dashes = '', option = '', own] = OPTION.exec(argument) ?? []
    // The value of an option may be the next argument.
    const value = own ?? (dashes === '' ? '' : (args[i + 1] ?? ''))
    if (option !== '' && !value.startsWith('-') && isWrittenOut(option, value)) return `${dashes}${option}`
    if (isWrittenOut('', argument)) return `argument ${i + 1}`
  }
  return undefined
}
