#!/usr/bin/env node
/**
 * @file What each criterion about content keeps out, by audits without it: the rows of experiments/rubric-audit and the samples of
 * the untrained model that results/rubric-audit keeps. Prints a line for each rubric: what an edit is paid beside being right.
 *
 *   node scripts/experiments/audit-leave-one-out.js
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readText } from './answers.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const LEFT_OUT = [[], ['topic'], ['facts'], ['topic', 'facts'], ['own_words'], ['length_fits']]
const all = [...new Set(LEFT_OUT.flat())]
const rows = readFileSync(join(root, 'experiments/rubric-audit/real-rows.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line))
const dir = mkdtempSync(join(tmpdir(), 'gradus-audit-'))
const [data, samples] = [join(dir, 'rows.jsonl'), join(dir, 'samples.jsonl')]
writeFileSync(samples, `${readText(join(root, 'results/rubric-audit/answers/real-samples.jsonl'))}\n`)

const audit = leftOut => {
  const rest = rows.map(row => ({ ...row, criteria: row.criteria.filter(({ id }) => !leftOut.includes(id)) }))
  writeFileSync(data, rest.map(row => `${JSON.stringify(row)}\n`).join(''))
  const args = ['rubric', 'audit', '--data', data, '--model', samples, '--samples', '3', '--json']
  return JSON.parse(execFileSync(process.execPath, [join(root, 'bin/gradus.js'), ...args]).toString())
}

try {
  for (const leftOut of [...LEFT_OUT, all]) {
    const paid = audit(leftOut)
      .edits.filter(({ exploit }) => exploit !== null)
      .map(({ edit, exploit }) => `${edit} ${exploit.value.toFixed(2)}`)
    process.stdout.write(`without ${leftOut.join(', ') || 'none'}: ${paid.join(', ')}\n`)
  }
} finally {
  rmSync(dir, { recursive: true })
}
