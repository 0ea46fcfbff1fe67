import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { DataError } from '../../util/errors.ts'
import type { Grader } from '../grader.ts'
import { bankAuthor, chatAuthor } from './author.ts'

const TASK = {
  task: 'Work out a chain of sums.',
  positives: ['first 1 then 2, check', 'first 3 then 4, check', 'first 5', 'first 6 then 7, check'],
  negatives: ['it is 3', 'it is 7, check', 'guess', 'it is 13'],
}
const TEXTS = ['Writes each sum down', 'Checks a sum backwards', 'Names the carry', 'Keeps to the order']
const draft = (texts: readonly string[], more: object = {}) =>
  JSON.stringify({
    missing: [],
    redundant: [],
    ambiguous: [],
    ...more,
    criteria: texts.map((criterion, i) => ({ id: `c${i + 1}`, criterion, points: i + 1 })),
  })

describe('an author that is a chat model', () => {
  it('proposes, revises until a round finds nothing, and marks the rubric as one of thinking', async () => {
    const asked: string[] = []
    const model = scriptedModel((request, call) => {
      asked.push(request.messages.map(({ content }) => content).join('\n'))
      if (call === 0) return draft(TEXTS)
      const revised = ['Writes each sum on its own line', ...TEXTS.slice(1)]
      return call === 1 ? draft(revised, { ambiguous: ['c1'] }) : draft(revised)
    })
    const rounds: string[] = []
    const written = await chatAuthor({ model, about: 'thinking', traces: 2 }).write(TASK, {
      onRound: (round, i) => rounds.push(`${i} ${round.ambiguous}`),
    })
    expect(written.rubric.about).toBe('thinking')
    expect(written.rubric.criteria.map(({ text }) => text)).toEqual([
      'Writes each sum on its own line',
      ...TEXTS.slice(1),
    ])
    expect(written).toMatchObject({ stopped: 'no-change', separated: null })
    expect(rounds).toEqual(['0 c1', '1 '])
    expect(model.calls).toBe(3)
    // The first two of each kind, quoted; and that nobody sees the answer.
    expect(asked[0]).toContain('first 3 then 4, check')
    expect(asked[0]).not.toContain('first 5')
    expect(asked[0]).not.toContain('guess')
    for (const prompt of asked) expect(prompt).toContain('No criterion is about the answer')
  })

  it('uses three rounds at most, and eight criteria', async () => {
    let turn = 0
    const model = scriptedModel(() =>
      draft([...TEXTS.slice(0, 3), `Counts to ${++turn}`], { missing: ['more'] }),
    )
    const { rounds, stopped } = await chatAuthor({ model, about: 'thinking' }).write(TASK)
    expect([rounds.length, stopped, model.calls]).toEqual([3, 'rounds', 4])
    const nine = scriptedModel(() => draft(Array.from({ length: 9 }, (_, i) => `Names the thing no. ${i}x`)))
    await expect(chatAuthor({ model: nine }).write(TASK)).rejects.toThrow('expected 4 to 8 criteria, got 9')
  })

  it('sends a criterion about the answer back, and refuses it the second time', async () => {
    const bad = [...TEXTS, 'Reaches the correct final answer']
    const model = scriptedModel((_, call) => draft(call === 0 ? bad : TEXTS))
    const { rubric } = await chatAuthor({ model, about: 'thinking', rounds: 0 }).write(TASK)
    expect(rubric.criteria).toHaveLength(4)
    const stubborn = scriptedModel(() => draft(bad))
    await expect(chatAuthor({ model: stubborn, about: 'thinking' }).write(TASK)).rejects.toThrow(
      'is about the answer',
    )
    // A rubric of the response may ask for it.
    const free = scriptedModel(() => draft(bad))
    expect((await chatAuthor({ model: free, rounds: 0 }).write(TASK)).rubric.criteria).toHaveLength(5)
  })

  it('is told the one question that a rubric is for', async () => {
    let prompt = ''
    const model = scriptedModel(request => {
      prompt = request.messages.map(({ content }) => content).join('\n')
      return draft(TEXTS)
    })
    await chatAuthor({ model, rounds: 0 }).write({ ...TASK, query: 'What is 17 + 25?' })
    expect(prompt).toContain('What is 17 + 25?')
    expect(prompt).toContain('for this question alone')
  })
})

describe('an author that has a bank', () => {
  const criterion = (id: string, text: string): Criterion => ({ id, text, points: 1 })
  const bank = [
    criterion('first', 'Begins with the first step'),
    criterion('start', 'Starts with the first step'),
    criterion('check', 'Checks what it found'),
    criterion('guess', 'Guesses'),
    criterion('long', 'Is more than nothing'),
  ]
  const WORDS: Record<string, string> = {
    first: 'first',
    start: 'first',
    check: 'check',
    guess: 'guess',
    long: '',
  }
  const grader: Grader = {
    grade: async ({ response }, criteria) =>
      criteria.map(({ id }) => ({ criterionId: id, met: response.includes(WORDS[id]), source: 'rule' })),
  }

  it('takes what tells good from bad, drops what says it again, and gives points by how well', async () => {
    const seen: string[][] = []
    const written = await bankAuthor({ bank, grader, about: 'thinking' }).write(TASK, {
      onRound: round => seen.push(round.redundant),
    })
    // `first` holds for all good and no bad trace: phi 1. `check`: 3 of 4 and 1 of 4, phi .5. `guess`: 0 and 1 of 4, phi -.38.
    expect(written.rubric).toEqual({
      about: 'thinking',
      criteria: [
        { id: 'first', text: 'Begins with the first step', points: 5 },
        { id: 'check', text: 'Checks what it found', points: 3 },
        { id: 'guess', text: 'Guesses', points: -2 },
      ],
    })
    expect(seen[0]).toEqual(['start'])
    // The good trace without a check and the bad one with it are level.
    expect(written).toMatchObject({ stopped: 'no-change', separated: 15 / 16, usage: null })
  })

  it('drops what the grader does not decide alike twice', async () => {
    let looks = 0
    const unsure: Grader = {
      grade: async (item, criteria, options) => {
        looks++
        const verdicts = await grader.grade(item, criteria, options)
        const again = (options?.sampleIndex ?? 0) > 0
        return verdicts.map(each =>
          again && each.criterionId === 'check' ? { ...each, met: !each.met } : each,
        )
      },
    }
    const { rubric, rounds } = await bankAuthor({ bank, grader: unsure, repeats: 2 }).write(TASK)
    expect(looks).toBe(3 * 8)
    expect(rounds[0].ambiguous).toEqual(['check'])
    expect(rubric.criteria.map(({ id }) => id)).toEqual(['first', 'guess'])
  })

  it('wants traces of both kinds, and predicates that tell them apart', async () => {
    const author = bankAuthor({ bank, grader })
    await expect(author.write({ ...TASK, negatives: [] })).rejects.toThrow('got 4 good and 0 bad')
    const alike = { ...TASK, positives: ['x'], negatives: ['y'] }
    await expect(author.write(alike)).rejects.toThrow('none of 5 criteria of the bank tells')
  })

  it('does not take a bank about the answer for thinking', () => {
    const bad = [...bank, criterion('right', 'The final answer is correct')]
    expect(() => bankAuthor({ bank: bad, grader, about: 'thinking' })).toThrow(DataError)
    expect(() => bankAuthor({ bank: bad, grader })).not.toThrow()
  })
})
