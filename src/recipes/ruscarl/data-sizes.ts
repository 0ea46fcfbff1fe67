/** @file Sizes of the data that a plan of ruscarl reckons with. */

import { modelPath } from '../../model/model-place.ts'
import { hintsOf } from '../../tasks/checklist/format.ts'
import { PackingWorld, splitTrips, tripPrompt } from '../../tasks/checklist/index.ts'
import { conversationSizes, type DataSizes } from '../../tasks/conversation/sizes.ts'
import { mean } from '../../util/statistics.ts'
import { shapeFolder } from '../common/remote.ts'
import type { RuscarlConfig, RuscarlOn } from './config.ts'
import { scaffolding } from './scaffold.ts'

const packingSizes = ({ world: seed, heldOutTopics }: RuscarlOn<'packing'>['task']): DataSizes => {
  const world = new PackingWorld(seed)
  const { train, test } = splitTrips(undefined, heldOutTopics)
  const rubrics = test.map(trip => world.rubric(trip))
  const full = test.map((trip, i) => tripPrompt(trip, hintsOf(rubrics[i].criteria)).length)
  const plain = tripPrompt(test[0]).length
  return {
    train: train.length,
    test: test.length,
    criteria: mean(rubrics.map(({ criteria }) => criteria.length)),
    judged: 0,
    promptTokens: plain,
    scaffoldedTokens: mean(full),
    longestPrompt: plain,
    conversationCharacters: 0,
    likelihood: false,
    assumed: false,
    tokensEstimated: false,
  }
}

/** Sizes of the configured task's data. @throws DataError for a file that is there and cannot be used */
export const dataSizes = (config: RuscarlConfig): DataSizes => {
  const { task, scaffold } = config
  if (task.kind === 'packing') return packingSizes(task)
  const place = shapeFolder(config)
  const folder = place === null ? null : modelPath(place)
  return conversationSizes({ task, folder, scaffold: scaffolding(scaffold) })
}
