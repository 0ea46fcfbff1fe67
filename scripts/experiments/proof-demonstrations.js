#!/usr/bin/env node
/**
 * @file Demonstrations of generated proofs for a chat model, as recipe `rubric-as-reward` asks for them with `task.prompt: chat`: rows
 * for `sft`. None of them is a problem that is tested or trained on later: those come from other seeds.
 *
 *   node scripts/experiments/proof-demonstrations.js [--count 1000] [--hops 1,2,3] > demonstrations.jsonl
 */

import { parseArgs } from 'node:util'
import { generateLogicProblems } from '../../dist/tasks/logic/generator.js'
import { premisesPrompt, SYSTEM_PROMPT } from '../../dist/tasks/logic/prompts.js'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '1000' }, hops: { type: 'string', default: '1,2,3' } },
})
const hops = Object.fromEntries(values.hops.split(',').map(own => [own, 1]))

const responseOf = ({ proof, label }) =>
  [
    '<reasoning>',
    ...proof.map((step, i) => `${i + 1}. ${step}`),
    '</reasoning>',
    `<answer>${label}</answer>`,
  ].join('\n')

for (const problem of generateLogicProblems(
  Number(values.count),
  { hops, style: 'real', labels: 'two-way' },
  'proof demonstrations',
)) {
  const messages = [
    { role: 'system', content: SYSTEM_PROMPT },
    { role: 'user', content: premisesPrompt(problem) },
    { role: 'assistant', content: responseOf(problem) },
  ]
  process.stdout.write(`${JSON.stringify({ messages })}\n`)
}
