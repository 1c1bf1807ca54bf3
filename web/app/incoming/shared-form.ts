import { withReadableName } from './with-readable-name.ts';

/** Target of the manifest's `share_target`, and the page that takes the content from there. */
export const SHARE_PATH = '/share';

const CACHE_NAME = 'perch-shared';
const MAX_AGE_MS = 24 * 60 * 60_000;
const TIME_HEADER = 'x-perch-at';
const toCacheUrl = (id: string): string => `${SHARE_PATH}/${encodeURIComponent(id)}`;

/** Content shared by another program. */
export interface SharedContent {
  /** Title, text and address, one per line; empty if there are none. */
  readonly text: string;
  readonly files: readonly File[];
}

/**
 * Stores a posted form until a page takes it, and returns its temporary id. Rejects if the request is not a form or the quota is exceeded.
 */
export async function storeShared(request: Request): Promise<string> {
  const form = new Response(await request.formData());
  const cache = await caches.open(CACHE_NAME);
  for (const old of await cache.keys()) {
    const at = Number((await cache.match(old))?.headers.get(TIME_HEADER));
    if (Date.now() - at > MAX_AGE_MS) await cache.delete(old);
  }
  const id = crypto.randomUUID();
  const headers = { 'content-type': form.headers.get('content-type') ?? '', [TIME_HEADER]: String(Date.now()) };
  await cache.put(toCacheUrl(id), new Response(form.body, { headers }));
  return id;
}

/** Reads shared content by id; null if it is empty or no longer there. */
export async function readShared(id: string): Promise<SharedContent | null> {
  const cached = await (await caches.open(CACHE_NAME)).match(toCacheUrl(id));
  if (!cached) return null;
  const form = await cached.formData();
  const fields = ['title', 'text', 'url'].map((name) => form.get(name)).filter((value) => typeof value === 'string');
  const lines = new Set(fields.map((field) => field.trim()).filter((field) => field !== ''));
  // A form without files posts an empty one without a name.
  const files = form.getAll('files').filter((value) => value instanceof File && (value.name !== '' || value.size > 0)) as File[];
  if (lines.size + files.length === 0) return null;
  return { text: [...lines].join('\n'), files: files.map(withReadableName) };
}

export async function deleteShared(id: string): Promise<void> {
  await (await caches.open(CACHE_NAME)).delete(toCacheUrl(id));
}
