#!/usr/bin/env node
/**
 * @file Demonstrations of a scripted teacher in both roles of RubricEM: attempts at questions of two steps over paragraphs, with what a
 * local index really answers, and reflections on such attempts. What the teacher notes and answers stands in what it was shown (which
 * name and value that are, the question's row says, where a reader could tell). It is imperfect: it plans vaguely, searches badly, stops
 * after one search, reviews or cites carelessly, each by chance, so that its answers are wrong at times. As in the paper (section 5.1)
 * attempts are kept by their form and not by their answers. Some are shown lessons, as attempts in training are.
 *
 *   gradus search build DIR/documents.jsonl --out DIR/paragraphs.index
 *   node scripts/experiments/research-demonstrations.js DIR [--attempts 2] [--reflections 120]
 *
 * reads DIR/taught.jsonl (`paragraph-questions.js`), writes DIR/demonstrations.jsonl, and says how many answers are right.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { stagedRollout } from '../../dist/grade/evolving/index.js'
import { withReferences } from '../../dist/memory/index.js'
import { writeObservation } from '../../dist/tasks/research/observation.js'
import { turnRulesSchema } from '../../dist/tasks/research/protocol.js'
import { reflectorMessages } from '../../dist/tasks/research/reflector.js'
import { ResearchSession } from '../../dist/tasks/research/session.js'
import { shortAnswerScores } from '../../dist/tasks/research/short-answer.js'
import { parseTrajectory } from '../../dist/tasks/research/stages.js'
import { ToolBox } from '../../dist/tasks/research/tool-box.js'
import { openTools } from '../../dist/tools/index.js'
import { readJsonl } from '../../dist/util/jsonl.js'
import { Rng } from '../../dist/util/rng.js'
import { CRITERIA } from './research-criteria.js'
import { bare, readAttempt, readQuestion, yearIn } from './research-reading.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    attempts: { type: 'string', default: '2' },
    reflections: { type: 'string', default: '120' },
  },
})
const [dir] = positionals
if (dir === undefined) {
  process.stderr.write('expected DIR\n')
  process.exit(2)
}
/** The registration has the same tool and rules. */
const TOOL = {
  kind: 'index',
  path: join(dir, 'paragraphs.index'),
  description: 'Searches an encyclopedia.',
  top: 1,
  snippetChars: 160,
}
const rules = turnRulesSchema.parse({ maxCalls: 3, maxBreaks: 0 })
/** How likely the teacher is to work badly in each of these ways. */
const SLIPS = {
  vaguePlan: 0.15,
  badQuery: 0.15,
  oneSearch: 0.2,
  sameQuery: 0.1,
  thinReview: 0.25,
  noCitation: 0.1,
}
/** How likely an attempt is to be shown a lesson, and a lesson to be about what really went wrong. */
const LESSON_SHOWN = 0.25
const LESSON_FITS = 0.75

const rng = new Rng('research teacher')
const { tools: opened, close } = await openTools([TOOL])
const box = new ToolBox(opened)
const tools = box.tools.map(({ name, description, parameters }) => ({ name, description, parameters }))

const FACTS = {
  born: ['birth year', 'born'],
  released: ['year of release', 'film released'],
  published: ['year of publication', 'published'],
  founded: ['year of founding', 'founded'],
  nationality: ['nationality', 'nationality'],
  directed: ['director', 'directed by'],
  wrote: ['author', 'written by'],
  recorded: ['who recorded it', 'recorded by'],
  located: ['place', 'located in'],
}

/** One attempt, as a text, its turns, and what was said to them. */
class Attempt {
  messages = []
  #session = new ResearchSession(box, { rules })
  #said = ''
  constructor({ question }) {
    this.question = question
  }
  get text() {
    return this.#said
  }
  /** What a reader sees by now. */
  read() {
    const { stages, observations } = parseTrajectory(this.#said)
    const parts = stages.map(({ stage, start, end }) => ({ stage, text: this.#said.slice(start, end) }))
    const told = observations.map(({ start, end }) => ({ stage: null, text: this.#said.slice(start, end) }))
    return readAttempt(this.question, [...parts, ...told])
  }
  async act(turn) {
    const reply = await this.#session.reply(turn)
    this.messages.push({ role: 'assistant', content: turn })
    this.#said += turn
    if (reply.kind === 'over') return
    this.messages.push({ role: 'tool', content: reply.text })
    this.#said += writeObservation(reply.text, reply.outcome)
  }
}

const call = query => `<call_tool name="search">${query}</call_tool>`
const planOf = (needs, steps) =>
  `<structured_plan><rubric>${needs}</rubric><research_plan>${steps}</research_plan></structured_plan>`
const lastTurn = (note, review, answer, id) =>
  `<state_evaluation>${note}</state_evaluation><review>${review}</review><answer>${id ? `<cite id="${id}">${answer}</cite>` : answer}</answer>`

/** The passage about a subject among those that were found, and the year that it gives. */
const reading = (found, name, fact) => {
  const own = found.find(({ title }) => bare(title) === name)
  const year = own && yearIn(own.text, fact)
  return { id: own?.id, year }
}
const noteOf = ({ id, year }) => (id ? `${year ?? 'no year'} [${id}]` : 'not found')

const compareTwo = async (attempt, { subjects, fact, later, isYear }, does) => {
  const [asked, word] = FACTS[fact]
  const order = later ? 'the later' : 'the earlier'
  await attempt.act(
    (does.vaguePlan
      ? planOf('a right answer', '1. search 2. answer')
      : planOf(`${asked} of both; ${order}`, `1. ${subjects[0]} 2. ${subjects[1]} 3. compare`)) +
      call(does.badQuery ? `who was ${word} ${later ? 'later' : 'first'}` : `${subjects[0]} ${word}`),
  )
  let [one] = subjects.map(name => reading(attempt.read().found, name, fact))
  if (!does.oneSearch) {
    const next = does.sameQuery ? subjects[0] : subjects[1]
    await attempt.act(
      `<state_evaluation>${noteOf(one)}. Open: ${subjects[1]}.</state_evaluation>${call(`${next} ${word}`)}`,
    )
  }
  const { found } = attempt.read()
  const both = subjects.map(name => ({ name, ...reading(found, name, fact) }))
  ;[one] = both
  const known = both.filter(({ year }) => year)
  const sorted = known.toSorted((a, b) => a.year - b.year)
  const chosen = (later ? sorted.at(-1) : sorted[0]) ?? one
  const answer = isYear ? (chosen.year ?? 'unknown') : chosen.name
  const review = does.thinReview
    ? `${order} is ${answer}.`
    : `${both.map(own => `${own.name} ${noteOf(own)}`).join('; ')}: ${order} is ${answer}.`
  await attempt.act(
    lastTurn(`${noteOf(both[does.oneSearch ? 0 : 1])}.`, review, answer, does.noCitation ? null : chosen.id),
  )
}

/** The beginning of a description without the letter that stands for the subject. */
const queryOf = question =>
  question
    .split(/(?<=\.) (?=In what|What|Who|Where)/)[0]
    .replace(/\bX(?:'s)?\b/g, '')
    .replace(/[^\p{L}\p{N}' -]+/gu, ' ')
    .trim()
    .split(/ +/)
    .slice(0, 12)
    .join(' ')

const describeX = async (attempt, { question, asked: sentence, fact }, does, row) => {
  const [asked, word] = FACTS[fact]
  const name = bare(row.titles.at(-1))
  await attempt.act(
    (does.vaguePlan
      ? planOf('a right answer', '1. search 2. answer')
      : planOf(`what X is; ${asked}`, `1. what X is 2. ${asked} of X`)) +
      call(does.badQuery ? sentence.replace('?', '') : queryOf(question)),
  )
  // What X is has to stand in a result; else the first passage is taken for it.
  const { found } = attempt.read()
  const seen =
    found.find(({ title }) => bare(title) === name) ?? found.find(({ text }) => text.includes(name))
  const taken = seen ? name : bare(found[0]?.title ?? 'unknown')
  const where = (seen ?? found[0])?.id
  const says = `X is ${taken} [${where}].`
  if (!does.oneSearch)
    await attempt.act(
      `<state_evaluation>${says} Open: ${asked}.</state_evaluation>${call(does.sameQuery ? queryOf(question) : `${taken} ${word}`)}`,
    )
  const own = attempt.read().found.filter(({ title }) => bare(title) === taken)
  const holds = own.find(({ text }) => row.answer.some(each => text.includes(each)))
  const { text = '', id = where } = holds ?? own[0] ?? {}
  const guess = /year/.test(asked)
    ? (/\d{4}/.exec(text)?.[0] ?? 'unknown')
    : (/[A-Z]\w+(?: [A-Z]\w+)*/.exec(text.slice(taken.length))?.[0] ?? 'unknown')
  const answer = holds ? row.answer.find(each => text.includes(each)) : guess
  const found2 = `${asked}: ${answer} [${id}].`
  await attempt.act(
    lastTurn(
      does.oneSearch ? says : found2,
      does.thinReview ? `X is ${taken}.` : `${says} ${found2}`,
      answer,
      does.noCitation ? null : id,
    ),
  )
}

/** What a reflection says: what the question needs, and lessons, mostly of what went wrong. */
const reflectionOn = (question, read) => {
  const { subjects, fact } = readQuestion(question)
  const own = CRITERIA.filter(({ applies }) => applies(read))
  const bad = own.filter(({ level, sign }) => (sign === 'positive' ? level(read) < 2 : level(read) > 0))
  const lessons = Array.from(
    { length: 1 + Number(rng.next() < 0.5) },
    () => rng.pick(rng.next() < LESSON_FITS && bad.length > 0 ? bad : own).lesson,
  )
  const needs =
    rng.next() < LESSON_FITS
      ? `the ${FACTS[fact][0]} of ${subjects ? subjects.join(' and ') : 'X'}`
      : 'a right answer'
  return {
    rubrics: `Critical requirement: ${needs}.`,
    takeaways: [...new Set(lessons)],
  }
}
const written = ({ rubrics, takeaways }) =>
  `<reflection_rubrics>${rubrics}</reflection_rubrics>\n<reflection_takeaways>\n${takeaways.map(each => `- ${each}`).join('\n')}\n</reflection_takeaways>`

const rows = [...readJsonl(join(dir, 'taught.jsonl'))]
const attempts = []
for (let i = 0; i < Number(values.attempts); i++)
  for (const row of rows) {
    const attempt = new Attempt(row)
    const asked = readQuestion(row.question)
    const does = Object.fromEntries(
      Object.entries(SLIPS).map(([slip, chance]) => [slip, rng.next() < chance]),
    )
    await (asked.subjects ? compareTwo : describeX)(attempt, asked, does, row)
    attempts.push({ row, attempt, read: attempt.read() })
  }
await close()

const lessons = attempts.map(({ row, read }) => ({
  ...reflectionOn(row.question, read),
  question: row.question,
}))
const shownLesson = i => {
  const how = rng.next() < 0.5 ? 'within' : 'cross'
  const item = how === 'within' ? lessons[i] : rng.pick(lessons)
  return { items: [{ how, score: 1, item }] }
}
const acted = attempts.map(({ row, attempt }, i) => ({
  id: `${row.id}/${i}`,
  question: rng.next() < LESSON_SHOWN ? withReferences(row.question, shownLesson(i)) : row.question,
  ...{ tools, rules, messages: attempt.messages },
}))
const reflected = rng
  .shuffle(attempts.map((_, i) => i))
  .slice(0, Number(values.reflections))
  .map(i => {
    const { row, attempt } = attempts[i]
    const staged = stagedRollout(row.id, attempt.text, parseTrajectory(attempt.text).stages)
    const content = written(lessons[i])
    return { messages: [...reflectorMessages(row.question, staged), { role: 'assistant', content }] }
  })
const lines = rng.shuffle([...acted, ...reflected]).map(row => `${JSON.stringify(row)}\n`)
writeFileSync(join(dir, 'demonstrations.jsonl'), lines.join(''))
const right = attempts.filter(({ row, read }) => shortAnswerScores(read.answer, row.answer).right).length
const unsound = attempts.filter(({ attempt }) => !parseTrajectory(attempt.text).valid).length
process.stderr.write(
  `${acted.length} attempts, ${right} right, ${unsound} not in form; ${reflected.length} reflections\n`,
)
