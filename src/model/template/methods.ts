/** @file Arguments by name and by place, and the methods of texts and dictionaries that a template may call. */

import {
  capitalize,
  isLower,
  isUpper,
  PYTHON_WORDS,
  replace,
  split,
  splitLines,
  strip,
  titleCase,
} from './text.ts'
import {
  bool,
  call,
  dictOf,
  integer,
  isTrue,
  itemsOf,
  Lazy,
  list,
  listOf,
  NONE,
  numberOf,
  print,
  refuse,
  text,
  textOf,
  tuple,
  type Value,
} from './values.ts'

/** What a filter, a test or a method was given. */
export interface Given {
  args: readonly Value[]
  kwargs: ReadonlyMap<string, Value>
}

/** Arguments in the order of `names`, where each may come by name; undefined for those that did not. */
export class Arguments {
  readonly #name: string
  readonly #values: Map<string, Value>

  /** @throws Error for arguments that there are not */
  constructor(name: string, { args, kwargs }: Given, names: readonly string[]) {
    this.#name = name
    const unknown = [...kwargs.keys()].find(key => !names.includes(key))
    if (unknown !== undefined) throw new Error(`${name}: the argument ${unknown} is not supported`)
    if (args.length > names.length)
      throw new Error(`${name}: expected at most ${names.length} arguments, got ${args.length}`)
    this.#values = new Map([...args.map((value, i) => [names[i], value] as const), ...kwargs])
  }

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  isTrue(key: string): boolean {
    const value = this.get(key)
    return value !== undefined && isTrue(value)
  }

  #typed<T>(key: string, read: (value: Value) => T | null, missing?: T): T {
    const value = this.get(key)
    if (value === undefined && missing !== undefined) return missing
    const found = value === undefined ? null : read(value)
    return found ?? refuse(`${this.#name}: ${key}`, value ?? NONE)
  }

  text(key: string, missing?: string): string {
    return this.#typed(key, textOf, missing)
  }

  /** Null for None and for what is not given. */
  textOrNull(key: string): string | null {
    const value = this.get(key)
    return value === undefined || value.type === 'NullValue' ? null : this.text(key)
  }

  integer(key: string, missing?: number): number {
    return this.#typed(key, value => (value.type === 'FloatValue' ? null : numberOf(value)), missing)
  }
}

type Method = (self: string, given: Given) => Value

const plain =
  (change: (self: string) => Value): Method =>
  (self, given) => {
    new Arguments('the method', given, [])
    return change(self)
  }

const stripped =
  (name: string, sides: 'both' | 'left' | 'right'): Method =>
  (self, { args, kwargs }) =>
    text(strip(self, new Arguments(name, { args, kwargs }, ['chars']).textOrNull('chars'), sides))

const splitting =
  (fromRight: boolean): Method =>
  (self, given) => {
    const args = new Arguments('split', given, ['sep', 'maxsplit'])
    return list(split(self, args.textOrNull('sep'), args.integer('maxsplit', -1), fromRight).map(text))
  }

/** `startswith`, `endswith`: one text, or any of a tuple. */
const border =
  (name: 'startsWith' | 'endsWith'): Method =>
  (self, given) => {
    const part = new Arguments(name.toLowerCase(), given, ['part']).get('part') ?? NONE
    const parts = part.type === 'TupleValue' ? listOf(part)! : [part]
    return bool(parts.some(one => self[name](textOf(one) ?? refuse(name.toLowerCase(), one))))
  }

const find = (self: string, given: Given, from: 'indexOf' | 'lastIndexOf'): number => {
  const at = self[from](new Arguments('find', given, ['part']).text('part'))
  return at < 0 ? at : Array.from(self.slice(0, at)).length
}

const found = (at: number): Value => (at < 0 ? refuse('index: a part that is not there') : integer(at))

const partition =
  (fromRight: boolean): Method =>
  (self, given) => {
    const separator = new Arguments('partition', given, ['sep']).text('sep')
    const parts = split(self, separator, 1, fromRight)
    if (parts.length === 2) return tuple([parts[0], separator, parts[1]].map(text))
    return tuple((fromRight ? ['', '', self] : [self, '', '']).map(text))
  }

/** `format` with `{}`, `{0}` and `{name}`. */
const format: Method = (self, { args, kwargs }) => {
  let next = 0
  const fill = (_: string, brace: string | undefined, name: string) => {
    if (brace) return brace
    const value = /^\d*$/.test(name) ? args[name === '' ? next++ : Number(name)] : kwargs.get(name)
    return print(value ?? refuse(`format: {${name}}`))
  }
  if (/[{}]/.test(self.replace(/\{\{|\}\}|\{\w*\}/g, '')))
    throw new Error('format: a field with options is not supported')
  return text(self.replace(/(?:(\{|\})\1)|\{(\w*)\}/g, fill))
}

const TEXT: Readonly<Record<string, Method>> = {
  capitalize: plain(self => text(capitalize(self))),
  count: (self, given) =>
    integer(split(self, new Arguments('count', given, ['part']).text('part'), -1).length - 1),
  endswith: border('endsWith'),
  find: (self, given) => integer(find(self, given, 'indexOf')),
  format,
  index: (self, given) => found(find(self, given, 'indexOf')),
  isalpha: plain(self => bool(/^\p{L}+$/u.test(self))),
  isalnum: plain(self => bool(/^[\p{L}\p{N}]+$/u.test(self))),
  isdigit: plain(self => bool(/^[\p{Nd}\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]+$/u.test(self))),
  islower: plain(self => bool(isLower(self))),
  isspace: plain(self => bool(self !== '' && strip(self, null, 'both') === '')),
  isupper: plain(self => bool(isUpper(self))),
  join: (self, given) => {
    const parts = itemsOf(new Arguments('join', given, ['iterable']).get('iterable') ?? NONE)
    return text(parts.map(part => textOf(part) ?? refuse('join', part)).join(self))
  },
  lower: plain(self => text(self.toLowerCase())),
  lstrip: stripped('lstrip', 'left'),
  partition: partition(false),
  removeprefix: (self, given) => {
    const part = new Arguments('removeprefix', given, ['part']).text('part')
    return text(self.startsWith(part) ? self.slice(part.length) : self)
  },
  removesuffix: (self, given) => {
    const part = new Arguments('removesuffix', given, ['part']).text('part')
    return text(self.endsWith(part) ? self.slice(0, self.length - part.length) : self)
  },
  replace: (self, given) => {
    const args = new Arguments('replace', given, ['old', 'new', 'count'])
    return text(replace(self, args.text('old'), args.text('new'), args.integer('count', -1)))
  },
  rfind: (self, given) => integer(find(self, given, 'lastIndexOf')),
  rpartition: partition(true),
  rsplit: splitting(true),
  rstrip: stripped('rstrip', 'right'),
  split: splitting(false),
  splitlines: (self, given) =>
    list(splitLines(self, new Arguments('splitlines', given, ['keepends']).isTrue('keepends')).map(text)),
  startswith: border('startsWith'),
  strip: stripped('strip', 'both'),
  title: plain(self => text(titleCase(self, PYTHON_WORDS))),
  upper: plain(self => text(self.toUpperCase())),
}

/** Names that Python has besides. They are there, and refused when they are called. */
const OTHERS: Readonly<Record<string, string>> = {
  ArrayValue: 'append clear copy count extend index insert pop remove reverse sort',
  ObjectValue: 'clear copy fromkeys pop popitem setdefault update',
  StringValue:
    'casefold center encode expandtabs format_map isascii isdecimal isidentifier isnumeric isprintable istitle ljust maketrans rindex rjust swapcase translate zfill',
  TupleValue: 'count index',
}

const view = (items: readonly Value[]) => new Lazy(items, 'view')

const dictMethod = (dict: Map<string, Value>, name: string): ((given: Given) => Value) | null => {
  const entries = (read: (entry: [string, Value]) => Value) => (given: Given) => {
    new Arguments(name, given, [])
    return view([...dict].map(read))
  }
  if (name === 'items') return entries(([key, item]) => tuple([text(key), item]))
  if (name === 'keys') return entries(([key]) => text(key))
  if (name === 'values') return entries(([, item]) => item)
  if (name !== 'get') return null
  return given => {
    const args = new Arguments('get', given, ['key', 'default'])
    const key = textOf(args.get('key') ?? refuse('get without a key'))
    return (key === null ? null : dict.get(key)) ?? args.get('default') ?? NONE
  }
}

/** What `value.name` is in Python where it is a method, else null. */
export const methodOf = (value: Value, name: string): Value | null => {
  const [self, dict] = [textOf(value), dictOf(value)]
  const ofText = self !== null && Object.hasOwn(TEXT, name) ? (given: Given) => TEXT[name](self, given) : null
  const method = ofText ?? (dict === null ? null : dictMethod(dict, name))
  if (method !== null) return call(args => method(givenOf(args)))
  if (value instanceof Lazy || !OTHERS[value.type]?.split(' ').includes(name)) return null
  return call(() => refuse(`the method ${name}`, value))
}

/** The library hands on arguments by name as the last one. */
const givenOf = (args: readonly Value[]): Given => {
  const last = args.at(-1)
  if (last?.type !== 'KeywordArgumentsValue') return { args, kwargs: new Map() }
  return { args: args.slice(0, -1), kwargs: last.value as Map<string, Value> }
}
