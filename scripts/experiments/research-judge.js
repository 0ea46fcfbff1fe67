#!/usr/bin/env node
/**
 * @file A scripted judge of staged research, as an OpenAI-compatible server: asked for new rubrics it names criteria of
 * `research-criteria.js` on which the attempts at hand differ, asked for levels it executes them, and a reflection it scores by whether
 * its lessons are about what went wrong. It sees what is in its prompt: no right answer, and no file of questions. The same prompt has
 * the same answer.
 *
 *   node scripts/experiments/research-judge.js [--port 8750]
 */

import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { CRITERIA } from './research-criteria.js'
import { has, namesFact, namesIn, readAttempt, readQuestion, says, years } from './research-reading.js'

const { values } = parseArgs({ options: { port: { type: 'string', default: '8750' } } })

const STAGE_OF = { plan: 1, research: 2, review: 3, answer: 4, 'own-rubric': 1, 'tool-output': null }
const QUOTED = /<([a-z-]+)-([0-9a-f]{12})>\n([\s\S]*?)\n<\/\1-\2>/g
const NAMED = { lt: '<', gt: '>', amp: '&' }
const decoded = text =>
  text.replace(
    /&(lt|gt|amp|#\d{1,7});/g,
    (_, name) => NAMED[name] ?? String.fromCodePoint(Number(name.slice(1))),
  )
/** What a tool said was escaped when it was said, and once more to be quoted. */
const undone = (tag, text) => (tag === 'tool-output' ? decoded(decoded(text)) : decoded(text))

/** Quoted pieces of a prompt, in order. */
const piecesOf = prompt =>
  [...prompt.matchAll(QUOTED)].map(([, tag, , text]) => ({ tag, text: undone(tag, text) }))
const textsOf = (pieces, tag) => pieces.filter(piece => piece.tag === tag).map(({ text }) => text)
const attemptIn = (question, pieces) =>
  readAttempt(
    question,
    pieces.filter(({ tag }) => tag in STAGE_OF).map(({ tag, text }) => ({ stage: STAGE_OF[tag], text })),
  )
const byTitle = text => CRITERIA.find(({ title }) => text.startsWith(`${title}: `))

/** As many new ones a stage as the paper keeps; at least one, so that a stage has any. */
const MOST = { 1: 3, 2: 2, 3: 2, 4: 3 }

/** Those on which attempts differ most, the first of equal ones; one that nobody differs on where there is no other. */
const proposals = prompt => {
  const [before, ...rollouts] = prompt.split(/^Rollout \d+ of \d+, in order:$/m)
  const question = textsOf(piecesOf(before), 'question')[0] ?? ''
  const attempts = rollouts.map(text => attemptIn(question, piecesOf(text)))
  const inUse = new Set(textsOf(piecesOf(prompt), 'criterion').map(text => byTitle(text)?.title))
  const asked = readQuestion(question)
  const spreadOf = ({ level }) => {
    const levels = attempts.map(level)
    const mean = levels.reduce((sum, each) => sum + each, 0) / levels.length
    return levels.reduce((sum, each) => sum + (each - mean) ** 2, 0)
  }
  return [1, 2, 3, 4].flatMap(stage => {
    const own = CRITERIA.filter(each => each.stage === stage && each.applies(asked))
    const used = own.filter(({ title }) => inUse.has(title)).length
    const fresh = own
      .filter(({ title }) => !inUse.has(title))
      .map(each => ({ each, spread: spreadOf(each) }))
      .toSorted((a, b) => b.spread - a.spread)
    const telling = fresh.filter(({ spread }) => spread > 0)
    const wanted = telling.length > 0 ? telling.slice(0, MOST[stage]) : used > 0 ? [] : fresh.slice(0, 1)
    return wanted.map(({ each: { sign, title, description, weight } }) => ({
      stage,
      sign,
      title,
      description,
      weight,
    }))
  })
}

const entries = (key, given) => ({
  verdicts: given.map((value, i) => ({ number: i + 1, justification: 'as executed', [key]: value })),
})

/** Null for a criterion that is not known here. */
const levels = prompt => {
  const pieces = piecesOf(prompt)
  const attempt = attemptIn(textsOf(pieces, 'question')[0] ?? '', pieces)
  return textsOf(pieces, 'criterion').map(text => {
    const own = byTitle(text)
    return own?.applies(attempt) ? own.level(attempt) : null
  })
}

/** Whether lessons are about what went wrong, whether what is needed is said of this question, and whether lessons carry over. */
const marks = prompt => {
  const pieces = piecesOf(prompt)
  const question = textsOf(pieces, 'question')[0] ?? ''
  const attempt = attemptIn(question, pieces)
  const reflection = textsOf(pieces, 'reflection').at(-1) ?? ''
  // What is needed, then a lesson a line.
  const [needs, ...lessons] = reflection.split(/^- /m)
  const takeaways = lessons.join('\n')
  const own = CRITERIA.filter(({ applies }) => applies(attempt))
  const failed = own.filter(({ level, sign }) =>
    sign === 'positive' ? level(attempt) < 2 : level(attempt) > 0,
  )
  const wanted = failed.length > 0 ? failed : own
  const fitting = lessons.filter(line => wanted.some(({ lesson }) => says(line, lesson)))
  const known = lessons.filter(line => CRITERIA.some(({ lesson }) => says(line, lesson)))
  const accuracy = fitting.length / Math.max(1, lessons.length)
  const { subjects, fact } = readQuestion(question)
  const subjectsNamed =
    (subjects ?? ['X']).filter(name => has(needs, name)).length / (subjects ?? ['X']).length
  const specificity = 0.5 * subjectsNamed + 0.5 * Number(namesFact(needs, fact))
  const tells = namesIn(takeaways).some(name => has(question, name)) || years(takeaways).length > 0
  const scope = (known.length > 0 ? 0.5 : 0) + (tells ? 0 : 0.5)
  return [accuracy, specificity, scope]
}

/** What is asked for is told by the key that the instructions name. */
const answerTo = ([{ content: instructions }, ...messages]) => {
  const prompt = messages.map(({ content }) => content).join('\n')
  if (instructions.includes('"proposals"')) return { proposals: proposals(prompt) }
  return instructions.includes('"level"') ? entries('level', levels(prompt)) : entries('score', marks(prompt))
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  response.setHeader('content-type', 'application/json')
  if (body === '') return response.end('{}')
  try {
    const content = JSON.stringify(answerTo(JSON.parse(body).messages))
    const message = { role: 'assistant', content }
    response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }))
  } catch (error) {
    // One prompt that cannot be read is no reason to be gone for all others.
    response.statusCode = 500
    response.end(JSON.stringify({ error: { message: String(error) } }))
  }
})
server.listen(Number(values.port), '127.0.0.1', () =>
  process.stderr.write(`http://127.0.0.1:${values.port}/v1\n`),
)
