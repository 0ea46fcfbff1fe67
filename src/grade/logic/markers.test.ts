import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractReasoning, ruleNamed, splitAnnotation } from './steps.ts'

// As they were before they were written for texts of any length: plain, and quadratic where somebody means harm.
const FORMER_MARKER = /(^|[.)\]!?]?[ \t]+|[.)\]!?])(?:step[ \t]+)?(\d{1,4})[ \t]*[.):](?=[ \t])[ \t]*/gimu
const FORMER_ANNOTATION = /\s*\[([^[\]]*)\]\s*\.?\s*$/

const formerMarkers = (line: string): { number: number; start: number }[] => {
  const markers: { number: number; start: number }[] = []
  for (const found of line.matchAll(FORMER_MARKER)) {
    const before = line.slice(0, found.index)
    const atStart = before.trim() === '' && found[1].trim() === ''
    const number = Number(found[2])
    const last = markers.at(-1)
    const carriesOn =
      last !== undefined && number === last.number + 1 && /[.)\]!?]$/.test((before + found[1]).trimEnd())
    if (atStart || carriesOn) markers.push({ number, start: found.index + found[1].length })
  }
  return markers
}

const pieces = fc.constantFrom(
  ...[
    ' ',
    '  ',
    '\t',
    '.',
    ')',
    ']',
    '!',
    '?',
    ':',
    '1',
    '2',
    '3',
    '4',
    '12345',
    'step',
    'Step ',
    'ſtep ',
    'a',
    '\r',
  ],
  ...['\u00a0', '1. ', ' 2. ', '3) ', '. 2: ', 'so [mp; 1, 2]', '['],
)
const lines = fc.array(pieces, { maxLength: 30, size: 'max' }).map(parts => parts.join(''))

describe('steps', () => {
  it('are found where they always were', () => {
    fc.assert(
      fc.property(lines, line => {
        const { steps } = extractReasoning(line)
        const found = steps.map(({ number, span }) => ({ number, start: span[0] }))
        expect(found).toEqual(formerMarkers(line))
      }),
      { numRuns: 3000 },
    )
  })

  it('have their annotations where they always had them', () => {
    fc.assert(
      fc.property(lines, line => {
        const former = FORMER_ANNOTATION.exec(line)
        const { text, refs } = splitAnnotation(line)
        expect(text).toBe(former ? line.slice(0, former.index).trim() : line.trim())
        if (former === null) expect(refs).toEqual([])
      }),
      { numRuns: 3000 },
    )
  })

  it('name rules, not what every object has', () => {
    expect(ruleNamed('MP')).toBe('mp')
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
      expect(ruleNamed(name)).toBeNull()
  })

  it.each([
    ['gaps', ' '.repeat(200_000)],
    ['gaps after a number', `1.${' '.repeat(200_000)}`],
    ['numbers without a mark', '1 '.repeat(100_000)],
    ['markers', '1. '.repeat(60_000)],
    ['markers that carry on', Array.from({ length: 20_000 }, (_, i) => `${i + 1}. a.`).join(' ')],
    ['brackets', `1. ${'['.repeat(200_000)}`],
  ])('are looked for in linear time: %s', (_, line) => {
    const from = process.cpuUsage().user
    extractReasoning(line)
    // Quadratic took minutes.
    expect((process.cpuUsage().user - from) / 1e6).toBeLessThan(10)
  })
})
