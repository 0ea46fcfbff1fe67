/**
 * Labelled verdicts for `gradus judge check`, thirty of each of six kinds of criteria, half of them met: what the criteria say is decided
 * by a regular expression or by which request a response was written to. The responses are a small model's, kept in results/.
 * A seventh kind comes from a file of GSM8K, whose rows are {question, answer}: solutions, of which every other one has its last
 * number changed, by the seed.
 *
 *   node scripts/experiments/judge-labels.js [gsm8k.jsonl [seed]] > labels.jsonl
 *
 * Labels to learn from are of other responses: those of `gradus init train --instructions --cold-start`, and GSM8K's later rows.
 *
 *   node scripts/experiments/judge-labels.js gsm8k.jsonl 2 --from demonstrations.jsonl --of-each 80 --skip 30 > learn.jsonl
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { brotliDecompressSync } from 'node:zlib'

const FOLDERS = [
  'results/real-model-first/answers',
  'results/real-model-second/answers',
  'results/real-model-third/answers',
]
const MOST_WORDS = 120

const { values, positionals } = parseArgs({
  options: {
    from: { type: 'string' },
    'of-each': { type: 'string', default: '30' },
    skip: { type: 'string', default: '0' },
  },
  allowPositionals: true,
})
const [solutions, seed = '1'] = positionals
const ofEach = Number(values['of-each'])

const linesOf = bytes =>
  bytes
    .toString()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
const kept = () =>
  FOLDERS.flatMap(folder =>
    readdirSync(folder)
      .filter(name => name.endsWith('-rows.jsonl.br'))
      .flatMap(name => linesOf(brotliDecompressSync(readFileSync(`${folder}/${name}`)))),
  )
const demonstrated = file =>
  linesOf(readFileSync(file)).map(({ messages: [asked, { content }] }) => ({
    prompt: [asked],
    response: content,
  }))
const answers = (values.from === undefined ? kept() : demonstrated(values.from)).filter(
  ({ response }) => response.trim() !== '' && response.split(/\s+/).length <= MOST_WORDS,
)
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

/** Another number of as many digits, by the seed; where there is but one digit, another digit. */
const changed = (number, i) => {
  const drawn = createHash('sha256').update(`${seed}/${i}`).digest().readUInt32BE()
  const [least, count] =
    number < 10 ? [0, 10] : [10 ** (`${number}`.length - 1), 9 * 10 ** (`${number}`.length - 1)]
  const other = least + (drawn % (count - 1))
  return other < number ? other : other + 1
}

/** A solution whose last number is right or not, beside the number that is. Places of calculators (<<2+2=4>>) are left out. */
const finalAnswer = ({ question, answer }, i) => {
  const [, worked, reference] = /^([\s\S]*)\n#### (.*)$/.exec(answer)
  const right = Number(reference.replaceAll(',', ''))
  const label = i % 2 === 0
  return {
    prompt: question,
    response: `${worked.replaceAll(/<<[^>]*>>/g, '')}\nFinal answer: ${label ? right : changed(right, i)}`,
    reference: `${right}`,
    criterion: { id: 'final answer', text: `Its final answer is ${right}.`, points: 1 },
    label,
  }
}

for (const [kind, of] of Object.entries(KINDS)) {
  const rows = distinct.flatMap((row, i) => {
    const labelled = of(row, i)
    return labelled === null ? [] : [{ row, text: labelled[0], label: labelled[1] }]
  })
  for (const label of [true, false])
    for (const { row, text } of rows.filter(each => each.label === label).slice(0, ofEach / 2)) {
      console.log(JSON.stringify({ response: row.response, criterion: { id: kind, text, points: 1 }, label }))
    }
}
if (solutions !== undefined)
  for (const row of linesOf(readFileSync(solutions))
    .filter(({ answer }) => /\n#### [\d,]+$/.test(answer))
    .slice(Number(values.skip), Number(values.skip) + ofEach)
    .map(finalAnswer))
    console.log(JSON.stringify(row))
