import { sha256 } from '#shared/sha256.ts';
import type { SessionRecord } from '../storage/chat-records.ts';

/**
 * The cache key of a session's requests: the same on every host, and it reveals nothing about the session. Some providers accept at most 64
 * characters.
 */
export const toCacheKey = async ({ key, createdAt }: Pick<SessionRecord, 'key' | 'createdAt'>): Promise<string> =>
  (await sha256(`${key}\n${createdAt}`)).slice(0, 32);
