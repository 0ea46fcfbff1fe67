import { describe, expect, it } from 'vitest'
import { checkInstruction } from '../../grade/instructions/index.ts'
import { Rng } from '../../util/rng.ts'
import { demonstrationsOf, plainRequests } from './demonstrations.ts'
import { INSTRUCTION_KINDS } from './kinds.ts'

/** As a model would: some sentences, which have commas, capitals, quotation marks and an end. */
const answersTo = (ask: string, i: number): string[] => [
  `Here is, as you wished, a text: "${ask}" I thought about it for a while. The weather was lovely, and several people came. Somebody brought a basket of fruit, bread and cheese. They talked until the evening fell over the quiet little village. Number ${i} on the list was never found again. Everybody went home happy.`,
  `A second answer begins here. It has other words, of course, and fewer of them. Nobody knows how long it took them. We laughed about it later. That was all.`,
]

describe('demonstrations of instructions', () => {
  const requests = plainRequests(300, 'test')
  const rng = new Rng('test')
  const shown = requests.flatMap((request, i) => demonstrationsOf(request, answersTo(request.ask, i), rng))

  it('ask for different things, each request once', () => {
    expect(new Set(requests.map(({ ask }) => ask)).size).toBe(300)
    expect(shown.length).toBeGreaterThan(1200)
    expect(new Set(shown.map(({ prompt }) => prompt)).size).toBeGreaterThan(0.9 * shown.length)
  })

  it('are none of an answer that has nothing to ask for', () => {
    expect(
      requests.slice(0, 60).flatMap(request => demonstrationsOf(request, ['No.', 'Yes.'], rng)).length,
    ).toBeLessThan(30)
  })

  it('follow what they are asked for, of nearly every kind, in few words', () => {
    const followed = new Set<string>()
    for (const { prompt, criteria, response } of shown) {
      expect(response.split(/\s+/).length, response).toBeLessThanOrEqual(130)
      for (const { verifier } of criteria) {
        if (verifier?.fn !== 'instruction') continue
        const { id, kwargs } = verifier.params as { id: string; kwargs: Record<string, unknown> }
        expect(checkInstruction(id, kwargs, response, { prompt }), `${id}: ${response}`).toBe(true)
        followed.add(id)
      }
    }
    const asked = INSTRUCTION_KINDS.map(({ id }) => id)
    expect(asked.filter(id => !followed.has(id))).toEqual([])
  })
})
