/** @file Environments of the OpenEnv protocol as tasks. */

export { type OpenEnvTask, openOpenEnv } from './open.ts'
export { type OpenEnvTaskSettings, openEnvTaskSchema, openEnvTaskShape } from './settings.ts'
export { type TurnFormat, turnFormatOf } from './turn-format.ts'
export type { OpenEnvEpisode, OpenEnvProblem, OpenEnvWorld } from './world.ts'
