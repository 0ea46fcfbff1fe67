// What became of the criteria that the judge of the records miniature proposed (docs/recipes/rubricem.md, The judge's rubrics): by
// stage and worth, how many were born, and which share of them was dropped or set aside until their question was done.
//
//   npm run build
//   node scripts/experiments/rubricem-rubrics.js RUN...
//   node scripts/experiments/rubricem-rubrics.js experiments-work/rubricem/*/full/*/run
//
// Reads rubrics.jsonl of run folders, which results do not keep.
import { readRubricRows } from '../../dist/runs/readers.js'
import { READER_CRITERIA, STAGE_CRITERIA } from '../../dist/tasks/records/stage-criteria.js'

const runs = process.argv.slice(2)
if (runs.length === 0) {
  console.error('usage: node scripts/experiments/rubricem-rubrics.js RUN...')
  process.exit(2)
}
const worthOf = new Map(
  [...STAGE_CRITERIA, ...READER_CRITERIA].map(({ stage, title, worth }) => [`${stage}/${title}`, worth]),
)
const WORTHS = ['sound', 'useless', 'hackable']
const STAGES = ['plan', 'research', 'review', 'answer']
const counts = STAGES.map(() => new Map(WORTHS.map(worth => [worth, { born: 0, dropped: 0 }])))

for (const run of runs)
  for (const { rubrics } of readRubricRows(run))
    for (const { stage, title, since, born, fate } of rubrics) {
      // Given with the task, not proposed.
      if (since === null) continue
      const count = counts[stage - 1].get(worthOf.get(`${stage}/${title}`))
      if (born) count.born++
      if (fate !== 'kept') count.dropped++
    }

console.log(`| stage | ${WORTHS.map(worth => `${worth}: born, dropped`).join(' | ')} |`)
console.log(`|---|${'---|'.repeat(WORTHS.length)}`)
for (const [i, stage] of STAGES.entries()) {
  const cells = WORTHS.map(worth => {
    const { born, dropped } = counts[i].get(worth)
    return born === 0 ? '0' : `${born.toLocaleString('en')}, ${Math.round((100 * dropped) / born)}%`
  })
  console.log(`| ${stage} | ${cells.join(' | ')} |`)
}
