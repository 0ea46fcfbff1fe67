/** @file The sft recipe as the command line knows it. */

import { formatInteger } from '../../util/format.ts'
import { mean } from '../../util/statistics.ts'
import { modelPlace } from '../common/known-models.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { type SftRecipeConfig, sftRecipeSchema } from './config.ts'
import { checkSft, runSftRecipe } from './run.ts'
import type { SftRow } from './rows.ts'

const lengthOf = ({ promptTokens, responseTokens }: SftRow) => promptTokens.length + responseTokens.length

const plan = (config: SftRecipeConfig): RunPlan => {
  const checked = checkSft(config, 'plan')
  const { steps, batch, data, model } = config
  const rows = checked?.rows ?? null
  const dataWords =
    rows === null
      ? `${data} (not there yet, or its model is not)`
      : `${data}: ${formatInteger(rows.train.length)} rows to learn from, ${rows.test.length} held out; ${formatInteger(mean(rows.train.map(lengthOf)))} tokens a row, ${formatInteger(mean(rows.train.map(({ learnt }) => learnt.reduce((sum, own) => sum + own, 0))))} of them learnt`
  return {
    lines: [
      `model        ${modelPlace(model.folder!)}`,
      `data         ${dataWords}`,
      `training     ${steps} steps of ${batch} rows`,
      ...(rows?.notes ?? []).map(note => `             ${note}`),
    ],
    json: {
      ...{ steps, batch },
      rows: rows && { train: rows.train.length, test: rows.test.length, notes: rows.notes },
    },
  }
}

export const sftEntry: RecipeEntry<SftRecipeConfig> = {
  name: 'sft',
  summary: 'supervised learning on conversations of a file: what the assistant says, never what tools say',
  schema: sftRecipeSchema,
  presets: { chat: { summary: 'a chat model on rows of messages', config: {} } },
  plan,
  run: runSftRecipe,
}
