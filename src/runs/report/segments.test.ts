import { expect, it } from 'vitest'
import { segmentsOf } from './segments.ts'

const kinds = (text: string) => segmentsOf(text).map(({ kind, text: inside }) => [kind, inside])

it('takes a response apart: thinking, tool calls and what came back, elements, text between', () => {
  expect(
    kinds(
      '<think>so\nand so</think> said <tool_call>{"a": 1}</tool_call><Tool_Output>5</tool_output>\n<answer>five</answer> end',
    ),
  ).toEqual([
    ['thinking', 'so\nand so'],
    ['text', 'said'],
    ['call', '{"a": 1}'],
    ['output', '5'],
    ['element', 'five'],
    ['text', 'end'],
  ])
})

it('takes thinking whose opening is in the prompt, and thinking that was cut off', () => {
  expect(kinds('from the prompt</think>said')).toEqual([
    ['thinking', 'from the prompt'],
    ['text', 'said'],
  ])
  expect(segmentsOf('<think>never ends')).toEqual([
    { kind: 'thinking', tag: 'think', text: 'never ends', open: true },
  ])
})

it('leaves what is never closed as text, and ends an element at its first end', () => {
  expect(kinds('a <b1 x="1"> c')).toEqual([['text', 'a <b1 x="1"> c']])
  expect(kinds('<aa>1</aa>2</aa>')).toEqual([
    ['element', '1'],
    ['text', '2</aa>'],
  ])
})

it('finds ends where letters change their length in lower case', () => {
  expect(kinds(`${'İ'.repeat(5)}<aa>1</aa>2`)).toEqual([
    ['text', 'İ'.repeat(5)],
    ['element', '1'],
    ['text', '2'],
  ])
})

it('looks through a response of nothing but openings once', () => {
  const tags = Array.from({ length: 100_000 }, (_, i) => `<t${i.toString(36)}>`).join('')
  expect(kinds(tags)).toEqual([['text', tags]])
  expect(kinds('<aa>'.repeat(300_000))).toHaveLength(1)
})
