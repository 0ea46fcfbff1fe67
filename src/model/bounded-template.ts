/** @file Jinja templates under a budget: a template comes with a checkpoint, and is a program of strangers. */

import { parse } from '@huggingface/jinja'
import { PythonInterpreter, type TemplateNode } from './template/interpreter.ts'
import { tokenizeTemplate } from './template/source.ts'
import { call, integer, Lazy, newEnvironment, type Scope, type Value } from './template/values.ts'

/** Longest source, in characters; those of today's models have up to 30,000. */
const MAX_TEMPLATE_CHARS = 256 * 1024
/** Expressions and statements within each other: several frames of the stack each. */
const MAX_DEPTH = 300
/** Numbers that `range` gives at once. */
const MAX_RANGE = 100_000

/** A budget that grows with what is rendered: what is linear in the conversation always fits. */
interface Budget {
  /** Evaluations, and elements and characters gone through, in units of an evaluation. */
  steps: number
  /** Characters of any one text. */
  chars: number
}

const budgetFor = (variables: Readonly<Record<string, unknown>>): Budget => {
  const { messages, tools } = variables
  const count = [messages, tools].reduce<number>((sum, x) => sum + (Array.isArray(x) ? x.length : 0), 0)
  const chars = JSON.stringify(variables)?.length ?? 0
  return { steps: 250_000 + 2_000 * count + chars / 4, chars: 1_000_000 + 16 * chars }
}

/** How much work it may be to make or go through a value, in evaluations; a turn of a loop is one. */
const costOf = ({ type, value }: Value, isLooped: boolean): number => {
  if (type === 'StringValue') return (value as string).length / 64
  const elements = Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0
  return isLooped ? elements : elements / 16
}

const sizeOf = ({ type, value }: Value): number => {
  if (type === 'StringValue') return (value as string).length
  return Array.isArray(value) ? value.length : 0
}

/** What a list or a dictionary holds; null for other values. */
const partsOf = ({ value }: Value): Iterable<Value> | null => {
  if (Array.isArray(value)) return value
  return value instanceof Map ? value.values() : null
}

/** Operations whose result may be as large as the product of two of their parts: `replace`, `join`, filters. */
const multiplies = (statement: TemplateNode | undefined): boolean => {
  if (!statement) return false
  const { type, callee } = statement
  return type.startsWith('Filter') || (type === 'CallExpression' && callee?.type === 'MemberExpression')
}

/** One statement that is being evaluated, and the sizes of the largest two of its parts so far. */
interface Frame {
  loops: boolean
  multiplies: boolean
  largest: number
  second: number
}

/** The interpreter, which ends when its budget is used up. */
class BoundedInterpreter extends PythonInterpreter {
  readonly #chars: number
  #left: number
  #depth = 0
  #frame: Frame = { loops: false, multiplies: false, largest: 0, second: 0 }
  /** Characters and elements of lists and dictionaries, written out: they never change. */
  readonly #weights = new WeakMap<Value, number>()

  constructor(environment: Scope, { steps, chars }: Budget) {
    super(environment)
    this.#left = steps
    this.#chars = chars
  }

  override evaluate(statement: TemplateNode | undefined, environment: Scope): Value {
    const outer = this.#frame
    const frame = {
      loops: statement?.type === 'For',
      multiplies: multiplies(statement),
      largest: 0,
      second: 0,
    }
    this.#frame = frame
    if (++this.#depth > MAX_DEPTH) throw new Error(`nested more than ${MAX_DEPTH} deep`)
    try {
      const value = super.evaluate(statement, environment)
      this.#charge(1 + costOf(value, outer.loops))
      if (value.type === 'StringValue' && sizeOf(value) > this.#chars)
        throw new Error(`a text of more than ${this.#chars} characters`)
      if (this.#weigh(value) > this.#chars)
        throw new Error(`a list of more than ${this.#chars} characters and elements`)
      // A method is looked up on its text or list, which is then a part of the call.
      this.#addPart(outer, value.type === 'FunctionValue' ? frame.largest : sizeOf(value))
      return value
    } finally {
      // Also after `break` and `continue`, which the library throws.
      this.#depth--
      this.#frame = outer
    }
  }

  /** A list that holds the same one twice, and so on, is small until somebody writes it out. */
  #weigh(value: Value): number {
    const parts = partsOf(value)
    if (parts === null) return Math.max(1, sizeOf(value))
    const known = this.#weights.get(value)
    if (known !== undefined) return known
    let weight = 1
    for (const part of parts) {
      // What can be changed later has no weight of its own.
      if (part.type === 'NamespaceValue') throw new Error('expected no namespace within another value')
      weight += this.#weigh(part)
    }
    if (value.type !== 'NamespaceValue') this.#weights.set(value, weight)
    return weight
  }

  #addPart(frame: Frame, size: number): void {
    frame.second = Math.max(frame.second, Math.min(size, frame.largest))
    frame.largest = Math.max(frame.largest, size)
    if (frame.multiplies && frame.largest * frame.second > 64 * this.#chars)
      throw new Error(`an operation on ${frame.largest} and ${frame.second} characters or elements`)
  }

  #charge(cost: number): void {
    this.#left -= cost
    if (this.#left < 0) throw new Error('more steps than a conversation of this length can need')
  }

  protected override noteWhole(value: Value): void {
    this.#charge(this.#weigh(value) / 64)
  }
}

/** `range` of Python, up to 100,000 numbers. */
const range = (args: readonly Value[]): Value => {
  if (args.some(({ type }) => !/^(Integer|Boolean)/.test(type)))
    throw new Error('range: expected whole numbers')
  const [from, to, step = 1] = args.map(({ value }) => Number(value))
  const [start, end] = to === undefined ? [0, from] : [from, to]
  if (!(step !== 0)) throw new Error('range: expected a step other than 0')
  const count = Math.max(0, Math.ceil((end - start) / step))
  if (!(count <= MAX_RANGE)) throw new Error(`range: expected at most ${MAX_RANGE} numbers, got ${count}`)
  return new Lazy(
    Array.from({ length: count }, (_, i) => integer(start + i * step)),
    false,
  )
}

const raise = (message: string): never => {
  throw new Error(message)
}

const twoDigits = (x: number) => `${x}`.padStart(2, '0')
const named = (date: Date, part: 'month' | 'weekday', style: 'long' | 'short') =>
  new Intl.DateTimeFormat('en', { [part]: style }).format(date)

/** The date as templates write it. */
const strftimeNow = (format: string): string => {
  const now = new Date()
  const parts: Readonly<Record<string, string>> = {
    '%Y': `${now.getFullYear()}`,
    '%m': twoDigits(now.getMonth() + 1),
    '%d': twoDigits(now.getDate()),
    '%b': named(now, 'month', 'short'),
    '%B': named(now, 'month', 'long'),
    '%H': twoDigits(now.getHours()),
    '%M': twoDigits(now.getMinutes()),
    '%S': twoDigits(now.getSeconds()),
    '%y': twoDigits(now.getFullYear() % 100),
    '%a': named(now, 'weekday', 'short'),
    '%A': named(now, 'weekday', 'long'),
    '%%': '%',
  }
  return format.replace(/%.?/gs, token => parts[token] ?? raise(`strftime_now: ${token} is not supported`))
}

const GLOBALS = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  strftime_now: strftimeNow,
  raise_exception: raise,
}

const STACK = /Maximum call stack|too much recursion/i

/** What the library throws may be the engine's own: a stack that overflows says nothing about a template. */
const readable = (error: unknown): Error => {
  const message = error instanceof Error ? error.message : String(error)
  if (STACK.test(message)) return new Error('nested too deeply', { cause: error })
  // The library trips over what it does not expect, such as a block that is never closed.
  const isOwn = !(error instanceof TypeError || error instanceof RangeError)
  return new Error(isOwn ? message : 'ends early, or holds what is not supported', { cause: error })
}

/** A template that can neither run without end nor fill the memory, whatever is written in it. */
export class BoundedTemplate {
  readonly #program: unknown

  /** @throws Error when the source is no template, is nested too deeply or too long */
  constructor(source: string) {
    if (source.length > MAX_TEMPLATE_CHARS)
      throw new Error(`expected at most ${MAX_TEMPLATE_CHARS} characters, got ${source.length}`)
    try {
      this.#program = parse(tokenizeTemplate(source) as never)
    } catch (error) {
      throw readable(error)
    }
  }

  /** @throws Error from the template itself (`raise_exception`), or when its budget is used up */
  render(variables: Readonly<Record<string, unknown>>): string {
    const environment = newEnvironment()
    for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value)
    environment.setVariable('range', call(range))
    try {
      const { value } = new BoundedInterpreter(environment, budgetFor(variables)).run(this.#program)
      return String(value)
    } catch (error) {
      throw readable(error)
    }
  }
}
