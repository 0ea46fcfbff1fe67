/** @file Settings of trackers: where a run's metrics go besides its folder. */

import { z } from 'zod'

export const trackerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('tensorboard').describe('Event files for TensorBoard.'),
    folder: z
      .string()
      .nullable()
      .default(null)
      .describe(
        'Folder for TensorBoard, in which the run gets a folder of its own name; null: `tensorboard` in the run folder.',
      ),
  }),
  z.strictObject({
    kind: z.literal('mlflow').describe('A run on an MLflow server.'),
    uri: z
      .string()
      .nullable()
      .default(null)
      .describe('Address of the server; null: the environment variable MLFLOW_TRACKING_URI.'),
    experiment: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        'Name of the experiment, created if it is missing; null: MLFLOW_EXPERIMENT_NAME, else `gradus`.',
      ),
  }),
  z.strictObject({
    kind: z.literal('trackio').describe('A run on a trackio server.'),
    uri: z
      .string()
      .nullable()
      .default(null)
      .describe('Address of the server; null: the environment variable TRACKIO_SERVER_URL.'),
    project: z.string().min(1).default('gradus').describe('Name of the project.'),
  }),
])
export type TrackerSettings = z.output<typeof trackerSchema>

/** Settings of one kind of tracker. */
export type SettingsOf<Kind extends TrackerSettings['kind']> = Omit<
  Extract<TrackerSettings, { kind: Kind }>,
  'kind'
>

/** Optional, so that a configuration without trackers is what it was before there were any. */
export const trackersSchema = z
  .array(trackerSchema)
  .optional()
  .describe(
    'Trackers that metrics are sent to during training, besides the run folder. A tracker that fails does not stop the run. Steps of a cold start are not sent.',
  )
