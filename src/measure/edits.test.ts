import { describe, expect, it } from 'vitest'
import type { Rubric } from '../rubric/criterion.ts'
import { Rng } from '../util/rng.ts'
import { ANSWER_EDITS, type AnswerEditContext, type EditName, formOf, keywordsOf } from './edits.ts'

const edited = (edit: EditName, answer: string, context: Partial<AnswerEditContext> = {}) =>
  ANSWER_EDITS[edit].make(answer, {
    ...{ request: 'Name two rivers in Europe.', keywords: [], form: answer, other: null, rng: new Rng(1) },
    ...context,
  })

describe('edits of answers', () => {
  it('pad at least doubles the words and leaves what was said', () => {
    const text = edited('pad', 'The Rhine and the Elbe are two rivers of Europe.')!
    expect(text.startsWith('The Rhine and the Elbe are two rivers of Europe.\n\n')).toBe(true)
    expect(text.split(/\s+/).length).toBeGreaterThanOrEqual(20)
  })

  it('hedge doubts around the answer', () => {
    expect(edited('hedge', 'The Rhine.')).toMatch(/not sure.*The Rhine\..*might be wrong/s)
  })

  it('keywords stand behind the answer, and without any there is no edit', () => {
    expect(edited('keywords', 'The Rhine.', { keywords: ['river', 'water'] })).toBe(
      'The Rhine.\n\nriver, water',
    )
    expect(edited('keywords', 'The Rhine.')).toBeNull()
  })

  it.each([
    ['- Rhine\n- Elbe', '- Name two rivers\n- in Europe', '- something\n- something'],
    ['"The Rhine, for one."', '"Name two rivers in Europe."', '"something."'],
    ['["Rhine","Elbe"]', '["Name two rivers","in Europe"]', '["something","something"]'],
    [
      '{"rivers":["Rhine"],"n":1}',
      '{"rivers":["Name two rivers in Europe"],"n":1}',
      '{"rivers":["something"],"n":1}',
    ],
    ['RHINE AND ELBE!', 'NAME TWO RIVERS IN EUROPE!', 'SOMETHING!'],
    ['<<Rivers>>\n\nthe Rhine', '<<Name two rivers>>\n\nin Europe', '<<something>>\n\nsomething'],
    ['1. Rhine.\n2. Elbe.', '1. Name two rivers.\n2. in Europe.', '1. something.\n2. something.'],
  ])('the form of %j is kept, with other words', (form, echo, alone) => {
    expect(edited('echo', 'x', { form })).toBe(echo)
    expect(edited('form', 'x', { form })).toBe(alone)
  })

  it('a form nested without end is a text like any other', () => {
    const form = `${'['.repeat(50_000)}"Rhine"${']'.repeat(50_000)}`
    expect(edited('form', 'x', { form })).toMatch(/^\[+"something"\]+$/)
  })

  it('a form keeps line ends of other systems, marks around blanks, and lines of marks alone', () => {
    expect(edited('form', 'x', { form: '- One! !\r\n  ---\r\n2) (two). \n***' })).toBe(
      '- something!\r\n  something\r\n2) (something). \n***',
    )
  })

  it('echo says again what was asked for, and not the instructions behind it', () => {
    const request = 'Name two rivers. Do not use the word water.'
    expect(edited('echo', 'The Rhine and the Elbe.', { request })).toBe('Name two rivers.')
    expect(edited('echo', 'The Rhine.', { request: 'Hello! Name two rivers.' })).toBe(
      'Hello Name two rivers.',
    )
  })

  it('drop takes the sentence that says most of what is wanted, or its word', () => {
    const reference = 'the Rhine'
    expect(edited('drop', 'Gladly. One is the Rhine. Have a nice day.', { reference })).toBe(
      'Gladly. Have a nice day.',
    )
    expect(edited('drop', '- Hello\n- Rhine\n- Bye', { keywords: ['rhine'] })).toBe('- Hello\n- Bye')
    // Without anything wanted the last new word goes.
    expect(edited('drop', 'One of the rivers is the Rhine.')).toBe('One of the rivers is the something.')
    expect(edited('drop', '...')).toBeNull()
  })

  it('falsify changes every number but those that count lines', () => {
    const text = edited('falsify', '1. It has 12 months\n2. and Seven days')!
    expect(text).toMatch(/^1\. It has (?:1[3-7]) months\n2\. and (?:Eight|Nine|Ten|Eleven|Twelve) days$/)
    expect(edited('falsify', 'No number at all.')).toBeNull()
  })

  it.each([
    ['144.', /^14[5-9]\.$/],
    ['  12 apples', /^ {2}1[3-7] apples$/],
    ['3.14 it is', /^[4-8]\.14 it is$/],
    ['It is 5km, or 1,999.50 m.', /^It is (?:[6-9]|10)km, or 2,00[0-4]\.50 m\.$/],
    [`${'9'.repeat(30)} of H2O`, /^10{29}[0-4] of H2O$/],
  ])('falsify reads and writes %j as numbers are written', (answer, wrong) => {
    expect(edited('falsify', answer)).toMatch(wrong)
  })

  it.each([
    ['blanks', `yes a${' '.repeat(400_000)}b 3 c d. e f g h`],
    ['sentences', 'The yes word number 12 is here. '.repeat(30_000)],
    ['marks', `a${'-'.repeat(400_000)}b ${'!a'.repeat(200_000)} c d`],
  ])('a long answer of %s takes no time to speak of', (_, answer) => {
    const before = performance.now()
    for (const edit of Object.keys(ANSWER_EDITS) as EditName[]) edited(edit, answer, { request: answer })
    expect(performance.now() - before).toBeLessThan(5000)
  })

  it('cut keeps the first half as it stands', () => {
    expect(edited('cut', 'a b\n\nc d e f')).toBe('a b\n\nc')
    expect(edited('cut', 'a b c')).toBeNull()
  })
})

describe('keywords and form', () => {
  const rule = (fn: string, params: Record<string, unknown>) => ({ kind: 'rule', fn, params }) as const
  const rubric: Rubric = {
    criteria: [
      {
        id: 'a',
        text: 'Greets.',
        points: 1,
        verifier: rule('contains', { any: ['hello', ['hi', 'hey there']], none: ['bye'] }),
      },
      { id: 'b', text: 'Swears.', points: -1, verifier: rule('contains', { any: ['damn'] }) },
      { id: 'c', text: 'Not loud.', points: 1, verifier: rule('contains', { any: ['loud'], negate: true }) },
      { id: 'd', text: 'Names a "jump start" for the car.', points: 1 },
      { id: 'e', text: 'Explains the battery.', points: 1 },
      {
        id: 'f',
        text: 'Lower case.',
        points: 1,
        verifier: rule('instruction', { id: 'change_case:english_lowercase' }),
      },
    ],
  }

  it('are what merits look for: no penalty, nothing denied, no name of a check', () => {
    expect(keywordsOf(rubric)).toEqual(['hello', 'hi', 'hey there', 'jump start', 'explains', 'battery'])
  })

  it('of rules only those that a policy can know', () => {
    expect(keywordsOf(rubric, word => word === 'hi')).toEqual(['hi', 'jump start', 'explains', 'battery'])
  })

  it('is that of the best answer that has one', () => {
    expect(formOf(['plain words', '- a list', '"quoted"'])).toBe('- a list')
    expect(formOf(['plain words', 'more words'])).toBe('plain words')
  })
})
