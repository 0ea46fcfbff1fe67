// A task of one's own, sorting three words, under two methods: rewards by its rubric (GRPO), and RuscaRL, which shows parts of the
// rubric as well. Run in this folder: npx tsc --ignoreConfig --module nodenext --target es2022 --types node own-task.ts && node own-task.js [folder] [steps]
import { parseModelConfig } from 'gradus/model'
import { LocalPolicy } from 'gradus/policy'
import { grpo, runGrpo, runRuscarl, ruscarl } from 'gradus/recipes'
import type { Verdict } from 'gradus/rubric'
import type { Task } from 'gradus/tasks'

const [dir = 'runs/own-task', steps = '60'] = process.argv.slice(2)
const criteria = [
  { id: 'words', text: 'Says every word of the prompt.', points: 1 },
  { id: 'order', text: 'Says them at their places in alphabetical order, then stops.', points: 2 },
  { id: 'surplus', text: 'Says something that is not in the prompt.', points: -1 },
]
const NOUNS = ['apple', 'bear', 'cat', 'dog', 'egg', 'fox', 'goat', 'hat']
/** A token each: words, a hint for each criterion, SORTED, and "stop", which ends a response. */
const WORDS = [...NOUNS, ...criteria.map(({ id }) => id), 'SORTED', 'stop']
const read = (tokens: ArrayLike<number>) => Array.from(tokens, token => WORDS[token]).join(' ')
const triples = NOUNS.flatMap(a => NOUNS.flatMap(b => NOUNS.map(c => [a, b, c])))
const problems = triples.filter(words => new Set(words).size === 3)
const share = (flags: boolean[]) => flags.filter(Boolean).length / flags.length
/** A verdict on each criterion. A judge could stand here as well. */
const judge = (problem: string[], said: string[]) => {
  const right = [...[...problem].sort(), 'stop']
  const words = share(problem.map(word => said.includes(word)))
  const order = share(right.map((word, i) => said[i] === word))
  const surplus = share(said.map(word => !right.includes(word)))
  return Object.entries({ words, order, surplus }).map(([criterionId, credit]): Verdict => {
    return { criterionId, credit, met: credit === 1, source: 'rule' }
  })
}
const sorting: Task<string[]> = {
  ...{ label: 'sorting', notes: [], show: read, rubric: () => ({ criteria }) },
  train: problems.filter((_, i) => i % 4 > 0),
  tests: { unseen: problems.filter((_, i) => i % 4 === 0) },
  id: problem => problem.join(' '),
  question: problem => `sort ${problem.join(', ')}`,
  prompt: (problem, hints = []) =>
    [...problem, ...hints.map(({ id }) => id), 'SORTED'].map(word => WORDS.indexOf(word)),
  grade: async items =>
    items.map(({ problem, tokens }) => {
      const said = read(tokens).split(' ')
      return { verdicts: judge(problem, said), wellFormed: said.at(-1) === 'stop' }
    }),
}
// The start is a new transformer, described as in a Hugging Face config.json.
const size = { vocab_size: 13, hidden_size: 32, intermediate_size: 64, max_position_embeddings: 16 }
const rest = { num_hidden_layers: 1, num_attention_heads: 2, initializer_range: 0.15, eos_token_id: 12 }
const config = parseModelConfig({ model_type: 'llama', ...size, ...rest })
const start = await LocalPolicy.start({ init: { config, seed: 3, embeddingStd: 1 } }, { threads: 1 })
await start.save(`${dir}/start`)
await start.close()

const rollout = { prompts: 16, samples: 16, maxTokens: 5 }
const optimizer = { learningRate: { kind: 'constant', peak: 5e-3 } }
const loss = { preset: 'trl:dapo', entropyCoef: 0.1 }
const settings = { steps: Number(steps), model: { folder: `${dir}/start` }, rollout, optimizer, loss }
const options = (name: string) => ({ dir: `${dir}/${name}`, resume: 'or-start' as const })
console.log(await runGrpo(grpo.schema.parse(settings), options('grpo'), { task: sorting }))
console.log(await runRuscarl(ruscarl.schema.parse(settings), options('ruscarl'), { task: sorting }))
