// A method of one's own on two tasks: of each group the best response alone is learnt, as if a teacher had written it (RAFT,
// arXiv 2304.06767). Run in this folder: npx tsc --ignoreConfig --module nodenext --target es2022 --types node own-method.ts && node own-method.js [folder] [steps]
import type { Policy } from 'gradus/policy'
import { evaluation, gradedBy, grpo, problemsIn, problemsOf, runMethod } from 'gradus/recipes'
import { creditRollouts, datumsOf, type Graded, lossOf } from 'gradus/rl'
import { arithmetic, checklist, type ScoredResponse, scored, type Task } from 'gradus/tasks'
import { learntFrom, type Recipe, rewardMetrics, rolloutRow } from 'gradus/train'

const [dir = 'runs/own-method', steps = '20'] = process.argv.slice(2)
const rollout = { prompts: 16, samples: 8, maxTokens: 64 }
const optimizer = { learningRate: { kind: 'constant', peak: 1e-3 } }
/** What every method has in its settings: here as GRPO has it. */
const settings = { steps: Number(steps), rollout, optimizer, evaluation: { problems: 100 } }
const config = { ...grpo.schema.parse(settings), recipe: 'raft' }
/** 1 for the first of a group's best responses, 0 for the others, and for those of which nothing is known. */
const best = (group: Graded<unknown, unknown>[]) => {
  const rewards = group.map(({ reward }) => reward ?? Number.NEGATIVE_INFINITY)
  const top = rewards.indexOf(Math.max(...rewards))
  return rewards.map((reward, g) => Number(g === top && Number.isFinite(reward)))
}

const raft = <Problem>(policy: Policy, own: Task<Problem>): Recipe<Graded<Problem, ScoredResponse>[][]> => {
  const task = scored(own)
  const problem = problemsOf(task, config.seed)
  return {
    rollOut: (step, io) =>
      io.rollOut({
        problems: problemsIn(step, problem, config),
        prompt: each => task.prompt(each),
        samples: rollout.samples,
        sampling: { maxTokens: rollout.maxTokens, temperature: 1, stopTokens: task.stopTokens },
        ...gradedBy(task),
      }),
    async learn(step, groups) {
      const credited = creditRollouts(groups, groups.map(best))
      // With advantage 1 and no ratio the policy term is the cross-entropy of what was chosen.
      const loss = lossOf('trl:grpo', { policy: { kind: 'reinforce' }, kl: { kind: 'none', coef: 0 } })
      return {
        phases: [{ name: 'best', datums: datumsOf(credited, { dropZero: true }), loss, temperature: 1 }],
        metrics: rewardMetrics(groups),
        rollouts: learntFrom(credited, item => rolloutRow(step, item, tokens => task.show(tokens))),
      }
    },
    evaluate: evaluation(config, policy, { truth: task }),
  }
}

const train = <Problem>(name: string, start: string, task: Task<Problem>) => {
  const learn: Parameters<typeof runMethod>[2]['learn'] = async run => {
    const policy = await run.openPolicy()
    return run.train(policy, () => raft(policy, task))
  }
  const info = { model: start, primarySet: Object.keys(task.tests)[0] }
  return runMethod(config, { dir: `${dir}/${name}`, resume: 'or-start' }, { start, info, learn })
}
const drawn = (seed: string) => Array.from({ length: 200 }, (_, i) => arithmetic.arithmeticProblem(seed, i))
const sums = arithmetic.arithmeticTask({ train: drawn('mine'), tests: { unseen: drawn('test') } })
const lists = checklist.packingTask(new checklist.PackingWorld())
console.log(await train('packing', 'package:models/packing-start', lists))
console.log(await train('arithmetic', 'package:models/arithmetic-start', sums))
