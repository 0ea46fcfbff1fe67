#!/usr/bin/env node

/**
 * @file Exact match, shared words and citations of research answers, by their whole trajectories: whether an answer cites anything, whether
 * what it cites was found by its searches, and whether a passage that it cites has the answer's words.
 *
 *   gradus eval --task research --data DIR/public.jsonl --model CHECKPOINT --out answers.jsonl --set tools=... rules.maxCalls=3 ...
 *   node scripts/experiments/research-citations.js DIR/public.jsonl answers.jsonl...
 */

import { shortAnswerScores } from '../../dist/tasks/research/short-answer.js'
import { parseTrajectory } from '../../dist/tasks/research/stages.js'
import { readJsonl } from '../../dist/util/jsonl.js'
import { has, readAttempt } from './research-reading.js'

const [questionsFile, ...answerFiles] = process.argv.slice(2)
if (answerFiles.length === 0) {
  process.stderr.write('expected QUESTIONS.jsonl ANSWERS.jsonl...\n')
  process.exit(2)
}
const questions = new Map([...readJsonl(questionsFile)].map(row => [row.id, row]))
const decoded = text => text.replaceAll('&lt;', '<').replaceAll('&amp;', '&')

/** A trajectory with what tools said, as its reader sees it. */
const attemptOf = (question, text) => {
  const { stages, observations } = parseTrajectory(text)
  const parts = [...stages, ...observations].map(({ stage = null, start, end }) => ({
    stage,
    text: stage === null ? decoded(text.slice(start, end)) : text.slice(start, end),
  }))
  return readAttempt(question, parts)
}

for (const file of answerFiles) {
  const scores = { right: 0, f1: 0, cites: 0, found: 0, supported: 0 }
  let count = 0
  for (const { id, response } of readJsonl(file)) {
    const own = questions.get(id)
    if (own === undefined || typeof response !== 'string') continue
    const attempt = attemptOf(own.question, response)
    const { right, f1 } = shortAnswerScores(attempt.answer || null, [own.answer].flat())
    const cited = attempt.found.filter(passage => attempt.cited.includes(passage.id))
    const each = {
      ...{ right, f1 },
      cites: attempt.cited.length > 0,
      found: attempt.cited.length > 0 && attempt.cited.every(id => cited.some(passage => passage.id === id)),
      supported: cited.some(({ all }) => has(all, attempt.answer)),
    }
    for (const name of Object.keys(scores)) scores[name] += Number(each[name])
    count++
  }
  const shares = Object.entries(scores).map(([name, sum]) => [
    name,
    Number((sum / Math.max(1, count)).toFixed(4)),
  ])
  process.stdout.write(`${JSON.stringify({ file, answers: count, ...Object.fromEntries(shares) })}\n`)
}
