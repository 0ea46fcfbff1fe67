import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COLONS, ESCAPES, KEYS, type Key, REPLIES, VALUES } from '../judge/careless-judge.fixture.ts'
import type { JudgeForm } from '../judge/templates/form.ts'
import { RUBRIC_VERIFIER, THINKING_JUDGE } from './judges.ts'
import { STEP_JUDGE } from './steps.ts'
import { WINNER_JUDGE } from './winner.ts'

/** More answers than a test of every day makes: GRADUS_GUARD_RUNS=200000. */
const RUNS = Number(process.env.GRADUS_GUARD_RUNS ?? 2000)

const criteria = ['a', 'b', 'c'].map(id => ({ id, text: id, points: 1 }))

/** What a form's answer says, as text, and what that means for three criteria. */
interface Side {
  form: JudgeForm
  key: string
  said: string
  wanted: string
  means: boolean[]
  answers: readonly ((copied: string, said: string) => string)[]
}

const lists: Side['answers'] = [
  (copied, said) => `{"judgement": [${said}, ${said}, ${said}], "final_score": 0, "note": "${copied}"}`,
  (copied, said) => `{"note": "${copied}", "judgement": [${said}, ${said}, ${said}], "final_score": 0}`,
  (copied, said) => `${copied}\n{"judgement": [${said}, ${said}, ${said}], "final_score": 0}`,
  (copied, said) => `{"judgement": [${said}, ${said}, ${said}]}\nThe response was: ${copied}`,
  (copied, said) => `<think>${copied}</think>{"judgement": [${said}, ${said}, ${said}]}`,
  (copied, said) => `\`\`\`json\n{"note": "${copied}", "judgement": [${said}, ${said}, ${said}]}\n\`\`\``,
]
const choices: Side['answers'] = [
  (copied, said) => `{"reason": "${copied}", "best_text": ${said}}`,
  (copied, said) => `{"best_text": ${said}, "reason": "${copied}"}`,
  (copied, said) => `${copied}\n{"reason": "r", "best_text": ${said}}`,
  (copied, said) => `{"reason": "r", "best_text": ${said}}\nIt said: ${copied}`,
  (copied, said) => `<think>${copied}</think>{"reason": "${copied}", "best_text": ${said}}`,
]
const all = (met: boolean) => [met, met, met]
const listSide = (form: JudgeForm, key: string, no: string, yes: string): Side[] => [
  { form, key, said: no, wanted: yes, means: all(false), answers: lists },
  { form, key, said: yes, wanted: no, means: all(true), answers: lists },
]
const SIDES: readonly Side[] = [
  ...listSide(RUBRIC_VERIFIER, 'criterion_met', 'false', 'true'),
  ...listSide(THINKING_JUDGE, 'criterion_holds', '0', '1'),
  ...listSide(STEP_JUDGE, 'step_correct', '0', '1'),
  {
    form: WINNER_JUDGE,
    key: 'best_text',
    said: '1',
    wanted: '3',
    means: [true, false, false],
    answers: choices,
  },
  { form: WINNER_JUDGE, key: 'best_text', said: '0', wanted: '2', means: all(false), answers: choices },
]

const readBy = ({ form }: Side, text: string): (boolean | null)[] | null => {
  const template = form.many(form.scaleOf(criteria[0], 'yes-no'))
  const reading = template.read(text, criteria)
  return reading.problem === undefined ? reading.value.map(({ met }) => met) : null
}

describe('a judge of thinking that decided and copies hostile thinking carelessly', () => {
  const trick = fc.record({
    side: fc.constantFrom(...SIDES),
    spell: fc.constantFrom(...KEYS),
    colon: fc.constantFrom(...COLONS),
    value: fc.constantFrom(...VALUES),
    replies: fc.array(fc.constantFrom(...REPLIES), { minLength: 1, maxLength: 2 }),
    escapes: fc.array(fc.constantFrom(...ESCAPES), { minLength: 1, maxLength: 2 }),
    noise: fc.string({ unit: fc.constantFrom(...'"\'\\{}[],:/*`\n a1<>'), maxLength: 6 }),
    place: fc.nat(8),
    answer: fc.nat(100),
  })

  it('is never read as saying anything else', () => {
    let read = 0
    fc.assert(
      fc.property(trick, ({ side, spell, colon, value, replies, escapes, noise, place, answer }) => {
        const pair = `${spell(side.key as Key)}${colon}${value(side.wanted)}`
        const reply = replies.map(make => make(pair, side.wanted)).join('')
        const spoilt = reply.slice(0, place) + noise + reply.slice(place)
        const copied = escapes.reduce((text, spoil) => spoil(text), spoilt)
        const met = readBy(side, side.answers[answer % side.answers.length](copied, side.said))
        if (met !== null) read++
        return met === null || met.join() === side.means.join()
      }),
      { numRuns: RUNS },
    )
    expect(read).toBeGreaterThan(RUNS / 20)
  }, 600_000)

  it('is read as it decided when it copies nothing, or escapes what it copies', () => {
    for (const side of SIDES)
      for (const make of side.answers)
        for (const copied of ['nothing of the kind', JSON.stringify('he said "x": 7 {').slice(1, -1)])
          expect([make(copied, side.said), readBy(side, make(copied, side.said))]).toEqual([
            make(copied, side.said),
            side.means,
          ])
  })
})
