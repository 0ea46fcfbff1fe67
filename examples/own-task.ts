// A task, a rubric and a predicate of one's own through the package's exports alone: sort the words of the prompt.
// Run: npx tsc --ignoreConfig --module nodenext --target es2022 --types node own-task.ts && node own-task.js [run folder] [steps]
import { parseModelConfig } from 'gradus/model'
import { LocalPolicy } from 'gradus/policy'
import { broadcastAdvantage, grpoAdvantages, lossOf } from 'gradus/rl'
import { type Rubric, signedScore } from 'gradus/rubric'
import { RunFolder, writeReport } from 'gradus/runs'
import { type Recipe, train } from 'gradus/train'

const [dir = 'runs/own-task', steps = '300'] = process.argv.slice(2)
const WORDS = ['apple', 'bear', 'cat', 'dog', 'egg', 'fox']
const [SORTED, EOS] = [6, 7] // token ids after those of the words
type Problem = readonly string[]
const triples = WORDS.flatMap(a => WORDS.flatMap(b => WORDS.map(c => [a, b, c])))
const problems = triples.filter(words => new Set(words).size === 3)
const [held, seen] = [0, 1].map(part => problems.filter((_, i) => Math.min(1, i % 4) === part))

const criteria = [
  { id: 'words', text: 'Says every word of the prompt.', points: 1 },
  { id: 'order', text: 'Says them at their places in alphabetical order, then stops.', points: 2 },
  { id: 'surplus', text: 'Says something that is not in the prompt.', points: -1 },
]
const rubric: Rubric = { id: 'sorting', criteria }
const share = (flags: boolean[]) => flags.filter(Boolean).length / flags.length

/** The predicates: what a response earns for each criterion, and its score by the rubric. */
const judge = (problem: Problem, tokens: ArrayLike<number>): number => {
  const said = Array.from(tokens, token => WORDS[token] ?? (token === EOS ? 'stop' : '?'))
  const right = [...[...problem].sort(), 'stop']
  const words = share(problem.map(word => said.includes(word)))
  const order = share(right.map((word, i) => said[i] === word))
  const surplus = share(said.map(word => !right.includes(word)))
  const verdicts = Object.entries({ words, order, surplus }).map(([criterionId, credit]) => {
    return { criterionId, credit, met: credit === 1, source: 'rule' as const }
  })
  return signedScore(rubric, verdicts).score ?? 0
}

// A transformer, as a Hugging Face config.json describes it.
const sizes = { vocab_size: 8, hidden_size: 32, intermediate_size: 64, max_position_embeddings: 16 }
const rest = { num_hidden_layers: 1, num_attention_heads: 2, initializer_range: 0.15, eos_token_id: EOS }
const config = parseModelConfig({ model_type: 'llama', ...sizes, ...rest })
const policy = await LocalPolicy.start({ init: { config, seed: 3, embeddingStd: 1 } }, { threads: 1 })
const promptOf = (problem: Problem) => [...problem.map(word => WORDS.indexOf(word)), SORTED]

const recipe: Recipe<Problem, number> = {
  draw: step => Array.from({ length: 16 }, (_, i) => seen[((step * 16 + i) * 37) % seen.length]),
  prompt: promptOf,
  grade: async items => items.map(({ problem, sample }) => judge(problem, sample.tokens)),
  credit: groups => {
    const rewards = groups.map(({ grades }) => grades)
    const { advantages_P_G } = grpoAdvantages(rewards)
    const spread = (p: number) => (tokens: Int32Array, g: number) =>
      broadcastAdvantage(advantages_P_G[p][g], new Float32Array(tokens.length).fill(1))
    const advantages = groups.map(({ samples }, p) => samples.map(({ tokens }) => tokens).map(spread(p)))
    const all = rewards.flat()
    return { advantages, metrics: { reward: all.reduce((sum, reward) => sum + reward) / all.length } }
  },
  record: () => [],
  evaluate: async step => {
    const samples = await policy.sample({ prompts: held.map(promptOf), maxTokens: 5, temperature: 0 })
    const value = share(samples.map(({ prompt, tokens }) => judge(held[prompt], tokens) === 1))
    const scores = { accuracy: { value } }
    return [{ step, set: 'unseen orders', n: held.length, scores, primary: 'accuracy' }]
  },
}

const run = RunFolder.create(dir, { config, recipe: 'own-task', steps: Number(steps) })
const learningRate = { kind: 'linear', peak: 5e-3, warmup: 5, floor: 0.1 } as const
const loss = lossOf('trl:dapo', { entropyCoef: 0.05 })
const update = { loss, optimizer: { beta2: 0.98 }, learningRate, minibatches: 1, epochs: 1, dropZero: true }
const rollout = { samplesPerPrompt: 16, maxTokens: 5, temperature: 1 }
const frame = { evalEvery: 0, checkpointEvery: 0, keepCheckpoints: 1, maxMinutes: null, configHash: 'mine' }
const onStep = ({ step, reward }: { step: number; reward?: unknown }) => console.log(step, reward)
const settings = { steps: Number(steps), seed: 1, rollout, update, ...frame }
await train(policy, recipe, run, settings, 0, { onStep })
await policy.close()
run.close()
console.log(writeReport(dir))
