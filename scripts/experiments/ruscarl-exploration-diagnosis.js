// What stands behind the claims of experiments/ruscarl-exploration.yaml without being one: novelty by the share of the rubric that was
// shown (the paper's table 12), what the most novel responses gained in score (its table 8), diversity beside the start's. Looked at
// afterwards; nothing of it was registered.
//
//   npm run build
//   node scripts/experiments/ruscarl-exploration-diagnosis.js --work experiments-work [--results results/ruscarl-exploration]
//
// Reads the runs that `gradus experiment experiments/ruscarl-exploration.yaml` left. Writes diagnosis.json.
import { mean } from '../../dist/util/statistics.js'
import { finishedRuns, options, probeOf, runsThatWarned, writeDiagnosis } from './runs.js'

const places = options('ruscarl-exploration')
const { sha256, runs } = finishedRuns(places, 'ruscarl-exploration', 'EXP-1')

const average = (list, pick) => mean(list.map(pick))

/** Means over runs of a summary of novelty. */
const summaryOf = list => ({
  median: average(list, ({ median }) => median),
  above2: average(list, ({ above }) => above[2]),
  above10: average(list, ({ above }) => above[10]),
  above100: average(list, ({ above }) => above[100]),
})

const noveltyOf = list => {
  const found = list.map(run => probeOf(run, 'novelty')).filter(probe => probe !== null)
  if (found.length === 0) return null
  const shares = found[0].shares.map(({ share }, i) => ({
    share,
    plain: summaryOf(found.map(({ shares }) => shares[i].plain)),
    shown: summaryOf(found.map(({ shares }) => shares[i].shown)),
  }))
  const all = shares.reduce((sum, { plain }) => sum + plain.above100, 0)
  return {
    runs: found.length,
    responses: found[0].n,
    onPlainPrompts: summaryOf(found),
    byShare: shares.map(each => ({ ...each, partOfAbove100: all === 0 ? null : each.plain.above100 / all })),
    mostNovelScoreDifference: average(found, ({ top }) => average(top, each => each.scoreDifference)),
  }
}

const diversityOf = list => {
  const found = list.map(run => probeOf(run, 'diversity')).filter(probe => probe !== null)
  if (found.length === 0) return null
  const of = which => ({
    lexical: average(found, probe => probe[which].lexical),
    semantic: average(found, probe => probe[which].semantic),
  })
  return { runs: found.length, start: of('initial'), trained: of('trained') }
}

writeDiagnosis(places, {
  registration: sha256,
  note: 'Looked at afterwards; nothing of this was registered.',
  arms: Object.fromEntries(
    [...runs].map(([arm, list]) => [
      arm,
      { novelty: noveltyOf(list), diversity: diversityOf(list), runsThatWarned: runsThatWarned(list) },
    ]),
  ),
})
