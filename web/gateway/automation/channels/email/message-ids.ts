import { sha256 } from '#shared/sha256.ts';

const PIECE_CHARS = 24;
const THREAD_CHARS = 16;
const OWN_ID = /^<perch\.([\da-f]{24})\.([\da-f]{16})@/;
const MAX_ID_CHARS = 1000;

/** Key of a thread, from its first mail or the text that it began with. */
export const toThreadKey = async (first: string): Promise<string> => (await sha256(first)).slice(0, THREAD_CHARS);

/**
 * Message-ID of a piece: always the same, so that a mail that may have been sent is found by it. It names the thread, since some programs
 * repeat only the last ID in a reply.
 */
export const createMessageId = async (piece: string, threadKey: string, address: string): Promise<string> =>
  `<perch.${(await sha256(piece)).slice(0, PIECE_CHARS)}.${threadKey}@${getDomain(address)}>`;

/** The thread that a Message-ID of `createMessageId` names; undefined for those of others. */
export const findThreadKey = (messageId: string, address: string): string | undefined =>
  messageId.toLowerCase().endsWith(`@${getDomain(address)}>`) ? OWN_ID.exec(messageId)?.[2] : undefined;

/** The Message-IDs of a header. */
export const parseMessageIds = (text = ''): string[] => (text.match(/<[^<>\s]+>/g) ?? []).filter((id) => id.length <= MAX_ID_CHARS);

export const getDomain = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
