import { describe, expect, it } from 'vitest'
import { parseCsv } from './csv.ts'
import { splitSentences } from './sentences.ts'
import { isLower, isUpper, length, splitBlanks, strip, toAscii, trimMarks, words } from './text.ts'
import { tokenize } from './tokens.ts'

describe('text', () => {
  it('knows blanks, words and case of all scripts', () => {
    expect(strip('\u2003\x1f a b \u00a0')).toBe('a b')
    expect(splitBlanks(' a\u00a0b\n\nc ')).toEqual(['a', 'b', 'c'])
    expect(words('naïve_1 x-y ½')).toEqual(['naïve_1', 'x', 'y', '½'])
    expect([isUpper('ÄB 1!'), isUpper('12'), isUpper('Ab'), isLower('äb'), isLower('ǅ')]).toEqual([
      true,
      false,
      false,
      true,
      false,
    ])
    expect(length('a😀')).toBe(2)
    expect(trimMarks(' (a) b! ')).toBe('a) b')
    expect(trimMarks('"a"', 'start')).toBe('a"')
    expect(toAscii('São Tomé, Chișinău')).toBe('Sao Tome, Chisinau')
  })
})

describe('splitSentences', () => {
  it.each([
    ['One. Two! Three?', ['One.', 'Two!', 'Three?']],
    ['one. two goes on.', ['one.', 'two goes on.']],
    ['Dr. Who met Mr. Smith in the U.S. yesterday.', ['Dr. Who met Mr. Smith in the U.S. yesterday.']],
    ['He left the U.S. The end.', ['He left the U.S.', 'The end.']],
    ['It is 3.5 long. Yes', ['It is 3.5 long.', 'Yes']],
    ['"Go." He went. (Far.) Home', ['"Go."', 'He went.', '(Far.)', 'Home']],
    ['“Go.” He went.', ['“Go.”', 'He went.']],
    ['Wait... what?', ['Wait... what?']],
    ['A line\nwithout end', ['A line\nwithout end']],
    ['', []],
  ])('%j', (text, sentences) => {
    expect(splitSentences(text)).toEqual(sentences)
  })
})

describe('tokenize', () => {
  it.each([
    ["I don't know, it's 3.5%.", ['I', 'do', "n't", 'know', ',', 'it', "'s", '3.5', '%', '.']],
    ['He said "no" (twice).', ['He', 'said', '``', 'no', "''", '(', 'twice', ')', '.']],
    ['U.S.A. is: big--so', ['U.S.A.', 'is', ':', 'big', '--', 'so']],
    ['We cannot, gonna go... "now"', ['We', 'can', 'not', ',', 'gon', 'na', 'go', '...', '``', 'now', "''"]],
    ["the dogs' bone and 'twas", ['the', 'dogs', "'", 'bone', 'and', "'", 'twas']],
  ])('%j', (text, tokens) => {
    expect(tokenize(text)).toEqual(tokens)
  })
})

describe('parseCsv', () => {
  it.each([
    [
      'a,b\nc,"d, e"\n',
      [
        ['a', 'b'],
        ['c', '"d, e"'],
      ],
    ],
    ['a,\r\n\r\n"x\ny",z', [['a', ''], [], ['"x\ny"', 'z']]],
    ['"a ""b"" c",d,', [['"a ""b"" c"', 'd', '']]],
    ['"open,\nno end', [['"open,\nno end']]],
    ['a "b, c",d', [['a "b', ' c"', 'd']]],
  ])('%j', (text, rows) => {
    expect(parseCsv(text, ',')).toEqual(rows)
  })
})
