/** @file What a template is made of, as the parser gives it to the interpreter. */

import type { Value } from './values.ts'

/** Arguments of a call, a filter or a test. */
export interface Arguments {
  positional: readonly Expression[]
  named: readonly (readonly [string, Expression])[]
  /** `*list` and `**dict`. */
  spread: Expression | null
  namedSpread: Expression | null
}

export type Expression =
  | { kind: 'constant'; value: Value }
  | { kind: 'name'; name: string }
  | { kind: 'list'; items: readonly Expression[] }
  | { kind: 'tuple'; items: readonly Expression[] }
  | { kind: 'dict'; entries: readonly (readonly [Expression, Expression])[] }
  | { kind: 'attribute'; object: Expression; name: string }
  | { kind: 'item'; object: Expression; key: Expression }
  | { kind: 'slice'; parts: readonly (Expression | null)[] }
  | { kind: 'call'; callee: Expression; given: Arguments }
  /** Without an operand: of a block. */
  | { kind: 'filter'; operand: Expression | null; name: string; given: Arguments }
  | { kind: 'test'; operand: Expression; name: string; given: Arguments }
  | { kind: 'not'; operand: Expression }
  | { kind: 'sign'; isNegative: boolean; operand: Expression }
  | { kind: 'calculate'; operator: string; left: Expression; right: Expression }
  | { kind: 'logic'; operator: string; left: Expression; right: Expression }
  | { kind: 'compare'; first: Expression; rest: readonly (readonly [string, Expression])[] }
  | { kind: 'concatenate'; parts: readonly Expression[] }
  | { kind: 'choice'; test: Expression; then: Expression; otherwise: Expression | null }

/** What is assigned to: a name, a field of a namespace, or several of them. */
export type Target =
  | { kind: 'name'; name: string }
  | { kind: 'field'; object: string; name: string }
  | { kind: 'tuple'; items: readonly Target[] }

/** Parameters of a macro, and what its body asks for besides. */
export interface Signature {
  parameters: readonly (readonly [name: string, fallback: Expression | null])[]
  /** All names that stand in the body. */
  names: ReadonlySet<string>
}

type Body = readonly Statement[]

export type Statement =
  | { kind: 'text'; text: string }
  | { kind: 'print'; values: readonly Expression[] }
  | { kind: 'set'; target: Target; value: Expression }
  | { kind: 'set block'; target: Target; filter: Expression | null; body: Body }
  | { kind: 'if'; branches: readonly (readonly [Expression, Body])[]; otherwise: Body }
  | {
      kind: 'for'
      target: Target
      items: Expression
      test: Expression | null
      isRecursive: boolean
      body: Body
      otherwise: Body
    }
  | { kind: 'with'; values: readonly (readonly [Target, Expression])[]; body: Body }
  | { kind: 'macro'; name: string; signature: Signature; body: Body }
  | { kind: 'call block'; call: Expression; signature: Signature; body: Body }
  | { kind: 'filter block'; filter: Expression; body: Body }
  /** A block with variables of its own: `generation`. */
  | { kind: 'scope'; body: Body }
  | { kind: 'break' | 'continue' }
