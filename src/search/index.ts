/** @file Search: a local index over JSON Lines, Markdown and plain text; BM25, snippets, one file. */

export { BM25_DEFAULTS } from './bm25.ts'
export { type BuildRuntime, type BuiltIndex, buildIndex, buildSchema } from './build.ts'
export { type OnSkipped, ROW_KEYS, type RowKeys, readDocuments, type SourceDocument } from './documents.ts'
export { type MarkdownSection, PASSAGE_CHARS, passagesOf, sectionsOf } from './passages.ts'
export { type Hit, MAX_TOP, SEARCH_DEFAULTS, SearchIndex, type SearchOptions } from './search-index.ts'
export { SNIPPET_CHARS, snippetOf } from './snippet.ts'
export { termsOf } from './terms.ts'
