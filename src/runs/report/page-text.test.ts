import { expect, it } from 'vitest'
import { alignedTable, MARKDOWN, pageText, TERMINAL } from './page-text.ts'

const HOSTILE = 'two\r\n  lines \u001b[31m| <img src=x>'
const table = {
  head: ['', 'Share'],
  rows: [
    [HOSTILE, '5%'],
    ['plain', 'p < 0.05'],
  ],
}

it('a name with line ends, escapes or markup stays in its cell', () => {
  const page = { title: 'a\nb', end: [table] }
  expect([TERMINAL, MARKDOWN].map(form => pageText(page, form).split('\n')[0])).toEqual(['a b', '# a b'])
  expect(pageText(page, TERMINAL).split('\n').slice(2)).toEqual([
    '                                      Share',
    'two lines \\u001b[31m| <img src=x>        5%',
    'plain                              p < 0.05',
    '',
  ])
  expect(pageText(page, MARKDOWN).split('\n').slice(2)).toEqual([
    '|  | Share |',
    '| --- | --- |',
    '| two lines \\u001b[31m\\| \\<img src=x> | 5% |',
    '| plain | p < 0.05 |',
    '',
  ])
})

it('a long name does not push metrics out of a terminal', () => {
  const long = { head: ['', 'Share'], rows: [['😀'.repeat(500), '5%']] }
  const [, row] = pageText({ title: 'T', end: [long] }, TERMINAL)
    .split('\n')
    .slice(2)
  expect(row).toBe(`${'😀'.repeat(59)}…     5%`)
})

it('columns stay in line where characters are wide, or add to others', () => {
  const lines = alignedTable([
    ['name', 'x'],
    ['正确性', '1'],
    ['e\u0301te\u0301', '1'],
    ['👍 good', '1'],
  ]).split('\n')
  expect(lines).toEqual(['name     x', '正确性   1', 'e\u0301te\u0301      1', '👍 good  1'])
})
