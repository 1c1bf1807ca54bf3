/** What the worker loads when it is wanted. Readers of documents and tables of tokenizers are not among them: they weigh more than all the rest, and the service worker keeps them. */
const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import('../core/methods/later.ts'),
  // What an answer of the guide takes.
  () => import('../core/runs/generate.ts'),
  () => import('../core/guide/guide.ts'),
  () => import('../core/guide/docs.ts'),
  () => import('../core/tools/own-tools.ts'),
  () => import('../core/memory/long-term-memories.ts'),
  () => import('../storage/search/find.ts'),
  () => import('../storage/search/search-index.ts'),
  () => import('../core/workbench.ts'),
  () => import('../core/tools/browser-tools.ts'),
  () => import('../core/tools/desktop-tools.ts'),
  () => import('../core/wiki/wiki-tools.ts'),
  () => import('../core/browser-views.ts'),
  () => import('../core/drawings/drawings.ts'),
  () => import('../core/tools/canvas-tools.ts'),
  () => import('../../paint/export.ts'),
  () => import('../core/providers/openai-compatible.ts'),
  () => import('../core/http/http.ts'),
  () => import('../core/http/responses/responses.ts'),
  () => import('../core/http/embeddings.ts'),
  () => import('../core/http/ended.ts'),
  () => import('../core/http/mcp/mcp.ts'),
  () => import('../core/runs/http-agents.ts'),
  () => import('#shared/redact.ts'),
  () => import('#shared/ports/secrets.ts'),
  () => import('file-type'),
  () => import('../core/approvals/desk.ts'),
  () => import('../core/config-file/config-file.ts'),
  () => import('../core/files-mirror/files-mirror.ts'),
  () => import('../core/workspace/merge-copy.ts'),
  () => import('../core/cron/cron.ts'),
  () => import('../core/access/access.ts'),
  () => import('../core/channels/catalog.ts'),
  () => import('../core/channels/running-channels.ts'),
  () => import('../core/channels/x/budget.ts'),
  () => import('../core/memory/agent-memories.ts'),
  () => import('../core/memory/vectors/provider-embedder.ts'),
  () => import('../../library/database-index.ts'),
  () => import('../core/recall/before-reply.ts'),
  () => import('../core/compaction/compactor.ts'),
  () => import('../core/tokens/count-tokens.ts'),
  () => import('../core/dreamer/dreamer.ts'),
  () => import('../core/dreamer/status.ts'),
  () => import('../core/memory/summary/daily-summaries.ts'),
  () => import('../core/wiki/wikis.ts'),
  () => import('../core/wiki/answers.ts'),
  () => import('../core/mcp/servers.ts'),
  () => import('../core/oauth/authorizations.ts'),
  () => import('#shared/http/notice-page.ts'),
  () => import('../core/log/render.ts'),
  () => import('../core/log/tail.ts'),
  () => import('../core/status/machine.ts'),
  () => import('../core/doctor/doctor.ts'),
  () => import('../core/providers/anthropic.ts'),
  () => import('../core/providers/google.ts'),
  () => import('../core/providers/local-provider.ts'),
  () => import('../core/local-models/downloads.ts'),
  () => import('../browser-models/fetching.ts'),
  () => import('../core/providers/model-table.ts'),
  () => import('yaml'),
];

/**
 * Loads them one after another, so that a worker whose server goes away, or whose build is replaced, has them when they are wanted. What cannot be loaded now is
 * tried again then. False: not all of them are here.
 */
export async function loadParts(): Promise<boolean> {
  let complete = true;
  for (const load of PARTS) await load().catch(() => (complete = false));
  return complete;
}
