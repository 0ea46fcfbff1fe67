/** @file `gradus bench judge`: what Gradus itself costs between a trainer, a judge and a reward. */

import { availableParallelism } from 'node:os'
import { percent } from '../util/format.ts'
import { figureTable, type OnProgress } from './figure-table.ts'
import { type JudgeSpeed, measureJudging } from './judge-speed.ts'
import { measureRewards, type RewardSpeed } from './reward-speed.ts'

export interface JudgeBenchmark extends JudgeSpeed, RewardSpeed {
  cores: number
}

export interface JudgeBenchmarkOptions {
  /** Time for each figure, without warming up. */
  durationMs?: number
  /** Requests to the reward server; as many as fit into the time unless given. */
  serverRequests?: number
  onProgress?: OnProgress
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits))

/** Measures everything against processes of its own. @throws GradusError when a verdict or a reward is wrong */
export const benchJudge = async (options: JudgeBenchmarkOptions = {}): Promise<JudgeBenchmark> => {
  const { durationMs = 8_000, serverRequests, onProgress = () => {} } = options
  const judging = await measureJudging(durationMs, onProgress)
  onProgress('reward server')
  const rewards = await measureRewards({ durationMs, requests: serverRequests })
  const growth = rewards.serverMemoryGrowthMb
  return {
    verdictsPerSecond: Math.round(judging.verdictsPerSecond),
    cachedVerdictsPerSecond: Math.round(judging.cachedVerdictsPerSecond),
    judgeBusyFraction: round(judging.judgeBusyFraction, 4),
    overheadP50Ms: round(judging.overheadP50Ms, 2),
    overheadP99Ms: round(judging.overheadP99Ms, 2),
    serverRequestsPerSecond: Math.round(rewards.serverRequestsPerSecond),
    serverRequests: rewards.serverRequests,
    serverMemoryGrowthMb: growth === null ? null : round(growth, 1),
    cores: availableParallelism(),
  }
}

/** The figures beside what they should reach on two cores. */
export const formatJudgeBenchmark = (result: JudgeBenchmark): string => {
  const growth = result.serverMemoryGrowthMb
  return figureTable([
    [`${result.cores} cores`, '', 'goal on two'],
    ['verdicts a second, judge answers at once', `${result.verdictsPerSecond}`, 'at least 1500'],
    ['verdicts a second, warm cache', `${result.cachedVerdictsPerSecond}`, 'at least 20000'],
    ['judge of 200 ms, 512 in flight: busy', `${percent(result.judgeBusyFraction)}`, 'at least 95%'],
    ['added latency at half speed, median', `${result.overheadP50Ms} ms`, ''],
    ['added latency at half speed, 99th percentile', `${result.overheadP99Ms} ms`, 'at most 25 ms'],
    ['reward server, requests a second', `${result.serverRequestsPerSecond}`, 'at least 1000'],
    [
      `reward server, memory over ${result.serverRequests} requests`,
      growth === null ? 'unknown' : `${growth >= 0 ? '+' : ''}${growth} MB`,
      'flat',
    ],
  ])
}
