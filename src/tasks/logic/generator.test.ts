import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseSentence } from '../../grade/logic/english.ts'
import type { LogicTaskExample } from './example.ts'
import {
  generateLogicProblems,
  LOGIC_STYLES,
  type LogicGeneratorOptions,
  logicGenerator,
} from './generator.ts'
import { readRule } from './rules.ts'

type Sign = { negated: boolean }

/** Everything about the individual that the premises entail, by forward chaining over the texts. */
const close = (premises: readonly string[]) => {
  const isa: [string, string][] = []
  const properties: ({ noun: string; adjective: string } & Sign)[] = []
  let name = ''
  const kinds = new Set<string>()
  const singular = (word: string) => word.toLowerCase().replace(/uses$/, 'us')
  for (const text of premises) {
    const rule = /^(?:(?:Each|Every) )?(\w+) (?:is|are) (not )?(?:an? )?(\w+)\.$/.exec(text)!
    const [subject, object] = [singular(rule[1]), singular(rule[3])]
    if (!subject.endsWith('pus')) {
      name = rule[1]
      kinds.add(object)
    } else if (object.endsWith('pus')) isa.push([subject, object])
    else properties.push({ noun: subject, adjective: object, negated: rule[2] !== undefined })
  }
  for (let before = -1; before !== kinds.size; ) {
    before = kinds.size
    for (const [noun, kind] of isa) if (kinds.has(noun)) kinds.add(kind)
  }
  const facts = new Set([...kinds].map(kind => `${name} is ${/^i/.test(kind) ? 'an' : 'a'} ${kind}.`))
  for (const { noun, adjective, negated } of properties) {
    if (kinds.has(noun)) facts.add(`${name} is ${negated ? 'not ' : ''}${adjective}.`)
  }
  return { facts, kinds }
}

const flip = (text: string) =>
  text.includes(' not ') ? text.replace(' not ', ' ') : text.replace(' is ', ' is not ')

const labelOf = (problem: LogicTaskExample) => {
  const { facts } = close(problem.premises)
  if (facts.has(problem.conclusion)) return facts.has(flip(problem.conclusion)) ? 'inconsistent' : 'True'
  return facts.has(flip(problem.conclusion)) ? 'False' : 'Unknown'
}

const variants: LogicGeneratorOptions[] = [1, 2, 3, 4, 5, 6, 8, 12, 16].flatMap(hops =>
  LOGIC_STYLES.flatMap(style => (['two-way', 'three-way'] as const).map(labels => ({ hops, style, labels }))),
)

/** Digests of problems as they were when no chain was longer than five hops: runs and test sets depend on them. */
const FIXED: [LogicGeneratorOptions, string][] = [
  [{}, 'd55e488b2c18beb6'],
  [{ style: 'shortcut-free' }, 'a11c688c221866ce'],
  [{ style: 'shortcut-free', labels: 'three-way', hops: { 1: 1, 2: 1, 5: 3 } }, 'c54468ef82fc0412'],
  [{ labels: 'three-way', hops: { 1: 1, 3: 1 } }, '9fd30226011b2f75'],
  [{ style: 'varied' }, 'c096cddb98d5546b'],
  [{ hops: 3, nodes: [4, 5], order: 'shuffled', distractors: 'none' }, '6545ac12c001b108'],
]

describe('logic generator', () => {
  it.each(variants)('gives the entailed label and an entailed, complete proof: %j', options => {
    for (const problem of generateLogicProblems(150, options, 'check')) {
      const { facts, kinds } = close(problem.premises)
      expect(labelOf(problem), problem.context).toBe(problem.label)
      const proof = problem.proof!
      for (const step of proof) expect(facts.has(step) || problem.premises.includes(step), step).toBe(true)
      expect(proof.length).toBe(1 + 2 * problem.hops!)
      expect(problem.premises.filter(text => text === proof[0])).toHaveLength(1)
      if (problem.label === 'Unknown') expect(proof.length).toBe(2 * kinds.size - 1)
      else {
        expect(problem.hops).toBe(options.hops)
        expect(proof.at(-1)).toBe(problem.label === 'True' ? problem.conclusion : flip(problem.conclusion))
      }
      expect(new Set(problem.premises).size).toBe(problem.premises.length)
      expect(problem.premisesFol).toHaveLength(problem.premises.length)
    }
  })

  it('balances labels', () => {
    const labels = generateLogicProblems(3000, { labels: 'three-way' }, 'balance').map(
      problem => problem.label,
    )
    for (const label of ['True', 'False', 'Unknown']) {
      expect(labels.filter(l => l === label).length / 3000).toBeCloseTo(1 / 3, 1)
    }
  })

  it('gives the same problem for the same seed and index', () => {
    const options = { hops: { 3: 1, 5: 1 }, style: 'shortcut-free' } as const
    expect(logicGenerator(options, 7)(41)).toEqual(logicGenerator(options, 7)(41))
    expect(logicGenerator(options, 7)(41)).not.toEqual(logicGenerator(options, 8)(41))
  })

  it('draws hops by weight and keeps chain lengths', () => {
    const problems = generateLogicProblems(2000, { hops: { 2: 1, 4: 3 }, nodes: [6, 7] }, 'weights')
    expect(problems.filter(problem => problem.hops === 4).length / 2000).toBeCloseTo(0.75, 1)
    expect(new Set(problems.map(problem => problem.premises.length))).toEqual(new Set([12, 14]))
  })

  it('refuses impossible options', () => {
    expect(() => logicGenerator({ hops: 17 }, 0)).toThrow(/hops: expected 1 to 16, got 17/)
    expect(() => logicGenerator({ hops: {} }, 0)).toThrow(/hops/)
    expect(() => logicGenerator({ hops: 5, nodes: [5, 9] }, 0)).toThrow(
      /nodes: expected \[min, max\] within 6 to 9/,
    )
    expect(() => logicGenerator({ style: 'shortcut-free', nodes: [6, 9] }, 0)).toThrow(/no effect/)
  })

  it('mentions the queried adjective as often as asked, and always has kinds beside the path', () => {
    for (const mentions of [1, 2, 4] as const) {
      for (const labels of ['two-way', 'three-way'] as const) {
        for (const problem of generateLogicProblems(
          150,
          { style: 'shortcut-free', hops: { 1: 1, 3: 1, 7: 1 }, labels, mentions },
          'mentions',
        )) {
          expect(labelOf(problem), problem.context).toBe(problem.label)
          const adjective = problem.conclusion.split(' ').at(-1)!
          expect(problem.premises.filter(text => text.endsWith(` ${adjective}`))).toHaveLength(mentions)
          const { kinds } = close(problem.premises)
          const all = new Set(
            problem.premises
              .join(' ')
              .match(/\w+pus/gi)!
              .map(kind => kind.toLowerCase()),
          )
          expect(all.size).toBeGreaterThan(kinds.size)
        }
      }
    }
  })

  it('draws from more kinds, and puts more of them beside the path, when asked to', () => {
    const options: LogicGeneratorOptions = { style: 'shortcut-free', hops: 2, kinds: 24, sideKinds: [12, 16] }
    const problems = generateLogicProblems(200, options, 'beside')
    const seen = new Set(problems.flatMap(({ context }) => context.toLowerCase().match(/\w+pus/g)!))
    expect(seen.size).toBe(24)
    for (const problem of problems) {
      expect(labelOf(problem), problem.context).toBe(problem.label)
      expect(problem.proof).toHaveLength(5)
      const kinds = new Set(problem.context.toLowerCase().match(/\w+pus/g)!).size
      expect(kinds).toBeGreaterThanOrEqual(2 + 12)
      expect(kinds).toBeLessThanOrEqual(3 + 16)
    }
    const few = generateLogicProblems(100, { ...options, kinds: 10, mentions: 1, sideKinds: [1, 1] }, 'few')
    for (const { premises } of few) expect(premises.length).toBeLessThanOrEqual(7)
  })

  it('puts more kinds above the one that settles the query when asked to, and nothing changes but where to stop', () => {
    const climbs = ({ premises, proof }: LogicTaskExample): number => {
      const parents = new Map(
        premises.flatMap(text => {
          const rule = readRule(parseSentence(text))
          return rule === null || rule.fact || !rule.object.endsWith('pus')
            ? []
            : [[rule.subject, rule.object]]
        }),
      )
      let kind = readRule(parseSentence(proof!.at(-2)!))!.subject
      let above = 0
      for (; parents.has(kind); kind = parents.get(kind)!) above++
      return above
    }
    const counts = (above?: [number, number]) =>
      new Set(
        generateLogicProblems(120, { style: 'shortcut-free', hops: 3, kinds: 24, above }, 'above').map(
          problem => {
            expect(labelOf(problem), problem.context).toBe(problem.label)
            expect(problem.proof).toHaveLength(7)
            return climbs(problem)
          },
        ),
      )
    expect([...counts()]).toEqual([1])
    expect([...counts([2, 4])].sort()).toEqual([2, 3, 4])
  })

  it('varied: problems of other lengths have the same sizes, and the settling kind is not the one below the last', () => {
    const sizes = (hops: number) => {
      const problems = generateLogicProblems(300, { style: 'varied', hops }, 'sizes')
      for (const problem of problems) expect(labelOf(problem), problem.context).toBe(problem.label)
      return problems.map(({ context }) => new Set(context.toLowerCase().match(/\w+pus/g)).size)
    }
    const [three, five] = [sizes(3), sizes(5)]
    // Six to fifteen kinds, and eight to seventeen.
    const shared = [...new Set(three)].filter(size => five.includes(size))
    expect(shared).toHaveLength(8)
    expect(Math.max(...five)).toBeLessThanOrEqual(24)
    const fixed = generateLogicProblems(300, { style: 'shortcut-free', hops: 3, kinds: 24 }, 'sizes')
    expect(
      new Set(fixed.map(({ context }) => new Set(context.toLowerCase().match(/\w+pus/g)).size)).size,
    ).toBeLessThanOrEqual(2)
    const longest = generateLogicProblems(50, { style: 'varied', hops: 16 }, 'sizes')
    for (const { context } of longest) {
      expect(new Set(context.toLowerCase().match(/\w+pus/g)).size).toBeLessThanOrEqual(24)
    }
  })

  it('keeps to the ten kinds of the real rows up to five hops', () => {
    for (const style of ['real', 'shortcut-free'] as const) {
      const words = generateLogicProblems(300, { style, hops: { 1: 1, 5: 1 } }, 'ten').map(p => p.context)
      expect(
        new Set(
          words
            .join(' ')
            .toLowerCase()
            .match(/\w+pus/g)!,
        ).size,
      ).toBe(10)
    }
  })

  it('gives the problems that it always gave', () => {
    const digest = (options: LogicGeneratorOptions) =>
      createHash('sha256')
        .update(JSON.stringify(generateLogicProblems(200, options, 'fixed')))
        .digest('hex')
        .slice(0, 16)
    expect(FIXED.map(([options]) => digest(options))).toEqual(FIXED.map(([, expected]) => expected))
  })

  it('refuses kinds, mentions and kinds beside the path that do not fit', () => {
    const refusal = (options: LogicGeneratorOptions) => () => logicGenerator(options, 0)
    expect(refusal({ hops: 8, kinds: 10 })).toThrow(/kinds: expected at least 13 for 8 hops, got 10/)
    expect(refusal({ kinds: 25 })).toThrow(/kinds: expected 10 to 24, got 25/)
    expect(refusal({ mentions: 1 })).toThrow(/mentions: has no effect without connected distractors/)
    expect(refusal({ sideKinds: [1, 2] })).toThrow(/sideKinds: has no effect without/)
    expect(refusal({ above: [1, 2] })).toThrow(/above: has no effect without/)
    expect(refusal({ style: 'shortcut-free', above: [0, 2] })).toThrow(
      /above: expected \[min, max\] within 1 to 10/,
    )
    expect(refusal({ style: 'shortcut-free', hops: 4, above: [1, 5] })).toThrow(
      /kinds: expected at least 13 for 4/,
    )
    const style = 'shortcut-free'
    expect(refusal({ style, sideKinds: [3, 2] })).toThrow(/sideKinds: expected \[min, max\] within 1 to 10/)
    expect(refusal({ style, hops: 3, sideKinds: [3, 9] })).toThrow(/kinds: expected at least 13 for 3 hops/)
    expect(refusal({ style, hops: 16 })).not.toThrow()
  })

  it('gives other problems other ids, and the usual ones the plain id', () => {
    const idOf = (options: LogicGeneratorOptions) => logicGenerator(options, 'ids')(7).id
    expect(idOf({})).toBe('real-ids-7')
    expect(idOf({ hops: 5, style: 'real', labels: 'two-way', nodes: undefined })).toBe('real-ids-7')
    expect(idOf({ hops: 2, labels: 'three-way' })).toBe('real-ids-7 (hops 2, labels three-way)')
    expect(idOf({ style: 'shortcut-free', hops: { 3: 1, 4: 3 } })).toBe(
      'shortcut-free-ids-7 (hops {3:1,4:3})',
    )
    const options: LogicGeneratorOptions[] = [
      ...variants,
      { nodes: [6, 7] },
      { distractors: 'none' },
      { order: 'shuffled' },
      { negation: { gold: 1, other: 0 } },
    ]
    expect(new Set(options.map(idOf)).size).toBe(options.length)
  })
})
