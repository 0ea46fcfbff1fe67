import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AnswerFile, type SavedAnswer, SavedAnswers } from './answers.ts'

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-answers-'))
  path = join(dir, 'new', 'answers.jsonl')
})
afterEach(() => rmSync(dir, { recursive: true }))

const answer = (id: string, response = 'yes'): SavedAnswer => ({
  ...{ id, sample: 0, by: 'us', model: 'm', response },
  prompt: [{ role: 'user', content: `question ${id}` }],
})
const open = () => new AnswerFile(path, 'us')
const knows = (file: AnswerFile, ...ids: string[]) => ids.map(id => file.find(answer(id))?.response ?? null)

describe('answers that are kept', () => {
  it('are found again after kills, wherever they cut, as often as they come', () => {
    open().add(answer('a'))
    const next = Buffer.from(`${JSON.stringify(answer('b', 'größer'))}\n`)
    // Within a character of two bytes as well; all but the end of the line is an answer.
    const cuts = Array.from({ length: next.length }, (_, i) => i)
    for (const cut of cuts) {
      appendFileSync(`${path}.partial`, next.subarray(0, cut))
      const file = open()
      expect(knows(file, 'a', 'b')).toEqual(['yes', cut === next.length - 1 ? 'größer' : null])
      file.add(answer(`c${cut}`))
    }
    expect(knows(open(), 'a', ...cuts.map(cut => `c${cut}`))).toEqual(Array(cuts.length + 1).fill('yes'))
  })

  it('that hold half of a character can be read again', () => {
    const file = open()
    file.add(answer('a', 'half \ud83d of it'))
    expect(knows(open(), 'a')).toEqual(['half \ufffd of it'])
    file.finish([{ ...answer('a', '\udc00'), scores: { score: 1 } }])
    expect(new SavedAnswers(path).to({ id: 'a', messages: answer('a').prompt } as never)[0].response).toBe(
      '\ufffd',
    )
    expect(existsSync(`${path}.partial`)).toBe(false)
  })

  it('of two commands at once that began with nothing are both kept', () => {
    const [ours, theirs, again] = [open(), new AnswerFile(path, 'them'), open()]
    theirs.finish([{ ...answer('a', 'no'), by: 'them' }])
    ours.add(answer('a'))
    expect(() => ours.finish([answer('a')])).toThrow(/another command has written .*answers\.jsonl meanwhile/)
    expect(new SavedAnswers(path).to({ id: 'a', messages: answer('a').prompt })[0].response).toBe('no')
    rmSync(path)
    expect(knows(open(), 'a')).toEqual(['yes'])
    open().finish([answer('b')])
    // The same command twice: what one has is not lost by the other.
    again.finish([answer('c')])
    expect(knows(open(), 'a', 'b', 'c')).toEqual(['yes', 'yes', 'yes'])
  })

  it('of another model stay as they are, cut or not', () => {
    open()
    const other = `${JSON.stringify({ ...answer('a'), by: 'them' })}\n{"id":"cut`
    writeFileSync(`${path}.partial`, other)
    expect(open).toThrow(/expected .* to hold answers of the same model.*or remove .*partial/s)
    expect(readFileSync(`${path}.partial`, 'utf8')).toBe(other)
  })
})
