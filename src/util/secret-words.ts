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

/** The name of a value that is written out and looks like a secret; undefined where there is none. */
export const writtenOut = (values: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(values).find(name => {
    const value = values[name]
    return (
      typeof value === 'string' &&
      value !== '' &&
      !PLACEHOLDER.test(value) &&
      (isSecretName(name) || SECRET_VALUE.test(value.trim()))
    )
  })
