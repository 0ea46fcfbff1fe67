import { describe, expect, it } from 'vitest'
import type { LogicTaskExample } from './example.ts'
import { generateLogicProblems, type LogicGeneratorOptions, logicGenerator } from './generator.ts'

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

const variants: LogicGeneratorOptions[] = [1, 2, 3, 4, 5].flatMap(hops =>
  (['real', 'shortcut-free'] as const).flatMap(style =>
    (['two-way', 'three-way'] as const).map(labels => ({ hops, style, labels })),
  ),
)

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
    expect(() => logicGenerator({ hops: 6 }, 0)).toThrow(/hops: expected 1 to 5, got 6/)
    expect(() => logicGenerator({ hops: {} }, 0)).toThrow(/hops/)
    expect(() => logicGenerator({ hops: 5, nodes: [5, 9] }, 0)).toThrow(
      /nodes: expected \[min, max\] within 6 to 9/,
    )
    expect(() => logicGenerator({ style: 'shortcut-free', nodes: [6, 9] }, 0)).toThrow(/no effect/)
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
