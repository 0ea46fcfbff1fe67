/** @file Paths that list and change what is kept: training runs, checkpoints, sessions, samplers. */

import type { Context, Hono } from 'hono'
import type { Env, TinkerBodies } from './body.ts'
import { type CheckpointKind, type ModelRecord, type StoredCheckpoint, tinkerPath } from './checkpoints.ts'
import { addDownloadRoutes } from './downloads.ts'
import { type TinkerService, trainedParts } from './service.ts'

const RUN = '/training_runs/:id'
const CHECKPOINT = `${RUN}/checkpoints/:kind{weights|sampler_weights}/:name`

const checkpointJson = (stored: StoredCheckpoint) => ({
  checkpoint_id: `${stored.kind}/${stored.name}`,
  checkpoint_type: stored.kind === 'weights' ? 'training' : 'sampler',
  time: stored.createdAt,
  tinker_path: tinkerPath(stored),
  size_bytes: stored.bytes,
  public: stored.isPublic,
  expires_at: stored.expiresAt,
})

/** A page of a list, as `limit` and `offset` in the query say. */
const page = <T>(context: Context<Env>, all: readonly T[]) => {
  const number = (name: string, usual: number) => {
    const value = Number(context.req.query(name) ?? usual)
    return Number.isInteger(value) && value >= 0 ? value : usual
  }
  const [offset, limit] = [number('offset', 0), number('limit', 20)]
  return { items: all.slice(offset, offset + limit), cursor: { offset, limit, total_count: all.length } }
}

export const addRestRoutes = (api: Hono<Env>, service: TinkerService, bodies: TinkerBodies): void => {
  addRunRoutes(api, service, bodies)
  addCheckpointRoutes(api, service, bodies)
  addDownloadRoutes(api, CHECKPOINT, service.checkpoints)
  api.get('/sessions', context => {
    const { items, cursor } = page(
      context,
      service.sessions.list().map(({ id }) => id),
    )
    return context.json({ sessions: items, cursor })
  })
  api.get('/sessions/:id', context => {
    const { id } = service.sessions.of(context.req.param('id'))
    return context.json({
      training_run_ids: service.training.ofSession(id).map(model => model.id),
      sampler_ids: service.sampling.ofSession(id).map(sampler => sampler.id),
    })
  })
  api.post('/sessions/:id/finish', async context => {
    await service.endSession(context.req.param('id'))
    return context.json({ type: 'finish_session' })
  })
  api.get('/samplers/:id', context => {
    const { id, shape, path } = service.sampling.of(context.req.param('id'))
    return context.json({ sampler_id: id, base_model: shape.base.name, model_path: path })
  })
}

const runJson = (service: TinkerService, { id, baseModel, lora, metadata, createdAt }: ModelRecord) => {
  const checkpoints = service.checkpoints.list(id)
  const newest = (kind: CheckpointKind) => {
    const stored = checkpoints.find(one => one.kind === kind)
    return stored ? checkpointJson(stored) : null
  }
  const used = service.training.find(id)?.usedAt.toISOString() ?? checkpoints[0]?.createdAt ?? createdAt
  return {
    training_run_id: id,
    base_model: baseModel,
    model_owner: 'local',
    is_lora: lora !== null,
    lora_rank: lora?.rank ?? null,
    corrupted: false,
    last_request_time: used,
    last_checkpoint: newest('weights'),
    last_sampler_checkpoint: newest('sampler_weights'),
    user_metadata: Object.fromEntries(
      Object.entries(metadata).map(([key, value]) => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ),
  }
}

const addRunRoutes = (api: Hono<Env>, service: TinkerService, bodies: TinkerBodies): void => {
  api.get('/training_runs', context => {
    const { items, cursor } = page(context, service.checkpoints.models())
    return context.json({ training_runs: items.map(model => runJson(service, model)), cursor })
  })
  api.get(RUN, context => context.json(runJson(service, service.checkpoints.model(context.req.param('id')))))
  api.get(`${RUN}/checkpoints`, context => {
    const { id } = service.checkpoints.model(context.req.param('id'))
    return context.json({ checkpoints: service.checkpoints.list(id).map(checkpointJson), cursor: null })
  })
  api.get('/checkpoints', context => {
    const { items, cursor } = page(context, service.checkpoints.list())
    return context.json({ checkpoints: items.map(checkpointJson), cursor })
  })
  api.post('/weights_info', async context => {
    const { request } = await bodies.of(context, 'weightsInfo')
    const { model } = service.checkpoints.find(request.tinker_path)
    return context.json({
      base_model: model.baseModel,
      is_lora: model.lora !== null,
      lora_rank: model.lora?.rank ?? null,
      ...trainedParts(model.lora),
    })
  })
}

const pathOf = (context: Context<Env>): string => {
  const { id, kind, name } = context.req.param() as Record<string, string>
  return `tinker://${id}/${kind}/${name}`
}

const addCheckpointRoutes = (api: Hono<Env>, service: TinkerService, bodies: TinkerBodies): void => {
  const { checkpoints } = service
  api.delete(CHECKPOINT, context => {
    checkpoints.delete(pathOf(context))
    return context.body(null, 204)
  })
  api.post(`${CHECKPOINT}/publish`, context => {
    checkpoints.setPublic(pathOf(context), true)
    return context.body(null, 204)
  })
  api.delete(`${CHECKPOINT}/publish`, context => {
    checkpoints.setPublic(pathOf(context), false)
    return context.body(null, 204)
  })
  api.put(`${CHECKPOINT}/ttl`, async context => {
    const { request } = await bodies.of(context, 'ttl')
    checkpoints.setTtl(pathOf(context), request.ttl_seconds ?? null)
    return context.body(null, 204)
  })
}
