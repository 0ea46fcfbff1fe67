/**
 * Labelled verdicts for `gradus judge check`, thirty of each of six kinds of criteria, half of them met: what the criteria say is decided
 * by a regular expression or by which request a response was written to. The responses are a small model's, kept in results/.
 *
 *   node scripts/experiments/judge-labels.js > labels.jsonl
 */
import { readdirSync, readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

const FOLDERS = [
  'results/real-model-first/answers',
  'results/real-model-second/answers',
  'results/real-model-third/answers',
]
const OF_EACH = 15
const MOST_WORDS = 120

const linesOf = path =>
  brotliDecompressSync(readFileSync(path))
    .toString()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
const answers = FOLDERS.flatMap(folder =>
  readdirSync(folder)
    .filter(name => name.endsWith('-rows.jsonl.br'))
    .flatMap(name => linesOf(`${folder}/${name}`)),
).filter(({ response }) => response.trim() !== '' && response.split(/\s+/).length <= MOST_WORDS)
// One response of each request and side, each once.
const distinct = [...new Map(answers.map(row => [row.response, row])).values()]
const wordsOf = text => [...new Set(text.toLowerCase().match(/\b[a-z]{5,9}\b/g) ?? [])]

const other = i => distinct[(i + 37) % distinct.length]
const uses = (word, text) => new RegExp(`\\b${word}\\b`, 'i').test(text)

/** By kind: a row's criterion and whether it is met. The row's number decides which of two is asked, where either could be. */
const KINDS = {
  title: ({ response }) => [
    'Has a title in double angular brackets, like <<title>>.',
    /<<[^\n]+>>/.test(response),
  ],
  placeholder: ({ response }) => [
    'Has a placeholder in square brackets, like [address].',
    /\[[^\]\n]+\]/.test(response),
  ],
  postscript: ({ response }) => [
    'Ends with a postscript that begins with P.S.',
    /^\W*P\. ?(P\. ?)?S/m.test(response),
  ],
  comma: ({ response }) => ['Has no comma in it.', !response.includes(',')],
  request: (row, i) => {
    const asked = i % 2 === 0 ? row : other(i)
    return [`Answers this request: ${asked.prompt[0].content}`, asked === row]
  },
  word: ({ response }, i) => {
    const own = wordsOf(response)
    const word =
      i % 2 === 0 ? own[i % own.length] : wordsOf(other(i).response).find(each => !uses(each, response))
    return word === undefined ? null : [`Uses the word "${word}".`, uses(word, response)]
  },
}

for (const [kind, of] of Object.entries(KINDS)) {
  const rows = distinct.flatMap((row, i) => {
    const labelled = of(row, i)
    return labelled === null ? [] : [{ row, text: labelled[0], label: labelled[1] }]
  })
  for (const label of [true, false])
    for (const { row, text } of rows.filter(each => each.label === label).slice(0, OF_EACH)) {
      console.log(JSON.stringify({ response: row.response, criterion: { id: kind, text, points: 1 }, label }))
    }
}
