import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import {
  type Contribution,
  decodeRecords,
  demonstrateReflection,
  demonstrateResearch,
  drawReflectorHabits,
  drawResearchHabits,
  ENDINGS,
  encodeRecords,
  endingOf,
  type Field,
  isBorneOut,
  isTrueLesson,
  type Lesson,
  lookUp,
  type Output,
  placeboOf,
  RECORDS_TOKENS,
  type RecordsQuestion,
  readRecordsReflection,
  readTrajectory,
  recordsAnswer,
  recordsQuestion,
  recordsQuestionText,
  reflectionText,
  relatedTo,
  relationsOf,
  siblingOf,
  trajectoryPieces,
  truthOf,
  usefulnessOf,
} from './index.ts'

const trajectoryOf = (segments: readonly Contribution[]) => {
  const encoded = segments.map(({ text, own }) => ({ tokens: encodeRecords(text), own }))
  const mask = encoded.flatMap(({ tokens, own }) => tokens.map(() => Number(own)))
  return readTrajectory(
    trajectoryPieces(
      encoded.flatMap(({ tokens }) => tokens),
      mask,
    ),
  )
}

const own = (text: string): Contribution => ({ text, own: true })
const tool = (text: string): Contribution => ({ text, own: false })

describe('the world of records', () => {
  const questions = Array.from({ length: 300 }, (_, i) => recordsQuestion('here', i))

  it('is the same for the same names, and another one in another world', () => {
    expect(recordsQuestion('here', 7)).toEqual(recordsQuestion('here', 7))
    const same = questions.filter(({ archive }) => {
      const [relation] = relationsOf(archive)
      return endingOf(archive, relation) === endingOf({ ...archive, world: 'there' }, relation)
    })
    // As often as chance has it: .4^2 + .3^2 + .2^2 + .1^2 = .3
    expect(same.length / questions.length).toBeGreaterThan(0.2)
    expect(same.length / questions.length).toBeLessThan(0.4)
  })

  it('leads from person to person under the fields of its archive, and nowhere else', () => {
    for (const question of questions) {
      const truth = truthOf(question)
      expect(truth).toHaveLength(question.relations.length)
      let person = question.person
      for (const { field, person: next, old } of truth) {
        expect(old).toBe(false)
        for (const ending of ENDINGS) {
          const found = lookUp(question.archive, person, { ...field, ending })
          if (ending === field.ending) expect(found).toMatchObject({ person: next, old: false })
          else expect(found === null || found.old).toBe(true)
        }
        person = next
      }
      expect(recordsAnswer(question)).toBe(person)
    }
  })

  it('has siblings of a question that share its archive, and some of its relations', () => {
    const shared = questions.map(question => {
      const sibling = siblingOf(question, 3)
      expect(sibling.archive).toEqual(question.archive)
      expect(sibling.id).not.toBe(question.id)
      return sibling.relations.filter(relation => question.relations.includes(relation)).length
    })
    expect(shared.filter(count => count > 0).length / shared.length).toBeGreaterThan(0.7)
  })

  it('has a question related to each: another one about the same archive, with a relation in common', () => {
    const tested = Array.from({ length: 2048 }, (_, i) => recordsQuestion('held-out:records', i))
    // The first sibling of one of these is the question itself, and those of others have nothing in common with it.
    expect(tested.some(question => siblingOf(question, 0).id === question.id)).toBe(true)
    for (const question of tested) {
      const related = relatedTo(question)
      expect(related.id).not.toBe(question.id)
      expect(related.archive).toEqual(question.archive)
      expect(related.relations.some(relation => question.relations.includes(relation))).toBe(true)
    }
  })

  it('asks in words', () => {
    const question: RecordsQuestion = {
      id: '',
      archive: { world: 'w', colour: 'amber', place: 'lodge' },
      person: 'ann',
      relations: ['guide', 'host'],
    }
    expect(recordsQuestionText(question)).toBe(
      'In the records of the amber lodge: who is the host of the guide of ann?',
    )
  })
})

describe('trajectories', () => {
  it('are read back as they were written, every piece one token', () => {
    for (let i = 0; i < 300; i++) {
      const rng = new Rng(`demonstration ${i}`)
      const question = recordsQuestion(`world ${i}`, i)
      const segments = demonstrateResearch(
        question,
        [],
        drawResearchHabits(rng),
        { calls: 6, scaffold: true },
        rng,
      )
      for (const { text } of segments) {
        const tokens = encodeRecords(text)
        expect(tokens).not.toContain(RECORDS_TOKENS.unk)
        expect(decodeRecords(tokens)).toBe(text)
      }
      const { plan, calls, review, answer } = trajectoryOf(segments)
      expect(plan!.fields.length).toBeGreaterThan(0)
      expect(calls.length).toBeGreaterThan(0)
      expect(calls.length).toBeLessThanOrEqual(6)
      expect(calls.every(({ output }) => output.kind !== 'unread')).toBe(true)
      expect(calls.every(({ state }) => state !== null)).toBe(true)
      expect(review!.length).toBeGreaterThan(0)
      expect(answer).not.toBeNull()
      for (const { person, field, output } of calls) {
        const found = lookUp(question.archive, person!, field!)
        expect(output.kind).toBe(found === null ? 'none' : found.old ? 'old' : 'found')
      }
    }
  })

  it('without a scaffold are as long, and have neither plan nor review', () => {
    for (let i = 0; i < 50; i++) {
      const question = recordsQuestion(`world ${i}`, i)
      const write = (scaffold: boolean) => {
        const rng = new Rng(`demonstration ${i}`)
        const habits = { ...drawResearchHabits(rng), forgets: 0, alternatives: 0, misreads: 0 }
        return demonstrateResearch(question, [], habits, { calls: 6, scaffold }, rng)
      }
      const length = (segments: readonly Contribution[]) =>
        segments.reduce((sum, { text }) => sum + encodeRecords(text).length, 0)
      const flat = write(false)
      expect(trajectoryOf(flat)).toMatchObject({ plan: null, review: null })
      expect(Math.abs(length(flat) - length(write(true)))).toBeLessThan(length(flat) / 3)
    }
  })

  it('count what a tool said as a tool alone says it', () => {
    const read = trajectoryOf([
      own('\n<structured_plan><rubric> guide</rubric> guide_ref or guide_id host_name</structured_plan>'),
      own('\n<tool_output> r9 zoe</tool_output>\n<call_tool> ann guide_ref</call_tool>'),
      tool('\n<tool_output> old r7 bob</tool_output>'),
      own('\n<state_evaluation> old</state_evaluation>\n<call_tool> host</call_tool>'),
      tool('\n<tool_output> none</tool_output>'),
      own('\n<review> guide r7 host missing</review>\n<answer> unknown<cite></cite></answer>'),
    ])
    expect(read).toEqual({
      plan: {
        needs: ['guide'],
        fields: [
          { first: { relation: 'guide', ending: '_ref' }, others: [{ relation: 'guide', ending: '_id' }] },
          { first: { relation: 'host', ending: '_name' }, others: [] },
        ],
      },
      calls: [
        {
          person: 'ann',
          field: { relation: 'guide', ending: '_ref' },
          output: { kind: 'old', record: 7, person: 'bob' },
          state: ['old'],
        },
        { person: null, field: null, output: { kind: 'none' }, state: null },
      ],
      review: [
        { relation: 'guide', record: 7 },
        { relation: 'host', record: null },
      ],
      answer: { person: null, unknown: true, cites: [] },
    })
  })

  it('of any pieces are read without a failure', () => {
    const rng = new Rng('any pieces')
    for (let i = 0; i < 5000; i++) {
      const length = rng.int(60)
      const tokens = Array.from({ length }, () => rng.int(190))
      const mask = tokens.map(() => rng.int(2))
      expect(() => readTrajectory(trajectoryPieces(tokens, mask))).not.toThrow()
      readRecordsReflection(decodeRecords(tokens))
    }
  })
})

describe('reflections', () => {
  const question = recordsQuestion('here', 1, { hops: { min: 3, max: 3 } })
  const [first, second] = truthOf(question).map(({ field }) => field)
  const other = (ending: string) => ENDINGS.find(each => each !== ending)!

  it('are read back as they were written', () => {
    for (let i = 0; i < 300; i++) {
      const rng = new Rng(`reflection ${i}`)
      const own = recordsQuestion(`world ${i}`, i)
      const segments = demonstrateResearch(
        own,
        [],
        drawResearchHabits(rng),
        { calls: 6, scaffold: true },
        rng,
      )
      const reflection = demonstrateReflection(own, trajectoryOf(segments), drawReflectorHabits(rng), rng)
      const text = reflectionText(reflection)
      expect(encodeRecords(text)).not.toContain(RECORDS_TOKENS.unk)
      expect(readRecordsReflection(text)).toEqual(reflection)
    }
  })

  it.each([
    ['nothing', ''],
    ['one block', '\n<reflection_rubrics></reflection_rubrics>'],
    [
      'no lesson',
      '\n<reflection_rubrics></reflection_rubrics>\n<reflection_takeaways></reflection_takeaways>',
    ],
    [
      'five lessons',
      `\n<reflection_rubrics></reflection_rubrics>\n<reflection_takeaways>${' use host_id'.repeat(5)}</reflection_takeaways>`,
    ],
    [
      'something behind them',
      '\n<reflection_rubrics></reflection_rubrics>\n<reflection_takeaways> use host_id</reflection_takeaways> so',
    ],
    [
      'words that are no lesson',
      '\n<reflection_rubrics></reflection_rubrics>\n<reflection_takeaways> use host</reflection_takeaways>',
    ],
  ])('with %s are none', (_, text) => expect(readRecordsReflection(text)).toBeNull())

  it('are useful as far as they are true, settle the chain, and hold elsewhere', () => {
    const useful = usefulnessOf(
      {
        advice: ['cite', 'bold'],
        lessons: [
          { kind: 'use', field: first },
          { kind: 'not', field: { ...second, ending: other(second.ending) } },
          { kind: 'use', field: { ...second, ending: other(second.ending) } },
          { kind: 'answer', person: recordsAnswer(question) },
        ],
      },
      question,
    )
    expect(useful).toEqual({ diagnosticAccuracy: 4 / 6, specificity: 1 / 3, scopeAndBalance: 3 / 4 })
    const lesson = { kind: 'use' as const, field: first }
    expect(usefulnessOf({ advice: [], lessons: [lesson, lesson] }, question)).toEqual({
      diagnosticAccuracy: 1,
      specificity: 1 / 3,
      scopeAndBalance: 1 / 2,
    })
  })

  it('are borne out by what an attempt shows, whatever the archive says', () => {
    const wrong = { ...first, ending: other(first.ending) }
    const call = (field: Field, output: Output) => ({ person: question.person, field, output, state: null })
    const trajectory = {
      ...{ plan: null, review: null, answer: null },
      calls: [
        call(wrong, { kind: 'found', record: 1, person: 'ann' }),
        call(first, { kind: 'old', record: 2, person: 'bob' }),
      ],
    }
    const holds = (lesson: Lesson) => isBorneOut(lesson, { question, trajectory })
    expect(holds({ kind: 'use', field: wrong })).toBe(true)
    expect(holds({ kind: 'not', field: first })).toBe(true)
    for (const lesson of [
      { kind: 'use', field: first },
      { kind: 'not', field: wrong },
      { kind: 'use', field: second },
      { kind: 'not', field: second },
      // Its chain broke: nobody can tell from it.
      { kind: 'answer', person: recordsAnswer(question) },
    ] as const)
      expect([lesson, holds(lesson)]).toEqual([lesson, false])
    const lessons: Lesson[] = [{ kind: 'use', field: wrong }]
    expect(usefulnessOf({ advice: [], lessons }, question, holds).diagnosticAccuracy).toBe(1)
    expect(usefulnessOf({ advice: [], lessons }, question).diagnosticAccuracy).toBe(0)
  })

  it('as a placebo are of the same make, and no truer than chance', () => {
    let right = 0
    for (let i = 0; i < 400; i++) {
      const own = recordsQuestion('here', i)
      const lessons = truthOf(own).map(({ field }) => ({ kind: 'use' as const, field }))
      const placebo = placeboOf({ advice: ['cite'], lessons }, String(i))
      expect(placebo.lessons).toHaveLength(lessons.length)
      expect(placebo.advice).toHaveLength(1)
      right += placebo.lessons.filter(lesson => isTrueLesson(lesson, own)).length / lessons.length
    }
    expect(right / 400).toBeGreaterThan(0.15)
    expect(right / 400).toBeLessThan(0.35)
  })
})
