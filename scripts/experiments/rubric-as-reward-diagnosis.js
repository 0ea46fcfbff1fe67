// What stands behind the claims of experiments/rubric-as-reward.yaml without being one: scores, criteria, labels and shallow cues at
// the end of every arm, what proofs are made of at the beginning and at the end of training, warnings of the monitors. Looked at
// afterwards; nothing of it was registered.
//
//   npm run build
//   node scripts/experiments/rubric-as-reward-diagnosis.js --work experiments-work [--results results/rubric-as-reward]
//
// Reads the runs that `gradus experiment experiments/rubric-as-reward.yaml` left. Writes diagnosis.json.
import { mean, std } from '../../dist/util/statistics.js'
import {
  finishedRuns,
  firstOn,
  lastOn,
  means,
  options,
  present,
  runsThatWarned,
  scoresOf,
  startOf,
  writeDiagnosis,
} from './runs.js'

const places = options('rubric-as-reward')
const { sha256, runs } = finishedRuns(places, 'rubric-as-reward', 'RAR-1-steps')

const SET = 'train-distribution'
const SCORES = ['correctAndProved', 'accuracy', 'correctAndValid', 'validProofs']
/** Steps at either end that the metrics of training are means over. */
const WINDOW = 6

const evaluationMetrics = list => ({
  ...Object.fromEntries(SCORES.map(name => [name, mean(scoresOf(list, name))])),
  criteria: means(list.map(({ criteria }) => criteria)),
  byLabel: Object.fromEntries(
    Object.keys(list[0].byLabel).map(label => [
      label,
      mean(list.map(({ byLabel }) => byLabel[label].scores.accuracy)),
    ]),
  ),
  trueBias: mean(list.map(({ balance }) => balance.trueBias)),
})

/** Over some steps of all runs. */
const trainingMetrics = steps => ({
  ...Object.fromEntries(
    ['reward', 'responseTokens', 'reasoningSteps', 'entropy', 'zeroVarianceGroups'].map(key => [
      key,
      mean(present(steps, key)),
    ]),
  ),
  criteria: means(steps.map(({ criteria }) => criteria)),
  exploits: means(steps.map(({ exploits }) => exploits)),
})

const armMetrics = runs => {
  const ends = runs.map(run => lastOn(run, SET))
  return {
    runs: runs.length,
    end: evaluationMetrics(ends),
    deviationOverRuns: Object.fromEntries(SCORES.map(name => [name, std(scoresOf(ends, name))])),
    firstSteps: trainingMetrics(runs.flatMap(({ metrics }) => metrics.slice(0, WINDOW))),
    lastSteps: trainingMetrics(runs.flatMap(({ metrics }) => metrics.slice(-WINDOW))),
    runsThatWarned: runsThatWarned(runs),
  }
}

/** Each cold start, as evaluated by a run of the rubric before its first step. */
const starts = new Map(runs.get('rubric').map(run => [startOf(run), firstOn(run, SET)]))
const [evaluation] = starts.values()
writeDiagnosis(places, {
  registration: sha256,
  note: 'Looked at afterwards; nothing of this was registered.',
  starts: Object.fromEntries(
    [...starts].map(([name, evaluation]) => [name, evaluationMetrics([evaluation])]),
  ),
  shallowCues: evaluation.baselines,
  arms: Object.fromEntries([...runs].map(([arm, list]) => [arm, armMetrics(list)])),
})
