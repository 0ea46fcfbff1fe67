// A recipe of one's own: a task (sort three words), a rubric, a reward and credit, through the package's exports alone.
// Run in this folder: npx tsc --ignoreConfig --module nodenext --target es2022 --types node own-recipe.ts && node own-recipe.js [run folder] [steps]
import { parseModelConfig } from 'gradus/model'
import { LocalPolicy } from 'gradus/policy'
import { advantagesOf, creditRollouts, datumsOf, type Graded, lossOf } from 'gradus/rl'
import { type Rubric, type RubricScore, signedScore, type Verdict } from 'gradus/rubric'
import { RunFolder, writeReport } from 'gradus/runs'
import { learntFrom, partMeans, type Recipe, rewardFigures, rolloutRow, train } from 'gradus/train'

const [dir = 'runs/own-recipe', steps = '200'] = process.argv.slice(2)
// The task: a problem is three words, its prompt those words and SORTED; "stop" ends a response.
const NOUNS = ['apple', 'bear', 'cat', 'dog', 'egg', 'fox', 'goat', 'hat']
const WORDS = [...NOUNS, 'SORTED', 'stop'] // a token each
const read = (tokens: ArrayLike<number>) => Array.from(tokens, token => WORDS[token]).join(' ')
const promptOf = (problem: string[]) => [...problem, 'SORTED'].map(word => WORDS.indexOf(word))
const triples = NOUNS.flatMap(a => NOUNS.flatMap(b => NOUNS.map(c => [a, b, c])))
const problems = triples.filter(words => new Set(words).size === 3)
const seen = problems.filter((_, i) => i % 4 > 0)
const held = problems.filter((_, i) => i % 4 === 0)

const criteria = [
  { id: 'words', text: 'Says every word of the prompt.', points: 1 },
  { id: 'order', text: 'Says them at their places in alphabetical order, then stops.', points: 2 },
  { id: 'surplus', text: 'Says something that is not in the prompt.', points: -1 },
]
const rubric: Rubric = { id: 'sorting', criteria }
const share = (flags: boolean[]) => flags.filter(Boolean).length / flags.length
/** The grader: a verdict on each criterion, and the score by the rubric. A judge could stand here as well. */
const judge = (problem: string[], tokens: ArrayLike<number>) => {
  const said = read(tokens).split(' ')
  const right = [...[...problem].sort(), 'stop']
  const words = share(problem.map(word => said.includes(word)))
  const order = share(right.map((word, i) => said[i] === word))
  const surplus = share(said.map(word => !right.includes(word)))
  const verdicts = Object.entries({ words, order, surplus }).map(([criterionId, credit]): Verdict => {
    return { criterionId, credit, met: credit === 1, source: 'rule' }
  })
  return signedScore(rubric, verdicts)
}

// The policy: a new transformer, described as in a Hugging Face config.json.
const sizes = { vocab_size: 10, hidden_size: 32, intermediate_size: 64, max_position_embeddings: 16 }
const rest = { num_hidden_layers: 1, num_attention_heads: 2, initializer_range: 0.15, eos_token_id: 9 }
const config = parseModelConfig({ model_type: 'llama', ...sizes, ...rest })
const policy = await LocalPolicy.start({ init: { config, seed: 3, embeddingStd: 1 } }, { threads: 1 })

const recipe: Recipe<Graded<string[], RubricScore>[][]> = {
  rollOut: (step, io) =>
    io.rollOut({
      problems: Array.from({ length: 16 }, (_, i) => seen[((step * 16 + i) * 37) % seen.length]),
      prompt: promptOf,
      samples: 16,
      sampling: { maxTokens: 5, temperature: 1 },
      grade: async items => items.map(({ problem, rollout }) => judge(problem, rollout.tokens)),
      reward: ({ score, parts }) => ({ reward: score, parts }),
    }),
  async learn(step, groups) {
    // GRPO: what a response earned beyond the others to its problem is credited to each of its tokens.
    const credited = creditRollouts(groups, advantagesOf(groups).advantages_P_G)
    const loss = lossOf('trl:dapo', { entropyCoef: 0.1 })
    return {
      phases: [{ name: 'sorting', datums: datumsOf(credited), loss, temperature: 1 }],
      metrics: { ...rewardFigures(groups), criteria: partMeans(groups) },
      rollouts: learntFrom(credited, item => rolloutRow(step, item, read)),
    }
  },
  async evaluate(step) {
    const samples = await policy.sample({ prompts: held.map(promptOf), maxTokens: 5, temperature: 0 })
    const value = share(samples.map(({ prompt, tokens }) => judge(held[prompt], tokens).score === 1))
    console.log('unseen:', { step, accuracy: value })
    return [{ step, set: 'unseen', n: held.length, scores: { accuracy: { value } }, primary: 'accuracy' }]
  },
}

const run = RunFolder.create(dir, { config, recipe: 'own-recipe', steps: Number(steps) })
const learningRate = { kind: 'linear', peak: 5e-3, warmup: 5, floor: 0.1 } as const
await train(policy, recipe, run, { steps: Number(steps), seed: 1, learningRate })
await policy.close()
run.close()
console.log(writeReport(dir))
