import { describe, expect, it } from 'vitest'
import { loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import { resolveShipped } from '../../util/package.ts'
import { StreamedText } from './text.ts'

const FOLDER = resolveShipped('package:models/logic-start')
const PROMPT = 'every wumpus is a zumpus . alex is a wumpus . true or false : alex is happy .'

describe('StreamedText', () => {
  const letters = { decode: (ids: number[]) => String.fromCharCode(...ids) } as unknown as Tokenizer
  const stream = (text: string, stops: string[]) => {
    const streamed = new StreamedText(letters, stops)
    const pieces = [...text].map(letter => streamed.push(letter.charCodeAt(0)))
    return [...pieces, streamed.end()]
  }

  it('holds back what may become a stop string and no more', () => {
    expect(stream('abcd', ['bx'])).toEqual(['a', '', 'bc', 'd', ''])
    expect(stream('aab', ['ab'])).toEqual(['', 'a', '', ''])
    expect(stream('xa', ['ab'])).toEqual(['x', '', 'a'])
  })

  it('reads like the tokenizer', () => {
    const tokenizer = loadTokenizer(FOLDER)
    const ids = tokenizer.encode(PROMPT)
    const streamed = new StreamedText(tokenizer, [])
    expect(ids.map(id => streamed.push(id)).join('') + streamed.end()).toBe(tokenizer.decode(ids))
  })
})
