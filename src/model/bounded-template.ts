/**
 * @file Jinja templates as the transformers library renders them, under a budget: a template comes with a checkpoint, and is a program
 * of strangers. The language is that of Jinja 3.1 in `jinja/`, each file of which has one part of it.
 */

import { Budget } from './jinja/budget.ts'
import { globalsFor } from './jinja/functions.ts'
import { interpret } from './jinja/interpreter.ts'
import type { Statement } from './jinja/nodes.ts'
import { parse } from './jinja/parser.ts'
import { fromJson } from './jinja/values.ts'

/** Longest source, in characters; those of today's models have up to 30,000. */
export const MAX_TEMPLATE_CHARS = 256 * 1024

/** A budget that grows with what is rendered: what is linear in the conversation always fits. */
const budgetFor = (variables: Readonly<Record<string, unknown>>): Budget => {
  const { messages, tools } = variables
  const count = [messages, tools].reduce<number>((sum, x) => sum + (Array.isArray(x) ? x.length : 0), 0)
  const chars = JSON.stringify(variables)?.length ?? 0
  return new Budget(250_000 + 2_000 * count + chars / 4, 1_000_000 + 16 * chars)
}

/** What the engine throws says nothing about a template: its stack overflows where something is nested too deeply. */
const readable = (error: unknown): Error => {
  const isOwn = error instanceof Error && !(error instanceof RangeError)
  return isOwn ? error : new Error('nested too deeply', { cause: error })
}

/** A template that can neither run without end nor fill the memory, whatever is written in it. */
export class BoundedTemplate {
  readonly #body: readonly Statement[]

  /** @throws Error when the source is no template, is nested too deeply or too long */
  constructor(source: string) {
    if (source.length > MAX_TEMPLATE_CHARS)
      throw new Error(`expected at most ${MAX_TEMPLATE_CHARS} characters, got ${source.length}`)
    try {
      this.#body = parse(source)
    } catch (error) {
      throw readable(error)
    }
  }

  /** @throws Error from the template itself (`raise_exception`), or when its budget is used up */
  render(variables: Readonly<Record<string, unknown>>): string {
    const budget = budgetFor(variables)
    try {
      const given = new Map(Object.entries(variables).map(([name, value]) => [name, fromJson(value)]))
      return interpret(this.#body, globalsFor(budget), given, budget)
    } catch (error) {
      throw readable(error)
    }
  }
}
