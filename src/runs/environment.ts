/** @file What a run ran on, for the record: versions and hardware, nothing that names a person or a host. */

import { arch, cpus, platform, release, totalmem } from 'node:os'

/** Runtime, system, processor and memory. `extra` adds what the caller knows (threads, provider, library versions). */
export const describeEnvironment = (
  extra: Record<string, string | number> = {},
): Record<string, string | number> => {
  const processors = cpus()
  return {
    node: process.version,
    system: `${platform()} ${arch()}, ${release()}`,
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    ...extra,
  }
}
