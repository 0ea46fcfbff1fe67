// What the configurations of the chaos test start from: models of a few thousand weights, conversations, demonstrations, labels, rubrics.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { saveCheckpoint } from '../../dist/model/checkpoint.js'
import { initWeights } from '../../dist/model/weights.js'
import { Rng } from '../../dist/util/rng.js'
import { Child } from './child.js'

export const SMALL = { hiddenSize: 32, layers: 1, heads: 2 }

/** GPT-2 writes each byte as one printable character: itself where printable, else the next free one from U+0100 on. */
const byteCharacters = () => {
  let nextFree = 256
  const printable = byte => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : nextFree++))
}

const TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

/** A chat model with random weights, a token a byte. */
const writeChatModel = folder => {
  const special = (content, id) => ({
    ...{ id, content, special: true, normalized: false, single_word: false, lstrip: false, rstrip: false },
  })
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false }
  const vocab = Object.fromEntries(byteCharacters().map((character, byte) => [character, byte]))
  const tokenizer = {
    added_tokens: [special('<|im_start|>', 256), special('<|im_end|>', 257)],
    pre_tokenizer: byteLevel,
    decoder: byteLevel,
    model: { type: 'BPE', vocab, merges: [] },
  }
  const config = {
    ...{ family: 'llama', vocabSize: 264, hiddenSize: 16, intermediateSize: 24, layers: 1, heads: 2 },
    ...{ kvHeads: 1, headDim: 8, maxPositions: 2048, rmsNormEps: 1e-5, ropeTheta: 10_000, ropeScaling: null },
    ...{ tieEmbeddings: true, attentionBias: false, qkNorm: false, bosTokenId: null, eosTokenIds: [257] },
    initializerRange: 0.3,
  }
  const files = new Map([
    ['tokenizer.json', JSON.stringify(tokenizer)],
    ['tokenizer_config.json', JSON.stringify({ eos_token: '<|im_end|>', chat_template: TEMPLATE })],
  ])
  saveCheckpoint(folder, { config, weights: initWeights(config, 1), files })
}

const jsonLines = rows => rows.map(row => `${JSON.stringify(row)}\n`).join('')

const CONVERSATIONS = Array.from({ length: 6 }, (_, i) => ({
  prompt_id: `question-${i}`,
  prompt: [{ role: 'user', content: `What helps against hiccups number ${i}?` }],
  rubrics: [
    { criterion: `Names remedy ${i}`, points: 5, tags: ['axis:accuracy'] },
    { criterion: 'Is easy to read', points: 3, tags: ['axis:completeness'] },
    { criterion: 'Promises a cure', points: -4, tags: ['axis:accuracy'] },
  ],
}))

const DEMONSTRATIONS = Array.from({ length: 8 }, (_, i) => ({
  id: `demonstration-${i}`,
  messages: [
    { role: 'user', content: `Question ${i}?` },
    { role: 'assistant', content: `<call_tool name="search">${i}</call_tool>` },
    { role: 'tool', content: `It is ${i}.` },
    { role: 'assistant', content: `<answer>${i}</answer>` },
  ],
}))

const labels = () => {
  const rng = new Rng('labels')
  const fruit = ['apple', 'pear', 'plum', 'fig']
  const filler = ['and', 'then', 'we', 'saw', 'a', 'small', 'red', 'house', 'by', 'the', 'road']
  return Array.from({ length: 200 }, (_, i) => {
    const name = rng.pick(fruit)
    const met = i % 2 === 0
    const response = [...rng.sample(filler, 6), met ? name : 'nothing'].join(' ')
    return { criterion: `Mentions the ${name}`, prompt: `note ${i}`, response, met }
  })
}

/** Criteria of which a judge is asked two and rules decide two. */
export const RUBRIC = {
  id: 'chaos',
  criteria: [
    { id: 'explains', text: 'Explains why', points: 3 },
    { id: 'kind', text: 'Is kind to the reader', points: 2 },
    {
      id: 'brief',
      text: 'Is brief',
      points: 1,
      verifier: { kind: 'rule', fn: 'length', params: { max: 8 } },
    },
    {
      ...{ id: 'rude', text: 'Insults the reader', points: -2 },
      verifier: { kind: 'rule', fn: 'contains', params: { any: ['idiot'] } },
    },
  ],
}

/** Responses to grade: every fifth is rude, every third is long. */
export const responses = count =>
  Array.from({ length: count }, (_, i) => {
    const words = ['it', 'is', 'so', String(i), ...(i % 5 === 0 ? ['idiot'] : [])]
    if (i % 3 === 0) words.push(...Array.from({ length: 12 }, (_, j) => `word${j}`))
    return { id: `r${i}`, prompt: `Question ${i}?`, response: words.join(' ') }
  })

const train = async (recipe, dir, settings, log) => {
  const set = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${JSON.stringify(value)}`])
  const child = new Child(['train', recipe, '--out', dir, '--quiet', ...set], { trial: 'fixtures' })
  const { code } = await child.ended
  if (code !== 0) throw new Error(`${recipe}: a starting model could not be made: ${child.err}`)
  log(`starting model ${dir}`)
}

const makeIndex = async (texts, index) => {
  writeFileSync(
    texts,
    jsonLines(Array.from({ length: 9 }, (_, i) => ({ id: `t${i}`, text: `${i} is a number` }))),
  )
  const child = new Child(['search', 'build', texts, '--out', index], { trial: 'fixtures' })
  const { code } = await child.ended
  if (code !== 0) throw new Error(`search build: an index could not be made: ${child.err}`)
}

/**
 * Makes everything below `folder`, once.
 * @returns paths by name
 */
export const makeFixtures = async (folder, log) => {
  mkdirSync(folder, { recursive: true })
  const at = (...parts) => join(folder, ...parts)
  const paths = {
    logicModel: at('logic', 'checkpoints', 'step-000002'),
    packingModel: at('packing', 'checkpoints', 'step-000004'),
    chatModel: at('chat'),
    conversations: at('conversations.jsonl'),
    demonstrations: at('demonstrations.jsonl'),
    labels: at('labels.jsonl'),
    rubric: at('rubric.json'),
    responses: at('responses.jsonl'),
    index: at('texts.index'),
    asked: at('asked.jsonl'),
    manners: at('manners.json'),
  }
  if (existsSync(at('done'))) return paths
  writeChatModel(paths.chatModel)
  writeFileSync(paths.conversations, jsonLines(CONVERSATIONS))
  writeFileSync(paths.demonstrations, jsonLines(DEMONSTRATIONS))
  writeFileSync(paths.labels, jsonLines(labels()))
  writeFileSync(paths.rubric, JSON.stringify(RUBRIC))
  writeFileSync(paths.responses, jsonLines(responses(150)))
  // Rules alone: what is called here are tools, not a judge.
  const rules = RUBRIC.criteria.filter(({ verifier }) => verifier !== undefined)
  writeFileSync(paths.manners, JSON.stringify({ ...RUBRIC, criteria: rules }))
  writeFileSync(paths.asked, jsonLines(Array.from({ length: 8 }, (_, i) => ({ prompt: `What is ${i}?` }))))
  await makeIndex(at('texts.jsonl'), paths.index)
  const tiny = { policy: { threads: 1 }, checkpoint: { every: 0 } }
  const logic = {
    task: { curriculum: { kind: 'short-proofs', maxHops: 1 }, tests: { hops: [1] } },
    evaluation: { problems: 4 },
  }
  const trip = { ...SMALL, maxPositions: 96 }
  await train(
    'logic-cold-start',
    at('logic'),
    { ...tiny, steps: 2, batch: 4, model: { shape: SMALL }, ...logic },
    log,
  )
  await train(
    'checklist-cold-start',
    at('packing'),
    { ...tiny, steps: 4, batch: 8, model: { shape: trip }, evaluation: { problems: 4 } },
    log,
  )
  writeFileSync(at('done'), '')
  return paths
}
