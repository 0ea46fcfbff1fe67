/** @file What a hostile or broken judge of stages may send, for each of the three things that it is asked. */

import type { ServerResponse } from 'node:http'
import type { Asked } from './http-stage-judge.fixture.ts'

/** Sends something in place of an answer. */
export type Sending = (response: ServerResponse, asked: Asked) => void

const send = (response: ServerResponse, status: number, body: string, headers: object = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body)
}

/** A text as a chat completion. */
export const completion = (content: unknown, more: object = {}): string =>
  JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }], ...more })

const MEGABYTE = 2 ** 20

/** No answer at all, or none of a chat server. */
export const NO_ANSWERS: Readonly<Record<string, Sending>> = {
  'ten megabytes': response => send(response, 200, completion('x'.repeat(10 * MEGABYTE))),
  'a page': response => send(response, 200, '<html><body>Please log in</body></html>'),
  'an empty body': response => send(response, 200, ''),
  'half a body': response => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('{"choices": [{"mess', () => response.destroy())
  },
  'a dropped connection': response => response.destroy(),
  '429 for ten years': response => send(response, 429, '{"error": "slow"}', { 'retry-after': '315360000' }),
  'status 500': response => send(response, 500, 'x'.repeat(MEGABYTE)),
  'an error in a 200': response => send(response, 200, '{"error": {"code": 503, "message": "overloaded"}}'),
  'no message': response => send(response, 200, '{"choices": []}'),
  'nesting without end': response => send(response, 200, '['.repeat(MEGABYTE)),
  'a filter of endless name': response =>
    send(
      response,
      200,
      JSON.stringify({
        choices: [
          { message: { content: null, refusal: 'no' }, finish_reason: 'content_filter'.repeat(99_999) },
        ],
      }),
    ),
}

const entry = (number: unknown, value: unknown, asked: Asked): string =>
  `{"number": ${number}, "justification": "so", "${asked === 'levels' ? 'level' : 'score'}": ${value}}`

const list = (entries: readonly string[]): string => `{"verdicts": [${entries.join(', ')}]}`

/** Answers of which nothing can be used, where so many entries were asked for. */
export const NO_VERDICTS: Readonly<Record<string, (count: number, asked: Asked) => string>> = {
  ...Object.fromEntries(
    ['NaN', '1e999', '-1e999', '-1', '3', '0.5000000001e1', '"2"', 'true', '[2]', '{"level": 2}', ''].map(
      value => [
        `the value ${value || 'nothing'}`,
        (count, asked) => list(Array.from({ length: count }, (_, i) => entry(i + 1, value, asked))),
      ],
    ),
  ),
  'an entry too few': (count, asked) =>
    list(Array.from({ length: count - 1 }, (_, i) => entry(i + 1, 1, asked))),
  'an entry too many': (count, asked) =>
    list(Array.from({ length: count + 1 }, (_, i) => entry(i + 1, 1, asked))),
  'one number for all': (count, asked) => list(Array.from({ length: count }, () => entry(1, 1, asked))),
  'numbers that nobody gave': (count, asked) =>
    list(Array.from({ length: count }, (_, i) => entry(i + 99, 1, asked))),
  'a hundred thousand entries': (_, asked) =>
    list(Array.from({ length: 100_000 }, (_own, i) => entry(i + 1, 1, asked))),
  'two lists': (count, asked) => {
    const of = (value: number) => Array.from({ length: count }, (_, i) => entry(i + 1, value, asked)).join()
    return `{"verdicts": [${of(0)}], "verdicts": [${of(1)}]}`
  },
  'what another request asks for': () =>
    '{"proposals": [{"stage": 1, "sign": "positive", "title": "t", "description": "Names d", "weight": 1}]}',
  'no JSON': () => 'I would rather not.',
  nothing: () => '',
  'half JSON': () => '{"verdicts": [{"number": 1, "justification": "so',
  'a list nested without end': () => '{"verdicts": '.repeat(50_000),
  'a prototype': () => '{"__proto__": {"verdicts": [{"number": 1, "justification": "", "level": 2}]}}',
}

/** Answers that propose nothing that can be read as a list. */
export const NO_PROPOSALS: Readonly<Record<string, string>> = {
  verdicts: '{"verdicts": [{"number": 1, "justification": "so", "level": 2}]}',
  'an object': '{"proposals": {"stage": 1}}',
  'a thousand': `{"proposals": [${Array.from({ length: 1000 }, () => '{}').join()}]}`,
  'two lists': '{"proposals": [], "proposals": [{}]}',
  'no JSON': 'None come to mind.',
  nothing: '',
}
