/** @file What a run ran on, for the record: versions and hardware, nothing that names a person or a host. */

import { arch, cpus, platform, release, totalmem } from 'node:os'

/** Runtime, system, processor and memory. */
export const describeEnvironment = (): Record<string, string | number> => {
  const processors = cpus()
  return {
    node: process.version,
    system: `${platform()} ${arch()}, ${release()}`,
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
  }
}
