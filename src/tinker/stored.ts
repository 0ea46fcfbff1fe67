/** @file What a server keeps for good: checkpoints by their paths, `tinker://RUN/weights/NAME`. */

import type { Connection } from './connection.ts'

const PATH = /^tinker:\/\/([^/]+)\/(?:(weights|sampler_weights)\/)?([^/]+)$/

/**
 * Has a checkpoint removed; true where the server did so, false where it has none or cannot.
 * @param kind where the path does not say: some servers leave it out
 * @throws TinkerError where it cannot be asked
 */
export const deleteStored = async (
  connection: Connection,
  path: string,
  kind: 'weights' | 'sampler_weights',
): Promise<boolean> => {
  const [, run, said = kind, name] = PATH.exec(path) ?? []
  if (run === undefined) return false
  const place = `training_runs/${encodeURIComponent(run)}/checkpoints/${said}/${encodeURIComponent(name)}`
  const options = { method: 'DELETE', expected: [400, 404, 405, 501] } as const
  return (await connection.call(place, undefined, options)).status < 300
}
