// A tool of one's own: where is Bob today? Only the porter's list knows; the policy learns to ask, and to believe the answer.
// Run in this folder: npx tsc --ignoreConfig --module nodenext --target es2022 --types node own-tool.ts && node own-tool.js [run folder] [steps] [seed]
import { parseModelConfig } from 'gradus/model'
import { LocalPolicy } from 'gradus/policy'
import { advantagesOf, creditRollouts, datumsOf, type Graded, lossOf } from 'gradus/rl'
import { type Rubric, type RubricScore, signedScore, type Verdict } from 'gradus/rubric'
import { RunFolder, writeReport } from 'gradus/runs'
import * as training from 'gradus/train'

const [dir = 'runs/own-tool', steps = '250', seed = '1'] = process.argv.slice(2)
const PEOPLE = ['ann', 'bob', 'cem', 'dia', 'eve']
const ROOMS = ['attic', 'cellar', 'garden', 'hall', 'kitchen']
const WORDS = [...PEOPLE, ...ROOMS, 'where', 'ask'] // a token each
const write = (words: string[]) => words.map(word => WORDS.indexOf(word))
const read = (tokens: ArrayLike<number>) => Array.from(tokens, token => WORDS[token]).join(' ')
/** A problem: whom to find, and on which day. The prompt, "where bob", is silent on the day: who guesses is right in 1 of 5. */
type Problem = { who: string; day: number }
const roomOf = (who: string, day: number) => ROOMS[(day + PEOPLE.indexOf(who) * Math.floor(day / 5)) % 5]
const problems = Array.from({ length: 125 }, (_, i) => ({ who: PEOPLE[i % 5], day: Math.floor(i / 5) }))
const seen = problems.filter(({ day }) => day % 4 > 0)
const held = problems.filter(({ day }) => day % 4 === 0)
/** The tool: a list of the day. "ask bob" is answered with Bob's room; whatever else the policy says is its last word. */
const porter: training.Environment<Problem> = {
  start: ({ day }) => {
    const list = new Map(PEOPLE.map(who => [`ask ${who}`, write([roomOf(who, day)])]))
    return { reply: async turn => list.get(read(turn)) ?? null }
  },
}
// The rubric, and the grader that goes by it.
const asked = { id: 'asked', text: 'Asks the porter for the right person.', points: 1 }
const right = { id: 'right', text: 'Ends with the room where that person is.', points: 2 }
const rubric: Rubric = { id: 'finding', criteria: [asked, right] }
const verdict = (criterionId: string, met: boolean): Verdict => ({ criterionId, met, source: 'rule' })
const judge = ({ problem: { who, day }, rollout }: training.AnsweredItem<Problem>) => {
  const response = read(rollout.tokens)
  const hasAsked = verdict('asked', response.startsWith(`ask ${who}`))
  return signedScore(rubric, [hasAsked, verdict('right', response.endsWith(roomOf(who, day)))])
}
/** Episodes of up to two turns. A turn ends with a person or a room; all episodes that wait for the policy go on together. */
const find = (io: training.StepIo, problems: Problem[], samples: number, temperature: number) =>
  io.rollOut({
    ...{ problems, samples },
    prompt: ({ who }) => write(['where', who]),
    sampling: { maxTokens: 2, temperature, stopTokens: write([...PEOPLE, ...ROOMS]) },
    environment: { world: porter, limits: { turns: 2, tokens: 6 } },
    grade: async items => items.map(judge),
    reward: ({ score, parts }) => ({ reward: score, parts }),
  })
// The policy: a new transformer, described as in a Hugging Face config.json.
const shape = { hidden_size: 32, intermediate_size: 64, num_hidden_layers: 1, num_attention_heads: 2 }
const config = parseModelConfig({ model_type: 'llama', vocab_size: 12, initializer_range: 0.15, ...shape })
const policy = await LocalPolicy.start({ init: { config, seed, embeddingStd: 1 } }, { threads: 1 })

export const recipe: training.Recipe<Graded<Problem, RubricScore>[][]> = {
  rollOut: (_, io) => find(io, seen, 2, 1),
  async learn(step, groups) {
    // The step is one group: also where both samples of a problem are wrong there is something to learn.
    const all = [groups.flat()]
    const credited = creditRollouts(all, advantagesOf(all).advantages_P_G)
    const loss = lossOf('trl:dapo', { entropyCoef: 0.2 })
    return {
      phases: [{ name: 'finding', datums: datumsOf(credited), loss, temperature: 1 }],
      metrics: { ...training.rewardMetrics(groups), criteria: training.partMeans(groups) },
      rollouts: training.learntFrom(credited, item => training.rolloutRow(step, item, read)),
    }
  },
  async evaluate(step) {
    const io = new training.StepRollouts(policy, { seed: 'test', step })
    const { asked, right } = training.partMeans(await find(io, held, 1, 0))
    console.log('new days:', { step, asked, right })
    return [{ step, set: 'new days', n: held.length, scores: { right: { value: right } }, primary: 'right' }]
  },
}

const run = RunFolder.create(dir, { config, recipe: 'own-tool', steps: Number(steps) })
const learningRate = { kind: 'linear', peak: 5e-3, warmup: 5, floor: 0.1 } as const
await training.train(policy, recipe, run, { steps: Number(steps), seed, learningRate })
await policy.close()
run.close()
console.log(writeReport(dir))
