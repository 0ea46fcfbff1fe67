/** @file The library's interpreter, where it differs from Jinja 3.1 with transformers' settings. */

import { Interpreter } from '@huggingface/jinja'
import { applyFilter, isIn } from './filters.ts'
import { methodOf } from './methods.ts'
import { depthOf } from './source.ts'
import {
  addSafely,
  bool,
  call,
  compare,
  dictOf,
  type Environment,
  float,
  integer,
  isEqual,
  isFloat,
  isTrue,
  isUndefined,
  itemsOf,
  Lazy,
  list,
  listOf,
  newEnvironment,
  numberOf,
  print,
  record,
  refuse,
  SafeText,
  text,
  textOf,
  tuple,
  UNDEFINED,
  type Value,
} from './values.ts'

/** What of the library's tree is read here. */
export interface Statement {
  type: string
  value?: unknown
  operator?: { value: string }
  left?: Statement
  right?: Statement
  object?: Statement
  property?: Statement & { start?: Statement; stop?: Statement; step?: Statement }
  computed?: boolean
  filter?: Statement
  callee?: Statement
  args?: readonly Statement[]
  name?: { value: string }
  loopvar?: Statement
  iterable?: Statement & { lhs?: Statement; test?: Statement }
  body?: readonly Statement[]
  defaultBlock?: readonly Statement[]
}

/** Methods of the library, which its declarations call private. */
interface LibraryInterpreter {
  evaluate(statement: Statement | undefined, environment: Environment): Value
  run(program: unknown): Value
  evaluateArguments(args: readonly Statement[], environment: Environment): [Value[], Map<string, Value>]
  evaluateMacro(node: Statement, environment: Environment): Value
  evaluateSliceExpression(object: Value, slice: Statement, environment: Environment): Value
}
const LibraryInterpreter = Interpreter as unknown as new (environment: Environment) => LibraryInterpreter

/** `break` or `continue`, with what its blocks wrote before. */
class Jump {
  written = ''
  readonly isBreak: boolean
  constructor(isBreak: boolean) {
    this.isBreak = isBreak
  }
}

/** How often a text or a list is repeated at most. */
const MAX_REPEATS = 10_000
const COMPARISONS = /^(==|!=|<=?|>=?|in|not in)$/
const SILENT = /^(Set|Macro|Comment)$/

/** Whether both operators stand in the same brackets. */
const isChained = (node: Statement, expected: RegExp): boolean => {
  const left = node.left?.type === 'BinaryExpression' ? node.left.operator! : null
  return left !== null && expected.test(left.value) && depthOf(left) === depthOf(node.operator!)
}

const repeat = (value: Value, times: Value): Value | null => {
  const [string, items, count] = [textOf(value), listOf(value), numberOf(times)]
  if (count === null || isFloat(times) || (string === null && items === null)) return null
  if (count > MAX_REPEATS) throw new Error(`*: expected at most ${MAX_REPEATS} times, got ${count}`)
  const repeats = Math.max(0, count)
  if (string !== null) return text(string.repeat(repeats))
  const make = value.type === 'TupleValue' ? tuple : list
  return make(Array.from({ length: repeats }, () => items!).flat())
}

const ARITHMETIC: Readonly<Record<string, (x: number, y: number) => number>> = {
  '+': (x, y) => x + y,
  '-': (x, y) => x - y,
  '*': (x, y) => x * y,
  '/': (x, y) => x / y,
  '//': (x, y) => Math.floor(x / y),
  '%': (x, y) => x - y * Math.floor(x / y),
  '**': (x, y) => x ** y,
}

const calculate = (operator: string, a: Value, b: Value): Value => {
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x === null || y === null) return refuse(operator, a, b)
  if (y === 0 && /[/%]/.test(operator)) throw new Error('a number is divided by 0')
  const result = ARITHMETIC[operator](x, y)
  const wantsFloat = isFloat(a) || isFloat(b) || operator === '/' || (operator === '**' && y < 0)
  if (!Number.isFinite(result)) return refuse(operator, a, b)
  return wantsFloat ? float(result) : integer(result)
}

const add = (a: Value, b: Value): Value => {
  const [left, right, items, others] = [textOf(a), textOf(b), listOf(a), listOf(b)]
  if (left !== null && right !== null)
    return a instanceof SafeText || b instanceof SafeText ? addSafely(a, b) : text(left + right)
  if (items && others && a.type === b.type)
    return (a.type === 'TupleValue' ? tuple : list)([...items, ...others])
  return calculate('+', a, b)
}

const operate = (operator: string, a: Value, b: Value): Value => {
  switch (operator) {
    case '==':
      return bool(isEqual(a, b))
    case '!=':
      return bool(!isEqual(a, b))
    case '<':
      return bool(compare(a, b) < 0)
    case '<=':
      return bool(compare(a, b) <= 0)
    case '>':
      return bool(compare(a, b) > 0)
    case '>=':
      return bool(compare(a, b) >= 0)
    case 'in':
      return bool(isIn(a, b))
    case 'not in':
      return bool(!isIn(a, b))
    case '~':
      return text(print(a) + print(b))
    case '+':
      return add(a, b)
    case '*':
      return repeat(a, b) ?? repeat(b, a) ?? calculate('*', a, b)
    default:
      return calculate(operator, a, b)
  }
}

/** `value.name`, or `value[key]`: of a dictionary a method comes first for the one, an entry for the other. */
const member = (value: Value, key: Value, isComputed: boolean): Value => {
  if (isUndefined(value) || (value instanceof Lazy && textOf(key) === null))
    return refuse('an attribute', value)
  const name = textOf(key)
  if (name === null) return elementOf(value, key)
  const entry = (
    dictOf(value) ?? (value.type === 'NamespaceValue' ? (value.value as Map<string, Value>) : null)
  )?.get(name)
  return (isComputed ? (entry ?? methodOf(value, name)) : (methodOf(value, name) ?? entry)) ?? UNDEFINED
}

const elementOf = (value: Value, key: Value): Value => {
  const [at, string] = [isFloat(key) ? null : numberOf(key), textOf(value)]
  const items = string === null ? listOf(value) : Array.from(string, text)
  return (at === null ? undefined : items?.at(at)) ?? UNDEFINED
}

/** The variable `loop`. */
const loopOf = (items: readonly Value[], i: number): Value =>
  record({
    index: integer(i + 1),
    index0: integer(i),
    revindex: integer(items.length - i),
    revindex0: integer(items.length - i - 1),
    first: bool(i === 0),
    last: bool(i === items.length - 1),
    length: integer(items.length),
    previtem: items[i - 1] ?? UNDEFINED,
    nextitem: items[i + 1] ?? UNDEFINED,
    depth: integer(1),
    depth0: integer(0),
    cycle: call(args => (args.length === 0 ? refuse('cycle without values') : args[i % args.length])),
    changed: call(() => refuse('loop.changed')),
  })

/** @throws Error unless a value has as many items as there are names */
const bind = (target: Statement, value: Value, scope: Environment): void => {
  if (target.type === 'Identifier') {
    scope.setVariable(target.value as string, value)
    return
  }
  if (target.type !== 'TupleLiteral') return refuse(`${target.type} as what a loop assigns`)
  const [targets, items] = [target.value as readonly Statement[], itemsOf(value)]
  if (targets.length !== items.length)
    throw new Error(`expected ${targets.length} values to unpack, got ${items.length}`)
  targets.forEach((one, i) => bind(one, items[i], scope))
}

export class PythonInterpreter extends LibraryInterpreter {
  override evaluate(statement: Statement | undefined, environment: Environment): Value {
    if (statement?.type === 'Break' || statement?.type === 'Continue')
      throw new Jump(statement.type === 'Break')
    return super.evaluate(statement, environment)
  }

  /** What is compared, for a budget: the answer is small however long it takes. */
  protected noteCompared(_value: Value): void {}

  evaluateBlock(statements: readonly Statement[], environment: Environment): Value {
    let written = ''
    try {
      for (const statement of statements) {
        const value = this.evaluate(statement, environment)
        if (!SILENT.test(statement.type)) written += print(value)
      }
    } catch (error) {
      if (error instanceof Jump) error.written = written + error.written
      throw error
    }
    return text(written)
  }

  evaluateBinaryExpression(node: Statement, environment: Environment): Value {
    const operator = node.operator!.value
    const left = this.evaluate(node.left, environment)
    if (operator === 'and' || operator === 'or')
      return isTrue(left) === (operator === 'and') ? this.evaluate(node.right, environment) : left
    const isComparison = COMPARISONS.test(operator)
    if (isComparison && isChained(node, COMPARISONS))
      throw new Error('a < b < c is not supported: write a < b and b < c')
    // In Jinja `~` binds more closely than `+`, which makes no difference for texts.
    if (operator === '~' && isChained(node, /^[-+]$/) && textOf(left) === null)
      throw new Error('~ behind + of numbers is not supported: put brackets')
    const right = this.evaluate(node.right, environment)
    if (isComparison) for (const value of [left, right]) this.noteCompared(value)
    return operate(operator, left, right)
  }

  applyFilter(operand: Value, filter: Statement, environment: Environment): Value {
    const isCall = filter.type === 'CallExpression'
    const name = isCall ? filter.callee! : filter
    if (name.type !== 'Identifier') return refuse(`a filter that is no name`)
    const [args, kwargs] = isCall ? this.evaluateArguments(filter.args!, environment) : [[], new Map()]
    if (/^is (not )?(eq|equalto|ne|in)$/.test(name.value as string))
      for (const value of [operand, ...args]) this.noteCompared(value)
    return applyFilter(name.value as string, operand, { args, kwargs })
  }

  evaluateMemberExpression(node: Statement, environment: Environment): Value {
    const object = this.evaluate(node.object, environment)
    const { property, computed = false } = node
    if (computed && property!.type === 'SliceExpression') return this.#slice(object, property!, environment)
    if (computed) return member(object, this.evaluate(property, environment), true)
    if (property!.type === 'IntegerLiteral') return elementOf(object, integer(property!.value as number))
    return member(object, text(property!.value as string), false)
  }

  #slice(object: Value, slice: Statement, environment: Environment): Value {
    if (object instanceof Lazy) return refuse('a slice', object)
    const sliced = this.evaluateSliceExpression(object, slice, environment)
    return object.type === 'TupleValue' ? tuple(listOf(sliced)!) : sliced
  }

  /** A scope for each turn, what was written before `break`, and Python's things to go through. */
  evaluateFor(node: Statement, environment: Environment): Value {
    const { loopvar, iterable, body, defaultBlock } = node
    const select = iterable!.type === 'SelectExpression' ? iterable! : null
    const scopeOf = (item: Value) => {
      const scope = newEnvironment(environment)
      bind(loopvar!, item, scope)
      return scope
    }
    const all = itemsOf(this.evaluate(select ? select.lhs : iterable, environment))
    const items = select ? all.filter(item => isTrue(this.evaluate(select.test, scopeOf(item)))) : all
    let [written, ran] = ['', false]
    for (const [i, item] of items.entries()) {
      const scope = scopeOf(item)
      scope.setVariable('loop', loopOf(items, i))
      try {
        written += print(this.evaluateBlock(body!, scope))
        ran = true
      } catch (error) {
        if (!(error instanceof Jump)) throw error
        written += error.written
        if (error.isBreak) break
      }
    }
    return text(ran ? written : written + print(this.evaluateBlock(defaultBlock!, environment)))
  }

  /** A macro sees the variables of where it stands, not of where it is called. */
  override evaluateMacro(node: Statement, environment: Environment): Value {
    const none = super.evaluateMacro(node, environment)
    const name = node.name!.value
    const run = environment.variables.get(name)!.value as (
      args: readonly Value[],
      scope: Environment,
    ) => Value
    const macro = call((args, scope) => {
      const own = newEnvironment(environment)
      const caller = scope.variables.get('caller')
      if (caller) own.setVariable('caller', caller)
      return run(args, own)
    })
    environment.setVariable(name, macro)
    return none
  }
}
