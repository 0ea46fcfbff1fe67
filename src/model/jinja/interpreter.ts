/** @file Runs the tree of a template under a budget. */

import { calculate, concatenate, decide, withSign } from './arithmetic.ts'
import type { Budget } from './budget.ts'
import { applyFilter } from './filters.ts'
import { Loop, unpack } from './loop.ts'
import { getAttribute, getItem, getSlice } from './members.ts'
import type { Arguments, Expression, Signature, Statement, Target } from './nodes.ts'
import { print } from './print.ts'
import { passes } from './tests.ts'
import {
  Dict,
  type Given,
  isTrue,
  itemsOf,
  Namespace,
  refuse,
  Thing,
  Tuple,
  textOf,
  typeName,
  Undefined,
  type Value,
} from './values.ts'

type Of<T extends { kind: string }, K extends T['kind']> = Extract<T, { kind: K }>
type Node<K extends Expression['kind']> = Of<Expression, K>
type Block<K extends Statement['kind']> = Of<Statement, K>
type Body = readonly Statement[]
/** How a body ended before its end. */
type Jump = 'break' | 'continue' | null

/** Variables of a block, beyond which those around it are seen. */
class Scope {
  readonly #parent: Scope | null
  readonly #variables: Map<string, Value>

  constructor(parent: Scope | null, variables: Iterable<readonly [string, Value]> = []) {
    this.#parent = parent
    this.#variables = new Map(variables)
  }

  get(name: string): Value {
    for (let scope: Scope | null = this; scope !== null; scope = scope.#parent) {
      const value = scope.#variables.get(name)
      if (value !== undefined) return value
    }
    return new Undefined(`${name} is undefined`)
  }

  set(name: string, value: Value): void {
    this.#variables.set(name, value)
  }
}

/** The text that a template makes of variables. @throws Error from the template, or when the budget is used up */
export const interpret = (
  body: Body,
  globals: ReadonlyMap<string, Value>,
  variables: ReadonlyMap<string, Value>,
  budget: Budget,
): string => new Interpreter(budget).render(body, new Scope(new Scope(null, globals), variables))

class Interpreter {
  readonly #budget: Budget

  constructor(budget: Budget) {
    this.#budget = budget
  }

  /** What a body writes, alone. */
  render(body: Body, scope: Scope): string {
    const out: string[] = []
    this.#budget.within(() => this.#run(body, scope, out))
    this.#budget.text(out.reduce((sum, part) => sum + part.length, 0))
    return out.join('')
  }

  #run(body: Body, scope: Scope, out: string[]): Jump {
    for (const statement of body) {
      const jump = this.#budget.within(() => this.#step(statement, scope, out))
      if (jump !== null) return jump
    }
    return null
  }

  /** @param out where it writes to, also when it ends with a jump */
  #step(statement: Statement, scope: Scope, out: string[]): Jump {
    this.#budget.charge(1)
    switch (statement.kind) {
      case 'text':
        this.#budget.text(statement.text.length)
        out.push(statement.text)
        return null
      case 'print':
        for (const value of statement.values) this.#print(this.#evaluate(value, scope), out)
        return null
      case 'if':
        return this.#if(statement, scope, out)
      case 'for':
        return this.#for(statement, scope, out)
      case 'break':
      case 'continue':
        return statement.kind
      case 'scope':
        return this.#run(statement.body, new Scope(scope), out)
      case 'with':
        return this.#with(statement, scope, out)
      default:
        this.#define(statement, scope, out)
        return null
    }
  }

  /** Blocks of which nobody jumps out. */
  #define(
    statement: Block<'set' | 'set block' | 'macro' | 'call block' | 'filter block'>,
    scope: Scope,
    out: string[],
  ): void {
    const filtered = (filter: Expression | null, body: Body) =>
      this.#filterText(filter, this.render(body, new Scope(scope)), scope)
    switch (statement.kind) {
      case 'set':
        this.#assign(statement.target, this.#evaluate(statement.value, scope), scope)
        break
      case 'set block':
        this.#assign(statement.target, filtered(statement.filter, statement.body), scope)
        break
      case 'filter block':
        this.#print(filtered(statement.filter, statement.body), out)
        break
      case 'macro':
        scope.set(statement.name, this.#macro(statement.name, statement.signature, statement.body, scope))
        break
      case 'call block':
        this.#print(this.#callBlock(statement, scope), out)
    }
  }

  #print(value: Value, out: string[]): void {
    const text = print(value, this.#budget)
    this.#budget.text(text.length)
    out.push(text)
  }

  #if({ branches, otherwise }: Block<'if'>, scope: Scope, out: string[]): Jump {
    const chosen = branches.find(([test]) => isTrue(this.#evaluate(test, scope)))
    return this.#run(chosen ? chosen[1] : otherwise, scope, out)
  }

  #with({ values, body }: Block<'with'>, scope: Scope, out: string[]): Jump {
    const inner = new Scope(scope)
    for (const [target, value] of values) this.#assign(target, this.#evaluate(value, scope), inner)
    return this.#run(body, inner, out)
  }

  #for(statement: Block<'for'>, scope: Scope, out: string[]): Jump {
    this.#loop(statement, this.#evaluate(statement.items, scope), scope, out, 0)
    return null
  }

  #loop(statement: Block<'for'>, items: Value, scope: Scope, out: string[], depth: number): void {
    const { target, test, body, otherwise } = statement
    const holds = (item: Value) => {
      this.#budget.charge(1)
      if (test === null) return true
      const inner = new Scope(scope)
      this.#assign(target, item, inner)
      return isTrue(this.#evaluate(test, inner))
    }
    const loop = new Loop(itemsOf(items, this.#budget), holds, depth, this.#budget)
    const variable = loop.variable(statement.isRecursive ? this.#recursion(statement, scope) : null)
    // As in Jinja, a turn that was left by `break` or `continue` does not count.
    let isEmpty = true
    for (let item = loop.next(); item !== undefined; item = loop.next()) {
      const inner = new Scope(scope, [['loop', variable]])
      this.#assign(target, item, inner)
      const jump = this.#run(body, inner, out)
      if (jump === 'break') break
      if (jump === null) isEmpty = false
    }
    if (isEmpty) this.#run(otherwise, new Scope(scope), out)
  }

  #recursion(statement: Block<'for'>, scope: Scope): (items: Value, depth: number) => string {
    return (items, depth) =>
      this.#budget.within(() => {
        const out: string[] = []
        this.#loop(statement, items, scope, out, depth)
        this.#budget.text(out.reduce((sum, part) => sum + part.length, 0))
        return out.join('')
      })
  }

  #assign(target: Target, value: Value, scope: Scope): void {
    if (target.kind === 'name') {
      scope.set(target.name, value)
    } else if (target.kind === 'field') {
      const object = scope.get(target.object)
      if (!(object instanceof Namespace))
        throw new Error(`${target.object}: expected a namespace to set ${target.name} of`)
      object.fields.set(target.name, value)
    } else {
      const parts = unpack(value, target.items.length, this.#budget)
      for (const [i, item] of target.items.entries()) this.#assign(item, parts[i], scope)
    }
  }

  #filterText(filter: Expression | null, text: string, scope: Scope): Value {
    return filter === null ? text : this.#filter(filter as Node<'filter'>, scope, text)
  }

  /** A macro sees the variables around its definition, not those around its call. */
  #macro(name: string, signature: Signature, body: Body, scope: Scope): Thing {
    const call = (given: Given) => this.render(body, this.#bind(name, signature, given, scope))
    return new Thing(name, call, { name: () => name })
  }

  /** The scope of a macro's body. */
  #bind(name: string, { parameters, names }: Signature, { args, kwargs }: Given, outer: Scope): Scope {
    const scope = new Scope(outer)
    const left = new Map(kwargs)
    const missing: [string, Expression][] = []
    for (const [i, [parameter, fallback]] of parameters.entries()) {
      if (i < args.length && left.has(parameter))
        throw new Error(`macro ${name}: two values for ${parameter}`)
      const value = args[i] ?? (i < args.length ? null : left.get(parameter))
      left.delete(parameter)
      if (value === undefined && fallback) missing.push([parameter, fallback])
      scope.set(
        parameter,
        value === undefined ? new Undefined(`parameter ${parameter} was not provided`) : value,
      )
    }
    this.#bindRest(name, names, args.slice(parameters.length), left, scope)
    for (const [parameter, fallback] of missing) scope.set(parameter, this.#evaluate(fallback, scope))
    return scope
  }

  /** What a macro takes beyond its parameters, where its body asks for it. */
  #bindRest(
    name: string,
    names: ReadonlySet<string>,
    varargs: readonly Value[],
    kwargs: Map<string, Value>,
    scope: Scope,
  ): void {
    if (names.has('caller')) {
      scope.set('caller', kwargs.get('caller') ?? new Undefined('no caller was given'))
      kwargs.delete('caller')
    }
    if (names.has('kwargs')) scope.set('kwargs', new Dict(kwargs))
    else for (const key of kwargs.keys()) throw new Error(`macro ${name}: unexpected argument ${key}`)
    if (names.has('varargs')) scope.set('varargs', new Tuple(varargs))
    else if (varargs.length > 0) throw new Error(`macro ${name}: ${varargs.length} arguments too many`)
  }

  #callBlock({ call, signature, body }: Block<'call block'>, scope: Scope): Value {
    const { callee, given } = call as Node<'call'>
    const { args, kwargs } = this.#given(given, scope)
    const caller = this.#macro('caller', signature, body, scope)
    return this.#call(this.#evaluate(callee, scope), {
      args,
      kwargs: new Map([...kwargs, ['caller', caller]]),
    })
  }

  #evaluate(expression: Expression, scope: Scope): Value {
    this.#budget.charge(1)
    return this.#budget.within(() => this.#value(expression, scope))
  }

  #value(expression: Expression, scope: Scope): Value {
    switch (expression.kind) {
      case 'constant':
        return expression.value
      case 'name':
        return scope.get(expression.name)
      case 'attribute':
        return getAttribute(this.#evaluate(expression.object, scope), expression.name, this.#budget)
      case 'item':
        return this.#item(expression, scope)
      case 'call':
        return this.#call(this.#evaluate(expression.callee, scope), this.#given(expression.given, scope))
      case 'filter':
        return this.#filter(expression, scope, null)
      case 'test': {
        const operand = this.#evaluate(expression.operand, scope)
        return passes(expression.name, operand, this.#given(expression.given, scope), this.#budget)
      }
      case 'logic':
        return this.#logic(expression, scope)
      case 'compare':
        return this.#compare(expression, scope)
      case 'choice':
        return this.#choice(expression, scope)
      default:
        return this.#compound(expression, scope)
    }
  }

  #compound(
    expression: Node<'list' | 'tuple' | 'dict' | 'slice' | 'not' | 'sign' | 'calculate' | 'concatenate'>,
    scope: Scope,
  ): Value {
    const all = (parts: readonly Expression[]) => parts.map(part => this.#evaluate(part, scope))
    switch (expression.kind) {
      case 'list':
        return all(expression.items)
      case 'tuple':
        return new Tuple(all(expression.items))
      case 'dict':
        return new Dict(
          expression.entries.map(([key, value]) => [
            this.#evaluate(key, scope),
            this.#evaluate(value, scope),
          ]),
        )
      case 'not':
        return !isTrue(this.#evaluate(expression.operand, scope))
      case 'sign':
        return withSign(this.#evaluate(expression.operand, scope), expression.isNegative)
      case 'concatenate':
        return concatenate(all(expression.parts), this.#budget)
      case 'calculate': {
        const [left, right] = all([expression.left, expression.right])
        return calculate(expression.operator, left, right, this.#budget)
      }
      case 'slice':
        throw new Error('expected one slice, got several')
    }
  }

  #item({ object, key }: Node<'item'>, scope: Scope): Value {
    const value = this.#evaluate(object, scope)
    if (key.kind !== 'slice') return getItem(value, this.#evaluate(key, scope), this.#budget)
    const bounds = key.parts.map(part => (part === null ? null : this.#evaluate(part, scope)))
    return getSlice(value, bounds, this.#budget)
  }

  #logic({ operator, left, right }: Node<'logic'>, scope: Scope): Value {
    const value = this.#evaluate(left, scope)
    return isTrue(value) === (operator === 'and') ? this.#evaluate(right, scope) : value
  }

  /** `a < b < c` is true where both are. */
  #compare({ first, rest }: Node<'compare'>, scope: Scope): boolean {
    let left = this.#evaluate(first, scope)
    for (const [operator, expression] of rest) {
      const right = this.#evaluate(expression, scope)
      if (!decide(operator, left, right, this.#budget)) return false
      left = right
    }
    return true
  }

  #choice({ test, then, otherwise }: Node<'choice'>, scope: Scope): Value {
    if (isTrue(this.#evaluate(test, scope))) return this.#evaluate(then, scope)
    if (otherwise !== null) return this.#evaluate(otherwise, scope)
    return new Undefined('the condition of an expression without else is false')
  }

  /** @param text what the first of the filters is applied to where it has no operand: the text of a block */
  #filter({ operand, name, given }: Node<'filter'>, scope: Scope, text: string | null): Value {
    const isFirst = operand === null
    const value = isFirst
      ? text!
      : text !== null && operand.kind === 'filter'
        ? this.#filter(operand, scope, text)
        : this.#evaluate(operand, scope)
    return applyFilter(name, value, this.#given(given, scope), this.#budget)
  }

  #given({ positional, named, spread, namedSpread }: Arguments, scope: Scope): Given {
    const args = positional.map(argument => this.#evaluate(argument, scope))
    if (spread !== null) args.push(...itemsOf(this.#evaluate(spread, scope), this.#budget))
    const kwargs = new Map(named.map(([name, value]) => [name, this.#evaluate(value, scope)]))
    if (namedSpread !== null) this.#spread(this.#evaluate(namedSpread, scope), kwargs)
    return { args, kwargs }
  }

  #spread(value: Value, kwargs: Map<string, Value>): void {
    if (!(value instanceof Dict)) throw new Error(`**: expected a dictionary, got ${typeName(value)}`)
    for (const [key, item] of value.entries()) {
      const name = textOf(key) ?? refuse('**', key)
      if (kwargs.has(name)) throw new Error(`two values for ${name}`)
      kwargs.set(name, item)
    }
  }

  #call(callee: Value, given: Given): Value {
    if (!(callee instanceof Thing) || callee.call === null) return refuse('a call', callee)
    this.#budget.charge(1)
    return callee.call(given)
  }
}
