import { describe, expect, it } from 'vitest'
import { checkInstruction } from '../../grade/instructions/index.ts'
import { Rng } from '../../util/rng.ts'
import { demonstrationsOf, inProportion, plainRequests } from './demonstrations.ts'
import { IFEVAL_COUNTS, INSTRUCTION_KINDS } from './kinds.ts'
import type { Request } from './requests.ts'
import { roughSentences, wordCount } from './text.ts'

const SENTENCES =
  `Here is, as you wished, a text about it. I thought about it for a while. The weather was lovely, and several people came to the market.
  Somebody brought a basket of fruit, bread and cheese. They talked until the evening fell over the quiet little village. The last number on the list was never found again.
  Everybody went home happy. On the next morning, an old man opened the door of the shop and found a letter. He read it twice, laughed, and put it into the pocket of his coat.
  Nobody has ever heard what was in it, though many have asked him over the years. Some believe that it came from a sister who had left for the sea. Others say he wrote it himself.
  My grandmother, who knew everything, only smiled when we wanted to hear more of the story. Then she cut the bread, poured the tea, and spoke of something else.`.split(
    /(?<=\.)\s+/,
  )

/** What a request wants to be mentioned, in a sentence. */
const mentioned = (request: Request): string => {
  const { terms = [], all = [] } = request.content([]).verifier!.params as Record<string, string[]>
  return `It is about ${[...terms.slice(0, 3), ...all.map(each => [each].flat()[0])].join(' and ')}.`
}

/** As a model would: sentences that have commas, capitals and an end, other ones each time, and as many as are asked for. */
const answersTo = (request: Request, rng: Rng): string[] =>
  [0, 1].map(() => {
    const sentences = rng.shuffle(SENTENCES)
    const count = Math.min(sentences.length, Math.ceil(request.words / 8) + 3)
    return [mentioned(request), ...sentences.slice(0, count)].join(' ')
  })

describe('demonstrations of instructions', () => {
  const requests = plainRequests(300, 'test')
  const rng = new Rng('test')
  const all = requests.map(request => demonstrationsOf(request, answersTo(request, rng), rng))
  const shown = inProportion(all, 1200, rng)

  it('ask for different things, each request once, a twelfth of them for something long', () => {
    expect(new Set(requests.map(({ ask }) => ask)).size).toBe(300)
    expect(requests.filter(({ isLong, words }) => isLong && words > 100)).toHaveLength(25)
    expect(shown).toHaveLength(1200)
    expect(new Set(shown.map(({ prompt }) => prompt)).size).toBe(1200)
  })

  it('are none of an answer that is too short, goes round in circles, or is not text', () => {
    const [story] = plainRequests(1, 'test')
    const circle = 'The owner of the shop was very happy about it all. '.repeat(30)
    const pictures = `${SENTENCES.join(' ')} ${'\u{1f33b}'.repeat(9)}`
    expect(demonstrationsOf(story, ['No.', circle, pictures], rng)).toEqual([])
  })

  it('are none of an answer about the model, and of one about something else only where there are no others', () => {
    const [story] = plainRequests(1, 'test')
    const elsewhere = SENTENCES.join(' ')
    const about = `${mentioned(story)} ${elsewhere}`
    const refusal = `I'm sorry for any confusion, but as an AI assistant I have no stories. ${about}`
    expect(demonstrationsOf(story, [refusal], rng)).toEqual([])
    const both = [elsewhere, about].map(answer =>
      [0, 1, 2].flatMap(() => demonstrationsOf(story, [answer], rng)),
    )
    expect(both.map(([first]) => first.isAbout)).toEqual([false, true])
    expect(inProportion(both, 8, rng).every(({ isAbout }) => isAbout)).toBe(true)
    expect(inProportion(both, 24, rng).filter(({ isAbout }) => !isAbout).length).toBeGreaterThan(8)
  })

  it('follow what they are asked for, of every kind', () => {
    const followed = new Set<string>()
    for (const { prompt, criteria, response } of all.flat()) {
      for (const { verifier } of criteria) {
        const { id, kwargs } = verifier!.params as { id: string; kwargs: Record<string, unknown> }
        expect(checkInstruction(id, kwargs, response, { prompt }), `${id}: ${response}`).toBe(true)
        followed.add(id)
      }
    }
    expect([...followed].sort()).toEqual(INSTRUCTION_KINDS.map(({ id }) => id).sort())
  })

  it('show kinds in the proportions of rows, and as many together', () => {
    const ids = shown.flatMap(({ kinds }) => kinds.map(({ id }) => id))
    const total = Object.values(IFEVAL_COUNTS).reduce((sum, n) => sum + n)
    for (const [id, count] of Object.entries(IFEVAL_COUNTS)) {
      const share = ids.filter(each => each === id).length / ids.length
      expect(share / (count / total), id).toBeGreaterThan(0.8)
      expect(share / (count / total), id).toBeLessThan(1.3)
    }
    const alone = shown.filter(({ kinds }) => kinds.length === 1).length / shown.length
    expect(alone).toBeGreaterThan(0.45)
    expect(alone).toBeLessThan(0.65)
  })

  it('are as long as the answer, and numbers are drawn near to what it has', () => {
    const lengths = [true, false].map(isLong => {
      const own = all.filter((_, i) => requests[i].isLong === isLong).flat()
      return own
        .filter(({ asked }) => asked.every(({ most }) => most === undefined))
        .map(({ response }) => wordCount(response))
    })
    const [long, short] = lengths.map(each => each.filter(n => n > 100).length / each.length)
    expect(long).toBeGreaterThan(0.8)
    expect(short).toBeLessThan(0.3)
    for (const { kinds, asked, response } of all.flat())
      for (const [i, { id }] of kinds.entries()) {
        const { relation, num_sentences: n } = (asked[i].kwargs ?? {}) as Record<string, never>
        if (id !== 'length_constraints:number_sentences' || relation !== 'at least') continue
        expect(n).toBeGreaterThanOrEqual(2)
        expect(n).toBeGreaterThan(roughSentences(response).length / 5)
      }
  })
})
