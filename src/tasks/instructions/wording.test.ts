import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { IFEVAL_COUNTS, INSTRUCTION_KINDS } from './kinds.ts'
import phrasings from './phrasings.json' with { type: 'json' }
import { drawRequest } from './requests.ts'
import { instructed, instructionRows } from './rows.ts'
import { promptOf, sayingOf } from './wording.ts'

const ids = INSTRUCTION_KINDS.map(({ id }) => id)

describe('wordings of instructions', () => {
  it('are at least ten for each kind, and no two kinds share one', () => {
    expect(Object.keys(phrasings).sort()).toEqual([...ids].sort())
    expect(Object.keys(IFEVAL_COUNTS).sort()).toEqual([...ids].sort())
    const all = Object.entries(phrasings).flatMap(([id, { doing, being, how }]) => {
      const ways = [...doing, ...being, ...how]
      expect(ways.length, id).toBeGreaterThanOrEqual(10)
      return ways
    })
    expect(new Set(all).size).toBe(all.length)
  })

  it('leave no gap open, and are many', () => {
    const rng = new Rng('wordings')
    const rows = Array.from({ length: 3000 }, () => instructed(rng, drawRequest(rng, rng.next() < 0.3)))
    for (const { prompt } of rows) expect(prompt).not.toMatch(/\{|\}|undefined/)
    for (const { prompt } of rows) expect(prompt).not.toMatch(/\ba (?:orange|electrician|enthusiastic|old)/)
    const ofCommas = rows.flatMap(({ criteria }) =>
      criteria.filter(({ id }) => id === 'no_comma').map(({ text }) => text),
    )
    expect(new Set(ofCommas).size).toBeGreaterThan(80)
  })

  it('stand before, behind and within the request', () => {
    const rng = new Rng('places')
    const ask = 'Write a note about bees.'
    const say = (how: string | null) => ({ sentence: 'Use no commas.', how })
    const prompts = Array.from(
      { length: 200 },
      () => promptOf(rng, ask, [say(null), say('in lower case')], false).prompt,
    )
    expect(prompts.some(prompt => prompt.startsWith('Use no commas.'))).toBe(true)
    expect(prompts.some(prompt => prompt.includes('\n- Use no commas.'))).toBe(true)
    expect(prompts).toContain('Write a note about bees in lower case. Use no commas.')
    expect(prompts).toContain('In lower case, write a note about bees. Use no commas.')
    const asked = promptOf(rng, 'What do bees eat?', [say('in lower case')], false).prompt
    expect(asked).toContain('What do bees eat?')
    expect(asked).toContain('Use no commas.')
  })

  it('leave a request whole that is to be repeated', () => {
    for (const { prompt, criteria } of instructionRows(800, 'repeated', 128))
      for (const { id, verifier } of criteria)
        if (id === 'repeat_prompt') {
          const { prompt_to_repeat: ask } = verifier!.params!.kwargs as { prompt_to_repeat: string }
          expect(prompt.startsWith(ask) || prompt.endsWith(`\n\n${ask}`), prompt).toBe(true)
          expect(prompt).toMatch(prompt.startsWith(ask) ? /above/ : /below/)
        }
  })

  it('are sentences where they do not fit into one', () => {
    const rng = new Rng('sentences')
    for (let i = 0; i < 300; i++) {
      const { sentence } = sayingOf(rng, 'detectable_content:postscript', { marker: 'P.S.' })
      expect(sentence).toMatch(/^[A-Z]/)
      expect(sentence).toMatch(/[.!?)]$/)
    }
  })
})
