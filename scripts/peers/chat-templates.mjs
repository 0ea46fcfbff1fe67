// What this project renders beside what the transformers library rendered: FILE is made by scripts/peers/chat_templates.py.
//
//   node scripts/peers/chat-templates.mjs FILE [--list]      --list: each difference. Needs dist/ (npm run build).
import { readFileSync } from 'node:fs'
import { ChatTemplate } from '../../dist/model/chat-template.js'

const [file, ...flags] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: node scripts/peers/chat-templates.mjs FILE [--list]')
  process.exit(2)
}
const KINDS = {
  same: 'the same text',
  refused: 'refused by both',
  other: 'another text',
  loud: 'refused here alone',
  silent: 'refused there alone',
}
const ours = row => {
  const { template, conversation, specials, messages, tools, documents, text, error, ...more } = row
  const { add_generation_prompt: addGenerationPrompt, source, ...variables } = more
  try {
    const given = documents === undefined ? variables : { ...variables, documents }
    return {
      text: new ChatTemplate(source, specials).render(messages, {
        addGenerationPrompt,
        tools,
        variables: given,
      }),
    }
  } catch (error) {
    return { error: error.message }
  }
}
const kindOf = (theirs, here) => {
  if (theirs.error !== undefined) return here.error === undefined ? 'silent' : 'refused'
  if (here.error !== undefined) return 'loud'
  return here.text === theirs.text ? 'same' : 'other'
}
/** The first place where two texts differ. */
const around = (text, at) => JSON.stringify(text.slice(Math.max(0, at - 30), at + 50))
const firstDifference = (a, b) => {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}

const counts = Object.fromEntries(Object.keys(KINDS).map(kind => [kind, 0]))
const templates = Object.fromEntries(Object.keys(KINDS).map(kind => [kind, new Set()]))
for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
  const row = JSON.parse(line)
  const here = ours(row)
  const kind = kindOf(row, here)
  counts[kind]++
  templates[kind].add(row.template)
  if (!flags.includes('--list') || kind === 'same' || kind === 'refused') continue
  const at = kind === 'other' ? firstDifference(here.text, row.text) : 0
  console.log(`${KINDS[kind]}: ${row.template}: ${row.conversation}`)
  console.log(`  here:  ${here.error ?? around(here.text, at)}`)
  console.log(`  there: ${row.error ?? around(row.text, at)}`)
}
for (const [kind, words] of Object.entries(KINDS))
  console.log(`${words}: ${counts[kind]} renderings of ${templates[kind].size} templates`)
