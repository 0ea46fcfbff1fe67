// What each negative control of rlcer pays for being right (docs/recipes/rlcer.md, The control that failed): the mean reward of the
// thinking of right and of wrong answers, by the true verdicts and under every control, on unseen questions of arithmetic. Verdicts by
// execution; nothing is trained.
//
//   npm run build
//   node scripts/experiments/rlcer-controls.js [CHECKPOINT [STEPS [EMPTY_COT]]]
//
// 64 questions x 8 responses a step. Without arguments the shipped start and 44 steps: two minutes of an idle core. Over all answers, as
// a critic meets them, and within a question that has right and wrong ones, as a group's mean does: questions without a valid criterion
// pay EMPTY_COT (0), and at the start they are mostly those that all answers get wrong. Errors are those of the differences over steps.
import { openPolicy } from '../../dist/policy/open.js'
import { withMiniature } from '../../dist/recipes/rlcer/check.js'
import { rlcerSchema } from '../../dist/recipes/rlcer/config.js'
import { rlcerPresets } from '../../dist/recipes/rlcer/entry.js'
import { explore } from '../../dist/recipes/rlcer/exploration.js'
import { judgeQuestions } from '../../dist/recipes/rlcer/judging.js'
import { cotReward, countedCriteria } from '../../dist/recipes/rlcer/rewards.js'
import { scored } from '../../dist/tasks/scored-response.js'
import { StepRollouts } from '../../dist/train/rollout.js'
import { resolveShipped } from '../../dist/util/package.js'
import { mean, std } from '../../dist/util/statistics.js'

const [folder = 'package:models/arithmetic-start', steps = '44', emptyCot = '0'] = process.argv.slice(2)
const pays = { reasonerReward: 'rubric', critic: null, emptyCot: Number(emptyCot) }
const QUESTIONS = 64
const CONTROLS = [null, 'shuffled', 'others', 'random', 'flipped', 'other-question']

const config = rlcerSchema.parse({
  ...rlcerPresets.quick.config,
  policy: { threads: 1 },
  rollout: { prompts: QUESTIONS, samples: 8, maxTokens: 96, temperature: 1 },
  evaluation: { ...rlcerPresets.quick.config.evaluation, problems: QUESTIONS * Number(steps) },
  questionsTogether: QUESTIONS,
})
const task = withMiniature(config, own => ({ ...own, ...scored(own) }))
const [test] = Object.values(task.tests)
const policy = await openPolicy(config.policy, { folder: resolveShipped(folder), seed: 1, valueHead: false })

/** Rewards of right and of wrong answers, and differences within questions, by control and step. */
const paid = new Map(CONTROLS.map(control => [control, []]))
let right = 0
let all = 0
for (let step = 1; step <= Number(steps); step++) {
  const problems = test.slice((step - 1) * QUESTIONS, step * QUESTIONS)
  const io = new StepRollouts(policy, { seed: 'controls', step })
  const judged = judgeQuestions(
    await explore(io, config, { task, verifier: task.thinking.exact }, problems, null),
    config,
    step,
  )
  for (const control of CONTROLS) {
    const own = { right: [], wrong: [], within: [] }
    const paying = countedCriteria(judged, { control, controlAt: 'reward' })
    judged.forEach(({ correct, key }, q) => {
      const here = { right: [], wrong: [] }
      correct.forEach((isRight, m) => {
        const reward = cotReward(pays, paying[q], m, key)
        if (reward !== null) here[isRight ? 'right' : 'wrong'].push(reward)
      })
      own.right.push(...here.right)
      own.wrong.push(...here.wrong)
      if (here.right.length > 0 && here.wrong.length > 0) own.within.push(mean(here.right) - mean(here.wrong))
    })
    paid.get(control).push(own)
  }
  for (const { correct } of judged) {
    right += correct.filter(Boolean).length
    all += correct.length
  }
}
await policy.close()

console.log(
  `${folder}: ${all / 8} questions x 8, emptyCot ${emptyCot}, ${((100 * right) / all).toFixed(1)}% right`,
)
const signed = value => `${value < 0 ? '' : '+'}${value.toFixed(3)}`
const withError = list =>
  `${signed(mean(list))} (error ${(std(list, 1) / Math.sqrt(list.length)).toFixed(3)})`
for (const [control, byStep] of paid) {
  const meanOf = name => mean(byStep.flatMap(own => own[name])).toFixed(3)
  const over = withError(byStep.map(own => mean(own.right) - mean(own.wrong)))
  const within = withError(byStep.map(own => mean(own.within)))
  console.log(
    `  ${(control ?? 'true verdicts').padEnd(14)} right ${meanOf('right')}, wrong ${meanOf('wrong')}: ${over}; within a question ${within}`,
  )
}
