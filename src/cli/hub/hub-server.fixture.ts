/** @file The Hugging Face Hub as far as an upload needs it: repositories, the question which files are large, Git LFS, commits. */

import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeCommit {
  title: string
  files: Record<string, string>
}

export class FakeHub {
  readonly token = 'hf_secret'
  readonly repositories = new Map<string, { private: boolean; commits: FakeCommit[] }>()
  readonly large = new Map<string, Buffer>()
  readonly paths: string[] = []
  /** What a path that begins so is answered with. */
  failing: { path: string; status: number; body?: object } | null = null
  /** A path that begins so is never answered. */
  silent: string | null = null
  url = ''
  #server: Server | null = null

  async start(): Promise<this> {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const path = decodeURIComponent(request.url!.split('?')[0])
      this.paths.push(`${request.method} ${path}`)
      if (this.silent !== null && path.startsWith(this.silent)) return
      const isUpload = path.startsWith('/upload/')
      const { status, body } =
        this.failing !== null && path.startsWith(this.failing.path)
          ? {
              status: this.failing.status,
              body: this.failing.body ?? { error: `no: ${request.headers.authorization}` },
            }
          : !isUpload && request.headers.authorization !== `Bearer ${this.token}`
            ? { status: 401, body: { error: 'who is asking?' } }
            : this.#handle(path, Buffer.concat(chunks))
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    })
    await new Promise<void>(resolve => this.#server!.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise(resolve => this.#server?.close(resolve))
  }

  #handle(path: string, bytes: Buffer): { status: number; body: unknown } {
    if (path === '/api/repos/create') {
      const { name, organization, visibility } = JSON.parse(bytes.toString())
      const repository = `${organization}/${name}`
      if (this.repositories.has(repository)) return { status: 409, body: { error: 'it exists' } }
      this.repositories.set(repository, { private: visibility === 'private', commits: [] })
      return { status: 200, body: { url: `${this.url}/${repository}`, id: 'x' } }
    }
    if (path.startsWith('/upload/')) {
      this.large.set(path.slice('/upload/'.length), bytes)
      return { status: 200, body: {} }
    }
    if (path.endsWith('.git/info/lfs/objects/batch')) {
      const objects = JSON.parse(bytes.toString()).objects.map(
        ({ oid, size }: { oid: string; size: number }) => ({
          oid,
          size,
          ...(!this.large.has(oid) && { actions: { upload: { href: `${this.url}/upload/${oid}` } } }),
        }),
      )
      return { status: 200, body: { transfer: 'basic', objects } }
    }
    const [, name, verb] = /^\/api\/models\/([^/]+\/[^/]+)\/(preupload|commit)\//.exec(path) ?? []
    if (verb === 'preupload') {
      const { files } = JSON.parse(bytes.toString()) as { files: { path: string }[] }
      const modes = files.map(file => ({
        path: file.path,
        uploadMode: file.path.endsWith('.safetensors') ? 'lfs' : 'regular',
      }))
      return { status: 200, body: { files: modes } }
    }
    if (verb === 'commit') return this.#commit(name, bytes.toString())
    return { status: 404, body: { error: `no ${path}` } }
  }

  #commit(name: string, text: string): { status: number; body: unknown } {
    const lines = text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    const commit: FakeCommit = { title: '', files: {} }
    for (const { key, value } of lines) {
      if (key === 'header') commit.title = value.summary
      if (key === 'file') commit.files[value.path] = Buffer.from(value.content, value.encoding).toString()
      if (key === 'lfsFile') {
        const bytes = this.large.get(value.oid)!
        commit.files[value.path] = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
      }
    }
    const { commits } = this.repositories.get(name)!
    commits.push(commit)
    const commitOid = String(commits.length).padStart(40, '0')
    return {
      status: 200,
      body: { commitOid, commitUrl: `${this.url}/${name}/commit/${commitOid}`, hookOutput: '' },
    }
  }
}
