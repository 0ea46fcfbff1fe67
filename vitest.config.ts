import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Tests beside the code leave nothing behind in their process: a worker loads what they import once, which saves a quarter of all
 * processor time. Not among them: what replaces modules, and what counts a fake clock's ticks.
 */
const SHARED = 'src/**/*.test.ts'
const APART = ['src/runs/row-files.test.ts', 'src/tools/openenv/client.test.ts', 'test/**/*.test.ts']

/** Small files with long tests. */
const LONG = [
  ...['cli/hostile', 'cli/experiment/registrations', 'cli/train/determinism'],
  ...['bench/determinism', 'bench/overlap', 'bench/growth'],
].map(name => `/src/${name}.test.ts`)

/** Where nothing is known of earlier runs the largest files come first: these before them, or they end long after all others. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ project, moduleId }: TestSpecification) =>
      project.name === 'apart' ? 0 : LONG.some(name => moduleId.endsWith(name)) ? 1 : 2
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // On two cores a third one works while others wait; engine tests start solver and runtime threads of their own.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'shared', include: [SHARED], exclude: APART, isolate: false } },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
  },
})
