/** @file The shapes that the service speaks. */

import type { RouteConfig } from '../config.ts'
import { gradeRoute } from './grade.ts'
import { nemoGymRoute } from './nemo-gym.ts'
import { openRlhfRoute } from './openrlhf.ts'
import type { RewardRoute } from './route.ts'
import { slimeRoute } from './slime.ts'

/** The route that a configuration describes. */
export const makeRoute = (config: RouteConfig): RewardRoute => {
  switch (config.kind) {
    case 'grade':
      return gradeRoute(config) as RewardRoute
    case 'openrlhf':
      return openRlhfRoute(config) as RewardRoute
    case 'slime':
      return slimeRoute(config) as RewardRoute
    case 'nemo-gym':
      return nemoGymRoute(config) as RewardRoute
  }
}
