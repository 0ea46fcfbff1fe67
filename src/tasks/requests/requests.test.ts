import { describe, expect, it } from 'vitest'
import { checkRule } from '../../grade/index.ts'
import { Rng } from '../../util/rng.ts'
import { FAMILIES, sentenceEnds } from './criteria.ts'
import { drawDialogue, instructionsFor, REQUEST_KINDS } from './dialogue.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { drawJudgement, readRequestVerdict } from './judged.ts'
import { drawStyle, PLAIN, put } from './style.ts'

const rngs = (label: string, count: number) =>
  Array.from({ length: count }, (_, i) => new Rng(`${label}/${i}`))
const isMet = (fn: string, params: object, response: string) =>
  checkRule(fn, params, { prompt: [], response }).met

describe('requests', () => {
  it('are the same for the same seed, and vary with it', () => {
    const texts = rngs('same', 300).map(rng => JSON.stringify(drawDialogue(rng).messages))
    expect(rngs('same', 300).map(rng => JSON.stringify(drawDialogue(rng).messages))).toEqual(texts)
    expect(new Set(texts).size).toBeGreaterThan(270)
  })

  it.each(REQUEST_KINDS.map(kind => [kind.name, kind] as const))(
    'of kind %s tell right answers from wrong ones',
    (_, kind) => {
      for (const rng of rngs('kind', 60)) {
        const request = kind.draw(rng)
        const style = request.fixed ? PLAIN : drawStyle(rng)
        if (request.isRight)
          expect(request.isRight(put(request.right, style)), put(request.right, style)).toBe(true)
        if (!request.isRight || !request.wrong || put(request.wrong, style) === put(request.right, style))
          continue
        // A text of which capitals are asked may be the wrong one in capitals.
        const wrong = put(request.wrong, { ...style, capitals: false })
        expect(request.isRight(wrong), wrong).toBe(false)
      }
    },
  )

  it('have answers that do as they are told', () => {
    const found = new Map(INSTRUCTIONS.map(({ id }) => [id, 0]))
    for (const rng of rngs('told', 1500)) {
      const { instruction, answer, kind } = drawDialogue(rng)
      if (instruction === null) continue
      found.set(instruction.id, found.get(instruction.id)! + 1)
      if (instruction.id === 'no exclamation marks' && kind === 'politely') continue
      expect(instruction.isFollowed(answer), `${instruction.id}: ${answer}`).toBe(true)
    }
    expect(Math.min(...found.values())).toBeGreaterThan(10)
  })

  it('ask for lists only what can be listed', () => {
    for (const rng of rngs('lists', 300)) {
      const { request } = drawDialogue(rng)
      const ids = instructionsFor(request).map(({ id }) => id)
      expect(ids.includes('bullets')).toBe(request.right.items !== undefined && !request.fixed)
    }
  })
})

describe('questions to a judge', () => {
  const judged = rngs('judge', 1200).map(rng => drawJudgement(rng))

  it('have an answer that Gradus reads as the verdict', () => {
    for (const { answer, met } of judged) expect(readRequestVerdict(answer)).toBe(met)
    expect(readRequestVerdict('{"explanation": "x"}')).toBeNull()
  })

  it('are met about as often as not, in every family', () => {
    const share = (values: readonly boolean[]) => values.filter(Boolean).length / values.length
    expect(share(judged.map(({ met }) => met))).toBeGreaterThan(0.4)
    expect(share(judged.map(({ met }) => met))).toBeLessThan(0.65)
    for (const family of FAMILIES) {
      const own = rngs('family', 60).map(rng => drawJudgement(rng, family).met)
      expect(share(own), family.name).toBeGreaterThan(0.15)
      expect(share(own), family.name).toBeLessThan(0.85)
    }
  })

  const replyOf = (content: string) => /<response-(\w+)>\n([\s\S]*?)\n<\/response-\1>/.exec(content)![2]

  it('say of words and lengths what the rules of Gradus say', () => {
    let seen = 0
    for (const { family, text, met, messages } of judged) {
      const reply = replyOf(messages[1].content).replaceAll('&lt;', '<')
      const word = /(?:mentions|Mentions|Names|word|Says) "?([\w ]+?)"?(?: is in the reply)?\.$/.exec(
        text,
      )?.[1]
      const atMost = /^Has at most (\d+) words/.exec(text)?.[1]
      if (family === 'mentions' && word) {
        seen++
        expect(isMet('contains', { any: [word] }, reply), `${text} ${reply}`).toBe(met)
      }
      if (family === 'words' && atMost) {
        seen++
        expect(isMet('length', { max: Number(atMost) }, reply)).toBe(met)
      }
    }
    expect(seen).toBeGreaterThan(150)
  })
})

describe('what is counted in answers', () => {
  it('sentences end with a mark', () => {
    expect(sentenceEnds('One. Two! Three?')).toBe(3)
    expect(sentenceEnds('1. a\n2. b')).toBe(0)
    expect(sentenceEnds('4 + 4 = 8')).toBe(0)
  })
})
