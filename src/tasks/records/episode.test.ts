import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import {
  decodeRecords,
  demonstrateResearch,
  drawResearchHabits,
  encodeRecords,
  RecordsEpisode,
  recordsQuestion,
  stagedAttempt,
} from './index.ts'

const habitsOf = (rng: Rng) => ({ ...drawResearchHabits(rng), misreads: 0 })

describe('an episode of the records task', () => {
  it('says to every call what the demonstrations say, and ends with the answer', async () => {
    for (let i = 0; i < 60; i++) {
      const rng = new Rng(`episode ${i}`)
      const question = recordsQuestion(`world ${i}`, i)
      const segments = demonstrateResearch(question, [], habitsOf(rng), { calls: 6, scaffold: true }, rng)
      const episode = new RecordsEpisode(question, 6)
      for (const [at, { text, own }] of segments.entries()) {
        if (!own) continue
        const reply = await episode.reply(Int32Array.from(encodeRecords(text)))
        expect(reply && decodeRecords(reply)).toBe(segments[at + 1]?.text ?? null)
      }
    }
  })

  it('says that calls are used up, and that what is no call finds nothing', async () => {
    const question = recordsQuestion('here', 1)
    const episode = new RecordsEpisode(question, 1)
    const say = async (text: string) => {
      const reply = await episode.reply(Int32Array.from(encodeRecords(text)))
      return reply && decodeRecords(reply)
    }
    expect(await say('\n<call_tool> guide_ref</call_tool>')).toBe('\n<tool_output> none</tool_output>')
    expect(await say('\n<call_tool> ann guide_ref</call_tool>')).toBe('\n<tool_output> over</tool_output>')
    expect(await say('\n<call_tool> ann guide_ref')).toBeNull()
  })
})

describe('stages of an attempt', () => {
  it('are those of its tags, and the tool has none', () => {
    const parts: [string, number, number][] = [
      ['\n<structured_plan><rubric> guide</rubric> guide_ref</structured_plan>', 1, 1],
      ['\n<call_tool> ann guide_ref</call_tool>', 2, 1],
      ['\n<tool_output> r7 bob</tool_output>', 0, 0],
      ['\n<state_evaluation> got bob</state_evaluation>', 2, 1],
      ['\n<review> guide r7</review>', 3, 1],
      ['\n<answer> bob<cite> r7</cite></answer>', 4, 1],
    ]
    const encoded = parts.map(([text, stage, own]) => ({ tokens: encodeRecords(text), stage, own }))
    const tokens = encoded.flatMap(part => part.tokens)
    const mask = encoded.flatMap(part => part.tokens.map(() => part.own))
    const { staged, tokenStages, wellFormed } = stagedAttempt('key', tokens, mask, 6)
    expect(wellFormed).toBe(true)
    expect(staged.stages.map(text => text.trim().slice(0, 11))).toEqual([
      '<structured',
      '<call_tool>',
      '<review> gu',
      '<answer> bo',
    ])
    // The line break before a tag is the stage's that it ends, for a token goes by its first character.
    const wanted = encoded.flatMap(part => part.tokens.map(() => part.stage))
    const differ = wanted.filter((stage, t) => stage !== tokenStages[t])
    expect(differ.length).toBeLessThanOrEqual(3)
    expect(tokenStages.length).toBe(tokens.length)
  })
})
