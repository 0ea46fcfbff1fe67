// What stands behind the claims of experiments/ruscarl.yaml without being one: how the cold starts do, what each criterion is met
// with at the end of every arm, which criterion separates runs of one method, gradients while the scaffold is shown, warnings of
// the monitors, best of N by trip. Looked at afterwards; nothing of it was registered.
//
//   npm run build
//   node scripts/experiments/ruscarl-diagnosis.js --work experiments-work [--results results/ruscarl]
//
// Reads the runs that `gradus experiment experiments/ruscarl.yaml` left. Writes diagnosis.json.
import { mean, pairedBootstrapInterval, pearson, std } from '../../dist/util/statistics.js'
import {
  coldStarts,
  finishedRuns,
  lastOn,
  means,
  options,
  present,
  probeOf,
  runsThatWarned,
  scoresOf,
  writeDiagnosis,
} from './runs.js'

const places = options('ruscarl')
const { sha256, runs } = finishedRuns(places, 'ruscarl', 'RUS-1')

const SET = 'unseen trips'
/** Sigmoid decay, alpha 125, t0 .2: after this share of the steps nobody is shown anything. */
const SCAFFOLDED = 0.2
/** Arms that are RuscaRL in all but a detail. */
const VARIANTS = [
  ...['ruscarl', 'binary-4', 'decay-power', 'alpha-25', 'alpha-500', 't0-10', 't0-30'],
  ...['ruscarl-ambiguous', 'ruscarl-contradictory', 'ruscarl-removed'],
]

/** Means over the runs of an arm, of the last evaluation's criteria and of the steps with a scaffold. */
const armMetrics = runs => {
  const ends = runs.map(run => lastOn(run, SET))
  const early = runs.map(({ metrics }) => metrics.slice(0, Math.round(SCAFFOLDED * metrics.length)))
  const norms = early.map(list => present(list, 'gradNorm'))
  const full = runs
    .map(({ evals }) => evals.filter(row => row.set === 'full scaffold'))
    .filter(list => list.length > 1)
  return {
    runs: runs.length,
    score: mean(scoresOf(ends, 'rubric')),
    criteria: means(ends.map(({ criteria }) => criteria)),
    ...(full.length > 0 && {
      fullScaffold: {
        before: mean(
          scoresOf(
            full.map(list => list[0]),
            'rubric',
          ),
        ),
        after: mean(
          scoresOf(
            full.map(list => list.at(-1)),
            'rubric',
          ),
        ),
      },
    }),
    whileScaffolded: {
      gradNorm: mean(norms.map(mean)),
      gradNormVariation: mean(norms.map(list => std(list) / mean(list))),
      clipFraction: mean(early.map(list => mean(present(list, 'clipFraction')))),
      logprobGap: mean(early.map(list => mean(present(list, 'logprobGapMean')))),
    },
    runsThatWarned: runsThatWarned(runs),
  }
}

const startMetrics = run => {
  const of = set => {
    const { scores, n, criteria } = lastOn(run, set)
    const needed = (criteria['needed-1'] + criteria['needed-2']) / 2
    return { trips: n, score: scores.rubric.value, wellFormed: scores.wellFormed.value, needed, criteria }
  }
  return { seed: run.config.seed, plain: of(SET), fullScaffold: of('full scaffold') }
}

/** Best of N by trip and run of an arm, [N][trip][run]. */
const bestByTrip = arm => {
  const found = runs.get(arm).map(run => probeOf(run, 'best-of-n')?.byProblem)
  if (found.some(byProblem => byProblem === undefined)) return null
  return found[0][0].best.map((_, n) => found[0].map((_, i) => found.map(trips => trips[i].best[n])))
}

/** RUS-2 with trips in place of runs as what varies; null without the probes' metrics by trip. */
const bestOfN = () => {
  const [scaffolded, plain] = ['ruscarl', 'rubric-rl'].map(bestByTrip)
  if (scaffolded === null || plain === null) return null
  const { curve } = probeOf(runs.get('ruscarl')[0], 'best-of-n')
  return curve.map(({ n }, i) => {
    const { estimate, low, high } = pairedBootstrapInterval(scaffolded[i], plain[i])
    return {
      n,
      trips: scaffolded[i].length,
      ruscarl: mean(scaffolded[i].flat()),
      rubricRl: mean(plain[i].flat()),
      difference: estimate,
      interval: [low, high],
    }
  })
}

const ends = VARIANTS.flatMap(arm => (runs.get(arm) ?? []).map(run => lastOn(run, SET)))
writeDiagnosis(places, {
  registration: sha256,
  note: 'Looked at afterwards; nothing of this was registered.',
  starts: coldStarts(places, runs).map(startMetrics),
  variants: {
    arms: VARIANTS,
    runs: ends.length,
    scoreAndRepeat: pearson(
      scoresOf(ends, 'rubric'),
      ends.map(({ criteria }) => criteria.repeat),
    ),
  },
  bestOfNByTrip: bestOfN(),
  arms: Object.fromEntries([...runs].map(([arm, list]) => [arm, armMetrics(list)])),
})
