/** @file What looks like a secret where settings are written: by its name, or by itself. */

/** Names of secrets, written in lower case without what stands between the words: `api_key`, `tavilyApiKey`, `X-Amz-Signature`. */
const SECRET_NAME =
  /^(?:key|sig|pwd|auth|cookie)$|(?:api|access|auth|private|secret|subscription)key$|(?:token|secret|passwd|password|signature|credentials?|authorization)$/

/** Tokens of a vocabulary: `stop_token`, `eosToken`. */
const VOCABULARY_TOKEN = /(?:^|[\W_])(?:bos|eos|pad|unk|sep|cls|mask|stop|start|end)[\W_]?token$/

/** Whether a name is one that secrets have. */
const isSecretName = (name: string): boolean => {
  const apart = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
  return SECRET_NAME.test(apart.replace(/[^a-z0-9]/g, '')) && !VOCABULARY_TOKEN.test(apart)
}

/** Beginnings of well-known keys. In lower case as they are given out: `HF_ACCESS_TOKEN` is the name of a variable. */
const KNOWN_KEY = new RegExp(
  [
    // A digit or a capital behind it: `sk-learn-contrib` is none.
    /(?:sk|pk|rk|hf|ghp|gho|ghs|ghu|tvly|gsk|xai|nvapi|pplx|glpat|jina|npm|xox[abeps])[-_](?=[\w-]*[\dA-Z])[\w-]{8,}/,
    /github_pat_\w{8,}/,
    /AIza[\w-]{30,}/,
    /(?:AKIA|ASIA)[A-Z\d]{16}/,
    // A JSON Web Token.
    /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
  ]
    .map(({ source }) => `^${source}$`)
    .join('|'),
)

/** The value of a header that is a secret: whatever a bearer shows, and of basic authorization user and password in base64. */
const isAuthorization = (text: string): boolean => {
  if (/^bearer\s+\S/i.test(text)) return true
  const pair = /^basic\s+([\w+/-]{4,}={0,2})$/i.exec(text)?.[1]
  return pair !== undefined && Buffer.from(pair, 'base64').toString('latin1').includes(':')
}

/** A place that is filled in later: for a call, or by the command that a variable's name is given to (`$KEY`, `${KEY}`). */
const PLACEHOLDER = /\{(?:query|top)\}/
const REFERENCE = /^\$(?:\w+|\{\w+\})/

/** What of an address is secret: `a password in it`, `api_key in its query`; undefined where nothing is. */
export const secretInAddress = (text: string): string | undefined => {
  if (!/^[a-z][\w+.-]*:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const { username, password, searchParams } = new URL(text)
  const isOpen = (value: string) => value !== '' && !PLACEHOLDER.test(value) && !REFERENCE.test(value)
  const [user, word] = [username, password].map(decoded)
  if (isOpen(word)) return 'a password in it'
  if (KNOWN_KEY.test(user)) return 'a key in it'
  const parameter = [...searchParams].find(([name, value]) => isOpen(value) && isWrittenOut(name, value))
  return parameter && `${parameter[0]} in its query`
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const isSecretValue = (text: string): boolean =>
  isAuthorization(text) || KNOWN_KEY.test(text) || secretInAddress(text) !== undefined

/** What an option of a secret's name may be without giving one: how it is asked for, or whether at all. */
const NO_SECRET = /^(?:true|false|none|null|yes|no|on|off|basic|bearer|digest|oauth2?|api[-_]?key|env)$/i

/** Whether a text looks like a secret that is written out: by its name, or by itself. */
const isWrittenOut = (name: string, text: string): boolean =>
  text !== '' &&
  !PLACEHOLDER.test(text) &&
  ((isSecretName(name) && !NO_SECRET.test(text)) || isSecretValue(text.trim()))

/** The name of a field (`metadata.city`, `cities[].name`), as `key` has in a condition of a search. */
const FIELD = /^[a-z_]+(?:(?:[.-]|\[\])[a-z_]*)*$/i
/** What stands beside such a key. */
const CONDITION = /^(?:values?|match|range|op|operator|order|is_?(?:null|empty))$/i
const isCondition = (key: string, value: object): boolean =>
  key === 'key' && Object.keys(value).some(other => CONDITION.test(other))

/**
 * Where in JSON, at whatever depth, a secret is written out: the path of the first, such as `auth.api_key`; undefined where there is
 * none. What is in a list has the list's name.
 */
export const writtenOut = (value: unknown, name = '', path = name): string | undefined => {
  if (typeof value === 'string') return isWrittenOut(name, value) ? path : undefined
  if (value === null || typeof value !== 'object') return undefined
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'string' && FIELD.test(inner) && isCondition(key, value)) continue
    const at = path === '' ? key : `${path}.${key}`
    const found = writtenOut(inner, Array.isArray(value) ? name : key, at)
    if (found !== undefined) return found
  }
  return undefined
}

/** An option with its value or without (`--api-key=abc`, `--token`), or a variable with its value (`API_KEY=abc`). */
const OPTION = /^(-{0,2})([\w-]+?)(?:=(.*))?$/s
/** Variables of the environment that hold a key are called so. */
const KEY_VARIABLE = /^[A-Z][A-Z\d_]*_KEY$/
/** A header with its value: `Authorization: Bearer abc`. */
const HEADER = /^([\w-]+):\s*(.*)$/s
/** `key.pem` is where a key is. */
const FILE = /^(?:~|\.{1,2})?\/|\.(?:pem|key|crt|json|txt)$/

const isArgumentWrittenOut = (name: string, text: string): boolean =>
  !REFERENCE.test(text.replace(/^(?:bearer|basic)\s+/i, '')) &&
  !(name.toLowerCase() === 'key' && FILE.test(text)) &&
  isWrittenOut(KEY_VARIABLE.test(name) ? 'key' : name, text)

/** The option, or the argument's place, whose value is written out and looks like a secret; undefined where there is none. */
export const writtenOutArgument = (args: readonly string[]): string | undefined => {
  for (const [i, argument] of args.entries()) {
    const [, dashes = '', option = '', own] = OPTION.exec(argument) ?? []
    // The value of an option may be the next argument.
    const value = own ?? (dashes === '' ? '' : (args[i + 1] ?? ''))
    if (option !== '' && !value.startsWith('-') && isArgumentWrittenOut(option, value))
      return `${dashes}${option}`
    const [, header = '', text = ''] = HEADER.exec(own ?? argument) ?? []
    const isHeader = isSecretName(header) && (/:\s/.test(argument) || isAuthorization(text))
    if (isHeader && isArgumentWrittenOut(header, text)) return header
    if (isArgumentWrittenOut('', argument)) return `argument ${i + 1}`
    // A line for a shell.
    const words = argument.split(/\s+/).map(word => word.replace(/^["']|["']$/g, ''))
    if (words.length > 1 && writtenOutArgument(words) !== undefined) return `argument ${i + 1}`
  }
  return undefined
}

/** Characters of a text that are looked at before it is shown; of more only a part is. */
const LOOKED_AT = 2000

/** What a message says in place of a text with a secret in it; undefined for any other. */
export const describeSecret = (text: string): string | undefined => {
  const start = text.trim().slice(0, LOOKED_AT)
  const inAddress = secretInAddress(start)
  if (inAddress !== undefined) return `an address with ${inAddress}`
  return writtenOutArgument([start]) === undefined ? undefined : 'a text with a secret in it'
}
