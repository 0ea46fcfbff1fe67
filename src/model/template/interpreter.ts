/** @file The library's interpreter, where it differs from Jinja 3.1 with transformers' settings. */

import { Interpreter } from '@huggingface/jinja'
import { applyFilter, isIn, passes } from './filters.ts'
import { methodOf } from './methods.ts'
import {
  bool,
  type Callable,
  call,
  compareValues,
  dictOf,
  float,
  integer,
  isEqual,
  isFloat,
  isTruthy,
  isUndefined,
  itemsOf,
  Lazy,
  list,
  listOf,
  newEnvironment,
  numberOf,
  print,
  record,
  reject,
  SafeText,
  type Scope,
  text,
  textOf,
  tuple,
  UNDEFINED,
  type Value,
} from './values.ts'

/** What of the library's tree is read here. */
export interface TemplateNode {
  type: string
  value?: unknown
  operator?: { value: string }
  left?: TemplateNode
  right?: TemplateNode
  object?: TemplateNode
  property?: TemplateNode & { start?: TemplateNode; stop?: TemplateNode; step?: TemplateNode }
  computed?: boolean
  filter?: TemplateNode
  callee?: TemplateNode
  args?: readonly TemplateNode[]
  operand?: TemplateNode
  test?: TemplateNode
  negate?: boolean
  name?: { value: string }
  loopvar?: TemplateNode
  iterable?: TemplateNode & { lhs?: TemplateNode; test?: TemplateNode }
  body?: readonly TemplateNode[]
  defaultBlock?: readonly TemplateNode[]
}

/** Methods of the library, which its declarations call private. */
interface LibraryInterpreter {
  evaluate(statement: TemplateNode | undefined, environment: Scope): Value
  run(program: unknown): Value
  evaluateArguments(args: readonly TemplateNode[], environment: Scope): [Value[], Map<string, Value>]
  evaluateMacro(node: TemplateNode, environment: Scope): Value
  applyFilter(operand: Value, filter: TemplateNode, environment: Scope): Value
  evaluateSliceExpression(object: Value, slice: TemplateNode, environment: Scope): Value
  evaluateFilterStatement(node: TemplateNode, environment: Scope): Value
  evaluateCallExpression(node: TemplateNode, environment: Scope): Value
}
const LibraryInterpreter = Interpreter as unknown as new (environment: Scope) => LibraryInterpreter

/** `break` or `continue`, with what its blocks wrote before. */
class Jump extends Error {
  written = ''
  readonly isBreak: boolean
  constructor(isBreak: boolean) {
    super('break and continue are not supported outside of for')
    this.isBreak = isBreak
  }
}

const COMPARISONS = /^(==|!=|<=?|>=?|in|not in)$/
const WHOLE = /^(dictsort|max|min|sort|unique)$/
const SILENT = /^(Set|Macro|Comment)$/
/** Characters of a text that is repeated. */
const MAX_REPEATED = 100_000

const calculate =
  (operator: string, compute: (x: number, y: number) => number, make = integer) =>
  (a: Value, b: Value): Value => {
    const [x, y] = [numberOf(a), numberOf(b)]
    if (x === null || y === null) return reject(operator, a, b)
    if (y === 0 && /[/%]/.test(operator)) return reject(`${operator} by 0`)
    return (isFloat(a) || isFloat(b) ? float : make)(compute(x, y))
  }
const sum = calculate('+', (x, y) => x + y)
const product = calculate('*', (x, y) => x * y)

/** What is added to text that is marked as safe is escaped for HTML. */
const escaped = (value: Value): string =>
  print(value).replace(/[&<>'"]/g, c =>
    value instanceof SafeText ? c : `&${{ '&': 'amp', '<': 'lt', '>': 'gt', "'": '#39', '"': '#34' }[c]};`,
  )

const add = (a: Value, b: Value): Value => {
  const [left, right, items, others] = [textOf(a), textOf(b), listOf(a), listOf(b)]
  if (left !== null && right !== null)
    return a instanceof SafeText || b instanceof SafeText
      ? new SafeText(escaped(a) + escaped(b))
      : text(left + right)
  return items && others && a.type === b.type && a.type === 'ArrayValue'
    ? list([...items, ...others])
    : sum(a, b)
}

const multiply = (a: Value, b: Value): Value => {
  const [string, times] = [textOf(a), numberOf(b)]
  if (string === null || times === null || isFloat(b)) return product(a, b)
  return string.length * times > MAX_REPEATED
    ? reject(`more than ${MAX_REPEATED} repeated characters`)
    : text(string.repeat(Math.max(0, times)))
}

const OPERATORS: Readonly<Record<string, (a: Value, b: Value) => Value>> = {
  '==': (a, b) => bool(isEqual(a, b)),
  '!=': (a, b) => bool(!isEqual(a, b)),
  '<': (a, b) => bool(compareValues(a, b) < 0),
  '<=': (a, b) => bool(compareValues(a, b) <= 0),
  '>': (a, b) => bool(compareValues(a, b) > 0),
  '>=': (a, b) => bool(compareValues(a, b) >= 0),
  in: (a, b) => bool(isIn(a, b)),
  'not in': (a, b) => bool(!isIn(a, b)),
  '~': (a, b) => text(print(a) + print(b)),
  '+': add,
  '-': calculate('-', (x, y) => x - y),
  '*': multiply,
  '/': calculate('/', (x, y) => x / y, float),
  '//': calculate('//', (x, y) => Math.floor(x / y)),
  '%': calculate('%', (x, y) => x - y * Math.floor(x / y)),
}

/** `value.name`, or `value[key]`: of a dictionary a method comes first for the one, an entry for the other. */
const member = (value: Value, key: Value, isComputed: boolean): Value => {
  if (isUndefined(value) || (value instanceof Lazy && textOf(key) === null))
    return reject('an attribute', value)
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
    cycle: call(args => (args.length === 0 ? reject('cycle without values') : args[i % args.length])),
  })

/** @throws Error unless a value has as many items as there are names */
const bind = (target: TemplateNode, value: Value, scope: Scope): void => {
  if (target.type === 'Identifier') return void scope.setVariable(target.value as string, value)
  if (target.type !== 'TupleLiteral') reject(`${target.type} as what a loop assigns`)
  const [targets, items] = [target.value as readonly TemplateNode[], itemsOf(value)]
  if (targets.length !== items.length)
    throw new Error(`expected ${targets.length} values to unpack, got ${items.length}`)
  for (const [i, one] of targets.entries()) bind(one, items[i], scope)
}

export class PythonInterpreter extends LibraryInterpreter {
  override evaluate(statement: TemplateNode | undefined, environment: Scope): Value {
    if (statement?.type === 'Identifier' && statement.value === 'varargs') return reject('varargs')
    if (statement?.type === 'Break' || statement?.type === 'Continue')
      throw new Jump(statement.type === 'Break')
    return super.evaluate(statement, environment)
  }

  /** What is gone through as a whole, for a budget: the answer may be small however long it takes. */
  protected noteWhole(_value: Value): void {}

  evaluateBlock(statements: readonly TemplateNode[], environment: Scope): Value {
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

  evaluateBinaryExpression(node: TemplateNode, environment: Scope): Value {
    const operator = node.operator!.value
    const left = this.evaluate(node.left, environment)
    if (operator === 'and' || operator === 'or')
      return isTruthy(left) === (operator === 'and') ? this.evaluate(node.right, environment) : left
    const right = this.evaluate(node.right, environment)
    for (const value of [left, right]) if (COMPARISONS.test(operator)) this.noteWhole(value)
    return (OPERATORS[operator] ?? (() => reject(operator)))(left, right)
  }

  override applyFilter(operand: Value, filter: TemplateNode, environment: Scope): Value {
    const name = (filter.callee ?? filter).value as string
    const isByName = filter.args?.[0]?.type === 'KeywordArgumentExpression'
    if (name === 'map' ? !isByName : WHOLE.test(name)) this.noteWhole(operand)
    const sort = (as: TemplateNode) => listOf(super.applyFilter(operand, as, environment))!
    // The library's order is Python's where there is one.
    if (name === 'sort') return list(sort(filter))
    if (name === 'dictsort') return list(sort(filter).map(pair => tuple(listOf(pair)!)))
    if (!filter.args && /^(max|min)$/.test(name))
      return sort({ type: 'Identifier', value: 'sort' }).at(name === 'max' ? -1 : 0) ?? UNDEFINED
    const [args, kwargs] = filter.args ? this.evaluateArguments(filter.args, environment) : [[], new Map()]
    return applyFilter(name, operand, { args, kwargs })
  }

  override evaluateFilterStatement(node: TemplateNode, environment: Scope): Value {
    // `generation` is a block of its own, as a macro's is.
    if (node.filter!.value !== 'generation') return super.evaluateFilterStatement(node, environment)
    return this.evaluateBlock(node.body!, newEnvironment(environment))
  }

  override evaluateCallExpression(node: TemplateNode, environment: Scope): Value {
    try {
      return super.evaluateCallExpression(node, environment)
    } catch (error) {
      const { callee } = node
      const isMissing = error instanceof Error && error.message.startsWith('Cannot call something')
      throw isMissing
        ? new Error(`calling ${callee!.property?.value ?? callee!.value} is not supported`)
        : error
    }
  }

  evaluateTestExpression(node: TemplateNode, environment: Scope): Value {
    return bool(passes(node.test!.value as string, this.evaluate(node.operand, environment)) !== node.negate)
  }

  evaluateMemberExpression(node: TemplateNode, environment: Scope): Value {
    const object = this.evaluate(node.object, environment)
    const { property, computed = false } = node
    if (property!.type !== 'SliceExpression') {
      const key =
        computed || property!.type === 'IntegerLiteral' ? this.evaluate(property, environment) : null
      return member(object, key ?? text(property!.value as string), computed)
    }
    if (object instanceof Lazy) return reject('a slice', object)
    const sliced = this.evaluateSliceExpression(object, property!, environment)
    return object.type === 'TupleValue' ? tuple(listOf(sliced)!) : sliced
  }

  /** A scope for each turn, what was written before `break`, and Python's things to go through. */
  evaluateFor(node: TemplateNode, environment: Scope): Value {
    const { loopvar, iterable, body, defaultBlock } = node
    const select = iterable!.type === 'SelectExpression' ? iterable! : null
    const scopeOf = (item: Value) => {
      const scope = newEnvironment(environment)
      bind(loopvar!, item, scope)
      return scope
    }
    const passes = (item: Value) => !select || isTruthy(this.evaluate(select.test, scopeOf(item)))
    const items = itemsOf(this.evaluate(select ? select.lhs : iterable, environment)).filter(passes)
    let [written, ran] = ['', false]
    for (const [i, item] of items.entries()) {
      if (!passes(item)) return reject('a condition of for that the loop changes')
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
  override evaluateMacro(node: TemplateNode, environment: Scope): Value {
    const none = super.evaluateMacro(node, environment)
    const name = node.name!.value
    const run = environment.variables.get(name)!.value as Callable
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
