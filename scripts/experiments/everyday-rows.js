#!/usr/bin/env node
/**
 * @file Rows of everyday requests whose rubric asks for things that the request does not: what a criterion wants hangs on what kind of
 * text is asked for (a message, an advertisement, an explanation, fiction), and rules alone decide it. A model cannot know it from the
 * request; it has to find it out. Answers of few words are asked for. Test rows are of topics and names in other combinations, none of
 * them a training row.
 *
 *   node scripts/experiments/everyday-rows.js --out DIR [--train 512] [--test 128] [--words 30] [--seed everyday]
 *
 * writes rows.jsonl, test.jsonl, and test-shown.jsonl: the test rows with their criteria after the request, as RuscaRL shows them.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { scaffolding } from '../../dist/recipes/ruscarl/scaffold.js'
import { drawRequest } from '../../dist/tasks/instructions/requests.js'
import { Rng } from '../../dist/util/rng.js'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    train: { type: 'string', default: '512' },
    test: { type: 'string', default: '128' },
    words: { type: 'string', default: '30' },
    seed: { type: 'string', default: 'everyday' },
  },
})
if (values.out === undefined) {
  process.stderr.write('expected --out DIR\n')
  process.exit(2)
}

const rule = (id, points, text, fn, params) => ({ id, text, points, verifier: { kind: 'rule', fn, params } })
const regex = (id, text, pattern, more = {}) => rule(id, 1, text, 'regex', { pattern, ...more })
const instruction = (id, text, kind, kwargs = {}) => rule(id, 1, text, 'instruction', { id: kind, kwargs })

/** What kind of text is asked for, by the words of the request; the first that fits. */
const KINDS = [
  {
    name: 'fiction',
    asked: /\b(poem|story|song|joke|riddle|dialogue|scene|diary|memory|happen next)\b/i,
    criteria: [
      instruction(
        'hidden-title',
        'Has a title in double angular brackets, such as <<The Road>>.',
        'detectable_format:title',
      ),
      regex('hidden-the_end', 'Ends with the words "The End."', 'The End\\W*$'),
      regex('hidden-weekday', 'Names a day of the week.', '\\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\\b'),
    ],
  },
  {
    name: 'offer',
    asked:
      /\b(advert\w*|slogan|poster|sells|offer|brochure|product|campaign|social media|tweet|caption|newsletter|podcast|notice|resume|headline)\b/i,
    criteria: [
      regex('hidden-hashtag', 'Ends with a hashtag, such as #summer.', '#\\w+\\W*$'),
      regex('hidden-address', 'Names a web address, such as www.example.com.', '\\b(?:www\\.|https?://)\\w'),
      regex('hidden-capitals', 'Has a word all in capital letters.', '\\b[A-Z]{4,}\\b'),
    ],
  },
  {
    name: 'message',
    asked:
      /\b(message|email|letter|invite|thank|apology|remind|congratulate|recommend|note|toast|complaint|ask|tell \w+ what)\b/i,
    criteria: [
      regex('hidden-greeting', 'Begins with "Hello" and a comma or a name.', '^\\W*Hello\\b'),
      instruction(
        'hidden-postscript',
        'Has a postscript at the end that begins with P.S.',
        'detectable_content:postscript',
        {
          postscript_marker: 'P.S.',
        },
      ),
      regex('hidden-telephone', 'Gives a telephone number, such as 555-0123.', '\\b\\d{3}[-. ]?\\d{3,4}\\b'),
    ],
  },
  {
    name: 'explanation',
    asked: /./,
    criteria: [
      regex('hidden-in_short', 'Has a line that begins with "In short:".', '(?:^|\\n)\\W*In short:'),
      regex('hidden-example', 'Uses the words "for example".', '\\bfor example\\b', { flags: 'i' }),
      regex('hidden-question', 'Ends with a question to the reader.', '\\?\\W*$'),
    ],
  },
]

const FEWEST = 8
const rowOf = (id, request) => {
  const { name, criteria } = KINDS.find(({ asked }) => asked.test(request.ask))
  const content = { ...request.content([]), points: 1 }
  const max = Number(values.words)
  const short = rule('short', 1, `Has ${FEWEST} to ${max} words.`, 'length', { min: FEWEST, max })
  const prompt = `${request.ask} Use at most ${max} words.`
  return { id: `${id}-${name}`, prompt, criteria: [...criteria, content, short] }
}

const rng = new Rng(values.seed)
const asked = new Set()
const rows = (name, count) =>
  Array.from({ length: count }, (_, i) => {
    for (;;) {
      const request = drawRequest(rng)
      if (request.isLong || asked.has(request.ask)) continue
      asked.add(request.ask)
      return rowOf(`${name}-${i + 1}`, request)
    }
  })
const show = scaffolding({ place: 'user', showPoints: false, forbidMention: false })
const shown = row => ({ ...row, prompt: show([{ role: 'user', content: row.prompt }], row.criteria) })
const train = rows('train', Number(values.train))
const test = rows('test', Number(values.test))
mkdirSync(values.out, { recursive: true })
for (const [name, lines] of Object.entries({ rows: train, test, 'test-shown': test.map(shown) }))
  writeFileSync(join(values.out, `${name}.jsonl`), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
