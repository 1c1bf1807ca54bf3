import { sha256 } from '#shared/sha256.ts';
import type { SessionRecord } from '../vault.ts';

/** The cache key of a session's requests: the same on every host, and nothing of the session can be read from it. Some providers take 64 characters at most. */
export const toCacheKey = async ({ key, createdAt }: Pick<SessionRecord, 'key' | 'createdAt'>): Promise<string> =>
  (await sha256(`${key}\n${createdAt}`)).slice(0, 32);
