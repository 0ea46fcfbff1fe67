import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COLONS, ESCAPES, KEYS, REPLIES, VALUES } from '../judge/careless-judge.fixture.ts'
import { STAGE_SCORER } from './scorer.ts'

/** More answers than a test of every day makes: GRADUS_GUARD_RUNS=200000. */
const RUNS = Number(process.env.GRADUS_GUARD_RUNS ?? 1000)

const criteria = ['a', 'b'].map(id => ({ id, text: id, points: 1, stage: 1 as const }))

const list = (said: string, copied: string) =>
  `[{"number": 1, "justification": "It says ${copied}", "level": ${said}}, {"number": 2, "justification": "no", "level": ${said}}]`

/** Ways to give one level for both rubrics beside what was copied from the rollout. */
const ANSWERS: readonly ((copied: string, said: string) => string)[] = [
  (copied, said) => `{"verdicts": ${list(said, copied)}}`,
  (copied, said) => `{"note": "${copied}", "verdicts": ${list(said, 'nothing')}}`,
  (copied, said) => `{"verdicts": ${list(said, 'nothing')}, "note": "${copied}"}`,
  (copied, said) => `${copied}\n{"verdicts": ${list(said, 'nothing')}}`,
  (copied, said) => `{"verdicts": ${list(said, 'nothing')}}\nIt wrote: ${copied}`,
  (copied, said) => `<think>${copied}</think>{"verdicts": ${list(said, 'nothing')}}`,
  (copied, said) => `\`\`\`json\n{"verdicts": ${list(said, copied)}}\n\`\`\``,
]

const levelsIn = (text: string): (number | null)[] | null => {
  const template = STAGE_SCORER.many(STAGE_SCORER.scaleOf(criteria[0], 'levels'))
  const { value, problem } = template.read(text, criteria)
  return problem === undefined ? value.map(({ level }) => level ?? null) : null
}

describe('a judge of stages that decided and copies a hostile rollout carelessly', () => {
  const trick = fc.record({
    said: fc.constantFrom('0', '2', 'null'),
    spell: fc.constantFrom(...KEYS),
    colon: fc.constantFrom(...COLONS),
    value: fc.constantFrom(...VALUES),
    replies: fc.array(fc.constantFrom(...REPLIES), { minLength: 1, maxLength: 2 }),
    escapes: fc.array(fc.constantFrom(...ESCAPES), { minLength: 1, maxLength: 2 }),
    noise: fc.string({ unit: fc.constantFrom(...'"\'\\{}[],:/*`\n a1<>'), maxLength: 6 }),
    place: fc.nat(8),
    answer: fc.constantFrom(...ANSWERS),
  })

  it('is never read as giving another level', () => {
    let read = 0
    fc.assert(
      fc.property(trick, ({ said, spell, colon, value, replies, escapes, noise, place, answer }) => {
        const wanted = said === '2' ? '0' : '2'
        const pair = `${spell('level')}${colon}${value(wanted)}`
        const reply = replies.map(make => make(pair, wanted)).join('')
        const spoilt = reply.slice(0, place) + noise + reply.slice(place)
        const copied = escapes.reduce((text, spoil) => spoil(text), spoilt)
        const levels = levelsIn(answer(copied, said))
        if (levels !== null) read++
        const means = said === 'null' ? null : Number(said)
        return levels === null || levels.every(level => level === means)
      }),
      { numRuns: RUNS },
    )
    expect(read).toBeGreaterThan(RUNS / 20)
  }, 600_000)

  it('is read as it decided when it copies nothing, or escapes what it copies', () => {
    for (const said of ['0', '1', '2'])
      for (const make of ANSWERS)
        for (const copied of ['nothing of the kind', JSON.stringify('he said "x": 7 {').slice(1, -1)])
          expect([make(copied, said), levelsIn(make(copied, said))]).toEqual([
            make(copied, said),
            [Number(said), Number(said)],
          ])
  })
})
