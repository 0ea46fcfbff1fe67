/** @file The rubrics that the service knows by name, and which one an item gets. */

import { resolve } from 'node:path'
import { parseRubric, type Rubric } from '../../rubric/criterion.ts'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { ConfigError } from '../../util/errors.ts'
import { closest } from '../../util/schema.ts'
import type { RewardAggregation, RewardConfig, RouteConfig, RubricChoice, RubricEntry } from './config.ts'
import { ServiceError } from './errors.ts'
import { fieldAt } from './fields.ts'
import type { RewardItem } from './item.ts'
import { listLength } from './routes/route.ts'

/** A rubric with what its entry says about scoring. */
export interface KnownRubric {
  /** Absent for one that came with a request. */
  name?: string
  rubric: Rubric
  /** Reference answer of the item that the rubric was written for. */
  reference?: string
  aggregation?: Partial<RewardAggregation>
}

const inSet = (within: string | undefined, name: string): string =>
  within === undefined ? name : `${within}/${name}`

/** Rubrics of the configuration. A file of many items is a set: its rubrics are `NAME/ITEM`. */
export class RubricStore {
  private readonly rubrics = new Map<string, KnownRubric>()
  private readonly sets = new Set<string>()

  /**
   * @param folder that file names are relative to
   * @throws DataError for a rubric that cannot be used
   */
  constructor(entries: RewardConfig['rubrics'], folder: string) {
    for (const [name, entry] of Object.entries(entries)) this.add(name, entry, folder)
  }

  private add(name: string, entry: RubricEntry, folder: string): void {
    const given = typeof entry === 'string' ? { file: entry } : entry
    if ('file' in given) {
      this.addFile(name, given, folder)
      return
    }
    const { aggregation, ...rubric } = given
    this.rubrics.set(name, { name, rubric: parseRubric(rubric, `rubrics.${name}`), aggregation })
  }

  private addFile(
    name: string,
    { file, aggregation }: { file: string; aggregation?: Partial<RewardAggregation> },
    folder: string,
  ): void {
    const { items } = readRubricFile(resolve(folder, file))
    const known = (at: string, { rubric, reference }: (typeof items)[number]): KnownRubric => ({
      name: at,
      rubric,
      reference,
      aggregation,
    })
    if (items.length === 1) {
      this.rubrics.set(name, known(name, items[0]))
      return
    }
    this.sets.add(name)
    for (const item of items) this.rubrics.set(`${name}/${item.id}`, known(`${name}/${item.id}`, item))
  }

  /** Every rubric of the configuration. */
  all(): readonly KnownRubric[] {
    return [...this.rubrics.values()]
  }

  /** Names that a request may use. */
  private names(): string[] {
    return [...this.rubrics.keys()]
      .filter(name => !name.includes('/'))
      .concat([...this.sets].map(set => `${set}/ID`))
  }

  /** @throws ServiceError (400) for a name that is none. */
  named(name: string, where: string): KnownRubric {
    const known = this.rubrics.get(name)
    if (known) return known
    const near = closest(name, [...this.rubrics.keys()].slice(0, 1000))
    const expected = this.names().slice(0, 20).join(', ') || 'none: the configuration has no rubrics'
    throw new ServiceError(
      'invalid_request',
      `${where}: expected a rubric's name (${expected}), got ${JSON.stringify(name)}`,
      {
        hint:
          near === null
            ? 'correct the name, or add it to rubrics in the configuration'
            : `did you mean ${near}?`,
      },
    )
  }

  /**
   * The rubric of an item: what the item itself says, then what its route says, then the only one there is.
   * @param where the item in its request, for errors
   * @param mostCriteria of a rubric that came with the request
   * An inline rubric has the shape of one; whether its verifiers can be used is not looked at.
   * @throws ServiceError (400) when nothing says which, or for an inline rubric that has not the shape of one
   */
  choose(
    item: RewardItem,
    route: RouteConfig,
    where: string,
    mostCriteria = Number.POSITIVE_INFINITY,
  ): KnownRubric {
    const asked = item.rubric ?? this.fromRoute(item, route.rubric, where)
    if (typeof asked === 'string') return this.named(asked, `${where}.rubric`)
    if (asked !== undefined) return this.inline(asked, route, `${where}.rubric`, mostCriteria)
    if (this.rubrics.size === 1) return this.all()[0]
    throw new ServiceError('invalid_request', `${where}: expected a rubric, got none`, {
      hint: 'name one in the request, or set rubric for this route in the configuration',
    })
  }

  private inline(value: unknown, { inline }: RouteConfig, where: string, most: number): KnownRubric {
    if (!inline)
      throw new ServiceError('invalid_request', `${where}: expected the name of a rubric, got a rubric`, {
        hint: 'this route takes none from requests (inline: false)',
      })
    const count = listLength(value, 'criteria')
    if (count > most)
      throw new ServiceError('invalid_request', `${where}: expected at most ${most} criteria, got ${count}`, {
        hint: 'shorten the rubric, or put it into the configuration',
      })
    try {
      return { rubric: parseRubric(value, where) }
    } catch (error) {
      throw new ServiceError('invalid_request', (error as Error).message, { cause: error })
    }
  }

  private fromRoute(item: RewardItem, choice: RubricChoice | undefined, where: string): unknown {
    if (choice === undefined || typeof choice === 'string') return choice
    const { from, map, within, default: otherwise } = choice
    const value = fieldAt(item.fields, from)
    if (value !== null && typeof value === 'object') return value
    if (value === undefined || value === null) return otherwise ?? this.absent(from, where)
    const text = String(value)
    const mapped = map !== undefined && Object.hasOwn(map, text) ? map[text] : text
    const name = inSet(within, mapped)
    return this.rubrics.has(name) ? name : (otherwise ?? name)
  }

  private absent(from: string, where: string): never {
    throw new ServiceError(
      'invalid_request',
      `${where}: expected the name of a rubric at ${from}, got nothing`,
      {
        hint: 'send it, or give the route a default',
      },
    )
  }

  /**
   * Checks the names that routes use.
   * @throws ConfigError
   */
  checkRoutes(routes: readonly RouteConfig[]): void {
    for (const [index, { rubric }] of routes.entries()) {
      if (rubric === undefined) continue
      const {
        map = {},
        within,
        default: otherwise,
      } = typeof rubric === 'string' ? { default: rubric } : rubric
      if (within !== undefined && !this.sets.has(within))
        throw new ConfigError(`routes[${index}].rubric.within: ${within} is no rubric file of several items`)
      for (const name of [otherwise, ...Object.values(map).map(name => inSet(within, name))])
        if (name !== undefined) this.checkName(name, `routes[${index}].rubric`)
    }
  }

  private checkName(name: string, where: string): void {
    if (this.rubrics.has(name)) return
    const what = this.sets.has(name)
      ? 'a file of several items; use {from: FIELD, within: NAME}'
      : 'no rubric'
    throw new ConfigError(`${where}: ${name} is ${what}`, {
      hint: `rubrics are ${this.names().slice(0, 20).join(', ') || 'missing'}`,
    })
  }
}
